"""A JSON Schema of the files that describe formats, for editors: made of the same dataclasses."""

from __future__ import annotations

import dataclasses
import types
from dataclasses import MISSING, fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..core.format import Format
from ..core.shape import Shape
from .toml_fields import KINDS, alone_field

Schema = dict[str, Any]

#: Keys of a format in a file that are no fields of it.
_SHORT_WAYS: Schema = {
    "like": {"type": "string", "description": "Another format, from which the rest is taken."},
    "example": {"type": "string", "description": "One call: a short way to give the layout."},
}


def toml_schema() -> Schema:
    """One format in a file, or several as `[[format]]`."""
    one = _table(Format)
    one["properties"].update(_SHORT_WAYS)
    one["required"] = ["name"]
    several = {
        "type": "object",
        "properties": {"format": {"type": "array", "items": one}},
        "required": ["format"],
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A wire format of toolwire",
        "anyOf": [one, several],
    }


def _table(cls: Any) -> Schema:
    hints = get_type_hints(cls)
    needed = [
        f.name
        for f in fields(cls)
        if f.default is MISSING and f.default_factory is MISSING and not _optional(hints[f.name])
    ]
    schema: Schema = {
        "type": "object",
        "properties": {f.name: _value(hints[f.name]) for f in fields(cls)},
        "additionalProperties": False,
    }
    return {**schema, "required": needed} if needed else schema


def _value(wanted: Any) -> Schema:
    wanted = _optional(wanted) or wanted
    if wanted in (str, bool, int):
        return {"type": {str: "string", bool: "boolean", int: "integer"}[wanted]}
    if get_origin(wanted) is Literal:
        return {"enum": list(get_args(wanted))}
    if get_origin(wanted) is tuple:
        item = _value(get_args(wanted)[0])
        return {"anyOf": [item, {"type": "array", "items": item}]}
    if wanted is Shape:
        return _shape()
    assert dataclasses.is_dataclass(wanted)
    alone = alone_field(wanted)
    if alone:
        return {"anyOf": [_value(get_type_hints(wanted)[alone]), _table(wanted)]}
    return _table(wanted)


def _shape() -> Schema:
    """The kind by itself, or a table; without a kind, it is that of the format that this one is like."""
    kinds = {"enum": list(KINDS)}
    tables = []
    for kind, cls in KINDS.items():
        table = _table(cls)
        table["properties"] = {"kind": {"const": kind}, **table["properties"]}
        # What is missing may come from the format that this one is like.
        tables.append({key: value for key, value in table.items() if key != "required"})
    return {"anyOf": [kinds, *tables]}


def _optional(wanted: Any) -> Any:
    if get_origin(wanted) not in (Union, types.UnionType):
        return None
    return next(kind for kind in get_args(wanted) if kind is not types.NoneType)
