"""Calls in plain text, for models that were never trained on tools.

    I will look it up.
    SearchDatabase(query="python libraries", limit=10)

A call is found by its parenthesis: the word directly before it is the name. Code is not searched:
inline code is prose, and so is a fenced block, unless its first line begins a call; then the fence is
markup and its calls are calls.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ..callargs import CallArguments, Output, arguments_begin
from ..driver import Run
from ..events import Content, Event
from ..literals import MOST_REPEATS
from ..loose import Dialect
from ..names import LONGEST, PLAIN
from ..reader import Step
from ..repeats import Repeats
from ..spec import Format
from ..tools import Tool

_DIALECT: Final = Dialect()
_PROSE: Final = re.compile(r"[(`]")
_CODE: Final = re.compile(r"[`\n]")
_NAME: Final = "[A-Za-z0-9_.-]"
#: text in which no parenthesis stands behind a name, and the word at its end
_PLAIN_PROSE: Final = re.compile(
    rf"(?:[^(`]*(?:(?<!{_NAME})\([^(`]*){{0,{MOST_REPEATS}}}(?:[^(`{_NAME[1:]}|(?<!{_NAME})\())?"
    rf"({_NAME}*)"
).fullmatch
_TICKS: Final = re.compile(r"`+").match
_LONGEST_FENCE_LINE: Final = 100


class TextRun(Run):
    """One message being read as text with calls in it."""

    def __init__(self, format: Format, tools: Mapping[str, Tool] | None) -> None:
        super().__init__(format, tools)
        self.bare = True
        self._lines_count = True
        self._repeats = Repeats()
        self._before = ""  # the character before the window
        self._code = 0  # backticks that opened the inline code at hand
        self._fence = 0  # backticks that opened the fenced block at hand
        self._fence_of_calls = False
        names = tools or {}
        self._initials = frozenset(name[:1] for name in names)
        self._longest = max(map(len, names), default=0) if tools else LONGEST

    def main(self) -> Step[None]:
        r = self.r
        while True:
            search = (_CODE if self._code or self._in_prose_fence() else _PROSE).search
            found = search(r.text, r.pos)
            if found is None:
                self._pass(len(r.text) - self._possible_name(len(r.text)))
                if r.eof:
                    self._pass(len(r.text))
                    break
                if r.pos == len(r.text) and not self._code and not self._fence:
                    r.shortcut = self._passing
                yield
            elif found[0] == "(":
                yield from self._at_parenthesis(found.start())
            elif found[0] == "\n":
                self._code = 0
                self._pass(found.end())
            else:
                yield from self._at_ticks(found.start())
        r.finish()

    def _in_prose_fence(self) -> bool:
        return bool(self._fence) and not self._fence_of_calls

    def _pass(self, end: int) -> None:
        """Text up to `end` is content."""
        if end > self.r.pos:
            text = self.r.take(end)
            self._text(text)
            self._before = text[-1]

    def _passing(self, chunk: str) -> list[Event] | None:
        """The shortcut in prose: text without a call's parenthesis or a backtick that does not end in
        what may become a name."""
        found = _PLAIN_PROSE(chunk)
        if found is None:
            return None
        word, inside_word = found[1], self._before in PLAIN
        if inside_word and chunk[0] == "(":
            return None
        goes_on = inside_word and len(word) == len(chunk)
        if word and not goes_on and (self.tools is None or word[0] in self._initials):
            return None
        self._before = chunk[-1]
        if self.r.in_prose and not self._before.isspace():
            self._line_start = False
            return [Content(chunk)]
        return self._said(chunk)

    def _possible_name(self, end: int) -> int:
        """How many characters before `end` may be, or become, the name of a call."""
        if self._code or self._in_prose_fence():
            return 0
        length = self._name_length(end)
        if not length or self.tools is None:
            return length
        word = self.r.text[end - length : end]
        return length if any(name.startswith(word) for name in self.tools) else 0

    def _name_length(self, end: int) -> int:
        """The length of the word that ends at `end`; 0 where it is too long for a name, or where a
        part of it has been passed on already."""
        r = self.r
        start = end
        while start > r.pos and r.text[start - 1] in PLAIN:
            start -= 1
            if end - start > self._longest:
                return 0
        if start == r.pos and self._before in PLAIN and self._before:
            return 0
        return end - start

    def _at_parenthesis(self, at: int) -> Step[None]:
        r = self.r
        length = self._name_length(at)
        name = r.text[at - length : at]
        if not length or name[0] in "0123456789.-" or not self.allowed(name):
            self._pass(at + 1)
            return
        self._pass(at - length)
        r.hold()
        r.take(r.pos + length + 1)
        if not (yield from self._call(name)):
            self._release()
            self._before = "("

    def _call(self, name: str) -> Step[bool]:
        """Behind a name and its parenthesis, both held: read the call, if it is one."""
        r = self.r
        at_line_start = self._line_start
        if r.space() is None:
            yield from r.skip_space()
        if not (yield from arguments_begin(r, bare_words=at_line_start)):
            return False
        watched = self._repeats.begin(r, name)
        arguments = CallArguments(
            r,
            self.marks,
            _DIALECT,
            self.tool(name),
            Output(watched.write, watched.on_key, watched.on_value),
            declared=name in (self.tools or {}),
            text_like=True,
        )
        watched.end((yield from arguments.read()))
        self._before = ")"
        self._line_start = False
        return True

    # -- code ---------------------------------------------------------------------------------

    def _at_ticks(self, at: int) -> Step[None]:
        """At backticks: inline code, a fenced block, or the end of one."""
        r = self.r
        self._pass(at)
        r.hold()
        count = 0
        while (yield from r.peek()) == "`":
            end = _TICKS(r.text, r.pos).end()  # type: ignore[union-attr]  # one stands here
            count += end - r.pos
            r.take(end)
        fence = count >= 3 and self._line_start and not self._code
        if fence and not self._fence:
            yield from self._begin_fence(count)
            return
        if fence and count >= self._fence:
            if self._fence_of_calls:
                r.drop()
                self._line_start = False
            self._fence = 0
            self._fence_of_calls = False
        elif not self._in_prose_fence():
            self._code = 0 if self._code == count else self._code or count
        self._release()
        self._before = "`"

    def _begin_fence(self, count: int) -> Step[None]:
        """Behind a fence's backticks, held: is the first line in it a call?"""
        r = self.r
        for _ in range(_LONGEST_FENCE_LINE):
            if (yield from r.peek()) in ("", "\n"):
                break
            r.take(r.pos + 1)
        yield from r.skip_space()
        self._fence = count
        name = yield from self._name_here()
        if name and (yield from self._call(name)):
            self._fence_of_calls = True
            return
        self._line_start = False
        text = r.release()
        self._note_line(text)
        self._before = text[-1]

    def _name_here(self) -> Step[str]:
        """Read the name of a call and its parenthesis, if they stand here."""
        r = self.r
        length = 0
        while length <= self._longest:
            while r.pos + length >= len(r.text) and not r.eof:
                yield
            if r.text[r.pos + length : r.pos + length + 1] not in PLAIN:
                break
            length += 1
        name = r.text[r.pos : r.pos + length]
        opened = r.text[r.pos + length : r.pos + length + 1] == "("
        if not opened or not self.allowed(name) or name[0] in "0123456789.-":
            return ""
        r.take(r.pos + length + 1)
        return name
