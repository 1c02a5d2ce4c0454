"""What is wrong with tool definitions: `tools`, `functions`, their schemas, and `tool_choice`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..schema.declarations import declarations, field
from ..schema.kinds import JSON_TYPES
from ..schema.standalone import SCHEMA_MAPS
from .problems import Place, Problem, Problems
from .request import referred
from .sizes import shortened

MAX_DESCRIPTION = 1024
#: A longer name is none, whoever takes it.
MAX_NAME = 1024

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TAKEN_BY_SOME = re.compile(rf"[A-Za-z0-9_.:/-]{{1,{MAX_NAME}}}")
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
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
        _find_in_tool(problems, tool, f"tools[{i}]")


def _find_in_tool(problems: Problems, tool: Any, place: str, inside: bool = False) -> None:
    """`inside`: the tool stands in a namespace, which holds no other namespaces."""
    if not isinstance(tool, Mapping):
        problems.add(place, "A tool must be an object")
        return
    kind = tool.get("type", "function")
    if kind == "function":
        flat = "function" not in tool and "name" in tool
        function = tool if flat else tool.get("function")
        find_in_function(problems, function, place if flat else f"{place}.function")
    elif kind == "custom":
        flat = "custom" not in tool
        _find_in_custom(
            problems, tool if flat else tool["custom"], place if flat else f"{place}.custom"
        )
    elif kind == "namespace" and not inside:
        _find_in_namespace(problems, tool, place)
    elif not isinstance(kind, str):
        problems.add(f"{place}.type", "The type of a tool must be a string")


def _find_in_custom(problems: Problems, custom: Any, place: str) -> None:
    if not isinstance(custom, Mapping):
        problems.add(place, "A custom tool must be an object with a name")
    else:
        _find_in_name(problems, custom.get("name"), place, "custom tool")


def _find_in_namespace(problems: Problems, tool: Mapping[str, Any], place: str) -> None:
    _find_in_name(problems, tool.get("name"), place, "namespace")
    members = tool.get("tools")
    if not isinstance(members, list):
        problems.add(f"{place}.tools", "The tools of a namespace must be a list")
        return
    for i, member in enumerate(members):
        _find_in_tool(problems, member, f"{place}.tools[{i}]", inside=True)


def _find_in_name(problems: Problems, name: Any, place: str, what: str) -> None:
    if isinstance(name, str) and _NAME.fullmatch(name):
        return
    where = f"{place}.name"
    sentence = f"The name of a {what} must be 1 to 64 letters, digits, underscores or hyphens"
    if isinstance(name, str) and _TAKEN_BY_SOME.fullmatch(name):
        problems.add_limit("name", where, sentence)
    else:
        problems.add(where, sentence)


def find_in_function(problems: Problems, function: Any, place: str) -> None:
    if not isinstance(function, Mapping):
        problems.add(place, "A function must be an object with a name")
        return
    _find_in_name(problems, function.get("name"), place, "function")
    description = function.get("description")
    if not isinstance(description, (str, type(None))):
        problems.add(f"{place}.description", "The description of a function must be a string")
    elif description and len(description) > MAX_DESCRIPTION:
        problems.add_limit(
            "description",
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
    for key in SCHEMA_MAPS:
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
    for key in SCHEMA_MAPS:
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
    if choice.get("type") == "allowed_tools":
        _find_in_allowed(problems, choice, tools, place)
    else:
        _find_in_reference(problems, choice, _known_names(tools), place)


def _find_in_allowed(problems: Problems, choice: Mapping[str, Any], tools: Any, place: str) -> None:
    """Chat Completions nests mode and list, Responses does not."""
    allowed, where = choice, place
    if "allowed_tools" in choice:
        allowed, where = choice["allowed_tools"], f"{place}.allowed_tools"
    listed = allowed.get("tools") if isinstance(allowed, Mapping) else None
    if not isinstance(allowed, Mapping) or not isinstance(listed, list):
        problems.add(f"{where}.tools", "The allowed tools must be a list")
        return
    if allowed.get("mode", "auto") not in ("auto", "required"):
        problems.add(f"{where}.mode", 'The mode of allowed tools must be "auto" or "required"')
    known = _known_names(tools)
    for i, reference in enumerate(listed):
        _find_in_reference(problems, reference, known, f"{where}.tools[{i}]")


def _find_in_reference(problems: Problems, reference: Any, known: set[str], place: str) -> None:
    """A choice that names a tool, or an entry of the allowed ones."""
    if not isinstance(reference, Mapping):
        problems.add(place, "An allowed tool must be an object that names it")
        return
    kind = reference.get("type", "function")
    if kind not in ("function", "custom"):
        return  # a hosted tool: the server knows it
    where = f"{place}.{kind}.name" if kind in reference else f"{place}.name"
    name = referred(reference)
    if name is None:
        problems.add(where, "tool_choice must name a tool")
    elif name not in known:
        shown = shortened(name)
        problems.add(where, f'tool_choice names "{shown}", which is not among the tools')


def _known_names(tools: Any) -> set[str]:
    """By which a choice may name a tool."""
    known: set[str] = set()
    for tool in tools if isinstance(tools, (list, tuple)) else ():
        for found in declarations(tool):
            names = (found.name, field(found.definition, "name"))
            known.update(name for name in names if isinstance(name, str))
    return known
