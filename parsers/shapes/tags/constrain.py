"""The grammar of parameters in tags: one after the other, in the order of the schema."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ...core.format import Format
from ...core.layout import TypeMark
from ...core.literals import before_gap
from ...core.shape import Piece
from ..grammar import Parameters, split_by_string, split_by_type, text_value
from ..json_grammar import Schema
from ..pieces import const, either, listed, sequence, shared
from .write import behind_key

if TYPE_CHECKING:
    from . import Tags


def constrain(parameters: Any, format: Format) -> Piece:
    found = Parameters(parameters)
    names = sorted(found.names) if format.written.sorted_keys else found.names
    excluded = _literals(format)
    values = {name: _parameter(found.schema(name), name, format, excluded) for name in names}
    return listed(found.required, values, format.written.parameter_separator)


def _parameter(schema: Schema, name: str, format: Format, excluded: Sequence[str]) -> Piece:
    layout = format.written
    shape: Tags = format.shape  # type: ignore[assignment]
    if layout.type is None:
        kinds: Iterable[tuple[str, Schema]] = [("", schema)]
    else:
        kinds = [
            (word, part)
            for is_string, strings_or_others in split_by_string(schema)
            for word, part in _words(layout.type, is_string, strings_or_others)
        ]
    return either(
        *(
            sequence(
                const(layout.key_begin + shape.parameter.written(name)),
                shared(const(behind_key(word, layout))),
                text_value(part, excluded, layout),
                shared(const(layout.value_end)),
            )
            for word, part in kinds
        )
    )


def _words(mark: TypeMark, is_string: bool, schema: Schema) -> Iterable[tuple[str, Schema]]:
    """The words that are written for values of a schema, each with the values that it is for."""
    if is_string:
        return [(mark.string, schema)]
    if mark.other:
        return [(mark.other, schema)]
    parts: dict[str, Schema] = {}
    for json_type, part in split_by_type(schema):
        word = mark.word(json_type)
        if "enum" in part and word in parts:
            part = {"enum": [*parts[word]["enum"], *part["enum"]]}
        parts[word] = part  # numbers come behind whole numbers, and are all of them
    return parts.items()


def _literals(format: Format) -> list[str]:
    """What a string between tags can't have in it: whatever may end it. Where no closer can stand, the
    opener of a call is text."""
    shape: Tags = format.shape  # type: ignore[assignment]
    around = [literal for wrapper in format.wrappers for literal in wrapper.close]
    if format.channels is not None:
        around += [*format.channels.tokens, *format.channels.body, *format.channels.end]
    literals = [*around, *shape.close, *shape.parameter.begin, *shape.parameter_close]
    return list(dict.fromkeys(map(before_gap, literals)))
