"""What the driver asks of a shape: to read one call where one may begin.

The readers themselves are in `shapes/`, one for each shape; how to write one is in
docs/adding-a-shape.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from .context import Context
from .window import Step, Window

if TYPE_CHECKING:
    from .driver import Run
    from .shape import Shape

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
        #: what a list of calls may have in it: strings in these quotes, comments
        self.quotes = '"'
        self.comments = False
        #: names that say that no call follows, but text
        self.text_names: tuple[str, ...] = ()

    def own_run(self, context: Context) -> Run | None:
        """What reads a whole message in a format of this shape, where that is not the driver's `Run`."""
        return None

    def may_start(self, character: str) -> bool:
        """Whether a call can begin with `character`."""
        return False

    def begins(self, window: Window) -> bool | None:
        """Whether the first call of a block can begin at the reading position, written as this shape
        has it and not as a model does that drifts; None as long as the text does not tell."""
        return True

    def read(self, run: Run) -> Step[Outcome]:
        """Read one call at the reading position."""
        yield from ()
        return NOTHING

    def read_arguments(self, run: Run, name: str) -> Step[Outcome]:
        """Read the arguments of a call whose name stands in the header of a part."""
        yield from ()
        return NOTHING
