"""What stands behind a name like `toolwire_hermes`: vLLM's ToolParser, spoken by the core.

vLLM hands over text as it is generated and wants `DeltaMessage`s back. The parser here is
"engine-based": of all it is given it reads only `delta_text`, keeps nothing but the core's own
state, and is told when the text is over (`finish_streaming`). Reading a whole answer is the same
machine fed once. How events become messages is in `stream`.

Thoughts are looked for where one of toolwire's reasoning parsers stands in front (`reasoning`): then
all of the message is read here, in one go.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from ...core.parser import EventParser
from ...formats import get_format
from ...formats.parser import text_only
from ...openai.answers import CallIds, first_call
from ...openai.constrain import constrain_request, constrains, reading_format
from ...openai.message import Message, ToolCall, collect
from ...openai.repair import Repair
from ...openai.repairs import environment_repairs
from ...openai.request import Function, Request, earlier_calls, of_functions, read_functions
from ...schema.recent import Recent
from ..capture import Record
from ..startup_checks import check_template, check_tokenizer, skipped
from ..structural_tags import as_structural_tag
from . import api as vllm_api
from .anthropic import leave_out_unreadable_calls
from .contract import Grammar
from .reasoning import ReasoningAdapter, claim
from .responses import (
    allowed_grammar,
    keep_text_behind_calls,
    own_choice,
    show_choice,
    show_mode,
    shown_names,
)
from .start import watch_start
from .stream import Stream


class Adapter:
    """The methods vLLM calls. `parser_class` puts vLLM's own ToolParser behind it."""

    toolwire_format: str
    _api: vllm_api.VllmApi
    toolwire_keeps_text: bool  # in a Responses stream's last step, after a call
    _checked: Any = None  # the tokenizer that was checked last: there is one for each server
    toolwire_started: tuple[Any, str] = (None, "")  # … and with what a server started, see `start`

    engine_based_streaming = True
    # `required` and named outputs come to us like any other, not to vLLM's own JSON reader.
    supports_required_and_named = False

    def __init__(self, tokenizer: Any, tools: Any = None, *rest: Any, **more: Any) -> None:
        super().__init__(tokenizer, tools, *rest, **more)  # type: ignore[call-arg]
        self._stream: Any = None  # a Stream, or one that is recorded
        self._record: Record | None = None
        self._responses = False
        self._thoughts: ReasoningAdapter | None = claim(self, tokenizer)
        self._whole: Message | None = None  # what `read_whole` has read
        kind = type(self)
        if kind._checked is not tokenizer:
            # Some releases make a parser when they start, so what can't work is said then.
            kind._meet(tokenizer)
            kind._checked = tokenizer

    @classmethod
    def _meet(cls, tokenizer: Any) -> None:
        """A tokenizer that is new: raises where it can't work with the format."""
        check_tokenizer(cls.toolwire_format, tokenizer)

    @classmethod
    def toolwire_starts(cls, tokenizer: Any, template: str) -> None:
        """The server is about to start, with this tokenizer and, unless it is empty, this chat template
        of the operator: see `start`."""
        check_tokenizer(cls.toolwire_format, tokenizer)
        if not skipped():
            check_template(get_format(cls.toolwire_format), tokenizer, template, vllm_api.log)

    # -- requests -----------------------------------------------------------------------------

    def adjust_request(self, request: Any) -> Any:
        """Markers that are special tokens have to be in the text; and what vLLM does not ask for by
        itself."""
        read = self._read(request)
        if read.choice.mode != "none":
            request.skip_special_tokens = False
        wanted = self._api.contract.unasked(request, read) or allowed_grammar(request, read)
        tag = self._tag(read, wanted)
        if tag is not None:
            text = json.dumps(tag.model_dump())
            request.structured_outputs = self._api.StructuredOutputsParams(structural_tag=text)
            setattr(request, "text" if hasattr(request, "input") else "response_format", None)
        show_mode(request, read)
        return request

    def get_structural_tag(
        self, request: Any, *, reasoning: bool = False, strict_level: Any = 0
    ) -> Any:
        """The constraint for this request, as xgrammar's class; None leaves the model free."""
        read = self._read(request)
        return self._tag(read, self._api.contract.grammar(request, read, int(strict_level)))

    def _tag(self, read: Request, wanted: Grammar | None) -> Any:
        if wanted is None:
            return None
        if not read.choice.forced and not self._api.envs.VLLM_ENFORCE_STRICT_TOOL_CALLING:
            return None  # the operator leaves the model free in `auto`, whatever a tool says
        if wanted.answer is not None:  # a call or the answer: any text would be neither
            read = replace(read, choice=replace(read.choice, mode="required"))
        every_schema = wanted.every_schema
        tag = constrain_request(self.toolwire_format, read, every_schema=every_schema).tag
        if tag is None:
            return None
        if wanted.answer is not None:
            either = {"type": "or", "elements": [tag["format"], wanted.answer]}
            tag = {"type": "structural_tag", "format": either}
        return as_structural_tag(tag)

    def _read(self, request: Any) -> Request:
        """vLLM itself says by which names the model knows the tools: those in a namespace, say."""
        tools = request.tools
        functions = _functions(tools) if tools else ()
        choice = own_choice(request) if tools else "none"
        parallel = request.parallel_tool_calls is not False
        return shown_names(of_functions(functions, choice, parallel), request)

    def _open(self, request: Request, asked: Any, inside: bool = False) -> EventParser | None:
        """The core's parser for this request; None where text is just text. `inside`: it begins with
        thoughts."""
        front = self._thoughts
        style = front.style if front is not None and front.asked else None
        if request.choice.mode == "none":
            if style is None:
                return None
            return EventParser(text_only(self.toolwire_format), None, style, inside)
        held = self._held(request)
        if not request.choice.forced and _offers_an_answer(asked):
            request = replace(request, choice=replace(request.choice, mode="required"))
            held = False  # it may be the answer
        format = reading_format(self.toolwire_format, request)
        return EventParser(format, request.known, style, inside, constrained=held)

    def _held(self, request: Request) -> bool:
        """Whether a grammar holds the model to its calls."""
        free = not (request.choice.forced or self._api.envs.VLLM_ENFORCE_STRICT_TOOL_CALLING)
        return not free and constrains(self.toolwire_format, request)

    def _ids(self, asked: Any) -> CallIds:
        style = get_format(self.toolwire_format).ids
        return CallIds(style, earlier_calls(asked) if style.counted else 0)

    def _repair(self, request: Request) -> Repair:
        return Repair(environment_repairs(), request.known)

    @property
    def skip_reasoning_parsing(self) -> bool:
        """vLLM sets it where there is no reasoning parser."""
        return self._thoughts is None

    @skip_reasoning_parsing.setter
    def skip_reasoning_parsing(self, skip: bool) -> None:
        if skip:
            self._thoughts = None

    # -- a whole answer -----------------------------------------------------------------------

    def read_whole(self, text: str, request: Any, inside: bool) -> Message:
        """All of an answer, for the reasoning parser in front. The calls wait for `extract_tool_calls`,
        which vLLM asks for next, with the message's content."""
        self._whole = self._read_whole(text, request, inside)
        return self._whole

    def _read_whole(self, text: str, request: Any, inside: bool) -> Message:
        read = self._read(request)
        parser = self._open(read, request, inside)
        if parser is None:
            return Message(text, [])
        repair = self._repair(read)
        events = repair.events(parser.feed(text) + parser.finish())
        Record(self.toolwire_format, read, repair, parser).whole(text, events)
        ids = self._ids(request)
        return collect(events if read.parallel else first_call(events), ids)

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        show_choice(request)
        message, self._whole = self._whole, None
        if message is None:
            message = self._read_whole(model_output, request, False)
        calls = [self._whole_call(call) for call in message.tool_calls]
        return self._api.ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=message.content
        )

    def _whole_call(self, call: ToolCall) -> Any:
        function = self._api.FunctionCall(name=call.name, arguments=call.arguments)
        return self._api.ToolCall(id=call.id, function=function)

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

    def _start(self, request: Any) -> Any:
        self._responses = hasattr(request, "input")
        read = self._read(request)
        inside = self._thoughts is not None and self._thoughts.stream_begins_inside()
        parser = self._open(read, request, inside)
        repair = self._repair(read)
        record = None
        if parser is not None:
            record = Record(self.toolwire_format, read, repair, parser)
        stream = Stream(
            parser,
            self._api.messages,
            self._ids(request),
            single=not read.parallel,
            repair=repair.events if repair.asked else None,
            watch=record.see if record is not None else None,
        )
        self._record = record
        self._stream = record.around(stream) if record is not None else stream
        return self._stream

    def finish_streaming(self) -> Any:
        """The end of the text: what was undecided goes out with the step's message."""
        if self._stream is None:
            return None
        drops = self._responses and not self.toolwire_keeps_text
        rest = self._stream.finish(_say_dropped if drops else None)
        record, self._record = self._record, None
        if record is not None:
            record.done()
        return rest

    def get_remaining_unstreamed_args(self) -> str:
        return ""


def _read_functions(tools: Any) -> tuple[Function, ...]:
    return read_functions(vllm_api.load().contract.function_tools(tools) or tools)


#: Read once for all choices of a request.
_functions = Recent(_read_functions)


def _say_dropped(text: str) -> None:
    vllm_api.log.warning("Text after a call's last piece was dropped: %r", text)


def _offers_an_answer(request: Any) -> bool:
    """In `auto` with `response_format`, the model writes one or the other: calls as if one were
    required, or the answer. So the calls are in the format of required ones."""
    asked = getattr(request, "structured_outputs", None)
    return asked is not None and bool(asked.structural_tag) and _is_either(asked.structural_tag)


def _says_either(tag: str) -> bool:
    form = json.loads(tag).get("format")  # a user's own tag may have none
    return isinstance(form, dict) and form.get("type") == "or"


#: Read once for all choices of a request: with many tools a tag is long.
_is_either = Recent(_says_either)


def make_class(name: str, adapter: type[Adapter], **members: Any) -> Any:
    """A ToolParser class of this name, and a vLLM that is ready for it."""
    api = vllm_api.load()
    leave_out_unreadable_calls()
    watch_start()
    members["_api"] = api
    members["toolwire_keeps_text"] = keep_text_behind_calls()
    # Any name will do: it makes vLLM ask `get_structural_tag`, which is our own.
    members["structural_tag_model"] = name
    return type(name, (adapter, api.ToolParser), members)


@cache
def parser_class(format_name: str) -> Any:
    """The ToolParser class of a format. `get_format` says so where there is none of that name."""
    name = get_format(format_name).name
    doc = f"Reads the tool calls of the format {name}."
    members = {"__module__": __name__, "__doc__": doc, "toolwire_format": name}
    return make_class(f"toolwire_{name}", Adapter, **members)
