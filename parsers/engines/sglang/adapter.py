"""What stands behind a name like `toolwire_hermes` in SGLang: a format detector, spoken by the core.

SGLang makes one detector for every choice of every request. It hands over text as it is generated
and wants results of text and calls back; a whole answer is the same machine fed once.

How events become results is in `stream`. Two things SGLang does shape this file:

* At the end SGLang compares `prev_tool_call_arr` with `streamed_args_for_tool` and sends the rest.
  Both stay empty: what the model did not write is not sent.
* A detector is not told the request, only its tools. `get_required_tool_parser` is where it hears
  the tool choice, and so whether a call was forced; releases that have no such thing are dealt with in
  `forced_json`.

Only SGLang's own process imports this module: `sglang_plugin.register` does.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from typing import Any, NoReturn

from sglang.srt.environ import envs
from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem

from ...core.parser import EventParser
from ...events import CallStart, Event
from ...formats import get_format
from ...openai.constrain import constrain_request, constrains, reading_format
from ...openai.repair import Repair
from ...openai.repairs import environment_repairs
from ...openai.request import of_functions, read_choice, read_functions, read_parts
from ...schema.recent import Recent
from ..capture import Record
from ..structural_tags import as_structural_tag
from .contract import find_contract
from .forced_json import EitherParser, is_forced_json
from .handover import HandedOver, is_handed_over
from .results import results
from .stream import AsText, Stream

#: SGLang stops Kimi K3 at its detector's `eot_token`, whichever detector that is. With the empty text
#: that it finds in others, an answer would end with its first token.
_KIMI_K3_STOP = get_format("kimi_k3").wrappers[0].close[0]

#: `has_tool_call` reads this much at a time, and no further than the first call.
_STEP = 4096

_FAULT = "toolwire failed to read an answer as %s; what it had not read goes out as text."

log = logging.getLogger("sglang.srt.toolwire")

RESULTS = results(StreamingParseResult, ToolCallItem)
CONTRACT = find_contract()


class Detector(BaseFormatDetector):  # type: ignore[misc]  # SGLang is not there for the checker
    """Reads calls in `toolwire_format`, which the class of each format sets."""

    toolwire_format: str

    def __init__(self) -> None:
        super().__init__()
        self.eot_token = _KIMI_K3_STOP
        self._tool_choice: Any = None
        self._asked_for_tag = False
        self._has_call = ""  # a text that was asked about: SGLang asks twice
        self._reset()

    def _reset(self) -> None:
        self.incomplete_tool_call_indices: set[int] = set()
        self._stream: Any = None  # a Stream, or one that is recorded
        self._record: Record | None = None

    # -- requests -----------------------------------------------------------------------------

    def get_required_tool_parser(self, tool_choice: Any) -> None:
        """SGLang asks for another parser here; there is none, but what it asks with is worth knowing."""
        self._tool_choice = tool_choice

    def supports_structural_tag(self) -> bool:
        """Whether forced calls come here: before 0.5.20, SGLang asks for nothing else where it streams
        Responses. Asked behind `get_structural_tag` it means another thing: a tag of the old kind, which
        allows any arguments and every tool. There is none."""
        return not self._asked_for_tag

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
        self._asked_for_tag = True
        spec = get_format(self.toolwire_format)
        request = read_parts(tools, tool_choice, parallel=parallel_tool_calls is not False)
        found = constrain_request(spec, request)
        if found.format is not spec:
            log.info("%s can't express these tools: the call is asked for as JSON.", spec.name)
        return None if found.tag is None else as_structural_tag(found.tag)

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
        if read_choice(self._tool_choice).forced or is_handed_over(text):
            return True
        if text and text == self._has_call:
            return True
        if not CONTRACT.hears_choice and is_forced_json(text):
            return True
        try:
            parser = EventParser(get_format(self.toolwire_format))
            found = any(type(event) is CallStart for event in _skim(parser, text))
        except Exception:
            log.exception(_FAULT, self.toolwire_format)
            return False
        if found:
            self._has_call = text
        else:  # then SGLang does not ask any further
            request, repair = read_parts(None, None), Repair((), None)
            Record(self.toolwire_format, request, repair, parser).whole(text, [])
        return found

    # An exception would break the client's connection, so none leaves this class.

    def detect_and_parse(self, text: str, tools: Sequence[Any]) -> StreamingParseResult:
        self._reset()
        try:
            found = self._begin(tools, text).whole(text)
            self._note_end(text)
        except Exception:
            log.exception(_FAULT, self.toolwire_format)
            return self._give_up(text, last=True)
        return found

    # -- a stream -----------------------------------------------------------------------------

    def parse_streaming_increment(
        self, new_text: str, tools: Sequence[Any]
    ) -> StreamingParseResult:
        if not new_text and self._stream is None:
            return RESULTS.result("", [])
        try:
            return (self._stream or self._begin(tools, new_text)).feed(new_text)
        except Exception:
            log.exception(_FAULT, self.toolwire_format)
            return self._give_up(new_text, last=False)

    def finish(self, tools: Sequence[Any]) -> StreamingParseResult:
        try:
            found = (self._stream or self._begin(tools)).finish()
            self._note_end()
        except Exception:
            log.exception(_FAULT, self.toolwire_format)
            return self._give_up("", last=True)
        return found

    def _note_end(self, text: str = "") -> None:
        """The message is over, `text` is what of it did not come as a stream."""
        record, self._record = self._record, None
        if record is not None:
            record.came(text)
            record.done()

    def _begin(self, tools: Sequence[Any], text: str = "") -> Any:
        """At the first text: what reads it, for it may have been read by the reasoning detector."""
        request = of_functions(
            _functions(tools) if tools else (), self._tool_choice if tools else "none"
        )
        format = reading_format(self.toolwire_format, request)
        # None: unknown tools may be called, too.
        known = None if envs.SGLANG_FORWARD_UNKNOWN_TOOLS.get() else request.names
        parser: Any
        if is_handed_over(text):
            parser = HandedOver()
        elif CONTRACT.hears_choice:
            held = constrains(self.toolwire_format, request)
            parser = EventParser(format, request.known, constrained=held)
        else:
            parser = EitherParser(EventParser, format, request.known)
        repair = Repair(environment_repairs(), request.known)
        self._record = Record(self.toolwire_format, request, repair, parser)
        self._stream = self._record.around(self._new_stream(parser, known, repair))
        return self._stream

    def _new_stream(
        self, parser: Any, known: Collection[str] | None, repair: Repair | None = None
    ) -> Stream:
        return Stream(
            parser,
            RESULTS,
            known=known,
            unknown=_say_unknown,
            incomplete=self.incomplete_tool_call_indices,
            repair=repair.events if repair is not None and repair.asked else None,
            watch=self._record.see if self._record is not None else None,
        )

    def _give_up(self, text: str, last: bool) -> StreamingParseResult:
        """After a fault of ours the rest of the message goes out as text."""
        if self._stream is None:
            self._stream = self._new_stream(AsText(), None)
        return self._stream.give_up(text, last)


#: Read once for all choices of a request.
_functions = Recent(read_functions)


def _skim(parser: EventParser, text: str) -> Iterator[Event]:
    """What a parser says of a text, as soon as it says it."""
    for start in range(0, len(text), _STEP):
        yield from parser.feed(text[start : start + _STEP])
    yield from parser.finish()


def _say_unknown(name: str) -> None:
    log.warning("The model called %r, which is no tool of the request: left out.", name)


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
