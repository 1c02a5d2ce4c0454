"""A list of calls in which a member is none: it is prose, and the next member may be a call again.

    [{"name": "not_a_tool"}, {"name": "add", "arguments": {…}}]
    [see(above), add(a=1, b=2)]

What stands in the list is passed on as prose as it comes. `OpenList` is told all of it and says where
the next member begins: behind a comma that stands in the list itself, and in no string.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_TOKENS: Final = {quotes: re.compile(rf"[\\{quotes}\[\](){{}},#]") for quotes in ('"', "\"'")}
_SPACE: Final = re.compile(r"\s*").match


class OpenList:
    """Where in a list a text stands. It begins in front of the list, or (`inside`) in it."""

    __slots__ = (
        "_comment",
        "_comments",
        "_depth",
        "_escaped",
        "_expecting",
        "_quote",
        "_tokens",
        "over",
    )

    def __init__(self, quotes: str, comments: bool, inside: bool) -> None:
        self._tokens = _TOKENS[quotes]
        self._comments = comments
        self._depth = 1 if inside else 0
        self._quote = ""
        self._escaped = False  # a backslash was the last that came
        self._comment = False
        self._expecting = False  # a member begins with the next character that is no space
        self.over = False

    def read(self, text: str) -> None:
        """The next piece of text, in which no member is looked for."""
        self.next_member(text, 0, len(text), _none)

    def next_member(self, text: str, start: int, end: int, may_start: Callable[[str], bool]) -> int:
        """Read from `start` to `end`, or to where a member begins that may be a call: that place, which
        may be `end` itself; -1 if there is none."""
        place = start
        while not self.over:
            if self._comment:
                place = text.find("\n", place, end)
                if place < 0:
                    return -1
                self._comment = False
            if self._expecting:
                place = _SPACE(text, place).end()  # type: ignore[union-attr]  # always matches
                if place >= len(text) or place > end:
                    return -1
                if self._comments and text[place] == "#":
                    self._comment = True
                    continue
                self._expecting = False
                if may_start(text[place]):
                    return place
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
        elif c in "])}":
            self._depth -= 1
            self.over = self._depth <= 0
        elif c == ",":
            self._expecting = self._depth == 1
        elif c == "#":
            self._comment = self._comments


def _none(character: str) -> bool:
    return False
