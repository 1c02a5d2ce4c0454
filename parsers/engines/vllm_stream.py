"""One answer on its way through the core into vLLM's messages.

Two things vLLM does shape this file:

* Within one message text goes out before calls (its Responses stream even closes an open call when
  text arrives), so text that follows the arguments of a call that was already open waits for the
  next message.
* What a parser returns at the end is appended to the step's last message. One index must appear only
  once in a message, so the end is merged into that message instead.

This file and the messages' are compiled with the core: every token passes through them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.events import Arguments, CallStart, Content, Event
from ..core.parser import EventParser
from .vllm_messages import Messages


class Stream:
    """Text in, messages out."""

    def __init__(
        self,
        parser: EventParser | None,
        make: Messages,
        make_id: Callable[[], str],
        *,
        single: bool,
    ) -> None:
        """Without a parser text is just text. `single`: only the first call is wanted."""
        self._parser = parser
        self._make = make
        self._make_id = make_id
        self._single = single
        self._held: list[str] = []  # text that waits until the open call's message is out
        self._message: Any = None  # the last step's

    def feed(self, text: str) -> Any:
        """The message of a step; None where there is nothing to say yet."""
        if self._parser is None:
            self._message = self._make.message(text, []) if text else None
            return self._message
        events = self._parser.feed(text)
        if len(events) == 1 and not self._held:
            event = events[0]
            if isinstance(event, Arguments) and not (self._single and event.index):
                # Nearly every token of a long call comes this way, and of an answer the next one.
                self._message = self._make.message(
                    None, [self._make.piece(event.index, event.text)]
                )
                return self._message
            if isinstance(event, Content):
                self._message = self._make.message(event.text, [])
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
        events = self._parser.finish() if self._parser is not None else []
        if message is None:
            return self._encode(events, True)
        texts, calls = self._sort(events)
        _add_calls(message, calls)
        text = "".join([*self._held, *texts])
        self._held.clear()
        if text:
            if dropped and message.tool_calls and message.tool_calls[0].id is None:
                dropped(text)
            else:
                message.content = (message.content or "") + text
        return None

    def _encode(self, events: list[Event], last: bool) -> Any:
        held = self._held
        if not events and not held:
            return None
        texts, calls = self._sort(events)
        held.extend(texts)
        content = None
        if held and (last or not calls or calls[0].id is not None):
            content = "".join(held)
            held.clear()
        return self._make.message(content, calls) if calls or content is not None else None

    def _sort(self, events: list[Event]) -> tuple[list[str], list[Any]]:
        """Text on one side, on the other one entry for each call that these events touch."""
        texts: list[str] = []
        calls: list[Any] = []
        start: CallStart | None = None  # of a call whose entry is not made yet
        for event in events:
            if isinstance(event, Content):
                texts.append(event.text)
            elif self._single and event.index:
                continue  # only the first call is wanted
            elif isinstance(event, CallStart):
                start = event
            elif isinstance(event, Arguments):
                calls.append(self._entry(start, event.index, event.text))
                start = None
        if start is not None:
            calls.append(self._entry(start, start.index, ""))
        return texts, calls

    def _entry(self, start: CallStart | None, index: int, arguments: str) -> Any:
        if start is None:
            return self._make.piece(index, arguments)
        return self._make.start(index, start.id or self._make_id(), start.name, arguments)


def _add_calls(message: Any, calls: list[Any]) -> None:
    """Put the entries into the message, an entry of the call that was its last into that one."""
    for call in calls:
        before = message.tool_calls[-1] if message.tool_calls else None
        if before is not None and before.index == call.index:
            before.function.arguments += call.function.arguments
        else:
            message.tool_calls = [*message.tool_calls, call]
