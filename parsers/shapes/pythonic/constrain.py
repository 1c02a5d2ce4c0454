"""The grammar of Python's arguments."""

from __future__ import annotations

from typing import Any

from ...core.format import Format
from ...core.shape import Piece
from ..grammar import Parameters, json_or_words
from ..json_grammar import json_object
from ..pieces import const, json_string, listed, sequence
from ..values import dumps
from .write import odd_names

_COMMA = ", "


def constrain(parameters: Any, format: Format) -> Piece:
    """`k="v", n=1`; one JSON object where a key is no name."""
    found = Parameters(parameters)
    if odd_names(found.names):
        return json_object(parameters)
    string = json_string(_behind(format))
    values = {
        name: sequence(const(f"{name}="), json_or_words(found.schema(name), format.written, string))
        for name in found.names
    }
    return listed(found.required, values, _COMMA)


def _behind(format: Format) -> str:
    """What an argument is followed by, for xgrammar: the next one, or the first two characters of the
    call's end and of what stands behind it. Only a call with a marker may have text behind it."""
    layout = format.written
    ends = [layout.separator, layout.section_end]
    if not format.wrappers:
        ends = [text for text in ends if text]
    behind = [_COMMA, *((layout.after_arguments() + text)[:2] for text in ends)]
    return " | ".join(map(dumps, dict.fromkeys(behind)))
