"""Does the result depend on how an answer was split into chunks? It must not; this finds out.

A `Splittable` can be run with splits anywhere. Where it is short, every split into two is tried; where
it is long, a random sample, always the same one. Then it is split into single units, and at random into
many chunks. So the work grows with the length, and not with its square.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..gateway.sse import dump

#: Every split into two is tried while length times splits stays below this; at least so many always are.
_WORK, _FEWEST = 1_000_000, 16
#: It is split into many chunks as many times as there are lengths here, each a chunk's on average.
_LENGTHS = (2, 3, 5, 8, 13, 21, 34, 55)

_SHOWN = 60  # characters around a split, or of a list of places


@dataclass(frozen=True, slots=True)
class Splittable:
    """Something that can come in any chunks."""

    unit: str  # what one unit of its length is: a character, a byte
    content: str | bytes
    expected: Any  # what a client gets of it as it came
    run: Callable[[Sequence[int]], Any]  # … and if it is split at these places

    def splits(self) -> Iterator[Sequence[int]]:
        """The ways to split it that are tried, each as the places to split at."""
        length = len(self.content)
        chance = random.Random(length)
        count = max(_FEWEST, _WORK // max(1, length))
        places: Iterable[int] = range(1, length)
        if count < length - 1:
            places = sorted(chance.sample(range(1, length), count))
        yield from ([place] for place in places)
        if length > 2:
            yield range(1, length)
            for mean in _LENGTHS:
                yield _many_places(chance, length, mean)

    def count(self) -> int:
        """How many ways there are."""
        length = len(self.content)
        pairs = min(max(_FEWEST, _WORK // max(1, length)), max(0, length - 1))
        return pairs + (1 + len(_LENGTHS) if length > 2 else 0)


def _many_places(chance: random.Random, length: int, mean: int) -> list[int]:
    places = []
    place = chance.randint(1, 2 * mean - 1)
    while place < length:
        places.append(place)
        place += chance.randint(1, 2 * mean - 1)
    return places


@dataclass(frozen=True, slots=True)
class Difference:
    """A way to split that changes what a client gets."""

    part: Splittable
    places: Sequence[int]
    got: Any

    def as_json(self) -> dict[str, Any]:
        return {
            "unit": self.part.unit,
            "cuts": list(self.places),
            "expected": self.part.expected,
            "got": self.got,
        }

    def sentence(self) -> str:
        expected, got = dump(self.part.expected).decode(), dump(self.got).decode()
        return f"cut {self._where()}, the client gets {got}, and not {expected}"

    def _where(self) -> str:
        if len(self.places) == len(self.part.content) - 1 > 1:
            return f"after every {self.part.unit}"
        if len(self.places) > 1:
            listed = ", ".join(map(str, self.places))
            return f"at {listed if len(listed) <= _SHOWN else listed[:_SHOWN] + '…'}"
        place, content = self.places[0], self.part.content
        before, after = content[max(0, place - _SHOWN // 2) : place], content[place:][: _SHOWN // 2]
        return f"at {place}, between {before!r} and {after!r}"


def find_differences(
    parts: Sequence[Splittable], progress: Callable[[int, int], None] | None = None
) -> Iterator[Difference]:
    """The splits that change something. `progress` is told how many are done, of how many."""
    total = sum(part.count() for part in parts)
    done = 0
    for part in parts:
        for places in part.splits():
            got = part.run(places)
            if got != part.expected:
                yield Difference(part, places, got)
            done += 1
            if progress is not None:
                progress(done, total)


def split_at(content: Any, places: Sequence[int]) -> list[Any]:
    """The chunks of a text or of bytes that is split at these places."""
    edges = [0, *places, len(content)]
    return [content[a:b] for a, b in pairwise(edges)]
