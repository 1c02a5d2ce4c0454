"""How much work something is, in steps: a figure that does not depend on the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(work: Callable[[], Any]) -> int:
    """How many lines of Python run while something is done."""
    count = 0

    def trace(frame: FrameType, kind: str, _: Any) -> Any:
        nonlocal count
        count += kind == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def assert_linear(work: Callable[[int], Callable[[], Any]], small: int) -> None:
    """Four times as much must not be more than five times the work. `work` prepares, and gives it."""
    few, many = steps(work(small)), steps(work(4 * small))
    assert many < 5 * few, f"{few} steps for {small}, {many} for {4 * small}"
