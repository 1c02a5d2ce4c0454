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
_SECRET = os.urandom(12).hex()
_MARK = f"\ufdd0{_SECRET}:"
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


def _mark(value: Any) -> str:
    if not isinstance(value, Number):
        raise TypeError(f"{type(value).__name__} is not JSON")
    return _MARK + value.text


_DECODER = json.JSONDecoder(parse_float=_real)
_DECODER_OF_ZEROS = json.JSONDecoder(parse_float=_real, parse_int=_whole)
#: By `ascii` and `compact`. To make one takes longer than to write most values.
_ENCODERS = {
    (ascii, compact): json.JSONEncoder(
        ensure_ascii=ascii, separators=(",", ":") if compact else None, default=_mark
    )
    for ascii in (True, False)
    for compact in (True, False)
}


def loads(text: str) -> Any:
    """Like `json.loads`, with a `Number` for each number that would be written otherwise."""
    decoder = _DECODER_OF_ZEROS if "-0" in text else _DECODER
    return decoder.decode(text)


def dumps(value: Any, *, ascii: bool = False, compact: bool = False) -> str:
    """Like `json.dumps`, for what `loads` gave."""
    written = _ENCODERS[ascii, compact].encode(value)
    if _SECRET not in written:
        return written
    return (_MARKED_ASCII if ascii else _MARKED).sub(r"\1", written)
