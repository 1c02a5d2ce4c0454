"""What the readers of all shapes have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from ..reader import Step
from ..shapes import Shape

if TYPE_CHECKING:
    from ..driver import Run


#: What was found where a call could stand: nothing; a call, which was read; something whole that is
#: no call and was read, and that a sibling may follow.
Outcome: TypeAlias = int
NOTHING: Final = 0
CALL: Final = 1
OTHER: Final = 2


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
        return NOTHING
