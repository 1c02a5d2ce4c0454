"""What stands behind a name like `toolwire_hermes`: vLLM's ToolParser, spoken by the core.

vLLM hands over text as it is generated and wants `DeltaMessage`s back. The parser here is
"engine-based": of all it is given it reads only `delta_text`, keeps nothing but the core's own
state, and is told when the text is over (`finish_streaming`). Reading a whole answer is the same
machine fed once.

Two things vLLM does shape this file:

* Within one message text goes out before calls (its Responses stream even closes an open call when
  text arrives), so text that follows the arguments of a call that was already open waits for the
  next message.
* What `finish_streaming` returns is appended to the step's last message. One index must appear only
  once in a message, so the end is merged into that message instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from .. import get_format
from ..core.events import Arguments, CallStart, Content, Event
from ..core.parser import EventParser
from ..openai import make_id
from . import vllm_api
from .startup_checks import check_model
from .structural_tags import constrain, reading_format
from .tools import Choice, read_choice, tool_dicts


class Adapter:
    """The methods vLLM calls. `parser_class` puts vLLM's own ToolParser behind it."""

    toolwire_format: str
    _api: vllm_api.VllmApi
    _checked: Any = None  # the tokenizer that was checked last: there is one for each server

    engine_based_streaming = True
    # `required` and named outputs come to us like any other, not to vLLM's own JSON reader.
    supports_required_and_named = False

    def __init__(self, tokenizer: Any, tools: Any = None, *rest: Any, **more: Any) -> None:
        super().__init__(tokenizer, tools, *rest, **more)  # type: ignore[call-arg]
        self._make = self._api.messages
        self._parser: EventParser | None = None
        self._feed: Callable[[str], Any] | None = None
        self._single = False
        self._held: list[str] = []  # text that waits until the open call's message is out
        self._message: Any = None  # what this step gave to vLLM, for `finish_streaming`
        self._responses = False
        kind = type(self)
        if kind._checked is not tokenizer:
            # vLLM makes one parser when it starts, so what does not fit is said then.
            kind._meet(tokenizer)
            kind._checked = tokenizer

    @classmethod
    def _meet(cls, tokenizer: Any) -> None:
        """A tokenizer that is new: raises where it can't work with the format."""
        check_model(cls.toolwire_format, tokenizer)

    # -- requests -----------------------------------------------------------------------------

    def adjust_request(self, request: Any) -> Any:
        """Markers that are special tokens have to be in the text."""
        if read_choice(request.tool_choice, request.tools).mode != "none":
            request.skip_special_tokens = False
        return request

    def get_structural_tag(
        self, request: Any, *, reasoning: bool = False, strict_level: Any = 0
    ) -> Any:
        """The constraint for this request, as xgrammar's class; None leaves the model free."""
        choice = read_choice(request.tool_choice, request.tools)
        if not choice.forced and not self._api.envs.VLLM_ENFORCE_STRICT_TOOL_CALLING:
            return None  # the operator leaves the model free in `auto`, whatever a tool says
        tag = constrain(
            get_format(self.toolwire_format),
            self._tools(request),
            choice,
            parallel=request.parallel_tool_calls is not False,
            every_schema=int(strict_level) >= 2,
        )
        return None if tag is None else self._api.StructuralTag.model_validate(tag)

    def _tools(self, request: Any) -> list[dict[str, Any]]:
        return tool_dicts(self._api.get_function_tools(request.tools or []))

    def _open(self, request: Any) -> EventParser | None:
        """The core's parser for this request; None where text is just text."""
        choice = read_choice(request.tool_choice, request.tools)
        if choice.mode == "none":
            return None
        self._single = request.parallel_tool_calls is False
        tools = self._tools(request)
        if not choice.forced and _offers_an_answer(request):
            choice = Choice("required")
        return EventParser(get_format(self._format(tools, choice)), tools or None)

    def _format(self, tools: list[dict[str, Any]], choice: Choice) -> str:
        return reading_format(get_format(self.toolwire_format), tools, choice)

    # -- a whole answer -----------------------------------------------------------------------

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        parser = self._open(request)
        if parser is None:
            return self._api.ExtractedToolCallInformation(
                tools_called=False, tool_calls=[], content=model_output
            )
        events = [*parser.feed(model_output), *parser.finish()]
        content = "".join(event.text for event in events if type(event) is Content)
        calls = self._whole_calls(events)
        return self._api.ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=content or None
        )

    def _whole_calls(self, events: Sequence[Event]) -> list[Any]:
        starts = [event for event in events if type(event) is CallStart]
        texts: dict[int, list[str]] = {start.index: [] for start in starts}
        for event in events:
            if type(event) is Arguments:
                texts[event.index].append(event.text)
        if self._single:
            del starts[1:]
        return [
            self._api.ToolCall(
                id=start.id or make_id(),
                function=self._api.FunctionCall(
                    name=start.name, arguments="".join(texts[start.index])
                ),
            )
            for start in starts
        ]

    # -- a stream -----------------------------------------------------------------------------

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> Any:
        feed = self._feed
        if feed is None:
            feed = self._start(request)
        events = feed(delta_text)
        if len(events) == 1 and not self._held:
            event = events[0]
            if type(event) is Arguments and not (self._single and event.index):
                # Nearly every token of a long call comes this way, and of an answer the next one.
                make = self._make
                self._message = message = make.message(None, [make.piece(event.index, event.text)])
                return message
            if type(event) is Content:
                self._message = message = self._make.message(event.text, [])
                return message
        self._message = message = self._encode(events)
        return message

    def _start(self, request: Any) -> Callable[[str], Any]:
        self._responses = hasattr(request, "input")
        self._parser = self._open(request)
        self._feed = self._parser.feed if self._parser is not None else _as_content
        return self._feed

    def finish_streaming(self) -> Any:
        """The end of the text: what was undecided goes out with the step's message."""
        message, self._message = self._message, None
        events = self._parser.finish() if self._parser is not None else ()
        if message is None:
            return self._encode(events, last=True)
        self._merge(message, events)
        return None

    def get_remaining_unstreamed_args(self) -> str:
        return ""

    # -- events to messages -------------------------------------------------------------------

    def _encode(self, events: Sequence[Event], last: bool = False) -> Any:
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

    def _sort(self, events: Sequence[Event]) -> tuple[list[str], list[Any]]:
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
                calls.append(self._entry(start, event))
                start = None
        if start is not None:
            calls.append(self._entry(start, Arguments(start.index, "")))
        return texts, calls

    def _entry(self, start: CallStart | None, arguments: Arguments) -> Any:
        if start is None:
            return self._make.piece(arguments.index, arguments.text)
        id = start.id or make_id()
        return self._make.start(start.index, id, start.name, arguments.text)

    def _merge(self, message: Any, events: Sequence[Event]) -> None:
        texts, calls = self._sort(events)
        for call in calls:
            before = message.tool_calls[-1] if message.tool_calls else None
            if before is not None and before.index == call.index:
                before.function.arguments += call.function.arguments
            else:
                message.tool_calls = [*message.tool_calls, call]
        text = "".join([*self._held, *texts])
        self._held.clear()
        if not text:
            return
        if self._responses and message.tool_calls and message.tool_calls[0].id is None:
            # vLLM's Responses stream would close the call before its last arguments are out, and
            # fail. A call is worth more than the words after it.
            vllm_api.log.warning("Text after a call's last piece was dropped: %r", text)
            return
        message.content = (message.content or "") + text


def _offers_an_answer(request: Any) -> bool:
    """In `auto` with `response_format`, vLLM has the model write one or the other: calls as if one
    were required, or the answer. So the calls are in the format of required ones."""
    asked = getattr(request, "structured_outputs", None)
    if asked is None or not asked.structural_tag:
        return False
    form = json.loads(asked.structural_tag).get("format")  # a user's own tag may have none
    return isinstance(form, dict) and form.get("type") == "or"


def _as_content(text: str) -> Sequence[Event]:
    return (Content(text),) if text else ()


@cache
def parser_class(format_name: str) -> Any:
    """The ToolParser class of a format. `get_format` says so where there is none of that name."""
    api = vllm_api.load()
    name = get_format(format_name).name
    members = {
        "__module__": __name__,
        "__doc__": f"Reads the tool calls of the format {name}.",
        "toolwire_format": name,
        "_api": api,
        # Any name will do: it makes vLLM ask `get_structural_tag`, which is our own.
        "structural_tag_model": f"toolwire_{name}",
    }
    return type(f"toolwire_{name}", (Adapter, api.ToolParser), members)
