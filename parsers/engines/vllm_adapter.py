"""What stands behind a name like `toolwire_hermes`: vLLM's ToolParser, spoken by the core.

vLLM hands over text as it is generated and wants `DeltaMessage`s back. The parser here is
"engine-based": of all it is given it reads only `delta_text`, keeps nothing but the core's own
state, and is told when the text is over (`finish_streaming`). Reading a whole answer is the same
machine fed once. How events become messages is in `vllm_stream`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
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
from .vllm_stream import Stream


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
        self._stream: Stream | None = None
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
        calls = self._whole_calls(events, single=_wants_one(request))
        return self._api.ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=content or None
        )

    def _whole_calls(self, events: Sequence[Event], *, single: bool) -> list[Any]:
        starts = [event for event in events if type(event) is CallStart]
        texts: dict[int, list[str]] = {start.index: [] for start in starts}
        for event in events:
            if type(event) is Arguments:
                texts[event.index].append(event.text)
        if single:
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
        return (self._stream or self._start(request)).feed(delta_text)

    def _start(self, request: Any) -> Stream:
        self._responses = hasattr(request, "input")
        self._stream = Stream(
            self._open(request), self._api.messages, make_id, single=_wants_one(request)
        )
        return self._stream

    def finish_streaming(self) -> Any:
        """The end of the text: what was undecided goes out with the step's message."""
        if self._stream is None:
            return None
        return self._stream.finish(_say_dropped if self._responses else None)

    def get_remaining_unstreamed_args(self) -> str:
        return ""


def _say_dropped(text: str) -> None:
    vllm_api.log.warning("Text after a call's last piece was dropped: %r", text)


def _wants_one(request: Any) -> bool:
    """Whether only the first call is wanted."""
    return request.parallel_tool_calls is False


def _offers_an_answer(request: Any) -> bool:
    """In `auto` with `response_format`, vLLM has the model write one or the other: calls as if one
    were required, or the answer. So the calls are in the format of required ones."""
    asked = getattr(request, "structured_outputs", None)
    if asked is None or not asked.structural_tag:
        return False
    form = json.loads(asked.structural_tag).get("format")  # a user's own tag may have none
    return isinstance(form, dict) and form.get("type") == "or"


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
