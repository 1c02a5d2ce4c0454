"""A list of calls in which a member is none: it is prose, and the next member may be a call again.

    [{"name": "not_a_tool"}, {"name": "add", "arguments": {…}}]
    [see(above), add(a=1, b=2)]
    [1, [2, {"name": "add", "arguments": {…}}]]

What stands in the list is passed on as prose as it comes. `OpenList` is told all of it and says where
the next member begins: behind a comma that stands in the list itself, and in no string. Where calls may
stand in a list in a list, that is as good as the one around it; all else in brackets is inside a member.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_TOKENS: Final = {quotes: re.compile(rf"[\\{quotes}\[\](){{}},#]") for quotes in ('"', "\"'")}
_SPACE: Final = re.compile(r"\s*").match


class OpenList:
    """Where in a list a text stands. It begins where a member of so many lists may, one in the other; of
    none: in front of the outermost."""

    __slots__ = (
        "_comment",
        "_comments",
        "_depth",
        "_escaped",
        "_expecting",
        "_inside",
        "_nested",
        "_quote",
        "_refused",
        "_tokens",
        "over",
    )

    def __init__(self, quotes: str, comments: bool, nested: bool, lists: int) -> None:
        self._tokens = _TOKENS[quotes]
        self._comments = comments
        self._nested = nested  # lists in lists may have calls in them
        self._depth = lists  # brackets open
        self._inside = 0  # the outermost that is no list's stands at this depth
        self._quote = ""
        self._escaped = False  # a backslash was the last that came
        self._comment = False
        self._expecting = True  # a member begins with the next character that is no space
        self._refused = False  # … but no call
        self.over = False

    @property
    def lists(self) -> int:
        """How many lists are open."""
        return self._inside - 1 if self._inside else self._depth

    @property
    def inside_member(self) -> bool:
        """Whether this is the inside of a member: in its brackets, or in a string."""
        return not self.over and (self._inside > 0 or bool(self._quote))

    def refuse(self) -> None:
        """What stands here, if it is a member, is no call: that was found out."""
        self._refused = self._expecting

    def read(self, text: str) -> None:
        """The next piece of text, in which no member is looked for."""
        self.next_member(text, 0, len(text), -1, _none)

    def next_member(
        self, text: str, start: int, end: int, last: int, may_start: Callable[[str], bool]
    ) -> int:
        """Read from `start` to `end`, or to where a member begins that may be a call: that place, which
        is `last` at most; -1 if there is none."""
        place = start
        while not self.over:
            if self._comment:
                place = text.find("\n", place, end)
                if place < 0:
                    return -1
                self._comment = self._refused = False
            if self._expecting:
                place = _SPACE(text, place).end()  # type: ignore[union-attr]  # always matches
                if place >= len(text) or place > end:
                    return -1
                c = text[place]
                if self._comments and c == "#":
                    self._comment = True
                    continue
                if place <= last and not self._refused and may_start(c):
                    self._expecting = False
                    return place
                if place == end:
                    return -1
                self._refused = False
                if c == "[" and (self._nested or not self._depth):
                    self._depth += 1
                    place += 1
                    continue
                self._expecting = False
            if self._escaped and place < end:
                self._escaped = False
                place += 1
            found = self._tokens.search(text, place, end)
            if found is None:
                return -1
            place = found.end()
            self._token(found[0])
            if self._escaped and place < end:
                self._escaped = False
                place += 1
        return -1

    def _token(self, c: str) -> None:
        if self._quote:
            if c == "\\":
                self._escaped = True
            elif c == self._quote:
                self._quote = ""
        elif c in "\"'":
            self._quote = c
        elif c in "[({":
            self._depth += 1
            self._inside = self._inside or self._depth
        elif c == "]" or (c in ")}" and self._inside):  # else it closes nothing
            self._depth -= 1
            self._inside = self._inside if self._inside <= self._depth else 0
            self.over = self._depth <= 0
        elif c == ",":
            self._expecting = not self._inside
        elif c == "#":
            self._comment = self._comments


def _none(character: str) -> bool:
    return False
