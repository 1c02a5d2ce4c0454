"""How text waits until it is decided: the window, and what is held.

Theory of operation
-------------------
The parsers are generators. They read `text` from `pos` on; where what they see does not decide yet,
they `yield`, and go on when more text has come (or `eof` is set). After a `yield` the unread part of
the text stands at the front of a new window, so an index into `text` is worthless then; a distance
from `pos` is not.

A leaf of the grammar (a character, whitespace, a delimiter, a name) is no generator: it returns what it
found, or None, meaning that more text is needed. Whoever calls it waits:

    while (c := window.peek()) is None:
        yield

A leaf that gave None is called again at the same place. It has read nothing, unless it says so.

Two rules keep cost linear and chunking invisible:

* The window never holds more than one undecided delimiter (or name, or number). Everything that was
  read but may still turn out to be prose is moved to what is held, a list of pieces that is joined once.
* A decision is made only when every continuation of the text would lead to the same one.

Most of a long text decides nothing: the middle of a string, the middle of prose. A parser that waits
there may leave a fast path, a function that is shown the next chunk first. If the chunk by itself
tells that the parser would pass on all of it and wait again in the same place, the function gives the
events; else None, and the parser reads the chunk as any other. So a fast path saves time and decides
nothing. There are a few more, for what models write nearly always, inside the parsers. `fast_paths`
turns all of them off, and a test compares: the events are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Final, TypeAlias, TypeVar

from ..events import Event

T = TypeVar("T")
_SPACE: Final = re.compile(r"\s*").match
#: A resumable step: yields where it needs more text, returns its result.
Step: TypeAlias = Generator[None, None, T]
#: What a chunk that decides nothing gives, or None for any other chunk.
FastPath: TypeAlias = Callable[[str], list[Event] | None]
#: `fullmatch` of a pattern: whether it is all of the text.
Matches: TypeAlias = Callable[[str], "re.Match[str] | None"]


class Window:
    """The text that is not decided yet."""

    __slots__ = (
        "_aside",
        "_beyond",
        "_held",
        "_limit",
        "_over",
        "_plain",
        "_pushed",
        "_record",
        "_space",
        "eof",
        "fast_path",
        "fast_paths",
        "pos",
        "stopped",
        "text",
    )

    def __init__(self, fast_paths: bool = True) -> None:
        self.text = ""
        self.pos = 0
        self.eof = False  # no more text will come, and all that came is seen
        self._over = False
        self.fast_path: FastPath | None = None  # what is shown the next chunk first
        self.fast_paths = fast_paths
        self._held: list[str] | None = None
        self._aside: list[str] = []
        self._space: list[str] = []  # the whitespace at hand, as far as it has been read
        self.stopped = False  # the text ends at the limit: no more will come
        self._limit: re.Pattern[str] | None = None
        self._plain: Matches | None = None  # chunks that can't touch the limit, where it is an end
        self._beyond = ""  # the text from the limit on, or what may become the limit
        self._record: list[str] | None = None
        self._pushed = 0  # characters, since the beginning

    def push(self, chunk: str) -> None:
        """Put a chunk behind what is still unread."""
        self._pushed += len(chunk)
        if self._record is not None:
            self._record.append(self.text[: self.pos])
        if self._limit is not None:
            chunk = self._within(self._beyond + chunk)
        if self.pos < len(self.text):
            self.text = self.text[self.pos :] + chunk
        else:
            self.text = chunk
        self.pos = 0

    @property
    def place(self) -> int:
        """How many characters of the message were read. (The fast path's are not counted.)"""
        return self._pushed - len(self.text) + self.pos - len(self._beyond)

    def finish(self) -> None:
        """The message is over."""
        self._over = self.eof = True
        self.fast_path = None
        if self._beyond:  # it has not become the limit
            self.text = self.text + self._beyond
            self._beyond = ""

    def take(self, end: int) -> str:
        """Read up to index `end` of the window."""
        piece = self.text[self.pos : end]
        self.pos = end
        if self._held is not None and piece:
            self._held.append(piece)
        return piece

    def unread(self, text: str) -> None:
        """Put back what was read last."""
        if self._record is not None:
            self._record.append(self.text[: self.pos])
            _drop_last(self._record, len(text))
        self.text = text + self.text[self.pos :]
        self.pos = 0
        left = len(text)
        while self._held and left > 0:
            left -= len(self._held.pop())

    def wait_with(self, fast_path: FastPath | None) -> None:
        """Before a `yield`: leave a fast path. There is none while text is held: what is read then
        is kept."""
        waits = self._held is not None or self._record is not None or self._beyond
        if self.fast_paths and not waits:
            self.fast_path = fast_path if self._plain is None else self._guarded(fast_path)

    def _guarded(self, fast_path: FastPath | None) -> FastPath | None:
        """A fast path for chunks that can't touch the limit."""
        plain = self._plain
        if fast_path is None or plain is None:
            return fast_path
        inner, outer = fast_path, plain

        def guarded(chunk: str) -> list[Event] | None:
            return inner(chunk) if outer(chunk) else None

        return guarded

    # -- leaves -------------------------------------------------------------------------------

    def peek(self, offset: int = 0) -> str | None:
        """The next character, or one further ahead; "" behind the end of the message."""
        place = self.pos + offset
        if place < len(self.text):
            return self.text[place]
        return "" if self.eof else None

    def has(self, count: int) -> bool | None:
        """Whether the message has `count` more characters."""
        if len(self.text) - self.pos >= count:
            return True
        return False if self.eof else None

    def space(self) -> str | None:
        """Read whitespace; returns it. What there is of it is read also where it may go on."""
        text, pos = self.text, self.pos
        if pos < len(text) and not self._space and not text[pos].isspace():
            return ""
        end = _SPACE(text, pos).end()  # type: ignore[union-attr]  # always matches
        piece = self.take(end)
        if end < len(text) or self.eof:
            if not self._space:
                return piece
            piece = "".join([*self._space, piece])
            self._space.clear()
            return piece
        if piece:
            self._space.append(piece)
        return None

    def newline(self) -> bool | None:
        """Read one newline (`\\n` or `\\r\\n`) if there is one here; whether there was."""
        text, pos = self.text, self.pos
        if text.startswith("\n", pos):
            self.take(pos + 1)
            return True
        if text.startswith("\r\n", pos):
            self.take(pos + 2)
            return True
        waits = pos == len(text) or (pos + 1 == len(text) and text[pos] == "\r")
        return None if waits and not self.eof else False

    # -- limits -------------------------------------------------------------------------------

    def limit(self, limit: re.Pattern[str], plain: Matches | None = None) -> None:
        """From here on, nothing is seen beyond the first match of `limit`: there, no more text comes
        (`stopped`). Its first group marks a match; without it, it is the beginning of one.

        With `plain`, which matches chunks that can't touch it, the limit ends a message by itself: it is
        `eof` there, and fast paths may be left by who does not know the limit."""
        self.unlimit()
        rest = self.text[self.pos :]
        self._limit, self._plain = limit, plain
        self.text = self._within(rest)
        self.pos = 0

    def unlimit(self) -> None:
        """All text is seen again. What was read stays read, and places in `text` stay as they are."""
        self._limit = self._plain = None
        self.stopped = False
        self.eof = self._over
        self.text += self._beyond
        self._beyond = ""

    @property
    def at_limit(self) -> bool:
        """Whether it is `eof` because of the limit, and not because the message is over."""
        return self.eof and bool(self._beyond)

    @property
    def limited(self) -> bool:
        return self._limit is not None

    def _within(self, text: str) -> str:
        """What of the text is before the limit."""
        assert self._limit is not None
        found = self._limit.search(text)
        if found is None or (self._over and found.lastindex != 1):
            self._beyond = ""
            return text
        at_limit = found.lastindex == 1
        self.stopped = at_limit and self._plain is None
        self.eof = at_limit if self._plain is not None else self._over and not at_limit
        self._beyond = text[found.start() :]
        return text[: found.start()]

    # -- trials -------------------------------------------------------------------------------

    def record(self) -> None:
        """From here on, what is read is kept, for `recorded`. Meanwhile there are no fast paths."""
        self.text = self.text[self.pos :]
        self.pos = 0
        self._record = []

    def recorded(self) -> str:
        """What was read since `record`, which ends. Nothing is held any more."""
        assert self._record is not None
        text = "".join([*self._record, self.text[: self.pos]])
        self._record = None
        self.forget()
        return text

    def forget(self) -> None:
        """Nothing is held: whoever read what was, has stopped."""
        self._held = None
        self._aside.clear()
        self._space.clear()

    # -- undecided text -----------------------------------------------------------------------

    def hold(self) -> None:
        """From here on, what is read is undecided: the markup of a call, or prose after all."""
        self._held = []

    def mark(self) -> int:
        """A place in the held text, for `set_aside`."""
        assert self._held is not None
        return len(self._held)

    def held_since(self, mark: int) -> str:
        """The held text from this place on."""
        assert self._held is not None
        return "".join(self._held[mark:])

    def set_aside(self, mark: int) -> None:
        """What was held since `mark` is no call: content, even if its surroundings are markup."""
        assert self._held is not None
        self._aside.append("".join(self._held[mark:]))

    def release(self) -> str:
        """What is held turned out to be prose; returns it."""
        text = "".join(self._held or ())
        self._held = None
        self._aside.clear()
        return text

    def commit(self) -> str:
        """What is held turned out to be markup. Returns what was set aside, which is prose."""
        self._held = None
        if not self._aside:
            return ""
        text = "".join(self._aside)
        self._aside.clear()
        return text


def _drop_last(pieces: list[str], count: int) -> None:
    """Take the last `count` characters away."""
    while count > 0 and pieces:
        last = pieces.pop()
        if len(last) > count:
            pieces.append(last[: len(last) - count])
        count -= len(last)
