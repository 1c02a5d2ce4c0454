"""What stands behind a name like `toolwire_hermes` in SGLang: a format detector, spoken by the core.

SGLang makes one detector for every choice of every request. It hands over text as it is generated
and wants results of text and calls back; a whole answer is the same machine fed once.

Three things SGLang does shape this file:

* Within one result text goes out before calls, and text closes an open call (its Responses and
  Messages streams do). So text that follows a call in the same step waits for the next result, and
  goes on waiting while another call is open.
* At the end SGLang compares `prev_tool_call_arr` with `streamed_args_for_tool` and sends the rest.
  Both stay empty: what the model did not write is not sent.
* A detector is not told the request, only its tools. `get_required_tool_parser` is where it hears
  the tool choice, and so whether a call was forced.

Only SGLang's own process imports this module: `sglang_plugin.register` does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NoReturn

from sglang.srt.environ import envs
from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult

from .. import get_format
from ..core.events import Arguments, CallEnd, CallStart, Content, Event
from ..core.parser import EventParser
from .sglang_results import item, result
from .structural_tags import constrain, reading_format
from .tools import Choice, read_choice, tool_dicts

#: `has_tool_call` reads this much at a time, and no further than the first call.
_STEP = 4096

_FAULT = "toolwire failed to read an answer as %s; what it had not read goes out as text."

log = logging.getLogger("sglang.srt.toolwire")


class Detector(BaseFormatDetector):  # type: ignore[misc]  # SGLang is not there for the checker
    """Reads calls in `toolwire_format`, which the class of each format sets."""

    toolwire_format: str

    def __init__(self) -> None:
        super().__init__()
        self._choice = Choice("auto")
        self._reset()

    def _reset(self) -> None:
        self.incomplete_tool_call_indices: set[int] = set()
        self._parser: EventParser | None = None
        self._feed: Callable[[str], Sequence[Event]] | None = None
        self._known: frozenset[str] | None = None  # None: unknown tools may be called, too
        self._held: list[str] = []  # text that follows a call and waits for the next result
        self._open = False  # whether a call has begun and not ended
        self._number: int | None = None  # the call being read; None where it is not passed on
        self._name: str | None = None  # of that call, where it has not gone out yet
        self._count = 0  # the calls passed on so far

    # -- requests -----------------------------------------------------------------------------

    def get_required_tool_parser(self, tool_choice: Any) -> None:
        """SGLang asks for another parser here; there is none, but what it asks with is worth knowing."""
        self._choice = read_choice(tool_choice, True)

    def supports_structural_tag(self) -> bool:
        """False for the old kind of tag, which allows any arguments and every tool."""
        return False

    def parses_required_natively(self) -> bool:
        """Forced calls come here, not to SGLang's own reader of JSON."""
        return True

    def structure_info(self) -> NoReturn:
        raise NotImplementedError("The old kind of tag is not supported: see get_structural_tag.")

    def get_structural_tag(
        self,
        tools: Sequence[Any] | None = None,
        tool_choice: Any = "auto",
        thinking_mode: bool = False,
        parallel_tool_calls: bool = True,
    ) -> Any:
        """The constraint for a request, as xgrammar's class; None leaves the model free."""
        from xgrammar import StructuralTag  # SGLang itself can do without it

        spec = get_format(self.toolwire_format)
        declared = tool_dicts(tools)
        choice = read_choice(tool_choice, declared)
        if reading_format(spec, declared, choice) != spec.name:
            log.info("%s can't express these tools: the call is asked for as JSON.", spec.name)
        tag = constrain(spec, declared, choice, parallel=parallel_tool_calls is not False)
        return None if tag is None else StructuralTag.model_validate(tag)

    def get_auto_tool_call_structural_tag(
        self,
        tools: Sequence[Any] | None = None,
        thinking_mode: bool = False,
        parallel_tool_calls: bool = True,
    ) -> Any:
        """In `auto`, with no strict tool: the only thing to hold the model to is a single call."""
        if parallel_tool_calls is not False:
            return None
        return self.get_structural_tag(tools, "auto", thinking_mode, parallel_tool_calls)

    # -- a whole answer -----------------------------------------------------------------------

    def has_tool_call(self, text: str) -> bool:
        """Whether to read the answer for calls. SGLang does not tell the tools here: any will do."""
        if self._choice.forced:
            return True
        try:
            return any(type(event) is CallStart for event in self._skim(text))
        except Exception:
            log.exception(_FAULT, self.toolwire_format)
            return False

    def _skim(self, text: str) -> Iterator[Event]:
        parser = EventParser(get_format(self.toolwire_format))
        for start in range(0, len(text), _STEP):
            yield from parser.feed(text[start : start + _STEP])
        yield from parser.finish()

    def detect_and_parse(self, text: str, tools: Sequence[Any]) -> StreamingParseResult:
        self._reset()
        try:
            events = self._begin(tools)(text)
        except Exception:
            log.exception(_FAULT, self.toolwire_format)
            events = self._give_up(text)
        return self._encode([*events, *self._end_of_text()], last=True)

    # -- a stream -----------------------------------------------------------------------------

    def parse_streaming_increment(
        self, new_text: str, tools: Sequence[Any]
    ) -> StreamingParseResult:
        try:
            events = (self._feed or self._begin(tools))(new_text)
        except Exception:
            log.exception(_FAULT, self.toolwire_format)
            events = self._give_up(new_text)
        if len(events) == 1:
            event = events[0]
            if type(event) is Arguments and self._number is not None:
                # Nearly every token of a long call comes this way, and of an answer the next one.
                return result("", [item(self._number, None, event.text)])
            if type(event) is Content and not self._held:
                return result(event.text, [])
        elif not events and not self._held:
            return result("", [])
        return self._encode(events)

    def finish(self, tools: Sequence[Any]) -> StreamingParseResult:
        return self._encode(self._end_of_text(), last=True)

    # -- text to events -----------------------------------------------------------------------
    # An exception would break the client's connection, so none leaves this class.

    def _end_of_text(self) -> Sequence[Event]:
        try:
            return self._parser.finish() if self._parser is not None else ()
        except Exception:
            log.exception(_FAULT, self.toolwire_format)
            return self._give_up("")

    def _begin(self, tools: Sequence[Any]) -> Callable[[str], Sequence[Event]]:
        declared = tool_dicts(tools)
        if not envs.SGLANG_FORWARD_UNKNOWN_TOOLS.get():
            self._known = frozenset(tool["function"]["name"] for tool in declared)
        name = reading_format(get_format(self.toolwire_format), declared, self._choice)
        self._parser = EventParser(get_format(name), declared or None)
        self._feed = self._parser.feed
        return self._feed

    def _give_up(self, text: str) -> Sequence[Event]:
        """After a fault of ours the rest of the message goes out as text."""
        self._parser = None
        self._feed = _as_content
        end = [CallEnd(0, complete=False)] if self._open else []
        return [*end, *_as_content(text)]

    # -- events to results --------------------------------------------------------------------

    def _encode(self, events: Sequence[Event], last: bool = False) -> StreamingParseResult:
        text: list[str] = []
        calls: list[Any] = []
        if not self._open:
            text, self._held = self._held, text
        for event in events:
            if type(event) is Content:
                (self._held if calls else text).append(event.text)
            elif type(event) is CallStart:
                self._start(event.name)
            elif type(event) is Arguments:
                self._add(calls, event.text)
            elif type(event) is CallEnd:
                self._add(calls, "")
                self._close(event.complete)
        if last:
            text += self._held
            self._held = []
        self._add(calls, "")
        return result("".join(text), calls)

    def _start(self, name: str) -> None:
        self._open = True
        if self._known is not None and name not in self._known:
            log.warning("The model called %r, which is no tool of the request: left out.", name)
            return
        self._number = self._count
        self._count += 1
        self._name = name

    def _add(self, calls: list[Any], text: str) -> None:
        """The next piece of the call; its name goes out with the first. No call is there twice."""
        if self._number is None or not (text or self._name is not None):
            return
        if calls and calls[-1].tool_index == self._number:
            calls[-1].parameters += text
        else:
            calls.append(item(self._number, self._name, text))
            self._name = None

    def _close(self, complete: bool) -> None:
        if self._number is not None and not complete:
            self.incomplete_tool_call_indices.add(self._number)
        self._open = False
        self._number = None


def _as_content(text: str) -> Sequence[Event]:
    return (Content(text),) if text else ()


@cache
def detector_class(format_name: str) -> type[Detector]:
    """The detector of a format. `get_format` says so where there is none of that name."""
    name = get_format(format_name).name
    members = {
        "__module__": __name__,
        "__doc__": f"Reads the tool calls of the format {name}.",
        "toolwire_format": name,
    }
    return type(f"toolwire_{name}", (Detector,), members)
