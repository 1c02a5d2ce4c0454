"""What is wrong with a request: the first problems, each with its place, and how many more there are.

A request may hold a million mistakes, or a name of a million characters. Looking for them costs one
pass; only the problems that are told become text, and that quotes no more than the beginning of
anything that a client sent.
"""

from __future__ import annotations

from bisect import insort
from collections import Counter
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from .sizes import shortened

#: How many problems are told one by one.
MAX_PROBLEMS = 20
#: How many steps of a place in a schema are told.
_MAX_STEPS = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where (`messages[3].tool_call_id`), and what, as a sentence."""

    param: str
    message: str


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a schema. It is written out only if there is something to say about it."""

    root: str
    step: str = ""
    inside: Place | None = None

    def then(self, step: str) -> Place:
        return Place(self.root, step, self)

    def __str__(self) -> str:
        steps: list[str] = []
        place: Place | None = self
        while place is not None and len(steps) < _MAX_STEPS:
            steps.append(shortened(place.step))
            place = place.inside
        return self.root + ("" if place is None else "…") + "".join(reversed(steps))


class Problems:
    """Collects problems, in the order of their places."""

    def __init__(self, limits: Counter[str] | None = None) -> None:
        """`limits`: what only the limits of some servers forbid is counted there, and no problem."""
        self._limits = limits
        self._count = 0
        self._kept: list[tuple[int, Problem]] = []

    def add(self, place: str | Place, sentence: str, order: int = -1) -> None:
        """`order` is the number of the message; what is wrong elsewhere comes before."""
        self._count += 1
        if len(self._kept) == MAX_PROBLEMS and self._kept[-1][0] <= order:
            return
        insort(self._kept, (order, Problem(str(place), sentence)), key=itemgetter(0))
        del self._kept[MAX_PROBLEMS:]

    def add_limit(self, what: str, place: str, sentence: str) -> None:
        """What some servers forbid, and others take."""
        if self._limits is None:
            self.add(place, sentence)
        else:
            self._limits[what] += 1

    @property
    def count(self) -> int:
        return self._count

    def told(self) -> list[Problem]:
        problems = [problem for _, problem in self._kept]
        more = self._count - len(problems)
        if more:
            problems.append(Problem("", f"There are {more} more problems"))
        return problems


def error_body(problems: list[Problem], hint: str | None = None) -> dict[str, Any]:
    """The body of the HTTP 400 answer: the first problem's sentence, and all of them.

    `details` has a line for each, `problems` the same with their places. `hint` is what could be done.
    """
    error: dict[str, Any] = {
        "message": problems[0].message,
        "type": "validation_error",
        "param": problems[0].param,
        "details": "\n".join(
            p.message if not p.param else f"{p.param}: {p.message}" for p in problems
        ),
        "problems": [{"param": p.param, "message": p.message} for p in problems],
    }
    return {"error": error if hint is None else error | {"hint": hint}}


def failure(message: str, kind: str = "upstream_error") -> dict[str, Any]:
    """The body of an error that is not the client's."""
    return {"error": {"message": message, "type": kind, "param": None, "details": ""}}
