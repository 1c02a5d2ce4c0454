"""Reads a message that is a row of parts, each with a header (`core/channels.py`).

    body ──header, or a token that ends a part──▶ body ──▶ …

The window is limited to the body at hand, and the limit counts as the message's end: so a body that is a
call is read by its shape as a message of its own. Headers are markup, also odd ones; text outside any
part is content.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ..events import Content, Event, Reasoning
from ..schema.tools import Tool
from .block import MARKER, Block
from .channels import Channels
from .context import Context
from .driver import Run
from .literals import Literals, any_of, beginning, cut_off, first_characters
from .shape_reader import NOTHING
from .triggers import MEMBER
from .window import Step, Window

TEXT: Final = 0
THOUGHT: Final = 1
CALLS: Final = 2
#: A call where nobody asks for calls: text, header and all.
QUOTED: Final = 3

#: More than this between two tokens is no header.
_WORDS: Final = re.compile(r"[^<\n]{0,200}").match
#: More than this before the end of a part is no closer that was cut off.
_LONGEST_CUT_OFF: Final = 256
#: What says something about a part, and is nothing of its body.
_NAMES: Final = re.compile(r"[\w.=:/ -]*").fullmatch


def first_words(w: Window, boundaries: Boundaries) -> int | None:
    """How long what stands before the first token of a header is, if this is one; None as long as that
    may go on."""
    found = boundaries.first_words.match(w.text, w.pos)
    assert found is not None
    return found.end() - w.pos if found.end() < len(w.text) or w.eof else None


class Boundaries:
    """What ends a body, ready to be looked for. Made once for each format."""

    def __init__(self, channels: Channels, turn_ends: Sequence[str]) -> None:
        tokens = [*channels.tokens, *channels.body]
        every = [*tokens, *channels.end]
        self.tokens: Final = Literals(every)
        self.starts: Final = Literals(tokens)
        self.first: Final = channels.tokens[0]
        self.body: Final = frozenset(channels.body)
        self.end: Final = frozenset(channels.end)
        to = re.escape(channels.recipient)
        # A header may begin with the recipient, before its first token.
        word = rf"{to}[^\s<>]{{1,200}} ?"
        name = rf"\s{word}"
        before = f"(?:{name})?" if to else ""
        begun = [cut_off(every)]
        if to:
            begun += [
                rf"\s(?:{beginning(channels.recipient + '.')})?\Z",
                rf"{name}(?:{cut_off(tokens)}|\Z)",
            ]
        #: the recipient before a header's first token
        self.before: Final = re.compile(before)
        #: what of the first header the prompt may have left to the model, before its first token
        self.first_words: Final = re.compile((f"{word}|" if to else "") + r"[^\s<>]{0,200}")
        #: a boundary, or, as its second group, the beginning of one
        self.limit: Final = re.compile(
            f"(?:{before}(?:{any_of(tokens)})|{any_of(channels.end)})()|(?:{'|'.join(begun)})()"
        )
        #: for fast paths: text that touches none
        self.plain: Final = re.compile(_plain([*every, *turn_ends], channels.recipient)).fullmatch
        self.recipient: Final = re.compile(rf"(?<!\S){to}([^\s<>]+)" if to else "(?!)")
        self._thoughts: Final = [
            (token, mark.removeprefix(token))
            for mark in channels.thought
            for token in channels.tokens
            if mark.startswith(token)
        ]

    def begun_by_prompt(self, header: str) -> str:
        """A message's first header, with the token that the prompt has written of it where that makes it
        a thought's."""
        begun = (
            token for token, words in self._thoughts if header.removeprefix(words) in self.body
        )
        return next(begun, "") + header


def _plain(tokens: Iterable[str], recipient: str) -> str:
    """A pattern for text in which neither a token nor a recipient begins."""
    first = first_characters(tokens)
    if not recipient:
        return f"[^{first}]+"
    begins = "|".join(re.escape(recipient[:end]) for end in range(len(recipient)))
    return rf"(?:[^{first}\s]|\s(?!{re.escape(recipient)}|(?:{begins})\Z))+"


class ChannelRun(Run):
    """One message being read as a row of parts."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        channels = context.format.channels
        assert channels is not None
        self._channels: Final = channels
        self._boundaries: Final = context.format.boundaries
        self._call: Final = CALLS if channels.calls else QUOTED
        self.in_part = True
        self._quoted = False  # the token that ends this part is text, too

    def main(self, in_reasoning: bool) -> Step[None]:
        header = "" if in_reasoning else (yield from self.first_header())
        kind, name = (THOUGHT, "") if in_reasoning else self._opened(header)
        yield from self._parts(kind, name)
        self.out.finish()

    def rest(self, header: str = "") -> Step[None]:
        """At a boundary, or behind the first header: read the rest of the message."""
        kind, name = self._opened(header) if header else (yield from self._next_part())
        yield from self._parts(kind, name)

    def _parts(self, kind: int, name: str) -> Step[None]:
        """In the body of a part: read it and all that follow."""
        w = self.window
        while True:
            w.limit(self._boundaries.limit, self._boundaries.plain)
            yield from self._body(kind, name)
            w.unlimit()
            if w.eof and w.pos == len(w.text):
                return
            self._block = Block()
            kind, name = yield from self._next_part()

    def _next_part(self) -> Step[tuple[int, str]]:
        """At a boundary: what follows it, and whom that calls."""
        header = yield from self._boundary()
        kind, name = self._opened(header)
        if header and kind == TEXT:
            self.out.edge()
        return kind, name

    # -- headers ------------------------------------------------------------------------------

    def first_header(self) -> Step[str]:
        """The header that the message begins with, if it does; the prompt may have begun it."""
        w = self.window
        while (space := w.space()) is None:
            yield
        while (length := first_words(w, self._boundaries)) is None:
            yield
        while (token := self._boundaries.starts.here(w, length)) is None:
            yield
        is_for_somebody = token and self._boundaries.recipient.match(w.text, w.pos)
        if length and token == self._boundaries.first and not is_for_somebody:
            token = ""  # the header begins there: what stands before it is text
        self.out.content(space[:-1] if is_for_somebody and space[-1:] == " " else space)
        return self._boundaries.begun_by_prompt((yield from self._header(length))) if token else ""

    def _boundary(self) -> Step[str]:
        """At a boundary: read the header, or the token that ends a part."""
        w = self.window
        found = self._boundaries.before.match(w.text, w.pos)
        assert found is not None
        if found[0][:1].strip(" "):  # nothing; or a newline before a recipient, which is the text's
            self.out.content(w.take(w.pos + 1))
        return (yield from self._header(found.end() - w.pos))

    def _header(self, begun: int) -> Step[str]:
        """Read a header of which `begun` characters stand before its first token, or a token that ends a
        part: that is ""."""
        w, boundaries = self.window, self._boundaries
        pieces = [w.take(w.pos + begun)] if begun else []
        while True:
            while (token := boundaries.tokens.here(w)) is None:
                yield
            if token in boundaries.end and pieces:
                break  # a header without a body
            if token:
                pieces.append(w.take(w.pos + len(token)))
                if token in boundaries.end:
                    if self._quoted:
                        self.out.content(token)
                    return ""
                if token in boundaries.body:
                    break
            elif not (yield from self._words(pieces)):
                break
        return "".join(pieces)

    def _words(self, pieces: list[str]) -> Step[bool]:
        """Read what stands between two tokens of a header, if it is one that goes on."""
        w = self.window
        while True:
            found = _WORDS(w.text, w.pos)
            assert found is not None
            length = found.end() - w.pos
            token = self._boundaries.tokens.here(w, length)
            if token is not None and (found.end() < len(w.text) or w.eof):
                break
            yield
        rest = w.text[w.pos + length :]
        over = not token and (not rest or self._boundaries.tokens.begun(rest))
        if (over or token in self._boundaries.end) and not _NAMES(found[0]):
            return False  # the header has lost its end: this is a body
        if token:
            pieces.append(w.take(w.pos + length))
        elif over:
            w.take(len(w.text))  # the message ends in a header
        return bool(token)

    def _opened(self, header: str) -> tuple[int, str]:
        """Behind a header, or a token that ends a part (""): what begins there, and whom it calls."""
        kind, name = self._meaning(header)
        self._quoted = kind == QUOTED
        if self._quoted:
            self.out.content(header)
        return kind, name

    def _meaning(self, header: str) -> tuple[int, str]:
        """What a part is, and whom it calls."""
        channels = self._channels
        if not header.endswith(channels.body):
            return TEXT, ""  # no header, or half of one
        found = self._boundaries.recipient.search(header)
        if found is not None and found[1] not in channels.readers:
            kind = TEXT if self._is_built_in(found[1]) else self._call
            return kind, found[1].removeprefix(channels.prefix)
        if any(mark in header for mark in channels.call):
            return self._call, ""
        if any(mark in header for mark in channels.thought):
            return THOUGHT, ""
        return TEXT, ""

    def _is_built_in(self, name: str) -> bool:
        """Whether it is a tool of the family's own that the request does not declare."""
        family = name.partition(".")[0]
        return family in self._channels.built_in and not (self.tools and name in self.tools)

    # -- bodies -------------------------------------------------------------------------------

    def _body(self, kind: int, name: str) -> Step[None]:
        if kind == CALLS:
            named = self._channels.name_in_header
            if named or (name and (yield from self._holds_arguments())):
                named = True
                yield from self._named_call(name)
            yield from self._calls("" if named else "open")
        elif kind == THOUGHT:
            self.out.begin_thoughts()
            yield from self._pass_on()
            self.out.end_thoughts()
        else:
            yield from self._pass_on()

    def _pass_on(self) -> Step[None]:
        """Text, up to the end of the part."""
        w = self.window
        while True:
            if w.pos < len(w.text):
                self.say(w.take(len(w.text)))
            if w.eof:
                return
            w.wait_with(self._fast_path)
            yield

    def say(self, text: str) -> None:
        if self.out.thinking:
            self.out.reasoning(text)
        else:
            self.out.content(text)

    def _fast_path(self, chunk: str) -> list[Event] | None:
        out = self.out
        if not chunk[-1].isspace():
            if out.thinking:
                if out.in_thoughts:
                    return [Reasoning(chunk)]
            elif out.in_prose:
                return [Content(chunk)]
        self.say(chunk)
        return out.take_events()

    def _named_call(self, name: str) -> Step[None]:
        """A body that holds the arguments of a call whose name is known."""
        w = self.window
        w.hold()
        self._block.begin()
        self._block.saw(MARKER)
        while w.space() is None:
            yield
        if w.eof and w.pos == len(w.text):
            if w.at_limit:  # else the message was cut off before the arguments
                self.call_without_arguments(name)
        else:
            self.named(name)
            outcome = yield from self.shape.read_arguments(self, name)
            if self._named:
                outcome = self._end_named()
            if outcome == NOTHING:
                self.release()
            else:
                yield from self._after()

    def _holds_arguments(self) -> Step[bool]:
        """Whether a body in which calls should stand has just the arguments of the one that the header
        names, as JSON, or nothing."""
        w = self.window
        while w.space() is None:
            yield
        while (first := w.peek()) is None:
            yield
        return first in ("", "{")

    def _calls(self, trigger: str) -> Step[None]:
        """A body in which calls stand; or what is left behind a call."""
        w = self.window
        while True:
            while w.space() is None:
                yield
            if w.eof and w.pos == len(w.text):
                return
            trigger = trigger or (yield from self._prose())
            if trigger == "end":
                return
            if trigger == "close":
                yield from self._after()
            elif trigger == MEMBER:
                yield from self.read_member()
            else:
                yield from self.read_block()
            trigger = ""

    def _cut_off_closer(self) -> bool:
        w, tokens = self.window, self._boundaries.tokens
        left = len(w.text) - w.pos
        if w.eof and not w.at_limit and left < tokens.longest and tokens.begun(w.text[w.pos :]):
            return True  # the token that would end the part, or begin the next one
        return left <= _LONGEST_CUT_OFF and super()._cut_off_closer()

    def _read_openers(self) -> Step[None]:
        yield from super()._read_openers()
        self._block.saw(MARKER)

    # -- names --------------------------------------------------------------------------------

    def named(self, name: str, id: str | None = None) -> None:
        super().named(self._declared(name), id)

    def start_call(self, name: str, id: str | None = None) -> None:
        super().start_call(self._declared(name), id)

    def tool(self, name: str) -> Tool:
        return super().tool(self._declared(name))

    def _declared(self, name: str) -> str:
        """The declared tool that is meant: the name may have others before it."""
        last = name.rpartition(".")[2]
        is_other = self.tools is not None and name not in self.tools and last in self.tools
        return last if is_other else name
