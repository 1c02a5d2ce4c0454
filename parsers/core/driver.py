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

`Run` is one message on its way through that picture. It alone changes the `Block`.

Thoughts go through the same picture: `core/thoughts.py` says how.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from ..events import Content, Event, Reasoning
from ..schema.tools import UNDECLARED, Tool
from .block import FENCE, Block, Seen
from .format import Format
from .literals import Literals
from .outgoing import Outgoing
from .reasoning import ReasoningStyle
from .thoughts import Thoughts
from .triggers import ANSWER, INDENT, MARKERS, THOUGHT
from .window import Step, Window

if TYPE_CHECKING:
    from .shape import Shape

_FENCE: Final = Literals(["```"])
_LONGEST_FENCE_INFO: Final = 40


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

    def run(
        self,
        format: Format,
        tools: Mapping[str, Tool] | None,
        window: Window,
        style: ReasoningStyle | None,
    ) -> Run:
        """What reads a message in a format of this shape."""
        return Run(format, tools, window, style)

    def may_start(self, character: str) -> bool:
        """Whether a call can begin with `character`."""
        return False

    def read(self, run: Run) -> Step[Outcome]:
        """Read one call at the reading position."""
        yield from ()
        return NOTHING

    def read_arguments(self, run: Run, name: str) -> Step[Outcome]:
        """Read the arguments of a call whose name stands in the header of a part."""
        yield from ()
        return NOTHING


class Run:
    """One message being read in one format."""

    def __init__(
        self,
        format: Format,
        tools: Mapping[str, Tool] | None,
        window: Window,
        style: ReasoningStyle | None,
    ) -> None:
        self.format = format
        self.shape: ShapeReader = format.reading
        self.delimiters = format.delimiters
        self.tools = tools
        self.window = window
        self.out = Outgoing()
        self.thoughts = Thoughts(style, format.triggers(style))
        self._block = Block()
        self._innermost = 1 << len(format.wrappers) >> 1
        self.in_part = False  # the body of a part, which ends where the message does
        self.line_start = True  # only indentation stands between a line's start and here
        self._bare = format.bare  # a call may begin where a line does
        self._lines_count = format.bare or style is not None  # whether that matters
        self._before_trial: tuple[Outgoing, Block] = (self.out, self._block)

    # -- what shapes ask ----------------------------------------------------------------------

    @property
    def bare(self) -> bool:
        """Whether the block at hand has no wrapper."""
        return self._block.bare

    @property
    def unmarked(self) -> bool:
        """Whether nothing but its looks tells a call from prose in the block at hand."""
        return self._block.bare and not self._block.marked

    @property
    def opened(self) -> int:
        """The levels of wrappers around the block at hand, each a bit."""
        return self._block.opened

    def inside_all(self) -> bool:
        """Whether the innermost wrapper is open: names stand in the open only there."""
        return bool(self._block.opened & self._innermost)

    def allowed(self, name: str) -> bool:
        """Whether `name` makes a call here: any behind a marker, else only a declared one."""
        return bool(name) and (not self.unmarked or self.tools is None or name in self.tools)

    def tool(self, name: str) -> Tool:
        return (self.tools or {}).get(name, UNDECLARED)

    def closer(self) -> str | None:
        """The closer that stands here, or "". Reads nothing."""
        return self.delimiters.closes.here(self.window)

    # -- what shapes report -------------------------------------------------------------------

    def saw(self, what: Seen) -> None:
        self._block.saw(what)

    def skip_fence(self) -> Step[None]:
        """At a backtick: read the first line of a code fence, if that is one."""
        w = self.window
        while (fence := _FENCE.here(w)) is None:
            yield
        if not fence:
            return
        w.take(w.pos + 3)
        self._block.saw(FENCE)
        for _ in range(_LONGEST_FENCE_INFO):
            while (c := w.peek()) is None:
                yield
            if c in ("", "\n", "{", "[", "`"):
                break
            w.take(w.pos + 1)
        while w.space() is None:
            yield

    def commit(self) -> None:
        """What is held is the markup of a call, but for what was set aside."""
        if aside := self.window.commit():
            self.say(aside)

    def start_call(self, name: str, id: str | None = None) -> None:
        self.commit()
        if self.thoughts.active:
            self.thoughts.call_begins(self)
        self.out.start_call(name, id)

    def call_without_arguments(self, name: str, id: str | None = None) -> None:
        self.start_call(name, id)
        self.out.write("{}")
        self.out.end_call(True)

    def forget_repeat(self) -> None:
        """What is held is a call that repeats an earlier one: the markup of that one."""
        self.commit()
        self.out.pass_call()

    def release(self) -> None:
        """What is held is prose."""
        text = self.window.release()
        self.say(text)
        self.note_line(text)

    def say(self, text: str) -> None:
        """Text that is no part of a call."""
        if self.thoughts.active:
            self.out.reasoning(text)
        else:
            self.out.content(text)
            self.thoughts.note(text, self.line_start)

    # -- calls on trial -----------------------------------------------------------------------

    def begin_trial(self) -> None:
        """From here on, what is said and what is known of calls is kept apart."""
        self._before_trial = (self.out, self._block)
        self.out, self._block = self.out.apart(), Block()

    def end_trial(self, holds: bool) -> None:
        """Speak for real again; if it does not hold, nothing of it was."""
        self.out, block = self._before_trial
        if not holds:
            self._block = block

    def new_calls(self, events: list[Event]) -> list[Event]:
        """Those of the calls of a trial, which holds, that are not there already."""
        return events

    def read_calls(self) -> Step[bool]:
        """At what may begin a call: read it, and its siblings. Returns whether more may follow."""
        before = self.out.calls
        if (yield from self.read_block()):
            return True
        return (
            self.out.calls > before and self._bare and self.line_start and bool(self.window.peek())
        )

    # -- the machine --------------------------------------------------------------------------

    def main(self, in_reasoning: bool) -> Step[None]:
        if in_reasoning:
            yield from self.thoughts.from_the_start(self)
        at_opener = False
        while True:
            trigger = "open" if at_opener else (yield from self._prose())
            at_opener = False
            if trigger == "end":
                break
            if trigger in MARKERS:
                self.thoughts.read_marker(self, trigger)
            elif trigger == "close":
                at_opener = yield from self._after()
            elif self.thoughts.active:
                yield from self.thoughts.read_call(self)
            else:
                at_opener = yield from self.read_block()
        self.out.finish()

    def _prose(self) -> Step[str]:
        """Pass text on until something may begin a call; says what, and reads none of it."""
        w = self.window
        while True:
            kind, end = self._find_trigger(w.text, w.pos)
            if end > w.pos:
                self._text(w.take(end))
            if kind == "text":
                continue
            if kind and kind != "cut" and kind != "cutbare":
                return kind
            if w.stopped or w.eof:
                self._text(w.take(len(w.text)))
                return THOUGHT if w.stopped else "end"
            if w.pos == len(w.text) and not self.thoughts.in_code:
                w.wait_with(self._fast_path)
            yield

    def _fast_path(self, chunk: str) -> list[Event] | None:
        """The fast path in prose."""
        triggers, out = self.thoughts.triggers, self.out
        if not triggers.plain(chunk):
            return None
        if not self.line_start:
            if not out.thinking:
                if out.in_prose and not chunk[-1].isspace():
                    return [Content(chunk)]  # as nearly every token of an answer
            elif out.in_thoughts and not chunk[-1].isspace():
                return [Reasoning(chunk)]
        elif self._bare and triggers.line_start.match(chunk):
            return None
        return self._said(chunk)

    def _said(self, chunk: str) -> list[Event]:
        """The events of a chunk that is content, all of it."""
        self._text(chunk)
        return self.out.take_events()

    def _find_trigger(self, text: str, start: int) -> tuple[str, int]:
        """What may begin a call, and where: an opener, a closer that counts, a bare call. Or a marker of
        thoughts; one that does not count is text, up to its end."""
        thoughts = self.thoughts
        triggers = thoughts.triggers
        if self.line_start and self._bare:
            bare = triggers.line_start.match(text, start)
            if bare is not None:
                return ("bare" if bare.lastindex == 1 else "cut"), bare.end()
        while (found := triggers.anywhere.search(text, start)) is not None:
            kind = triggers.kinds[found.lastindex or 0]
            if kind == "bare" or kind == "cutbare":
                return kind, found.end()
            if kind in MARKERS:
                if thoughts.counts(self, kind, found[0], text[self.window.pos : found.start()]):
                    return kind, found.start()
                return "text", found.end()
            if kind != "close" or (self._block.left_open and not thoughts.active):
                return kind, found.start()
            if thoughts.ends_text(found[0]):
                return ANSWER, found.start()
            start = found.end()
        return "", len(text)

    def _text(self, text: str) -> None:
        self.say(text)
        if self._lines_count:
            self.note_line(text)
        else:
            self.line_start = False

    def note_line(self, text: str) -> None:
        """Keep track of where a line begins."""
        if self.line_start or "\n" in text:
            _, newline, tail = text.rpartition("\n")
            self.line_start = not tail.strip(INDENT) and (bool(newline) or self.line_start)

    def read_block(self) -> Step[bool]:
        """At an opener, or where a bare call may begin. Returns whether it ends at the next opener."""
        yield from self._read_openers()
        while True:
            outcome = yield from self.shape.read(self)
            if outcome == CALL:
                self._block.left_open = self._block.opened
                self.line_start = False
                return (yield from self._after())
            if outcome == NOTHING or not (yield from self._held_sibling()):
                self.release()
                return False

    def _read_openers(self) -> Step[None]:
        """Begin a block: read the wrappers' openers, outermost first, if there are any."""
        w, block, opens = self.window, self._block, self.delimiters.opens
        w.hold()
        block.begin()
        depth = 0
        while True:
            while (opener := opens.here(w)) is None:
                yield
            if not opener:
                return
            level = self.format.level_of[opener]
            if level < depth:  # the openers before this one led nowhere
                self.release()
                w.hold()
                block.begin()
            depth = level + 1
            block.open(level)
            w.take(w.pos + len(opener))
            while w.space() is None:
                yield

    def _held_sibling(self) -> Step[bool]:
        """Behind something that is no call, before any call of the block: may one follow?"""
        w, block = self.window, self._block
        while True:
            while w.space() is None:
                yield
            while (c := w.peek()) is None:
                yield
            if not c or c not in self.shape.separators:
                break
            w.take(w.pos + 1)
            block.listed = block.listed and c != "]"
        if not c or (block.bare and not block.listed):
            return False
        while (closer := self.closer()) is None:
            yield
        return not closer and self.shape.may_start(c)

    def _after(self) -> Step[bool]:
        """Behind a call, or at a closer in prose: read what is still markup. Returns whether that
        ends at an opener."""
        w, out, delimiters = self.window, self.out, self.delimiters
        while True:
            while (space := w.space()) is None:
                yield
            if space:
                out.gap(space)
                self.note_line(space)
            while (closer := delimiters.closes.here(w)) is None:
                yield
            if closer:
                out.gap_is_markup()
                w.take(w.pos + len(closer))
                self._block.close(delimiters.level_of[closer])
                continue
            if w.pos == len(w.text) or self._cut_off_closer():  # the message is over
                out.gap_is_markup()
                w.take(len(w.text))
                return False
            while (opener := delimiters.opens.here(w)) is None:
                yield
            while not opener and (thought := self.thoughts.follow(self)) is None:
                yield
            if opener or thought or not (yield from self._more_in_block()):
                out.gap_is_content()
                return bool(opener)

    def _cut_off_closer(self) -> bool:
        """Whether the message ends in the middle of a closer."""
        w, delimiters = self.window, self.delimiters
        if not w.eof:
            return False
        rest = w.text[w.pos :]
        return delimiters.closes.begun(rest) and (
            bool(self._block.left_open) or not delimiters.opens.begun(rest)
        )

    def _more_in_block(self) -> Step[bool]:
        """Inside the block, behind a call: read a separator, or a sibling."""
        w, shape, block = self.window, self.shape, self._block
        if not (block.left_open or block.bare):
            return False
        if block.fenced:
            while (fence := _FENCE.here(w)) is None:
                yield
            if fence:
                self.out.gap_is_markup()
                w.take(w.pos + 3)
                block.fenced = False
                return True
        c = w.text[w.pos]
        if c in shape.separators and not (block.bare and c in ",;"):
            self.out.gap_is_markup()
            w.take(w.pos + 1)
            if c == "]":
                block.listed = False
                block.siblings = block.siblings and shape.may_start("[")
            return True
        if block.bare and not block.listed and self.out.gap_has_newline():
            return False  # nothing but lines in common: a block of its own
        return (yield from self._sibling())

    def _sibling(self) -> Step[bool]:
        w, block = self.window, self._block
        w.hold()
        if block.bare and w.text[w.pos] in ",;":
            w.take(w.pos + 1)
            while w.space() is None:
                yield
        while (c := w.peek()) is None:
            yield
        if not block.siblings or not self.shape.may_start(c):
            outcome = NOTHING
        else:
            outcome = yield from self.shape.read(self)
        if outcome == NOTHING:
            self.out.gap_is_content()
            self.release()
            return False
        self.out.gap_is_markup()
        if outcome == OTHER:
            self.release()
        else:
            self.line_start = False
        return True
