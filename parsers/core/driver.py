"""Prose, blocks of calls, and what follows a call: the part that all formats share.

    prose ──opener──▶ block ──call read──▶ after ──other text──▶ prose
      ▲                 │ not a call            │ closer, sibling: stays in `after`
      └─────────────────┘                       └ opener: the next block

* **prose** passes text on as content and looks for what may begin a call: an opener anywhere, or, in
  formats that need none, the right character at the start of a line.
* **block** holds everything from the opener on until its shape has seen enough for a call. If that
  never happens, all of it was prose.
* **after** a call, closers, separators and whitespace are markup. Text is content; the block's own
  closer still counts when it comes behind such text, a closer without a block is content.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .events import Content, Event
from .literals import Literals
from .reader import Reader, Step
from .reading.base import CALL, NOTHING, OTHER, ShapeReader
from .spec import INDENT, Format
from .tools import UNDECLARED, Tool

_FENCE: Final = Literals(["```"])
_LONGEST_FENCE_INFO: Final = 40


def _outside(levels: int, level: int) -> int:
    """Those of the levels that are outside of `level`."""
    return levels & ((1 << level) - 1)


class Run:
    """One message being read in one format."""

    def __init__(self, format: Format, tools: Mapping[str, Tool] | None) -> None:
        self.format = format
        self.shape: ShapeReader = format.reading
        self.marks = format.marks
        self.tools = tools
        self.r = Reader()
        self.bare = False  # the block at hand has no wrapper
        self.marked = False  # … but a marker of its own
        self.fenced = False  # a code fence inside the block at hand is open
        self.listed = False  # a list inside the block at hand is open
        self.siblings = False  # another call may follow in the block at hand
        # Levels of wrappers, each a bit, the outermost the lowest:
        self.opened = 0  # those around the block at hand
        self._open = 0  # those that its calls have left open, also in prose later
        self._innermost = 1 << len(format.wrappers) >> 1
        self._line_start = True
        self._lines_count = format.bare  # whether it matters where a line begins

    # -- what shapes ask ----------------------------------------------------------------------

    @property
    def unmarked(self) -> bool:
        """Whether nothing but its looks tells a call from prose in the block at hand."""
        return self.bare and not self.marked

    def allowed(self, name: str) -> bool:
        """Whether `name` makes a call here: any behind a marker, else only a declared one."""
        return bool(name) and (not self.unmarked or self.tools is None or name in self.tools)

    def tool(self, name: str) -> Tool:
        return (self.tools or {}).get(name, UNDECLARED)

    def inside_all(self) -> bool:
        """Whether the innermost wrapper is open: names stand in the open only there."""
        return bool(self.opened & self._innermost)

    def at_closer(self) -> Step[bool]:
        while (found := self.marks.closes.seen(self.r)) is None:
            yield
        return bool(found)

    def skip_fence(self) -> Step[None]:
        """At a backtick: read the first line of a code fence, if that is one."""
        r = self.r
        while len(r.text) - r.pos < 3 and not r.eof:
            yield
        if not r.text.startswith("```", r.pos):
            return
        r.take(r.pos + 3)
        self.fenced = True
        for _ in range(_LONGEST_FENCE_INFO):
            if (yield from r.peek()) in ("", "\n", "{", "[", "`"):
                break
            r.take(r.pos + 1)
        yield from r.skip_space()

    # -- the machine --------------------------------------------------------------------------

    def main(self) -> Step[None]:
        at_opener = False
        while True:
            trigger = "open" if at_opener else (yield from self._prose())
            if trigger == "end":
                break
            if trigger == "close":
                at_opener = yield from self._after()
            else:
                at_opener = yield from self._block()
        self.r.finish()

    def _prose(self) -> Step[str]:
        """Pass text on until something may begin a call; says what, and reads none of it."""
        r = self.r
        while True:
            kind, end = self._find_trigger(r.text, r.pos)
            if end > r.pos:
                self._text(r.take(end))
            if kind in ("open", "bare", "close"):
                return kind
            if r.eof:
                self._text(r.take(len(r.text)))
                return "end"
            if r.pos == len(r.text):
                r.shortcut = self._passing
            yield

    def _passing(self, chunk: str) -> list[Event] | None:
        """The shortcut in prose."""
        format = self.format
        if not format.plain_prose(chunk):
            return None
        if not self._line_start:
            if self.r.in_prose and not chunk[-1].isspace():
                return [Content(chunk)]  # as nearly every token of an answer
        elif self._lines_count and format.triggers.line_start.match(chunk):
            return None
        return self._said(chunk)

    def _said(self, chunk: str) -> list[Event]:
        """The events of a chunk that is content, all of it."""
        self._text(chunk)
        return self.r.take_events()

    def _find_trigger(self, text: str, start: int) -> tuple[str, int]:
        """What may begin a call, and where: an opener, a closer that counts, a bare call."""
        triggers = self.format.triggers
        if self._line_start and self._lines_count:
            bare = triggers.line_start.match(text, start)
            if bare is not None:
                return ("bare" if bare.lastindex == 1 else "cut"), bare.end()
        while (found := triggers.anywhere.search(text, start)) is not None:
            kind = triggers.kinds[found.lastindex or 0]
            if kind == "bare" or kind == "cutbare":
                return kind, found.end()
            if kind != "close" or self._open:
                return kind, found.start()
            start = found.end()
        return "", len(text)

    def _text(self, text: str) -> None:
        self.r.content(text)
        if self._lines_count:
            self._note_line(text)
        else:
            self._line_start = False

    def _note_line(self, text: str) -> None:
        """Keep track of whether only indentation stands between a line's start and here."""
        if self._line_start or "\n" in text:
            _, newline, tail = text.rpartition("\n")
            self._line_start = not tail.strip(INDENT) and (bool(newline) or self._line_start)

    def _release(self) -> None:
        self._note_line(self.r.release())

    def _block(self) -> Step[bool]:
        """At an opener, or where a bare call may begin. Returns whether it ends at the next opener."""
        r = self.r
        r.hold()
        self.opened = self._open
        self.bare = not (yield from self._read_openers())
        self.marked = self.fenced = self.listed = False
        self.siblings = True
        while True:
            outcome = yield from self.shape.read(self)
            if outcome == CALL:
                self._open = self.opened
                self._line_start = False
                return (yield from self._after())
            if outcome == NOTHING or not (yield from self._held_sibling()):
                self._release()
                return False

    def _read_openers(self) -> Step[bool]:
        """Read the wrappers' openers, outermost first; whether there were any."""
        r, opens = self.r, self.marks.opens
        depth = 0
        while True:
            while (opener := opens.seen(r)) is None:
                yield
            if not opener:
                return depth > 0
            level = self.format.level_of[opener]
            if level < depth:  # the openers before this one led nowhere
                self._release()
                r.hold()
                self.opened = self._open
            depth = level + 1
            self.opened = _outside(self.opened, level) | 1 << level
            r.take(r.pos + len(opener))
            if r.space() is None:
                yield from r.skip_space()

    def _held_sibling(self) -> Step[bool]:
        """Behind something that is no call, before any call of the block: may one follow?"""
        r = self.r
        while True:
            yield from r.skip_space()
            c = yield from r.peek()
            if not c or c not in self.shape.separators:
                break
            r.take(r.pos + 1)
            self.listed = self.listed and c != "]"
        if self.bare and not self.listed:
            return False
        return bool(c) and not (yield from self.at_closer()) and self.shape.may_start(c)

    def _after(self) -> Step[bool]:
        """Behind a call, or at a closer in prose: read what is still markup. Returns whether that
        ends at an opener."""
        r, marks = self.r, self.marks
        while True:
            space = r.space()
            if space is None:
                space = yield from r.skip_space()
            if space:
                r.gap(space)
                self._note_line(space)
            while (closer := marks.closes.seen(r)) is None:
                yield
            if closer:
                r.gap_is_markup()
                r.take(r.pos + len(closer))
                self._close(closer)
                continue
            if r.pos == len(r.text) or self._cut_off_closer():  # the message is over
                r.gap_is_markup()
                r.take(len(r.text))
                return False
            while (opener := marks.opens.seen(r)) is None:
                yield
            if opener or not (yield from self._more_in_block()):
                r.gap_is_content()
                return bool(opener)

    def _close(self, closer: str) -> None:
        level = self.marks.level_of[closer]
        self._open = self.opened = _outside(self._open, level)
        if not self._open:
            self.bare = self.siblings = False

    def _cut_off_closer(self) -> bool:
        """Whether the message ends in the middle of a closer."""
        r = self.r
        if not r.eof:
            return False
        rest = r.text[r.pos :]
        return self.marks.closes.begun(rest) and (
            bool(self._open) or not self.marks.opens.begun(rest)
        )

    def _more_in_block(self) -> Step[bool]:
        """Inside the block, behind a call: read a separator, or a sibling."""
        r, shape = self.r, self.shape
        if not (self._open or self.bare):
            return False
        if self.fenced and (yield from _FENCE.here(r)):
            r.gap_is_markup()
            r.take(r.pos + 3)
            self.fenced = False
            return True
        c = r.text[r.pos]
        if c in shape.separators and not (self.bare and c in ",;"):
            r.gap_is_markup()
            r.take(r.pos + 1)
            if c == "]":
                self.listed = False
                self.siblings = self.siblings and shape.may_start("[")
            return True
        if self.bare and not self.listed and r.gap_has_newline():
            return False  # nothing but lines in common: a block of its own
        return (yield from self._sibling())

    def _sibling(self) -> Step[bool]:
        r = self.r
        r.hold()
        if self.bare and r.text[r.pos] in ",;":
            r.take(r.pos + 1)
            yield from r.skip_space()
        c = yield from r.peek()
        if not self.siblings or not self.shape.may_start(c):
            outcome = NOTHING
        else:
            outcome = yield from self.shape.read(self)
        if outcome == NOTHING:
            r.gap_is_content()
            self._release()
            return False
        r.gap_is_markup()
        if outcome == OTHER:
            self._release()
        else:
            self._line_start = False
        return True
