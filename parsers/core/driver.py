"""Prose, blocks of calls, and what follows a call: the part that all formats share.

    prose ──opener──▶ block ──call read──▶ after ──other text──▶ prose
      ▲                 │ not a call            │ closer, sibling: stays in `after`
      └─────────────────┘                       └ opener: the next block

* **prose** passes text on as content and looks for what may begin a call (`core/prose.py`).
* **block** holds everything from the opener on until its shape has seen enough for a call. If that
  never happens, all of it was prose.
* **after** a call, closers, separators and whitespace are markup. Text is content; the block's own
  closer still counts when it comes behind such text, a closer without a block is content.

In a list, a member that is no call takes nobody with it: prose goes on up to the next member.

`Run` is one message on its way through that picture. It alone changes the `Block`.

Thoughts go through the same picture: `core/thoughts.py` says how.
"""

from __future__ import annotations

from ..events import Event
from ..schema.tools import UNDECLARED, Tool
from .block import Block, Seen
from .context import Context
from .names import word_ahead
from .open_list import OpenList
from .prose import CODE_FENCE, Prose
from .shape_reader import CALL, NOTHING, OTHER, Outcome
from .spelling import Spelling
from .triggers import MARKERS, MEMBER
from .window import Step


class Run(Prose):
    """One message being read in one format."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._innermost = 1 << len(self.format.wrappers) >> 1
        self.in_part = False  # the body of a part, which ends where the message does
        self.spelling = Spelling(self.format.own_spelling)
        layout = self.format.layout
        self._names_first = context.constrained and not (layout and layout.id_follows_name)
        self._named = False  # the call at hand was begun with its name
        self._before_trial = (self.out, self._block, self.spelling)

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
    def listed(self) -> bool:
        """Whether a list of calls is open in the block at hand."""
        return self._block.lists > 0

    @property
    def opened(self) -> int:
        """The levels of wrappers around the block at hand, each a bit."""
        return self._block.opened

    def closers_around(self) -> list[tuple[str, ...]]:
        """What closes the wrappers around the block at hand, innermost first."""
        wrappers = enumerate(self.format.wrappers)
        around = [wrapper.close for level, wrapper in wrappers if self.opened >> level & 1]
        return around[::-1]

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

    def begin_lists(self, mark: int, count: int = 1) -> None:
        """So many lists begin at this place of the held text, one in the other; calls may be in them."""
        self._block.begin_lists(mark, count)

    def gap(self, space: str) -> None:
        """Whitespace behind a call, of which it is not known yet what it is."""
        self.out.gap(space)
        self.note_line(space)

    def end_fence(self) -> Step[None]:
        """Inside a call: read the end of the code fence that its arguments stood in, if it comes."""
        w, block = self.window, self._block
        if not block.fenced:
            return
        while (space := w.space()) is None:
            yield
        while (fence := CODE_FENCE.here(w)) is None:
            yield
        if fence:
            w.take(w.pos + 3)
            block.fenced = False
        elif space:
            w.unread(space)

    def commit(self) -> None:
        """What is held is the markup of a call, but for what was set aside."""
        if aside := self.window.commit():
            self.say(aside)

    def named(self, name: str, id: str | None = None) -> None:
        """The name is known of what may be a call. Where a grammar holds the model to its calls, it is
        one, and who waits for its name has it before the arguments begin. (Thoughts are free.)"""
        if self._names_first and name in (self.tools or ()) and not self.thoughts.active:
            self.out.start_call(name, id)
            self._named = True

    def start_call(self, name: str, id: str | None = None) -> None:
        if self.spelling.looks:
            w, block = self.window, self._block
            head = w.held_since(0) + w.text[w.pos : w.pos + 1]
            self.spelling.call(head, name, block.bare, block.fenced)
        self.commit()
        if self.thoughts.active:
            self.thoughts.call_begins(self)
        if self._named:
            self._named = False
        else:
            self.out.start_call(name, id)

    def call_without_arguments(self, name: str, id: str | None = None) -> None:
        self.start_call(name, id)
        self.out.write("{}")
        self.out.end_call(True)

    def _end_named(self) -> Outcome:
        """A call that has its name was cut off before its arguments."""
        self._named = False
        self.commit()
        self.out.end_call(False)
        return CALL

    def nearly(self) -> None:
        """What is held has a marker of calls, and is none. A word is no marker: people just say it."""
        if not self.window.held_since(0)[:1].isalpha():
            self.spelling.nearly()

    def forget_repeat(self) -> None:
        """What is held is a call that repeats an earlier one: the markup of that one."""
        self.commit()
        self.out.pass_call()

    def release(self) -> None:
        """What is held is prose."""
        text = self.window.release()
        self.say(text)
        self.note_line(text)

    # -- calls on trial -----------------------------------------------------------------------

    def begin_trial(self) -> None:
        """From here on, what is said and what is known of calls is kept apart."""
        self._before_trial = (self.out, self._block, self.spelling)
        self.out, self._block, self.spelling = self.out.apart(), Block(), self.spelling.apart()

    def end_trial(self, holds: bool) -> None:
        """Speak for real again; if it does not hold, nothing of it was."""
        self.out, block, spelling = self._before_trial
        self._open_list = None  # of a call that is a thought, nothing follows
        if not holds:
            self._block, self.spelling = block, spelling

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
        if self.format.prompt_opens and not in_reasoning:
            at_opener = yield from self._opened_by_prompt()
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
                yield from self.thoughts.read_call(self, trigger == MEMBER)
            elif trigger == MEMBER:
                at_opener = yield from self.read_member()
            else:
                at_opener = yield from self.read_block()
        self.spelling.over(goes_on=not self.out.fresh)
        self.out.finish()

    def _opened_by_prompt(self) -> Step[bool]:
        """Where the message begins: read the call whose opener the prompt has written, if it is one.
        That takes a name that is known, and its line. Returns whether it ends at the next opener."""
        w = self.window
        while (name := word_ahead(w)) is None:
            yield
        while (c := w.peek(len(name))) is None:
            yield
        self._block.begin()
        if c not in ("\r", "\n") or not (self.allowed(name) or name in self.shape.text_names):
            return False
        w.hold()
        self._block.open(len(self.format.wrappers) - 1)
        return (yield from self._read_first_call())

    def read_block(self) -> Step[bool]:
        """At an opener, or where a bare call may begin. Returns whether it ends at the next opener."""
        yield from self._read_openers()
        return (yield from self._read_first_call())

    def read_member(self) -> Step[bool]:
        """At the next member of a list in which one before it was no call. All that is known of the
        block still holds. Returns what `read_block` does."""
        here, self._open_list = self._open_list, None
        assert here is not None
        self.window.hold()
        self._block.lists = here.lists
        self._block.go_on_in_list()
        return (yield from self._read_first_call())

    def _read_first_call(self) -> Step[bool]:
        while True:
            outcome = yield from self.shape.read(self)
            if self._named:
                outcome = self._end_named()
            if outcome == CALL:
                self._block.left_open = self._block.opened
                self.line_start = False
                ends_at_opener = yield from self._after()
                if self._block.fenced:
                    self.thoughts.fence_goes_on()
                return ends_at_opener
            if outcome == NOTHING or not (yield from self._held_sibling()):
                if not self._block.bare:
                    self.nearly()
                self._no_call()
                return False

    def _no_call(self) -> None:
        """What is held is prose. If a list was begun in it, its next member may be a call."""
        block, shape = self._block, self.shape
        if block.lists:
            nested = shape.may_start("[")
            here = OpenList(shape.quotes, shape.comments, nested, block.lists_before)
            here.read(self.window.held_since(block.list_mark))
            here.refuse()
            self._open_list = here
        self.release()

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
                self.nearly()
                self.release()
                w.hold()
                block.begin()
            depth = level + 1
            block.open(level)
            w.take(w.pos + len(opener))
            if opener.endswith("["):
                block.list_opened(w.mark())
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
            if c == "]":
                block.end_list()
        if not c or (block.bare and not block.lists):
            return False
        while (closer := self.closer()) is None:
            yield
        while (opener := self.delimiters.opens.here(w)) is None:
            yield
        return not closer and not opener and self.shape.may_start(c)

    def _after(self) -> Step[bool]:
        """Behind a call, or at a closer in prose: read what is still markup. Returns whether that
        ends at an opener."""
        w, out, delimiters = self.window, self.out, self.delimiters
        while True:
            while (space := w.space()) is None:
                yield
            if space:
                self.gap(space)
            while (closer := delimiters.closes.here(w)) is None:
                yield
            if closer:
                out.gap_is_markup()
                w.take(w.pos + len(closer))
                self.spelling.closed(closer)
                self._block.close(delimiters.level_of[closer], len(self.format.wrappers))
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
            while (fence := CODE_FENCE.here(w)) is None:
                yield
            if fence or (w.eof and CODE_FENCE.begun(w.text[w.pos :])):  # the message may end in it
                self.out.gap_is_markup()
                w.take(min(w.pos + 3, len(w.text)))
                block.fenced = False
                return True
        c = w.text[w.pos]
        in_prose = block.bare and not self.in_part
        if c in shape.separators and not (in_prose and c in ",;"):
            self.out.gap_is_markup()
            w.take(w.pos + 1)
            if c == "]":
                block.end_list()
                block.siblings = block.siblings and shape.may_start("[")
            return True
        if block.bare and not (block.lists or block.fenced) and self.out.gap_has_newline():
            return False  # nothing but lines in common: a block of its own
        return (yield from self._sibling())

    def _sibling(self) -> Step[bool]:
        w, block = self.window, self._block
        w.hold()
        block.go_on_in_list()
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
            if self._named:
                outcome = self._end_named()
        if outcome == NOTHING:
            self.out.gap_is_content()
            self._no_call()
            return False
        self.out.gap_is_markup()
        if outcome == OTHER:
            self.release()
        else:
            self.line_start = False
        return True
