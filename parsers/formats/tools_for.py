"""Tools that some calls would be for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..core.samples import Call

#: Schemas that are nested more deeply than this are refused, at two levels for each of a value.
_DEEPEST = 100


def tools_for(calls: Iterable[Call]) -> list[dict[str, Any]] | None:
    """Tools that such calls would be for: without types, no text between tags is a number."""
    functions: dict[str, dict[str, list[Any]]] = {}
    for name, arguments in calls:
        properties = functions.setdefault(name, {})
        for key, value in arguments.items():
            properties.setdefault(key, []).append(value)
    return [_tool(name, properties) for name, properties in functions.items()] or None


def _tool(name: str, properties: dict[str, list[Any]]) -> dict[str, Any]:
    """Complete, with descriptions: templates show these to the model, and some insist on them."""
    described = {
        key: {**_schema(values), "description": f"The {key}."} for key, values in properties.items()
    }
    parameters = {"type": "object", "properties": described, "required": list(properties)}
    function = {"name": name, "description": f"Does {name}.", "parameters": parameters}
    return {"type": "function", "function": function}


def _schema(values: list[Any]) -> dict[str, Any]:
    """What all these values are made of. (With a list of our own: values may be nested deeply.)"""
    whole: dict[str, Any] = {}
    waiting = [(whole, values, 0)]
    while waiting:
        schema, some, depth = waiting.pop()
        types = sorted({_type(value) for value in some})
        schema["type"] = types if len(types) > 1 else types[0]
        items = [item for value in some if isinstance(value, list) for item in value]
        if depth == _DEEPEST:
            continue
        if items:
            schema["items"] = {}
            waiting.append((schema["items"], items, depth + 1))
        members: dict[str, list[Any]] = {}
        for value in some:
            for key, member in value.items() if isinstance(value, dict) else ():
                members.setdefault(key, []).append(member)
        if members:
            schema["properties"] = {key: {} for key in members}
            inner = schema["properties"]
            waiting += [(inner[key], several, depth + 1) for key, several in members.items()]
    return whole


def _type(value: Any) -> str:
    for kind, name in (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
        (dict, "object"),
    ):
        if isinstance(value, kind):
            return name
    return "null"
