"""What ends a text between tags, in which nothing is escaped.

A closing tag is the end only if the *chain* that it begins reaches structure: another element, the
closers of everything that is open, the end of the message, or another call. A chain that breaks off is
text. The value's own closer may be missing, but then the chain has to begin a line, or the message has
to end, or another call to begin, right behind it; behind the value's own closer, one that comes twice
or belongs to nothing is markup.

Where tags have a marker, one without it is text. But models forget it before closing tags: the
value's own closer counts without it if a marked tag follows that is not the same closer.
"""

from __future__ import annotations

import re
from typing import Final

from ...core.driver import Run
from ...core.literals import any_of, first_of, plain_lines
from ...core.window import Step, Window
from .frames import Frames
from .markup import CALL_BEGINS, CALL_ENDS, CLOSING, CUT_OPENING, OPENING, TEXT, Mark, Markup

#: What a link of a chain means: there is no chain; more may follow, and this link is markup, or a
#: closer of the call; the chain ends well.
_BROKEN: Final = 0
_MARKUP: Final = 1
_OUTER: Final = 2
_ENDS: Final = 3


class Chains:
    """What all chains in a call's values have in common."""

    __slots__ = ("by_name", "frames", "item", "markup", "plan", "run")

    def __init__(self, run: Run, markup: Markup, plan: Plan, frames: Frames, item: str) -> None:
        self.run = run
        self.markup = markup
        self.plan = plan
        self.frames = frames
        self.item = item  # what items are called; "" where all elements have one name
        self.by_name = bool(item)


class Chain:
    """Reads what may end a text: closing tags in a row, and what follows them."""

    def __init__(self, chains: Chains, name: str, line_start: bool) -> None:
        self.chains = chains
        self.window: Window = chains.run.window
        self.name = name  # of the value's element
        self.line_start = line_start
        self.marker = bool(chains.markup.marker)
        self.own = len(chains.frames.open)  # the rank of the value's element
        self.rank = self.own + 1  # the lowest rank of those that were closed
        self.level = 1  # of the call and its wrappers, the outermost that was closed, counted down
        self.closed = False  # the value's own closer was read
        self.unmarked = False  # … without its marker, and nothing marked came since
        self.pieces: list[str] = []  # all that was read: text, if the chain breaks off
        self.outer: list[str] = []  # what is left to be read again: what closes the call

    def read(self) -> Step[bool]:
        """At a tag. Returns whether the chain leads to something; what it has read is markup then."""
        w, markup, plan = self.window, self.chains.markup, self.chains.plan
        space = ""
        while True:
            while (mark := markup.here(w, self.chains.run.delimiters)) is None:
                yield
            if mark.what == CLOSING:
                found = self._closing(mark)
            elif mark.what == CALL_ENDS:
                found = self._call_ends(mark)
            else:
                found = self._ends(mark)
            if found == _ENDS:
                left = "".join(self.outer) or (space if mark.what == TEXT else "")
                if left:
                    w.unread(left)
                return True
            if found == _BROKEN:
                if not self.pieces:
                    self.pieces.append(w.take(w.pos + max(mark.length, 1)))
                return False
            piece = w.take(w.pos + mark.length)
            self.pieces.append(piece)
            if found == _OUTER:
                self.outer.append(piece)
                if self.level == plan.last and (self.closed or self.line_start):
                    w.unread("".join(self.outer))
                    return True
            while (following := w.space()) is None:
                yield
            space = following
            self.pieces.append(space)
            if self.outer:
                self.outer.append(space)

    def _closing(self, mark: Mark) -> int:
        """At an element's closing tag."""
        is_own = mark.name == self.name or not self.chains.by_name
        first = self.rank > self.own
        if self.unmarked and mark.marked and is_own:
            return _BROKEN  # this is the closer, and the one before it was text
        if first and is_own:
            rank = self.own
        elif self.level <= 0 or (first and not mark.marked):
            rank = 0
        else:
            rank = self.chains.frames.rank(mark, min(self.rank, self.own))
        if not rank:
            return _MARKUP if self.closed else _BROKEN
        self.unmarked = not mark.marked and (first or self.unmarked)
        self.rank = rank
        self.closed = self.closed or rank == self.own
        return _MARKUP

    def _call_ends(self, mark: Mark) -> int:
        """At a closer of the call, or of what is around it."""
        plan = self.chains.plan
        level = plan.levels.get(mark.name)
        if level is None or not (mark.marked or self.closed):
            return _MARKUP if self.closed else _BROKEN
        if mark.marked:
            self.unmarked = False
        self.level = min(self.level, level)
        whole = self.closed and not self.outer and plan.row.match(self.window.text, self.window.pos)
        return _ENDS if whole else _OUTER

    def _ends(self, mark: Mark) -> int:
        """At something else than a closer."""
        begun = self.closed or self.rank <= self.own or self.level <= 0
        if not begun:
            counts = mark.what == OPENING and self._unclosed(mark)
        elif mark.what == OPENING:
            counts = self.level > 0 and (self.closed or self.marker or self.line_start)
        elif mark.what == CUT_OPENING:
            counts = self.level > 0 and not self.unmarked
        elif mark.what == TEXT:
            inside = self.marker and self.closed and self.level > 0 and self.rank > 1
            counts = inside and not self.unmarked
        else:
            counts = mark.what == CALL_BEGINS or not self.unmarked or self.level <= 0
        return _ENDS if counts else _BROKEN

    def _unclosed(self, mark: Mark) -> bool:
        """At an opening tag in a value that was not closed: whether it is the next one beside it."""
        parent = self.chains.frames.last
        if not (self.marker or self.line_start):
            return False
        if parent.is_list:
            return self.chains.by_name and mark.name == self.name == self.chains.item
        return parent.place.declares(mark.name) and mark.name not in parent.keys


class Plan:
    """What to look for in a call's values."""

    __slots__ = ("last", "levels", "plain", "row", "stops")

    def __init__(self, run: Run, markup: Markup, around: list[tuple[str, ...]]) -> None:
        """`around` are the closers of the wrappers that are open, innermost first."""
        own = run.delimiters.levels[-1].spellings
        rows = [own, *[close for close in around if close]]
        #: the levels of closers: 0 is the call's own, each wrapper around it one less
        self.levels: dict[str, int] = {}
        for level, closers in enumerate(rows):
            for closer in closers:
                self.levels.setdefault(closer, -level)
        self.last = 1 - len(rows)
        #: closers of the call and of all that is around it, or of the call before another one
        every = r"\s*".join(f"(?:{any_of(closers)})" for closers in rows)
        another = rf"(?:{any_of(own)})\s*(?:{any_of(run.delimiters.starts.spellings)})"
        self.row: re.Pattern[str] = re.compile(f"{every}|{another}")
        tags = [*markup.spellings, *self.levels]
        #: what to stop at in a text, or its beginning
        self.stops: re.Pattern[str] = first_of(tags)
        #: for fast paths: text in which nothing has to be looked at
        self.plain = plain_lines([*tags, *run.delimiters.turn_ends])
