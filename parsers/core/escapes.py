"""Escapes in strings that are almost JSON: as Python writes them, or JSON, read and written as JSON."""

from __future__ import annotations

import re
from typing import Final

from ..schema.kinds import encode
from .window import Window

#: How many hexadecimal digits follow the letter.
_ESCAPE_LENGTH: Final = {"x": 2, "u": 4, "U": 8}
#: What follows a backslash in JSON, and means the same there.
_SAME_IN_JSON: Final = frozenset('"\\/bfnrt')
_PYTHON_ONLY: Final = {"a": "\a", "v": "\v", "'": "'"}
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_OCTAL: Final = re.compile(r"[0-7]{1,3}")


def read_escape(w: Window) -> str | None:
    """At a backslash: read the escape; returns it as JSON writes it."""
    if w.has(2) is None:
        return None
    letter = w.text[w.pos + 1 : w.pos + 2]
    if letter in _ESCAPE_LENGTH:
        return _coded(w, letter)
    octal = _OCTAL.match(w.text, w.pos + 1)
    if octal:
        if octal.end() == len(w.text) and len(octal[0]) < 3 and not w.eof:
            return None
        w.take(octal.end())
        return encode(chr(int(octal[0], 8)))[1:-1]
    piece = w.take(min(w.pos + 2, len(w.text)))
    if not letter or letter in _SAME_IN_JSON:
        return piece
    if letter == "\n":
        return ""  # a line that goes on
    return encode(_PYTHON_ONLY.get(letter, piece))[1:-1]


def _coded(w: Window, letter: str) -> str | None:
    """The same with a character's code in hexadecimal digits."""
    start = w.pos + 2
    length = _ESCAPE_LENGTH[letter]
    found = _HEX.match(w.text, start, start + length)
    digits = found[0] if found else ""
    if len(digits) < length and start + len(digits) == len(w.text) and not w.eof:
        return None
    if len(digits) < length or (code := int(digits, 16)) > 0x10FFFF:
        return encode(w.take(min(w.pos + 2, len(w.text))))[1:-1]
    piece = w.take(start + length)
    return piece if letter == "u" else encode(chr(code))[1:-1]
