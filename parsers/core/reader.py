"""How text waits until it is decided: the window, what is held, and what leaves as events.

Theory of operation
-------------------
The parsers are generators. They read `text` from `pos` on; where what they see does not decide yet,
they `yield`, and go on when more text has come (or `eof` is set). After a `yield` the unread part of
the text stands at the front of a new window, so an index into `text` is worthless then; a distance
from `pos` is not.

Two rules keep cost linear and chunking invisible:

* The window never holds more than one undecided delimiter (or name, or number). Everything that was
  read but may still turn out to be prose is moved to `held`, a list of pieces that is joined once.
* A decision is made only when every continuation of the text would lead to the same one.

Most of a long text decides nothing: the middle of a string, the middle of prose. A parser that waits
there may leave a `shortcut`, a function that is shown the next chunk first. If the chunk by itself
tells that the parser would pass on all of it and wait again in the same place, the function gives the
events; else None, and the parser reads the chunk as any other. So a shortcut saves time and decides
nothing, and every test that cuts a text in several ways compares it with the long way.

What leaves:

* `content(text)`: whitespace is kept back until prose follows it, because at a call's edge it is
  markup (rule 10 of the design).
* `start_call`, `arguments`, `end_call`: the events of a call. Starting a call makes everything held
  the markup of that call, except for pieces that were set aside with `set_aside`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Final, TypeAlias, TypeVar

from .events import Arguments, CallEnd, CallStart, Content, Event

T = TypeVar("T")
_SPACE: Final = re.compile(r"\s*").match
#: A resumable step: yields where it needs more text, returns its result.
Step: TypeAlias = Generator[None, None, T]
#: Where pieces of a value go.
Sink: TypeAlias = Callable[[str], None]
#: What a chunk that decides nothing gives, or None for any other chunk.
Shortcut: TypeAlias = Callable[[str], list[Event] | None]
#: `fullmatch` of a pattern: whether it is all of the text.
Matches: TypeAlias = Callable[[str], "re.Match[str] | None"]


class Reader:
    """The text not yet decided on one side, the events decided on the other."""

    __slots__ = (
        "_aside",
        "_events",
        "_gap",
        "_held",
        "_pending",
        "_prose",
        "_written",
        "calls",
        "eof",
        "index",
        "pos",
        "shortcut",
        "text",
    )

    def __init__(self) -> None:
        self.text = ""
        self.pos = 0
        self.eof = False
        self.calls = 0
        self.shortcut: Shortcut | None = None
        self._events: list[Event] = []
        self._written: list[str] = []  # arguments that are not an event yet
        self.index = -1
        self._held: list[str] | None = None
        self._aside: list[str] = []
        self._pending: list[str] = []  # whitespace that is content only if prose follows
        self._gap: list[str] = []  # whitespace after a call whose block is still open
        self._prose = False

    # -- the window ---------------------------------------------------------------------------

    def push(self, chunk: str) -> None:
        """Put a chunk behind what is still unread."""
        if self.pos < len(self.text):
            self.text = self.text[self.pos :] + chunk
        else:
            self.text = chunk
        self.pos = 0

    def take(self, end: int) -> str:
        """Read up to index `end` of the window."""
        piece = self.text[self.pos : end]
        self.pos = end
        if self._held is not None and piece:
            self._held.append(piece)
        return piece

    def unread(self, text: str) -> None:
        """Put back what was read last."""
        self.text = text + self.text[self.pos :]
        self.pos = 0
        left = len(text)
        while self._held and left > 0:
            left -= len(self._held.pop())

    def peek(self) -> Step[str]:
        """The next character, or "" at the end of the message."""
        while self.pos >= len(self.text):
            if self.eof:
                return ""
            yield
        return self.text[self.pos]

    def ended(self) -> Step[bool]:
        """Whether the message ends exactly here."""
        return (yield from self.peek()) == ""

    def next(self) -> str | None:
        """What `peek` gives, for places where time counts; None where more text is needed."""
        if self.pos < len(self.text):
            return self.text[self.pos]
        return "" if self.eof else None

    def space(self) -> str | None:
        """What `skip_space` does, for places where time counts; None where more text is needed."""
        text, pos = self.text, self.pos
        if pos >= len(text):
            return "" if self.eof else None
        if not text[pos].isspace():
            return ""
        end = _SPACE(text, pos).end()  # type: ignore[union-attr]  # always matches
        return self.take(end) if end < len(text) or self.eof else None

    def skip_space(self) -> Step[str]:
        """Read whitespace; returns it."""
        pieces: list[str] = []
        while True:
            end = _SPACE(self.text, self.pos).end()  # type: ignore[union-attr]  # always matches
            if end > self.pos:
                pieces.append(self.take(end))
            if end < len(self.text) or self.eof:
                return "".join(pieces)
            yield

    def skip_newline(self) -> Step[bool]:
        """Read one newline (`\\n` or `\\r\\n`) if there is one here."""
        first = self.text[self.pos] if self.pos < len(self.text) else (yield from self.peek())
        if first == "\r":
            while len(self.text) - self.pos < 2 and not self.eof:
                yield
            if self.text.startswith("\r\n", self.pos):
                self.take(self.pos + 2)
                return True
        elif first == "\n":
            self.take(self.pos + 1)
            return True
        return False

    def take_events(self) -> list[Event]:
        """What was decided since the last time."""
        if self._written:
            self._write()
        events = self._events
        self._events = []
        return events

    # -- undecided text -----------------------------------------------------------------------

    def hold(self) -> None:
        """From here on, what is read is undecided: the markup of a call, or prose after all."""
        self._held = []

    @property
    def holding(self) -> bool:
        return self._held is not None

    def held_since(self, mark: int) -> str:
        assert self._held is not None
        return "".join(self._held[mark:])

    def mark(self) -> int:
        """A place in the held text, for `held_since` and `set_aside`."""
        assert self._held is not None
        return len(self._held)

    def set_aside(self, mark: int) -> None:
        """What was held since `mark` is no call: content, even if its surroundings are markup."""
        self._aside.append(self.held_since(mark))

    def release(self) -> str:
        """What is held turned out to be prose; returns it."""
        text = "".join(self._held or ())
        self._held = None
        self._aside.clear()
        self.content(text)
        return text

    def drop(self) -> None:
        """What is held turned out to be markup (but what was set aside is prose)."""
        self._held = None
        if self._aside:
            self.content("".join(self._aside))
            self._aside.clear()

    # -- content ------------------------------------------------------------------------------

    def content(self, text: str) -> None:
        if self.calls and not self._prose:
            text = text.lstrip()  # whitespace between a call and the message's first prose
        body = text.rstrip()
        if not body:
            if text:
                self._pending.append(text)
            return
        if self._pending:
            self._pending.append(body)
            whole = "".join(self._pending)
            self._pending.clear()
        else:
            whole = body
        if len(body) < len(text):
            self._pending.append(text[len(body) :])
        self._prose = True
        self._events.append(Content(whole))

    @property
    def in_prose(self) -> bool:
        """Whether text that does not end in whitespace is content as it is."""
        return self._prose and not self._pending

    def gap(self, space: str) -> None:
        """Whitespace behind a call: markup if a closer or a sibling follows, else content."""
        if space:
            self._gap.append(space)

    def gap_has_newline(self) -> bool:
        return any("\n" in space for space in self._gap)

    def gap_is_markup(self) -> None:
        self._gap.clear()

    def gap_is_content(self) -> None:
        if self._gap:
            self.content("".join(self._gap))
            self._gap.clear()

    # -- calls --------------------------------------------------------------------------------

    def start_call(self, name: str, id: str | None = None) -> None:
        self.drop()
        self.index += 1
        self.calls += 1
        self._events.append(CallStart(self.index, name, id))

    def arguments(self, text: str) -> None:
        self._written.append(text)

    def passing(self, plain: Matches, sink: Sink) -> Shortcut | None:
        """The shortcut for chunks that are `plain` where they go to `sink` as they are. There is none
        while text is held: what is read then is kept."""
        if self._held is not None:
            return None
        return _to_event(plain, self.index) if sink == self.arguments else self._to(plain, sink)

    def _to(self, plain: Matches, sink: Sink) -> Shortcut:
        def shortcut(chunk: str) -> list[Event] | None:
            if not plain(chunk):
                return None
            sink(chunk)
            return self.take_events()

        return shortcut

    def end_call(self, complete: bool) -> None:
        self._write()
        self._events.append(CallEnd(self.index, complete))

    def _write(self) -> None:
        """However many pieces a chunk's arguments were read in, they are one event."""
        text = "".join(self._written)
        self._written.clear()
        if text:
            self._events.append(Arguments(self.index, text))

    def call_without_arguments(self, name: str, id: str | None = None) -> None:
        self.start_call(name, id)
        self.arguments("{}")
        self.end_call(True)

    def forget_repeat(self) -> None:
        """A call that repeats an earlier one is the markup of that one."""
        self.drop()
        self.calls += 1

    def finish(self) -> None:
        """The message is over: whitespace at its end is content only if there was no call."""
        if self._pending and not self.calls:
            self._events.append(Content("".join(self._pending)))
        self._pending.clear()


def _to_event(plain: Matches, index: int) -> Shortcut:
    def shortcut(chunk: str) -> list[Event] | None:
        return [Arguments(index, chunk)] if plain(chunk) else None

    return shortcut
