"""What values take in memory, so that whoever holds them can keep to a budget.

Figures are of CPython, and rather too high than too low.
"""

from __future__ import annotations

import sys
from typing import Any

#: Characters of a name or an id that are repeated in a sentence.
SHOWN = 80


def size_of(value: Any) -> int:
    """The bytes that a JSON value takes, with everything in it. It may be nested deeply."""
    total = 0
    waiting = [value]
    while waiting:
        one = waiting.pop()
        total += sys.getsizeof(one)
        if isinstance(one, dict):
            waiting.extend(one.keys())
            waiting.extend(one.values())
        elif isinstance(one, (list, tuple, set, frozenset)):
            waiting.extend(one)
    return total


def shortened(text: str) -> str:
    """A text that others chose, as far as it is repeated in a sentence."""
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


class Pieces:
    """A text that comes in pieces, kept as one buffer: a string for each token is mostly overhead."""

    __slots__ = ("_buffer",)

    def __init__(self, text: str = "") -> None:
        self._buffer = bytearray()
        self.add(text)

    def __bool__(self) -> bool:
        return True  # there are pieces, even if all of them are empty

    def add(self, text: str) -> None:
        self._buffer += text.encode("utf-8", "surrogatepass")  # JSON may hold half a pair

    @property
    def size(self) -> int:
        return len(self._buffer)

    def text(self, start: int = 0) -> str:
        """The text, perhaps from the end of an earlier piece on."""
        return self._buffer[start:].decode("utf-8", "surrogatepass")
