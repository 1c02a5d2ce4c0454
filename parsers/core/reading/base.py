"""What the readers of all shapes have in common."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from ..reader import Step
from ..shapes import Shape

if TYPE_CHECKING:
    from ..driver import Run


class Outcome(enum.Enum):
    """What was found where a call could stand."""

    CALL = "a call was read"
    OTHER = "something whole that is no call was read; a sibling may follow"
    NOTHING = "no call stands here"


class ShapeReader:
    """Reads calls of one shape. Made once for each format: what differs from message to message is
    in the `Run`."""

    def __init__(self, shape: Shape) -> None:
        self.separators: str = shape.separators

    def may_start(self, character: str) -> bool:
        """Whether a call can begin with `character`."""
        return False

    def read(self, run: Run) -> Step[Outcome]:
        """Read one call at the reading position."""
        yield from ()
        return Outcome.NOTHING
