"""Reads the metadata at the front of a GGUF file: the chat template and the vocabulary are in it.

The file is looked at where it lies (`mmap`), from its beginning, one key after the other, and only the
keys that were asked for are kept. Every length is checked against what is there and against a bound, so
a file that lies about its lengths is a sentence: no gigabytes, no endless walk. The layout is that of
GGUF 2 and 3; a number is little-endian, or big-endian where the version is written so.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Collection
from pathlib import Path
from typing import Any

from ..errors import ToolwireError

MAGIC = b"GGUF"

#: How far metadata may reach into a file, and how many items it may have. Models stay far below.
_FARTHEST = 256 * 1024 * 1024
_MOST_KEYS = 100_000
_MOST_ITEMS = 4_000_000
_DEEPEST = 4

_STRING, _ARRAY = 8, 9
#: The other types, by their number, as `struct` calls them.
_NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}


def read_metadata(path: Path, wanted: Collection[str]) -> dict[str, Any]:
    """The values of those `wanted` keys that the file has."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Metadata(data).read(wanted)
    except OSError as error:
        raise ToolwireError(f"{path} can't be read: {error.strerror or error}") from error
    except (ValueError, struct.error, UnicodeDecodeError, IndexError) as error:
        raise ToolwireError(f"{path} is no GGUF file that can be read: {error}") from error


class _Metadata:
    """A walk through the metadata. Whatever is wrong with it is a ValueError."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._end = min(len(data), _FARTHEST)
        self._place = 0
        self._order = "<"
        self._items = 0

    def read(self, wanted: Collection[str]) -> dict[str, Any]:
        if self._bytes(4) != MAGIC:
            raise ValueError("it does not begin with GGUF")
        if self._number("I") > 0xFFFF:
            self._order = ">"
        self._place = 4
        version = self._number("I")
        if version not in (2, 3):
            raise ValueError(f"its version is {version}, and 2 and 3 are known")
        self._number("Q")  # how many tensors
        count = self._number("Q")
        if count > _MOST_KEYS:
            raise ValueError(f"it says that it has {count} keys")
        found: dict[str, Any] = {}
        for _ in range(count):
            key = self._string()
            value = self._value(self._number("I"), keep=key in wanted)
            if key in wanted:
                found[key] = value
        return found

    def _bytes(self, length: int) -> bytes:
        self._place += length
        if self._place > self._end:
            raise ValueError("it ends inside its metadata, or has a wrong length in it")
        return self._data[self._place - length : self._place]

    def _skip(self, length: int) -> None:
        self._place += length
        if self._place > self._end:
            raise ValueError("it ends inside its metadata, or has a wrong length in it")

    def _number(self, kind: str) -> Any:
        return struct.unpack(self._order + kind, self._bytes(struct.calcsize("=" + kind)))[0]

    def _string(self) -> str:
        return self._bytes(self._number("Q")).decode("utf-8", errors="replace")

    def _value(self, kind: int, keep: bool, depth: int = 0) -> Any:
        if kind == _STRING:
            return self._string() if keep else self._skip(self._number("Q"))
        if kind == _ARRAY:
            return self._array(keep, depth + 1)
        if kind not in _NUMBERS:
            raise ValueError(f"it has a value of the unknown type {kind}")
        return self._number(_NUMBERS[kind])

    def _array(self, keep: bool, depth: int) -> list[Any]:
        kind, count = self._number("I"), self._number("Q")
        if kind in _NUMBERS and not keep:
            self._skip(count * struct.calcsize("=" + _NUMBERS[kind]))
            return []
        self._items += count
        if self._items > _MOST_ITEMS or depth > _DEEPEST:
            raise ValueError("it has more in its lists than any model")
        values = [self._value(kind, keep, depth) for _ in range(count)]
        return values if keep else []
