"""What was decided, on its way out as events.

* `content(text)`: whitespace is kept back until prose follows it, because at a call's edge it is markup
  (rule 10).
* `reasoning(text)`: the same for thoughts, between `begin_thoughts` and `end_thoughts`. At their edges,
  inside and outside, whitespace is markup.
* `start_call`, `write`, `end_call`: the events of a call. However many pieces of a chunk's arguments
  are written, they are one event.
* `gap(space)`: whitespace behind a call, until it is known whether it is markup or content.
"""

from __future__ import annotations

from ..events import Arguments, CallEnd, CallStart, Content, Event, Reasoning
from .literals import Plain
from .sinks import Sink
from .window import FastPath


class Outgoing(Sink):
    """The events of a message. As a sink it takes the arguments of the call at hand."""

    __slots__ = (
        "_before_call",
        "_edge",
        "_events",
        "_gap",
        "_pending",
        "_prose",
        "_thought",
        "_thought_space",
        "_written",
        "calls",
        "fresh",
        "index",
        "thinking",
    )

    def __init__(self) -> None:
        self.calls = 0  # also those that repeat another one
        self.index = -1
        self._events: list[Event] = []
        self._written: list[str] = []  # arguments that are not an event yet
        self._pending: list[str] = []  # whitespace that is content only if prose follows
        self._before_call = 0  # how much of it stood before the last call
        self._gap: list[str] = []  # whitespace after a call whose block is still open
        self._prose = False
        self.fresh = True  # nothing was said since the beginning, a call, or thoughts
        self.thinking = False  # text is a thought
        self._edge = False  # whitespace is markup until something is said
        self._thought = False  # something was said in the thoughts at hand
        self._thought_space: list[str] = []  # whitespace that is a thought only if more follows

    def apart(self) -> Outgoing:
        """One that counts on from here, for what may not be said after all."""
        other = Outgoing()
        other.calls, other.index = self.calls, self.index
        return other

    def take_events(self) -> list[Event]:
        """What was decided since the last time."""
        if self._written:
            self._end_arguments()
        events = self._events
        self._events = []
        return events

    def finish(self) -> None:
        """The message is over: whitespace at its end is content only if there was no call."""
        if self._pending and not self.calls:
            self._events.append(Content("".join(self._pending)))
        self._pending.clear()

    # -- content ------------------------------------------------------------------------------

    def content(self, text: str) -> None:
        if self._edge or (self.calls and not self._prose):
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
            self._before_call = 0
        else:
            whole = body
        if len(body) < len(text):
            self._pending.append(text[len(body) :])
        self._prose = True
        self._edge = self.fresh = False
        self._events.append(Content(whole))

    @property
    def in_prose(self) -> bool:
        """Whether text that does not end in whitespace is content as it is."""
        return self._prose and not (self._pending or self.fresh or self._edge)

    @property
    def empty(self) -> bool:
        """Whether nothing but whitespace has come yet."""
        return not (self._prose or self.calls)

    def edge(self) -> None:
        """Whitespace before and behind this place is markup."""
        del self._pending[self._before_call :]
        self._edge = True

    # -- thoughts -----------------------------------------------------------------------------

    def begin_thoughts(self) -> None:
        self.edge()
        self.thinking = True
        self._thought = False

    def end_thoughts(self) -> None:
        self.thinking = False
        self._thought_space.clear()
        self._edge = self.fresh = True

    def reasoning(self, text: str) -> None:
        if not self._thought:
            text = text.lstrip()
        body = text.rstrip()
        if not body:
            if text:
                self._thought_space.append(text)
            return
        self._thought_space.append(body)
        self._events.append(Reasoning("".join(self._thought_space)))
        self._thought_space.clear()
        if len(body) < len(text):
            self._thought_space.append(text[len(body) :])
        self._thought = True

    @property
    def in_thoughts(self) -> bool:
        """Whether text that does not end in whitespace is a thought as it is."""
        return self._thought and not self._thought_space

    # -- gaps ---------------------------------------------------------------------------------

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
            text = "".join(self._gap)
            self._gap.clear()
            if self.thinking:
                self.reasoning(text)
            else:
                self.content(text)

    # -- calls --------------------------------------------------------------------------------

    def start_call(self, name: str, id: str | None = None) -> None:
        self.index += 1
        self._events.append(CallStart(self.index, name, id))
        self.pass_call()

    def pass_call(self) -> None:
        """Here stands a call, which may be one that came before."""
        self.calls += 1
        self.fresh = True
        self._edge = False  # what follows is beside the call
        self._before_call = len(self._pending)

    def write(self, text: str) -> None:
        """The next piece of the call's arguments."""
        self._written.append(text)

    def fast_path(self, plain: Plain) -> FastPath:
        index = self.index

        def fast_path(chunk: str) -> list[Event] | None:
            return [Arguments(index, chunk)] if plain.takes(chunk) else None

        return fast_path

    def end_call(self, complete: bool, id: str | None = None) -> None:
        self._end_arguments()
        self._events.append(CallEnd(self.index, complete, id))

    def follow(self, events: list[Event]) -> None:
        """Say whole calls that were read elsewhere. Their indexes go on from here."""
        self._events += events
        for event in events:
            if isinstance(event, CallStart):
                self.index = event.index
                self.pass_call()

    def _end_arguments(self) -> None:
        text = "".join(self._written)
        self._written.clear()
        if text:
            self._events.append(Arguments(self.index, text))
