"""Lists and objects as Python writes them, where JSON was meant: `{'a': True}`."""

from __future__ import annotations

from typing import Final

from ..schema.kinds import json_type
from .delimiters import Delimiters
from .dialects import Dialect
from .loose import LooseReader
from .sinks import Pieces
from .window import Window

_PYTHON: Final = Dialect()
_NO_DELIMITERS: Final = Delimiters((), ())


def python_literal(text: str, types: frozenset[str]) -> str | None:
    """A list, tuple, set or dict as Python writes it, as JSON of one of these types; or None."""
    text = text.strip()
    if text[:1] not in ("[", "{", "("):
        return None
    w = Window(fast_paths=False)
    w.push(text)
    w.finish()
    pieces = Pieces()
    finished = False
    steps = LooseReader(w, _NO_DELIMITERS, _PYTHON, strict=True).container(pieces)
    try:
        next(steps)
    except StopIteration as stop:  # all of the text is there: it never waits
        finished = bool(stop.value)
    found = pieces.take()
    whole = finished and w.pos == len(w.text)
    return found if whole and json_type(found) in types else None
