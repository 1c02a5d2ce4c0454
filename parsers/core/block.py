"""The state of a block: what is known of the calls at hand beside their text.

A block begins at an opener, or where a call without one may begin, and lasts as long as calls follow
that belong together. This is all that is remembered of it. Only the driver changes it; a shape asks, and
reports what it saw (`Run.saw`).

| | changed by |
|---|---|
| `bare`, `opened` | openers, when a block begins; closers |
| `left_open` | a call, which makes the openers before it count; closers |
| `siblings` | a bracket that ends a list; the last closer |
| `lists`, `fenced`, `marked` | what a shape saw; what ends a list, or a fence |
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
        "left_open",
        "list_mark",
        "lists",
        "lists_before",
        "marked",
        "opened",
        "siblings",
    )

    def __init__(self) -> None:
        self.bare = False  # it has no wrapper
        self.marked = False  # … but a marker of its own
        self.fenced = False  # a code fence in it is open
        self.lists = 0  # lists in it that are open, one in the other
        self.list_mark = 0  # where in the held text lists begin, …
        self.lists_before = 0  # … and how many were open there already
        self.siblings = False  # another call may follow
        self.opened = 0  # the wrappers around it
        self.left_open = 0  # those that its calls have left open, also in prose later

    def begin(self) -> None:
        self.opened = self.left_open
        self.bare = True
        self.marked = self.fenced = False
        self.lists = 0
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

    def begin_lists(self, mark: int, count: int) -> None:
        if not self.lists:
            self.list_mark = mark
            self.lists_before = 0
        self.lists += count

    def list_opened(self, mark: int) -> None:
        """A list has begun with the opener before this place of the held text."""
        self.lists += 1
        self.list_mark = mark
        self.lists_before = self.lists

    def end_list(self) -> None:
        self.lists = max(0, self.lists - 1)

    def go_on_in_list(self) -> None:
        """What is held from here on stands in the lists that are open, if there are any."""
        self.list_mark = 0
        self.lists_before = self.lists

    def saw(self, what: Seen) -> None:
        if what == FENCE:
            self.fenced = True
        else:
            self.marked = True


def _outside(levels: int, level: int) -> int:
    """Those of the levels that are outside of `level`."""
    return levels & ((1 << level) - 1)
