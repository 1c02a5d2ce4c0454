"""JSON that is read and written again with its numbers as they were.

Python reads `1e400` as infinity, and writes `Infinity`, which is no JSON; `1.10` becomes `1.1`. A number
that Python would write otherwise is a `Number` here, which knows its text. All others are what they
always are, so that this costs next to nothing where there are no such numbers.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import Any

# What stands for a number while its object is written. Nobody can guess it, so no text can hold it.
_MARK = f"\ufdd0{os.urandom(12).hex()}:"
_MARKED = re.compile(f'"{_MARK}([-+.0-9eE]+)"')
_MARKED_ASCII = re.compile(_MARKED.pattern.replace("\ufdd0", r"\\ufdd0"))


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was written."""

    text: str = "0"


def _real(text: str) -> float | Number:
    value = float(text)
    return value if repr(value) == text else Number(text)


def _whole(text: str) -> int | Number:
    return Number(text) if text == "-0" else int(text)


def loads(text: str) -> Any:
    """Like `json.loads`, with a `Number` for each number that would be written otherwise."""
    if "-0" in text:
        return json.loads(text, parse_float=_real, parse_int=_whole)
    return json.loads(text, parse_float=_real)


def dumps(value: Any, *, ascii: bool = False, compact: bool = False) -> str:
    """Like `json.dumps`, for what `loads` gave."""
    marked = False

    def mark(other: Any) -> str:
        nonlocal marked
        if not isinstance(other, Number):
            raise TypeError(f"{type(other).__name__} is not JSON")
        marked = True
        return _MARK + other.text

    separators = (",", ":") if compact else None
    written = json.dumps(value, ensure_ascii=ascii, separators=separators, default=mark)
    if not marked:
        return written
    pattern = _MARKED_ASCII if ascii else _MARKED
    return pattern.sub(r"\1", written)
