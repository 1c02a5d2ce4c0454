"""What is wrong with tool definitions: `tools`, `functions`, their schemas, and `tool_choice`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..core.schema import JSON_TYPES
from .problems import Place, Problem, Problems
from .sizes import shortened

MAX_DESCRIPTION = 1024

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMA_MAPS = ("properties", "$defs", "definitions", "patternProperties")
_NAMED = 5  # how many missing properties are named


def check_tools(tools: Any) -> list[Problem]:
    """What is wrong in a `tools` list, of Chat Completions or of Responses."""
    problems = Problems()
    find_in_tools(problems, tools)
    return problems.told()


def find_in_tools(problems: Problems, tools: Any) -> None:
    if tools is None:
        return
    if not isinstance(tools, (list, tuple)):
        problems.add("tools", "tools must be a list of tool definitions")
        return
    for i, tool in enumerate(tools):
        place = f"tools[{i}]"
        if not isinstance(tool, Mapping):
            problems.add(place, "A tool must be an object")
        elif tool.get("type", "function") == "function":
            if "function" in tool or "name" not in tool:
                find_in_function(problems, tool.get("function"), f"{place}.function")
            else:
                find_in_function(problems, tool, place)
        elif not isinstance(tool["type"], str):
            problems.add(f"{place}.type", "The type of a tool must be a string")


def find_in_function(problems: Problems, function: Any, place: str) -> None:
    if not isinstance(function, Mapping):
        problems.add(place, "A function must be an object with a name")
        return
    name = function.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        problems.add(
            f"{place}.name",
            "The name of a function must be 1 to 64 letters, digits, underscores or hyphens",
        )
    description = function.get("description")
    if not isinstance(description, (str, type(None))):
        problems.add(f"{place}.description", "The description of a function must be a string")
    elif description and len(description) > MAX_DESCRIPTION:
        problems.add(
            f"{place}.description",
            f"The description of a function may have at most {MAX_DESCRIPTION} characters; "
            f"this one has {len(description)}",
        )
    strict = function.get("strict")
    if not isinstance(strict, (bool, type(None))):
        problems.add(f"{place}.strict", "strict must be true or false")
    parameters = function.get("parameters")
    if parameters is not None:
        _find_in_parameters(problems, parameters, Place(f"{place}.parameters"), strict is True)


def _find_in_parameters(problems: Problems, parameters: Any, place: Place, strict: bool) -> None:
    if not isinstance(parameters, Mapping):
        problems.add(place, "The parameters of a function must be a JSON Schema object")
        return
    if parameters.get("type", "object") != "object":
        sentence = 'The parameters of a function must have the type "object"'
        problems.add(place.then(".type"), sentence)
        return
    waiting: list[tuple[Any, Place]] = [(parameters, place)]
    while waiting:
        schema, here = waiting.pop()
        if isinstance(schema, bool):
            continue
        if not isinstance(schema, Mapping):
            problems.add(here, "A JSON Schema must be an object")
            continue
        _find_in_keywords(problems, schema, here)
        if strict:
            _find_in_strict(problems, schema, here)
        waiting.extend(reversed(list(_subschemas(schema, here))))


def _subschemas(schema: Mapping[str, Any], place: Place) -> Iterator[tuple[Any, Place]]:
    for key in _SCHEMA_MAPS:
        if isinstance(schema.get(key), Mapping):
            inside = place.then(f".{key}")
            for name, part in schema[key].items():
                yield part, inside.then(f".{shortened(str(name))}")
    for key in (*_SCHEMA_LISTS, "items", "additionalProperties", "not"):
        if isinstance(schema.get(key), list):  # `items` too, in the older drafts
            for i, part in enumerate(schema[key]):
                yield part, place.then(f".{key}[{i}]")
        elif key in schema and key not in _SCHEMA_LISTS:
            yield schema[key], place.then(f".{key}")


def _find_in_keywords(problems: Problems, schema: Mapping[str, Any], place: Place) -> None:
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not types or not all(isinstance(t, str) and t in JSON_TYPES for t in types):
            problems.add(place.then(".type"), "The type must be a JSON type, or a list of them")
    for key in _SCHEMA_MAPS:
        if key in schema and not isinstance(schema[key], Mapping):
            problems.add(place.then(f".{key}"), f"{key} must be an object")
    for key in ("enum", *_SCHEMA_LISTS):
        if key in schema and not isinstance(schema[key], list):
            problems.add(place.then(f".{key}"), f"{key} must be a list")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        problems.add(place.then(".required"), "required must be a list of property names")


def _find_in_strict(problems: Problems, schema: Mapping[str, Any], place: Place) -> None:
    types = schema.get("type")
    is_object = types == "object" or (isinstance(types, list) and "object" in types)
    properties = schema.get("properties")
    if not is_object and not isinstance(properties, Mapping):
        return
    if schema.get("additionalProperties") is not False:
        problems.add(
            place.then(".additionalProperties"),
            "With strict: true, every object must have additionalProperties: false",
        )
    required = schema.get("required")
    listed = {n for n in required if isinstance(n, str)} if isinstance(required, list) else set()
    named = properties if isinstance(properties, Mapping) else {}
    missing = [str(name) for name in named if name not in listed]
    if missing:
        sentence = "With strict: true, every property must be required; missing: "
        problems.add(place.then(".required"), sentence + _first_of(missing))


def _first_of(names: list[str]) -> str:
    told = ", ".join(shortened(name) for name in names[:_NAMED])
    more = len(names) - _NAMED
    return f"{told}, and {more} more" if more > 0 else told


def check_tool_choice(choice: Any, tools: Any, place: str = "tool_choice") -> list[Problem]:
    """What is wrong in `tool_choice`, given the tools."""
    problems = Problems()
    find_in_tool_choice(problems, choice, tools, place)
    return problems.told()


def find_in_tool_choice(
    problems: Problems, choice: Any, tools: Any, place: str = "tool_choice"
) -> None:
    if choice is None or choice in ("none", "auto"):
        return
    if choice == "required":
        if not tools:
            problems.add(place, 'tool_choice is "required", but there are no tools')
        return
    if not isinstance(choice, Mapping):
        sentence = 'tool_choice must be "none", "auto", "required", or an object that names a tool'
        problems.add(place, sentence)
        return
    if choice.get("type", "function") != "function":
        return  # a hosted tool, or a list of allowed ones: the server knows them
    function = choice.get("function", choice)
    name = function.get("name") if isinstance(function, Mapping) else None
    where = f"{place}.function.name" if "function" in choice else f"{place}.name"
    if not isinstance(name, str) or not name:
        problems.add(where, "tool_choice must name a tool")
    elif name not in _tool_names(tools):
        shown = shortened(name)
        problems.add(where, f'tool_choice names "{shown}", which is not among the tools')


def _tool_names(tools: Any) -> set[str]:
    names = set()
    for tool in tools if isinstance(tools, (list, tuple)) else ():
        function = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            names.add(function["name"])
    return names
