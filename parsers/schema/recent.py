"""What was made of the last few objects, so that it is made once: of a request's tools, for all its
choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

T = TypeVar("T")
V = TypeVar("V")

#: As many requests as an engine begins at the same time; the oldest goes first.
_MOST: Final = 64


class Recent(Generic[T, V]):
    """A function of an object that is not changed any more, with the results of the last few."""

    __slots__ = ("_found", "_make")

    def __init__(self, make: Callable[[T], V]) -> None:
        self._make = make
        #: by identity; the object is kept with its result, so that no other gets its id
        self._found: dict[int, tuple[T, V]] = {}

    def __call__(self, of: T) -> V:
        known = self._found.get(id(of))
        if known is not None:
            return known[1]
        made = self._make(of)
        if len(self._found) >= _MOST:
            self._found.pop(next(iter(self._found)), None)
        self._found[id(of)] = (of, made)
        return made
