"""Prose: text that is passed on, and where in it a call may begin.

`Prose` is that part of a message on its way (`Run`, in the driver, has the calls). It passes text on as
content, or as a thought, and looks for what may begin a call: an opener anywhere; in formats that need
none, the right character at the start of a line, in some also in the middle of one; and in a list of
which a member was no call, the next member.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..events import Content, Event, Reasoning
from .block import FENCE, Block
from .context import Context
from .literals import Literals
from .open_list import OpenList
from .outgoing import Outgoing
from .thoughts import Thoughts
from .triggers import ANSWER, INDENT, INLINE, MARKERS, MEMBER, THOUGHT
from .window import Step

if TYPE_CHECKING:
    from .shape_reader import ShapeReader


#: What is found by its looks alone.
_BARE: Final = frozenset({"bare", "cutbare", INLINE})

CODE_FENCE: Final = Literals(["```"])
_LONGEST_FENCE_INFO: Final = 40


class Prose:
    """The text of one message that is being read in one format."""

    def __init__(self, context: Context) -> None:
        format, tools, style = context.format, context.tools, context.style
        self.format = format
        self.shape: ShapeReader = format.reading
        self.delimiters = format.delimiters
        self.tools = tools
        self.window = context.window
        self.out = Outgoing()
        self.thoughts = Thoughts(style, format.triggers(style, tools is not None))
        self._block = Block()
        self._plain = self.thoughts.triggers.plain  # for the fast path, where text waits
        self._open_list: OpenList | None = None  # the one that is being passed on
        self.line_start = True  # only indentation stands between a line's start and here
        self._bare = format.bare  # a call may begin where a line does
        self._lines_count = format.bare or style is not None  # whether that matters

    def say(self, text: str) -> None:
        """Text that is no part of a call."""
        if self.thoughts.active:
            self.out.reasoning(text)
        else:
            self.out.content(text)
            self.thoughts.note(text, self.line_start)

    def note_line(self, text: str) -> None:
        """Keep track of where a line begins."""
        if self.line_start or "\n" in text:
            _, newline, tail = text.rpartition("\n")
            self.line_start = not tail.strip(INDENT) and (bool(newline) or self.line_start)

    def first_character(self) -> Step[str | None]:
        """What a call may begin with: the next character, or the one behind the first line of a code
        fence, which is read. None where there are backticks and no such fence."""
        w = self.window
        while (c := w.peek()) is None:
            yield
        if c != "`":
            return c
        if not (yield from self.skip_fence()):
            return None
        while (c := w.peek()) is None:
            yield
        return c

    def skip_fence(self) -> Step[bool]:
        """At a backtick: read the first line of a code fence, a word at most. Returns whether there is
        one that may have calls in it: where prose has a fence open, this one closes it."""
        w, block = self.window, self._block
        while (fence := CODE_FENCE.here(w)) is None:
            yield
        if not fence:
            return False
        w.take(w.pos + 3)
        if block.bare and self.thoughts.in_fence:
            return False
        block.saw(FENCE)
        for _ in range(_LONGEST_FENCE_INFO):
            while (c := w.peek()) is None:
                yield
            if not c or c.isspace() or c in "{[`":
                break
            w.take(w.pos + 1)
        while w.space() is None:
            yield
        return True

    def _prose(self) -> Step[str]:
        """Pass text on until something may begin a call; says what, and reads none of it."""
        w = self.window
        while True:
            kind, end = self._find_trigger(w.text, w.pos)
            if self._open_list is not None:
                kind, end = self._in_open_list(kind, end)
            if end > w.pos:
                self._text(w.take(end))
            if kind == "text":
                continue
            if kind and kind != "cut" and kind != "cutbare":
                return kind
            if w.stopped or w.eof:
                self._open_list = None  # it ends with the text that it stands in
                self._text(w.take(len(w.text)))
                return THOUGHT if w.stopped else "end"
            if w.pos == len(w.text) and self._open_list is None and self.thoughts.settled:
                self._plain = self.thoughts.triggers.plain
                w.wait_with(self._fast_path)
            yield

    def _fast_path(self, chunk: str) -> list[Event] | None:
        """The fast path in prose."""
        if not self._plain.takes(chunk):
            return None
        out = self.out
        if not self.line_start:
            if not out.thinking:
                if out.in_prose and not chunk[-1].isspace():
                    return [Content(chunk)]  # as nearly every token of an answer
            elif out.in_thoughts and not chunk[-1].isspace():
                return [Reasoning(chunk)]
        elif self._bare and self.thoughts.triggers.line_start.match(chunk):
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
            if kind == INLINE:
                before = text[self.window.pos : found.start()]
                if not thoughts.in_inline_code(before, self.line_start):
                    return kind, found.start()
                return "text", found.end()
            if kind in MARKERS:
                if thoughts.counts(self, kind, found[0], text[self.window.pos : found.start()]):
                    return kind, found.start()
                return "text", found.end()
            if kind != "close" or self._closer_counts(found[0]):
                return kind, found.start()
            if thoughts.ends_text(found[0]):
                return ANSWER, found.start()
            start = found.end()
        return "", len(text)

    def _closer_counts(self, closer: str) -> bool:
        """Whether a closer in prose ends what a call has left open."""
        return bool(self._block.left_open) and not self.thoughts.active

    def _in_open_list(self, kind: str, end: int) -> tuple[str, int]:
        """In a list: the next member, where that comes before all else that was found. Inside of a
        member that is none of these, nothing counts in the middle of a line."""
        w, here = self.window, self._open_list
        assert here is not None
        last = end if kind in _BARE else end - 1  # where a delimiter stands, no member does
        member = here.next_member(w.text, w.pos, end, last, self.may_start_member)
        if member >= 0:
            return MEMBER, member
        if kind == INLINE and here.inside_member:
            here.read(w.text[end])
            kind, end = "text", end + 1
        if here.over or kind not in ("", "text", "cut", "cutbare"):
            self._open_list = None
        return kind, end

    def may_start_member(self, character: str) -> bool:
        """Whether a call can begin with `character` in the list that is being passed on."""
        return self.shape.may_start(character)

    def _text(self, text: str) -> None:
        self.say(text)
        if self._lines_count:
            self.note_line(text)
        else:
            self.line_start = False
