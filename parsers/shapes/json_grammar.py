"""The grammar of a JSON value that fits a schema, written as its format writes JSON.

xgrammar can make one of the schema itself, but then everything in it is that schema's own: a property
that fifty tools have is compiled fifty times. So objects and lists are taken apart into pieces, of
which equal ones are one rule. What is not taken apart (bounds, patterns, what has no schema) is left to
xgrammar, each such value by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..core.shape import NotExpressible, Piece
from ..schema.json_schema import SchemaReading, listed_values
from ..schema.standalone import DEFINITIONS, definitions, finds_all, in_json_names, references
from .pieces import NUMBER, STRING, const, either, grammar, listed, repeated, sequence
from .values import dumps
from .whole_numbers import whole_numbers

Schema = Mapping[str, Any]

#: Few spaces or newlines between the parts of a JSON value are enough. A model that is held to a
#: grammar may otherwise write spaces for ever. Not one: xgrammar makes a rule of its own of each place
#: then, and takes twice to five times as long to compile them.
_SPACE = {"max_whitespace_cnt": 2}

#: What says nothing about a value.
NOTES = frozenset(
    {"type", "title", "description", "default", "examples", "deprecated", "$comment", "nullable"}
)
_ASIDE = NOTES | {"$schema", "$id", *DEFINITIONS}
COMBINED = frozenset({"allOf", "not", "if", "then", "else", "dependentSchemas"})
ALTERNATIVES = ("anyOf", "oneOf")

#: What the schema of an object or a list may say beside its type to be taken apart.
_OF_OBJECTS = frozenset({"properties", "required", "additionalProperties"})
_OF_LISTS = frozenset({"items", "minItems"})
#: … or of a whole number; each moves its bound by so much.
_BOUNDS = {"minimum": 0, "exclusiveMinimum": 1, "maximum": 0, "exclusiveMaximum": -1}
#: What says no more of a number than its type: `int32`.
_FORMAT = frozenset({"format"})
#: More pieces than this, or deeper ones, are not made of a schema: definitions that refer to one another
#: have no end.
_MOST, _DEEPEST = 500, 20


def json_value(
    schema: Schema, sorted_keys: bool = False, compact: bool = False, string: Piece = STRING
) -> Piece:
    """A value as JSON, its keys in the order of the schema's properties, or in alphabetical order.
    `string` is any string, where it stands in no object or list."""
    try:
        return _Apart(schema, sorted_keys, compact, string).value(schema)
    except NotExpressible:
        return whole_json(schema, sorted_keys)


def json_object(
    parameters: Schema | None, sorted_keys: bool = False, compact: bool = False
) -> Piece:
    """A whole set of arguments as JSON. Arguments are always an object."""
    schema = dict(parameters or {})
    if not {"$ref", *ALTERNATIVES, *COMBINED} & set(schema):
        schema["type"] = "object"
    return json_value(schema, sorted_keys, compact)


def whole_json(schema: Schema, sorted_keys: bool = False) -> Piece:
    """A value as JSON, left to xgrammar."""
    return {
        "type": "json_schema",
        "json_schema": in_json_names(schema, sorted_keys),
        **_SPACE,
    }


class _Apart:
    """Takes one schema apart. Raises `NotExpressible` where that would have no end."""

    def __init__(self, root: Schema, sorted_keys: bool, compact: bool, string: Piece) -> None:
        self._reading = SchemaReading(root)
        self._definitions = definitions(root)
        self._sorted_keys = sorted_keys
        self._compact = compact
        self._comma, self._colon = (",", ":") if compact else (", ", ": ")
        self._string = string
        self._left = _MOST
        self._depth = 0
        self._around = 0  # how many lists and objects

    def value(self, schema: Any, times: int = 1) -> Piece:
        """`times` says how often the piece will stand in the whole."""
        self._left -= times
        if self._left < 0 or self._depth > _DEEPEST:
            raise NotExpressible("a schema of very many parts")
        if not isinstance(schema, Mapping):
            raise NotExpressible("something else than a schema")
        self._depth += 1
        try:
            return self._taken_apart(schema, times)
        finally:
            self._depth -= 1

    def _taken_apart(self, schema: Schema, times: int) -> Piece:
        words = set(schema) - _ASIDE
        if words == {"$ref"}:
            return self.value(self._reading.resolved(schema), times)
        if len(words) == 1 and listed_values(schema) is not None:
            values = SchemaReading(schema).values() or []
            texts = [dumps(value, self._compact, self._sorted_keys) for value in values]
            return either(*map(const, dict.fromkeys(texts)))
        for word in ALTERNATIVES:
            members = schema.get(word)
            if words == {word} and isinstance(members, list) and members and "type" not in schema:
                return either(*(self.value(member, times) for member in members))
        types = SchemaReading(schema).types() if "type" in schema else frozenset()
        if not types or words & {"$ref", "enum", "const", *ALTERNATIVES, *COMBINED}:
            return self._left_whole(schema)
        types -= {"integer"} if "number" in types else set()
        return either(*(self._typed(kind, schema, times) for kind in sorted(types)))

    def _typed(self, kind: str, schema: Schema, times: int) -> Piece:
        """The values of one type."""
        words = set(schema) - _ASIDE
        if kind == "null":
            return const("null")
        if kind == "boolean":
            return either(const("true"), const("false"))
        if kind == "string" and not words:
            return STRING if self._around else self._string
        if kind == "number" and not words - _FORMAT:
            return NUMBER
        if kind == "integer" and _has_plain_bounds(schema, words - _FORMAT):
            return _whole_number(schema)
        if kind == "array" and words <= _OF_LISTS and _is_list_of_one_kind(schema):
            return self._list(schema, times)
        if kind == "object" and words <= _OF_OBJECTS and _is_closed(schema):
            return self._object(schema, times)
        return self._left_whole({**schema, "type": kind})

    def _list(self, schema: Schema, times: int) -> Piece:
        item = self._member(schema["items"], times)
        items = repeated(item, self._comma, at_least_one=bool(schema.get("minItems")))
        return sequence(const("["), items, const("]"))

    def _object(self, schema: Schema, times: int) -> Piece:
        properties = schema.get("properties") or {}
        required = schema.get("required") or ()
        if not any(name in required for name in properties):
            times *= len(properties)  # see `listed`
        names = sorted(properties) if self._sorted_keys else properties
        members = {
            name: sequence(const(dumps(name) + self._colon), self._member(properties[name], times))
            for name in names
        }
        return sequence(const("{"), listed(required, members, self._comma), const("}"))

    def _member(self, schema: Any, times: int) -> Piece:
        """A value in a list or an object."""
        self._around += 1
        piece = self.value(schema, times)
        self._around -= 1
        return piece

    def _left_whole(self, schema: Schema) -> Piece:
        if any(references(schema)):
            if not finds_all(schema) or not finds_all(self._definitions):
                raise NotExpressible("a reference to something else than a definition")
            schema = {**schema, **self._definitions}
        return whole_json(schema, self._sorted_keys)


def _has_plain_bounds(schema: Schema, words: Collection[str]) -> bool:
    """Whether nothing but whole numbers bound a number."""
    return all(word in _BOUNDS and type(schema[word]) is int for word in words)


def _whole_number(schema: Schema) -> Piece:
    bounds = [(word, schema[word] + more) for word, more in _BOUNDS.items() if word in schema]
    least = max((bound for word, bound in bounds if word.endswith("inimum")), default=None)
    most = min((bound for word, bound in bounds if word.endswith("aximum")), default=None)
    return grammar(f"root ::= {whole_numbers(least, most)}\n")


def _is_list_of_one_kind(schema: Schema) -> bool:
    return isinstance(schema.get("items"), Mapping) and schema.get("minItems", 0) in (0, 1)


def _is_closed(schema: Schema) -> bool:
    """Whether an object has the members that its schema names, and no others."""
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return False
    if not all(isinstance(name, str) for name in properties):
        return False
    more = schema.get("additionalProperties")
    wanted = all(name in properties for name in required)
    return wanted and (more is False or (more is None and bool(properties)))
