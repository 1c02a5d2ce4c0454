"""How much work a parser does for one delta: counted, not timed, so that a busy machine changes nothing.

A delta costs no more than the steps that Python takes for it, times what one step can look at, which is
the delta and whatever the parser holds. Where neither grows with the text that was read before, a long
text costs in proportion to its length. And where the thread never waits for anything, nothing but that
work keeps an event loop from serving the others.
"""

from __future__ import annotations

import gc
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, FunctionType, ModuleType
from typing import Any

#: Makes a new parser: the object that remembers what was read, and what reads the next delta.
Make = Callable[[], tuple[object, Callable[[Any], object]]]
#: A wait of the parser's own is there every time; one of the machine's is not. So many tries at most.
TIMES = 30


@dataclass(frozen=True)
class Work:
    """The most that any delta took."""

    steps: int  # instructions of Python
    held: int  # bytes that the parser held afterwards
    waits: int  # times that the thread gave its processor away by itself


def most(make: Make, deltas: Sequence[Any], shared: Iterable[object] = ()) -> Work:
    """`shared` is not the parser's own: it is there anyway, and what it leads to does not count."""
    with _no_garbage_search():
        parser, read = make()
        known = set(_reachable(shared))
        counted = [(_steps(read, delta), _held(parser, known)) for delta in deltas]
        waits = _own_waits(make, deltas)
    return Work(
        steps=max(steps for steps, _ in counted),
        held=max(held for _, held in counted),
        waits=waits,
    )


@contextmanager
def _no_garbage_search() -> Iterator[None]:
    """It runs when it likes, and calls functions that others have asked it to call."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _steps(read: Callable[[Any], object], delta: Any) -> int:
    taken = 0

    def step(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal taken
        frame.f_trace_opcodes = True
        taken += 1
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        read(delta)
    finally:
        sys.settrace(before)
    return taken


def _own_waits(make: Make, deltas: Sequence[Any]) -> int:
    """The most at any delta that are there however often it is tried."""
    least = _waits(make, deltas)
    for _ in range(TIMES - 1):
        if not any(least):
            break
        least = list(map(min, least, _waits(make, deltas)))
    return max(least)


def _waits(make: Make, deltas: Sequence[Any]) -> list[int]:
    """For each delta. A thread that others push off its processor has not waited by itself."""
    _, read = make()
    found = []
    for delta in deltas:
        before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
        read(delta)
        found.append(resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before)
    return found


def _held(parser: object, known: set[int]) -> int:
    return sum(map(sys.getsizeof, _reachable([parser], known).values()))


def _reachable(roots: Iterable[object], known: Iterable[int] = ()) -> dict[int, object]:
    """All that objects lead to, by their ids, apart from code and what modules have."""
    seen, found, left = set(known), dict[int, object](), list(roots)
    while left:
        one = left.pop()
        if id(one) in seen or _is_code(one):
            continue
        seen.add(id(one))
        found[id(one)] = one
        if isinstance(one, FunctionType):
            left += one.__closure__ or ()
        else:
            left += gc.get_referents(one)
    return found


def _is_code(one: object) -> bool:
    namespace = isinstance(one, dict) and "__spec__" in one and "__name__" in one
    return namespace or isinstance(one, type | ModuleType)
