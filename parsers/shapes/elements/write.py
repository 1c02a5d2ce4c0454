"""How values are written as elements: strings as they are, lists and objects as further elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..values import dumps

if TYPE_CHECKING:
    from . import Elements


def written(shape: Elements, arguments: Mapping[str, Any]) -> str:
    """All arguments. (With a list of our own: values may be nested deeply.)"""
    pieces: list[str] = []
    waiting: list[str | tuple[str | None, Any]] = []
    waiting += reversed(list(arguments.items()))
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            pieces.append(part)
            continue
        name, value = part
        pieces.append(shape.opening(name, type_word(shape, value)))
        waiting.append(shape.closing(name))
        parts = _parts(value)
        if parts is None:
            pieces.append(value if isinstance(value, str) else dumps(value))
        else:
            waiting += reversed(list(parts))
    return "".join(pieces)


def _parts(value: Any) -> Iterable[tuple[str | None, Any]] | None:
    """What becomes an element inside, with its name, where the value has parts."""
    if isinstance(value, Mapping):
        return value.items()
    return [(None, item) for item in value] if isinstance(value, (list, tuple)) else None


def type_word(shape: Elements, value: Any) -> str:
    """The word for what a value is, where the format has any."""
    if shape.types is None:
        return ""
    if isinstance(value, str):
        return shape.types.text
    if isinstance(value, Mapping):
        return shape.types.object
    return shape.types.array if isinstance(value, (list, tuple)) else shape.types.json
