"""The grammar of elements: one after the other, in the order of the schema, as deep as that goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...core.format import Format
from ...core.shape import NotExpressible, Piece
from ..grammar import (
    Parameters,
    is_combined,
    nothing_but,
    split_by_string,
    text_value,
    types_of,
    values_of,
)
from ..json_grammar import Schema
from ..pieces import const, either, listed, repeated, sequence, unit

if TYPE_CHECKING:
    from . import Elements

#: More elements than this would make a large grammar; definitions that refer to one another have no end.
MOST_ELEMENTS = 300


def constrain(shape: Elements, parameters: Any, format: Format) -> Piece:
    return _Grammar(shape, format).members(parameters)


class _Grammar:
    """Counts the elements of one tool while it makes their grammars."""

    def __init__(self, shape: Elements, format: Format) -> None:
        self.shape = shape
        self.layout = format.written
        self.left = MOST_ELEMENTS
        around = [literal for wrapper in format.wrappers for literal in wrapper.close]
        own = [shape.marker] if shape.marker else [*shape.closers, *_own_tags(shape)]
        self.excluded = list(dict.fromkeys([*(s for s in around if shape.marker not in s), *own]))

    def members(self, parameters: Schema | None) -> Piece:
        found = Parameters(parameters)
        return listed(found.required, {n: self.element(n, found.schema(n)) for n in found.names})

    def element(self, name: str | None, schema: Schema) -> Piece:
        self.left -= 1
        if self.left < 0:
            raise NotExpressible("very many elements")
        if is_combined(schema):
            raise NotExpressible("combined schemas")
        if values_of(schema) is None:
            types = types_of(schema)
            if types == {"object"}:
                return self._tag(name, "object", self._object(schema))
            if types == {"array"}:
                return self._tag(name, "array", self._array(schema))
            if types & {"object", "array"}:
                raise NotExpressible("an object or a list, or something else")
        elif any(isinstance(value, (list, dict)) for value in values_of(schema) or ()):
            raise NotExpressible("objects or lists with given values")
        if self.shape.types is None:
            return self._tag(name, "", text_value(schema, self.excluded, self.layout))
        return either(
            *(
                self._tag(name, "text" if is_string else "json", self._text(part))
                for is_string, part in split_by_string(schema)
            )
        )

    def _text(self, schema: Schema) -> Piece:
        return text_value(schema, self.excluded, self.layout)

    def _tag(self, name: str | None, holds: str, inside: Piece) -> Piece:
        shape = self.shape
        word = getattr(shape.types, holds) if shape.types else ""
        begin, end = const(shape.opening(name, word)), const(shape.closing(name))
        return unit(sequence(begin, inside, end))

    def _object(self, schema: Schema) -> Piece:
        nothing_but(
            schema, {"properties", "required", "additionalProperties", "$defs", "definitions"}
        )
        if schema.get("additionalProperties") not in (None, False) or not schema.get("properties"):
            raise NotExpressible("an object with members of any name")
        return self.members(schema)

    def _array(self, schema: Schema) -> Piece:
        nothing_but(schema, {"items", "$defs", "definitions"})
        if not isinstance(schema.get("items"), Mapping):
            raise NotExpressible("a list of anything")
        item = Parameters({"properties": {"item": schema["items"]}, **_definitions(schema)})
        return repeated(self.element(None, item.schema("item")), "", at_least_one=False)


def _definitions(schema: Schema) -> dict[str, Any]:
    return {key: schema[key] for key in ("$defs", "definitions") if key in schema}


def _own_tags(shape: Elements) -> list[str]:
    """What a string can't have in it where no marker tells tags from text."""
    return [f"<{shape.element}", f"</{shape.element}"] if shape.element else ["<"]
