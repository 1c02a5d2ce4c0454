"""One answer on its way through the core into vLLM's messages.

Two things vLLM does shape this file:

* Within one message thoughts go out before text, and text before calls (its Responses stream even closes
  an open call when either arrives). So what was said behind the arguments of a call that was already
  open waits for the next message, and so do thoughts behind text.
* What a parser returns at the end is appended to the step's last message. One index must appear only
  once in a message, so the end is merged into that message instead.

This file and the messages' are compiled with the core: every token passes through them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.parser import EventParser
from ...events import Arguments, CallStart, Content, Event, Reasoning
from ...openai.answers import first_call
from .messages import Messages


class Stream:
    """Text in, messages out."""

    def __init__(
        self,
        parser: EventParser | None,
        make: Messages,
        call_id: Callable[[str | None, str], str],
        *,
        single: bool,
        repair: Callable[[list[Event]], list[Event]] | None = None,
        watch: Callable[[list[Event]], None] | None = None,
    ) -> None:
        """Without a parser text is just text. `single`: only the first call is wanted. `repair` is what
        the operator has done to calls. `watch` hears of the events by which calls begin and end."""
        self._parser = parser
        self._make = make
        self._call_id = call_id
        self._single = single
        self._repair = repair
        self._watch = watch
        self._held: list[Event] = []  # text and thoughts that wait for the next message
        self._message: Any = None  # the last step's

    def feed(self, text: str) -> Any:
        """The message of a step; None where there is nothing to say yet."""
        if self._parser is None:
            self._message = self._make.message(text, []) if text else None
            return self._message
        events = self._treated(self._parser.feed(text))
        if len(events) == 1 and not self._held:
            event = events[0]
            if isinstance(event, Arguments):
                # Nearly every token of a long call comes this way, and of an answer the next one.
                self._message = self._make.message(
                    None, [self._make.piece(event.index, event.text)]
                )
                return self._message
            if isinstance(event, Content):
                self._message = self._make.message(event.text, [])
                return self._message
            if isinstance(event, Reasoning):
                self._message = self._make.message(None, [], event.text)
                return self._message
        self._message = self._encode(events, False)
        return self._message

    def finish(self, dropped: Callable[[str], None] | None) -> Any:
        """The end of the text. What was undecided goes out with the step's message, if there is one,
        else it is returned.

        `dropped` is there for vLLM's Responses stream and hears of text that can't go out: the
        stream would close the call before its last arguments are out, and fail. A call is worth more
        than the words after it.
        """
        message, self._message = self._message, None
        events = self._treated(self._parser.finish()) if self._parser is not None else []
        if message is None:
            return self._encode(events, True)
        said, calls = self._sort(events)
        _add_calls(message, calls)
        thoughts, text = _texts([*self._held, *said])
        self._held.clear()
        if dropped and message.tool_calls and message.tool_calls[0].id is None:
            if thoughts or text:
                dropped((thoughts or "") + (text or ""))
            return None
        if thoughts:
            message.reasoning = (message.reasoning or "") + thoughts
        if text:
            message.content = (message.content or "") + text
        return None

    def _treated(self, events: list[Event]) -> list[Event]:
        """What of the events goes out, and how."""
        if self._repair is not None:
            events = self._repair(events)
        return first_call(events) if self._single else events

    def _encode(self, events: list[Event], last: bool) -> Any:
        if not events and not self._held:
            return None
        said, calls = self._sort(events)
        held = [*self._held, *said]
        go = len(held)
        if not last:
            if not calls:
                go = _in_order(held)
            elif calls[0].id is None:
                go = 0
        self._held = held[go:]
        if not go and not calls:
            return None
        thoughts, text = _texts(held[:go])
        return self._make.message(text, calls, thoughts)

    def _sort(self, events: list[Event]) -> tuple[list[Event], list[Any]]:
        """What was said on one side, on the other one entry for each call that these events touch."""
        if self._watch is not None:
            self._watch(events)
        said: list[Event] = []
        calls: list[Any] = []
        start: CallStart | None = None  # of a call whose entry is not made yet
        for event in events:
            if isinstance(event, (Content, Reasoning)):
                said.append(event)
            elif isinstance(event, CallStart):
                start = event
            elif isinstance(event, Arguments):
                calls.append(self._entry(start, event.index, event.text))
                start = None
        if start is not None:
            calls.append(self._entry(start, start.index, ""))
        return said, calls

    def _entry(self, start: CallStart | None, index: int, arguments: str) -> Any:
        if start is None:
            return self._make.piece(index, arguments)
        return self._make.start(index, self._call_id(start.id, start.name), start.name, arguments)


def _in_order(said: list[Event]) -> int:
    """How many of these may go out in one message: thoughts, then text."""
    for place in range(1, len(said)):
        if isinstance(said[place], Reasoning) and isinstance(said[place - 1], Content):
            return place
    return len(said)


def _texts(said: list[Event]) -> tuple[str | None, str | None]:
    """The thoughts and the text of these."""
    thoughts = [event.text for event in said if isinstance(event, Reasoning)]
    texts = [event.text for event in said if isinstance(event, Content)]
    return ("".join(thoughts) if thoughts else None), ("".join(texts) if texts else None)


def _add_calls(message: Any, calls: list[Any]) -> None:
    """Put the entries into the message, an entry of the call that was its last into that one."""
    for call in calls:
        before = message.tool_calls[-1] if message.tool_calls else None
        if before is not None and before.index == call.index:
            before.function.arguments += call.function.arguments
        else:
            message.tool_calls = [*message.tool_calls, call]
