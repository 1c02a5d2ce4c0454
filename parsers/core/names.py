"""Names of tools where they stand in the open, and not in quotes."""

from __future__ import annotations

import re
from typing import Final

from .reader import Reader, Step

#: Longer words are no names. It bounds what is held while a word is being written.
LONGEST: Final = 256

_WORD: Final = re.compile(r"[^\s<>{}\[\]()\"'`|,;=]*")
#: the characters of a name in `Name(args)`
PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")


def word(r: Reader) -> str | None:
    """What `read_word` does, for places where time counts; None where more text is needed."""
    found = _WORD.match(r.text, r.pos)
    end = found.end() if found else r.pos
    if end == len(r.text) or end - r.pos > LONGEST:
        return None
    return r.take(end)


def read_word(r: Reader) -> Step[str]:
    """Read a name: everything up to whitespace, brackets or quotes. "" if it is none."""
    pieces = []
    length = 0
    while True:
        found = _WORD.match(r.text, r.pos)
        piece = r.take(found.end() if found else r.pos)
        pieces.append(piece)
        length += len(piece)
        if length > LONGEST:
            return ""
        if r.pos < len(r.text) or r.eof:
            return "".join(pieces)
        yield
