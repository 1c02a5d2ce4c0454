"""Calls in plain text, for models that were never trained on tools.

    I will look it up.
    SearchDatabase(query="python libraries", limit=10)

A call is found by its parenthesis: the word directly before it is the name. Code is not searched:
inline code is prose, and so is a fenced block, unless its first line begins a call; then the fence is
markup and its calls are calls.
"""

from __future__ import annotations

import re
from typing import Final

from ...core.callargs import CallArguments, arguments_begin
from ...core.context import Context
from ...core.dialects import Dialect
from ...core.driver import Run
from ...core.literals import MOST_REPEATS
from ...core.names import ASCII, IN_NAME, LONGEST, in_name, may_begin_name, word_ahead
from ...core.shape_reader import ShapeReader
from ...core.triggers import MARKERS, THOUGHT
from ...core.window import Step
from ...events import Content, Event
from ...schema.tools import NameIndex
from .repeats import Repeats

_DIALECT: Final = Dialect()
_PROSE: Final = re.compile(r"[(`]")
_THOUGHTS: Final = re.compile(r"\(")
_CODE: Final = re.compile(r"[`\n]")
#: text in which no parenthesis stands behind a name, and the word at its end
_PLAIN_PROSE: Final = re.compile(
    rf"(?:[^(`]*(?:(?<!{IN_NAME})\([^(`]*){{0,{MOST_REPEATS}}}(?:[^(`{IN_NAME[1:]}|(?<!{IN_NAME})\())?"
    rf"({IN_NAME}*)"
).fullmatch
_TICKS: Final = re.compile(r"`+").match
_LONGEST_FENCE_LINE: Final = 100


class CallTextReader(ShapeReader):
    """Where in a text a call may stand, only `TextRun` knows: it reads by itself."""

    def own_run(self, context: Context) -> Run:
        return TextRun(context)


class TextRun(Run):
    """One message being read as text with calls in it."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._block.begin()  # all of the message
        self._lines_count = True
        self._repeats = Repeats()
        self._earlier = self._repeats  # those before a trial
        self._marked = context.style is not None
        self._end_sign = context.format.turn_ends.sign
        self._before = ""  # the character before the window
        self._code = 0  # backticks that opened the inline code at hand
        self._fence = 0  # backticks that opened the fenced block at hand
        self._fence_of_calls = False
        names = context.known.names if context.known else NameIndex(context.tools or ())
        self._names = names
        self._initials = names.initials
        self._longest = names.longest if context.tools else LONGEST

    def main(self, in_reasoning: bool) -> Step[None]:
        w = self.window
        if in_reasoning:
            yield from self.thoughts.from_the_start(self)
        while True:
            kind, at = self._find_next()
            if kind in MARKERS:
                self._pass(at)
                self._at_marker(kind)
            elif kind == "(":
                yield from self._at_parenthesis(at)
            elif kind == "\n":
                self._code = 0
                self._pass(at + 1)
            elif kind == "`":
                yield from self._at_ticks(at)
            elif kind == "text":
                self._pass(at)
            else:
                self._pass(at)
                if w.stopped or w.eof:
                    self._pass(len(w.text))
                    if not w.stopped:
                        break
                    self._at_marker(THOUGHT)
                    continue
                if w.pos == len(w.text) and not self._in_code() and not self._fence:
                    w.wait_with(self._fast_path)
                yield
        self.out.finish()

    def _find_next(self) -> tuple[str, int]:
        """What comes next that means something, and where; "" where nothing does, with the place up to
        which text may be passed on."""
        w = self.window
        in_code = self._in_code()
        what = _CODE if in_code else _THOUGHTS if self.thoughts.active else _PROSE
        found = what.search(w.text, w.pos)
        end = found.start() if found else len(w.text)
        if self._marked and not in_code:
            marker = self.thoughts.triggers.anywhere.search(w.text, w.pos, len(w.text))
            if marker is not None and marker.start() < end:
                return self._marker(marker)
        if found is not None:
            return found[0], end
        return "", end - self._possible_name(end)

    def _marker(self, found: re.Match[str]) -> tuple[str, int]:
        """A marker of thoughts, or the beginning of one."""
        thoughts, at = self.thoughts, found.start()
        kind = thoughts.triggers.kinds[found.lastindex or 0]
        if kind == "cut":
            return "", at
        if thoughts.counts(self, kind, found[0], self.window.text[self.window.pos : at]):
            return kind, at
        return "text", found.end()

    def _at_marker(self, kind: str) -> None:
        self.thoughts.read_marker(self, kind)
        self._before = ""

    def _in_code(self) -> bool:
        """Whether no call can stand here. In thoughts, one in code is none because more follows it."""
        return not self.thoughts.active and (bool(self._code) or self._in_prose_fence())

    def _in_prose_fence(self) -> bool:
        return bool(self._fence) and not self._fence_of_calls

    def _pass(self, end: int) -> None:
        """Text up to `end` is content."""
        if end > self.window.pos:
            text = self.window.take(end)
            self._text(text)
            self._before = text[-1]

    def _fast_path(self, chunk: str) -> list[Event] | None:
        """The fast path in prose: text without a call's parenthesis or a backtick that does not end in
        what may become a name."""
        found = _PLAIN_PROSE(chunk)
        if found is None or self._end_sign in chunk:
            return None
        if self._marked and not self.thoughts.triggers.plain.takes(chunk):
            return None
        word, before = found[1], self._before
        if word and word.isascii() and before <= "\x7f":  # as nearly always
            goes_on = before in ASCII and len(word) == len(chunk)
            if not goes_on and (self.tools is None or word[0] in self._initials):
                return None
        elif word and self._may_become_name(word, chunk):
            return None
        self._before = chunk[-1]
        if self.out.in_prose and not self.out.thinking and not self._before.isspace():
            self.line_start = False
            return [Content(chunk)]
        return self._said(chunk)

    def _may_become_name(self, word: str, chunk: str) -> bool:
        """Whether the word at the end of a chunk that is prose may be the beginning of a name."""
        before = self._before if len(word) == len(chunk) else " "
        tail = word if word.isascii() else word[_start_of_ascii(word, len(word), 0) :]
        if not in_name(before) and (self.tools is None or word[0] in self._initials):
            return True
        if not tail or (len(tail) == len(word) and before in ASCII):
            return False
        return self.tools is None or tail[0] in self._initials

    def _possible_name(self, end: int) -> int:
        """How many characters before `end` may be, or become, the name of a call."""
        last = self.window.text[end - 1 : end]
        if (last <= "\x7f" and last not in ASCII) or self._in_code():
            return 0
        whole, part = self._name_lengths(end)
        if self.tools is None or not part + whole:
            return whole or part
        return (
            whole if self._begins_name(end, whole) else part if self._begins_name(end, part) else 0
        )

    def _begins_name(self, end: int, length: int) -> bool:
        word = self.window.text[end - length : end]
        return bool(length) and self._names.begins_one(word)

    def _name_lengths(self, end: int) -> tuple[int, int]:
        """The length of the word that ends at `end`, and of the part of it that is ASCII; 0 where it is
        too long for a name, or where a part of it has been passed on already."""
        w, most = self.window, self._longest
        part = _start_of_ascii(w.text, end, max(w.pos, end - most - 1))
        before = w.text[part - 1] if part > w.pos else self._before
        if before <= "\x7f":  # nothing but ASCII
            length = end - part
            return (0, 0) if length > most or (before and before in ASCII) else (length, length)
        start = part
        while start > w.pos and end - start <= most and in_name(w.text[start - 1]):
            start -= 1
        before = w.text[start - 1] if start > w.pos else self._before
        whole = 0 if end - start > most or (before and in_name(before)) else end - start
        return whole, end - part if end - part <= most else 0

    def _is_name(self, word: str) -> bool:
        return self.allowed(word) and may_begin_name(word[0])

    def _at_parenthesis(self, at: int) -> Step[None]:
        w = self.window
        length, part = self._name_lengths(at)
        if length != part and not self._is_name(w.text[at - length : at]):
            length = part
        if not self._is_name(w.text[at - length : at]):
            self._pass(at + 1)
            return
        self._pass(at - length)
        if self.thoughts.active:
            yield from self.thoughts.read_call(self)
            return
        yield from self.read_block()

    def _call(self, name: str) -> Step[bool]:
        """Behind a name and its parenthesis, both held: read the call, if it is one."""
        w = self.window
        at_line_start = self.line_start
        while w.space() is None:
            yield
        if not (yield from arguments_begin(w, bare_words=at_line_start)):
            return False
        watched = self._repeats.begin(self, name)
        arguments = CallArguments(
            w,
            self.delimiters,
            _DIALECT,
            name,
            self.tool(name),
            self.tools,
            watched,
            text_like=True,
        )
        watched.end((yield from arguments.read()))
        self._before = ")"
        self.line_start = False
        return True

    # -- calls on trial -----------------------------------------------------------------------

    def begin_trial(self) -> None:
        super().begin_trial()
        self._earlier, self._repeats = self._repeats, Repeats()

    def end_trial(self, holds: bool) -> None:
        super().end_trial(holds)
        self._repeats = self._earlier
        self._before = ""

    def new_calls(self, events: list[Event]) -> list[Event]:
        return self._repeats.left_out(events)

    def read_calls(self) -> Step[bool]:
        if not (yield from self._call_here()):
            return False
        while (space := self.window.space()) is None:
            yield
        self.note_line(space)
        return True

    def read_block(self) -> Step[bool]:
        yield from self._call_here()
        return False

    def _call_here(self) -> Step[bool]:
        """Where a call may begin: read it, if it is one."""
        self.window.hold()
        name = yield from self._name_here()
        if name and (yield from self._call(name)):
            return True
        self.release()
        self._before = "("
        return False

    # -- code ---------------------------------------------------------------------------------

    def _at_ticks(self, at: int) -> Step[None]:
        """At backticks: inline code, a fenced block, or the end of one."""
        w = self.window
        self._pass(at)
        w.hold()
        count = 0
        c: str | None = "`"
        while c == "`":
            end = _TICKS(w.text, w.pos).end()  # type: ignore[union-attr]  # one stands here
            count += end - w.pos
            w.take(end)
            while (c := w.peek()) is None:
                yield
        fence = count >= 3 and self.line_start and not self._code
        if fence and not self._fence:
            yield from self._begin_fence(count)
            return
        if fence and count >= self._fence:
            if self._fence_of_calls:
                self.commit()
                self.line_start = False
            self._fence = 0
            self._fence_of_calls = False
        elif not self._in_prose_fence():
            self._code = 0 if self._code == count else self._code or count
        self.release()
        self._before = "`"

    def _begin_fence(self, count: int) -> Step[None]:
        """Behind a fence's backticks, held: is the first line in it a call?"""
        w = self.window
        for _ in range(_LONGEST_FENCE_LINE):
            while (c := w.peek()) is None:
                yield
            if c in ("", "\n"):
                break
            w.take(w.pos + 1)
        while w.space() is None:
            yield
        self._fence = count
        name = yield from self._name_here()
        if name and (yield from self._call(name)):
            self._fence_of_calls = True
            return
        text = w.release()
        self.say(text)
        self.line_start = False
        self.note_line(text)
        self._before = text[-1]

    def _name_here(self) -> Step[str]:
        """Read the name of a call and its parenthesis, if they stand here."""
        w = self.window
        while (name := word_ahead(w)) is None:
            yield
        if w.peek(len(name)) != "(" or not self._is_name(name):
            return ""
        w.take(w.pos + len(name) + 1)
        return name


def _start_of_ascii(text: str, end: int, floor: int) -> int:
    """Where the ASCII characters of a name begin that stand right before `end`."""
    start = end
    while start > floor and text[start - 1] in ASCII:
        start -= 1
    return start
