"""One answer on its way through the core into SGLang's results.

Within one result SGLang sends text before calls, and text closes an open call (its Responses and
Messages streams do). So text that follows a call in the same step waits for the next result, and goes
on waiting while another call is open.

This file and the results' are compiled with the core: every token passes through them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ...events import Arguments, CallEnd, CallStart, Content, Event
from .results import Results


class AsText:
    """In a parser's place: all is text."""

    def feed(self, text: str) -> list[Event]:
        return [Content(text)] if text else []

    def finish(self) -> list[Event]:
        return []


class Stream:
    """Text in, results out."""

    def __init__(
        self,
        parser: Any,
        make: Results,
        *,
        known: Collection[str] | None,
        unknown: Callable[[str], None],
        incomplete: set[int],
        repair: Callable[[list[Event]], list[Event]] | None = None,
        watch: Callable[[list[Event]], None] | None = None,
    ) -> None:
        """`known` are the tools that may be called, None for any; `unknown` hears of others.
        `incomplete` gets the numbers of calls that the model did not finish. `repair` is what the
        operator has done to calls. `watch` hears of the events by which calls begin and end."""
        self._parser: Any = parser
        self._feed: Callable[[str], list[Event]] = parser.feed
        self._repair = repair
        self._watch = watch
        self._make = make
        self._known = known
        self._unknown = unknown
        self._incomplete = incomplete
        self._held: list[str] = []  # text that follows a call and waits for the next result
        self._open = False  # whether a call has begun and not ended
        self._number = -1  # the call being read; negative where it is not passed on
        self._name: str | None = None  # of that call, where it has not gone out yet
        self._count = 0  # the calls passed on so far

    def feed(self, text: str) -> Any:
        events = self._feed(text)
        if self._repair is not None:
            events = self._repair(events)
        if len(events) == 1:
            event = events[0]
            if isinstance(event, Arguments) and self._number >= 0:
                # Nearly every token of a long call comes this way, and of an answer the next one.
                return self._make.result("", [self._make.item(self._number, None, event.text)])
            if isinstance(event, Content) and not self._held:
                return self._make.result(event.text, [])
        elif not events and not self._held:
            return self._make.result("", [])
        return self._encode(events, False)

    def finish(self) -> Any:
        return self._encode(self._repaired(self._parser.finish()), True)

    def whole(self, text: str) -> Any:
        """The result of an answer that is all there."""
        return self._encode(self._repaired([*self._feed(text), *self._parser.finish()]), True)

    def _repaired(self, events: list[Event]) -> list[Event]:
        return events if self._repair is None else self._repair(events)

    def give_up(self, text: str, last: bool) -> Any:
        """After a fault of ours: the call at hand is over, and all that follows is text."""
        self._parser = AsText()
        self._feed = self._parser.feed
        self._repair = None
        events: list[Event] = [CallEnd(0, False)] if self._open else []
        if text:
            events.append(Content(text))
        return self._encode(events, last)

    def _encode(self, events: list[Event], last: bool) -> Any:
        if self._watch is not None:
            self._watch(events)
        text: list[str] = []
        calls: list[Any] = []
        if not self._open:
            text, self._held = self._held, text
        for event in events:
            if isinstance(event, Content):
                (self._held if calls else text).append(event.text)
            elif isinstance(event, Arguments):
                self._add(calls, event.text)
            elif isinstance(event, CallStart):
                self._start(event.name)
            elif isinstance(event, CallEnd):
                self._add(calls, "")
                self._close(event.complete)
        if last:
            text += self._held
            self._held = []
        self._add(calls, "")
        return self._make.result("".join(text), calls)

    def _start(self, name: str) -> None:
        self._open = True
        if self._known is not None and name not in self._known:
            self._unknown(name)
            return
        self._number = self._count
        self._count += 1
        self._name = name

    def _add(self, calls: list[Any], text: str) -> None:
        """The next piece of the call; its name goes out with the first. No call is there twice."""
        if self._number < 0 or not (text or self._name is not None):
            return
        if calls and calls[-1].tool_index == self._number:
            calls[-1].parameters += text
        else:
            calls.append(self._make.item(self._number, self._name, text))
            self._name = None

    def _close(self, complete: bool) -> None:
        if self._number >= 0 and not complete:
            self._incomplete.add(self._number)
        self._open = False
        self._number = -1
