"""Does the result depend on how an answer was cut into pieces? It must not; this finds out.

A `Material` can be run with cuts anywhere. Where it is short, every cut into two is tried; where it is
long, a random sample, always the same one. Then it is cut into single units, and at random into many
pieces. So the work grows with the length, and not with its square.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .sse import dump

#: Every cut into two is tried while length times cuts stays below this; at least so many always are.
_WORK, _FEWEST = 1_000_000, 16
#: How many times it is cut into many pieces, of these lengths on average.
_LENGTHS = (2, 3, 5, 8, 13, 21, 34, 55)

_SHOWN = 60  # characters of a cut's surroundings, or of a list of cuts


@dataclass(frozen=True, slots=True)
class Material:
    """Something that can come in any pieces."""

    unit: str  # what one unit of its length is: a character, a byte
    content: str | bytes
    expected: Any  # what a client gets of it as it came
    run: Callable[[Sequence[int]], Any]  # … and if it is cut at these places

    def cuts(self) -> Iterator[Sequence[int]]:
        """The ways to cut it that are tried."""
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
                yield _many(chance, length, mean)

    def count(self) -> int:
        """How many ways there are."""
        length = len(self.content)
        pairs = min(max(_FEWEST, _WORK // max(1, length)), max(0, length - 1))
        return pairs + (1 + len(_LENGTHS) if length > 2 else 0)


def _many(chance: random.Random, length: int, mean: int) -> list[int]:
    places = []
    place = chance.randint(1, 2 * mean - 1)
    while place < length:
        places.append(place)
        place += chance.randint(1, 2 * mean - 1)
    return places


@dataclass(frozen=True, slots=True)
class Difference:
    """A way to cut that changes what a client gets."""

    material: Material
    cuts: Sequence[int]
    got: Any

    def as_json(self) -> dict[str, Any]:
        return {
            "unit": self.material.unit,
            "cuts": list(self.cuts),
            "expected": self.material.expected,
            "got": self.got,
        }

    def sentence(self) -> str:
        expected, got = dump(self.material.expected).decode(), dump(self.got).decode()
        return f"cut {self._where()}, the client gets {got}, and not {expected}"

    def _where(self) -> str:
        if len(self.cuts) == len(self.material.content) - 1 > 1:
            return f"after every {self.material.unit}"
        if len(self.cuts) > 1:
            listed = ", ".join(map(str, self.cuts))
            return f"at {listed if len(listed) <= _SHOWN else listed[:_SHOWN] + '…'}"
        cut, content = self.cuts[0], self.material.content
        before, after = content[max(0, cut - _SHOWN // 2) : cut], content[cut:][: _SHOWN // 2]
        return f"at {cut}, between {before!r} and {after!r}"


def find_differences(
    materials: Sequence[Material], progress: Callable[[int, int], None] | None = None
) -> Iterator[Difference]:
    """The cuts that change something. `progress` is told how many are done, of how many."""
    total = sum(material.count() for material in materials)
    done = 0
    for material in materials:
        for cuts in material.cuts():
            got = material.run(cuts)
            if got != material.expected:
                yield Difference(material, cuts, got)
            done += 1
            if progress is not None:
                progress(done, total)


def pieces(content: Any, cuts: Sequence[int]) -> list[Any]:
    """A text or bytes, cut at these places."""
    edges = [0, *cuts, len(content)]
    return [content[a:b] for a, b in pairwise(edges)]
