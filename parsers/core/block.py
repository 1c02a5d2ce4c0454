"""The state of a block: what is known of the calls at hand beside their text.

A block begins at an opener, or where a call without one may begin, and lasts as long as calls follow
that belong together. This is all that is remembered of it. Only the driver changes it; a shape asks, and
reports what it saw (`Run.saw`).

| | changed by |
|---|---|
| `bare`, `opened` | openers, when a block begins; closers |
| `left_open` | a call, which makes the openers before it count; closers |
| `siblings` | a bracket that ends a list; the last closer |
| `listed`, `fenced`, `marked` | what a shape saw; what ends a list, or a fence |
"""

from __future__ import annotations

from typing import Final, TypeAlias

#: What a shape can report.
Seen: TypeAlias = int
FENCE: Final = 0  # a code fence begins
MARKER: Final = 1  # what follows can only be calls


class Block:
    """Levels of wrappers are bits, the outermost the lowest."""

    __slots__ = (
        "bare",
        "fenced",
        "in_list",
        "left_open",
        "list_mark",
        "listed",
        "marked",
        "opened",
        "siblings",
    )

    def __init__(self) -> None:
        self.bare = False  # it has no wrapper
        self.marked = False  # … but a marker of its own
        self.fenced = False  # a code fence in it is open
        self.listed = False  # a list in it is open
        self.list_mark = 0  # where in the held text it begins, …
        self.in_list = False  # … or whether all of that stands in it
        self.siblings = False  # another call may follow
        self.opened = 0  # the wrappers around it
        self.left_open = 0  # those that its calls have left open, also in prose later

    def begin(self) -> None:
        self.opened = self.left_open
        self.bare = True
        self.marked = self.fenced = self.listed = False
        self.siblings = True

    def open(self, level: int) -> None:
        self.bare = False
        self.opened = _outside(self.opened, level) | 1 << level

    def close(self, level: int, wrappers: int) -> None:
        """A closer at this level; behind those of so many wrappers come the call's own."""
        if self.bare and level == wrappers:
            return  # without a wrapper, a sibling may follow
        self.left_open = self.opened = _outside(self.left_open, level)
        if not self.left_open:
            self.bare = self.siblings = False

    def begin_list(self, mark: int) -> None:
        self.listed = True
        self.in_list = False
        self.list_mark = mark

    def go_on_in_list(self) -> None:
        """What is held from here on stands in the list, if one is open."""
        self.in_list = True

    def saw(self, what: Seen) -> None:
        if what == FENCE:
            self.fenced = True
        else:
            self.marked = True


def _outside(levels: int, level: int) -> int:
    """Those of the levels that are outside of `level`."""
    return levels & ((1 << level) - 1)
