"""What stands behind `--reasoning-parser toolwire_think` in SGLang: a detector of thoughts.

SGLang gives it every piece of an answer, and what it leaves goes on to the tool call detector. Where
that is toolwire's, too, all is read here, thoughts and calls, by one machine: a call may end thoughts
that were never closed. The calls are handed over (`handover`).

A detector is told neither the request nor its tools. Two hooks of SGLang's plugin system do that: one
stands behind the making of every `ReasoningParser`, the other keeps markers that are special tokens in
the text of requests without tools, as SGLang does it for parsers of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import (
    BaseReasoningFormatDetector,
    ReasoningParser,
    StreamingParseResult,
)

from ...core.format import Format
from ...core.literals import GAP, without_optional
from ...core.parser import EventParser
from ...core.reasoning import ReasoningStyle
from ...events import CallStart, Content, Event, Reasoning
from ...formats import get_format
from ...openai.constrain import constrains, reading_format
from ...openai.request import Request, read_parts
from ..thinking import Markers, find_style, styles, switched, text_format
from .handover import hand_over, hand_over_drift
from .stream import AsText

PREFIX = "toolwire_"
_FAULT = "toolwire failed to read thoughts as %s; what it had not read goes out as text."
_MADE = "sglang.srt.parser.reasoning_parser.ReasoningParser.__init__"
_SPECIAL = (
    "sglang.srt.entrypoints.openai.serving_chat.OpenAIServingChat"
    "._patch_reasoning_skip_special_tokens"
)
#: When a request thinks, in SGLang's words, where the template does not tell.
_DEFAULTS = {
    "apertus": "explicit_enable_thinking",  # thoughts always begin with their opener
    "gemma4": "explicit_enable_thinking",
    "granite": "explicit_thinking",
    "hunyuan_a13b": "explicit_enable_thinking",
    "k2_horizon": "always",
    "kimi": "explicit_enable_thinking",
    "minimax_m3": "explicit_enable_thinking",
    "mistral": "mistral",
}

log = logging.getLogger("sglang.srt.toolwire")


class ReasoningDetector(BaseReasoningFormatDetector):  # type: ignore[misc]
    """Reads thoughts in `style`, which the class of each style sets; `text_format` reads an answer where
    nobody asks for calls."""

    style: ReasoningStyle
    text_format: Format

    def __init__(
        self,
        stream_reasoning: bool = True,
        force_reasoning: bool = False,
        continue_final_message: bool = False,
        previous_content: str = "",
        force_nonempty_content: bool = False,
        tool_call_parser_active: bool = False,
    ) -> None:
        super().__init__(
            _plain(self.style.open),
            _plain(self.style.close),
            force_reasoning=force_reasoning,
            stream_reasoning=stream_reasoning,
            reasoning_default=_DEFAULTS.get(self.style.name, "enable_thinking"),
        )
        self.request: Any = None  # the hook below sets it
        self._inside = force_reasoning
        if continue_final_message and isinstance(previous_content, str):
            before = Markers(self.style).ends_inside(previous_content)
            self._inside = force_reasoning if before is None else before
        self._never_empty = force_nonempty_content
        self._reads_calls = tool_call_parser_active
        self._hands_over = False
        self._parser: EventParser | AsText | None = None
        self._waiting: list[Event] = []  # what goes out in the next step
        self._thought: list[str] = []  # thoughts that wait for their end
        self._all: list[str] = []  # thoughts that may turn out to be all there is
        self._said = False  # anything but thoughts

    # -- the machine --------------------------------------------------------------------------

    def _begin(self) -> EventParser | AsText:
        format, tools, held = self._calls()
        asked = getattr(self.request, "chat_template_kwargs", None)
        inside = self._inside and switched(asked) is not False
        if self.text_format.channels is not None:
            inside = False  # a channel is for the model to open
        self._parser = EventParser(format, tools, self.style, inside, constrained=held)
        return self._parser

    def _calls(self) -> tuple[Format, Any, bool]:
        """The format to read calls in, and the tools; none but text where nobody asks for calls. And
        whether a grammar holds the model to them."""
        name = self.tool_format() if self._reads_calls else None
        if name is None:
            return self.text_format, None, False
        self._hands_over = True
        if self.request is None:
            return get_format(name), None, False
        request = _read(self.request)
        return reading_format(name, request), request.known, constrains(name, request)

    def tool_format(self) -> str | None:
        """The format of the server's tool call parser; None where that is not toolwire's."""
        try:
            name = import_module("sglang.srt.runtime_context").get_serving().tool_call_parser
        except ValueError:  # no server runs in this process
            return None
        return getattr(FunctionCallParser.ToolCallParserEnum.get(name), "toolwire_format", None)

    def _feed(self, text: str) -> list[Event]:
        try:
            return (self._parser or self._begin()).feed(text)
        except Exception:
            log.exception(_FAULT, self.style.name)
            self._parser = AsText()
            return self._parser.feed(text)

    def _finish(self) -> list[Event]:
        try:
            return (self._parser or self._begin()).finish()
        except Exception:
            log.exception(_FAULT, self.style.name)
            return []

    # -- a whole answer -----------------------------------------------------------------------

    def detect_and_parse(self, text: str) -> StreamingParseResult:
        self._parser = None
        events = [*self._feed(text), *self._finish()]
        thoughts = "".join(event.text for event in events if isinstance(event, Reasoning))
        rest = [event for event in events if not isinstance(event, Reasoning)]
        if self._hands_over and any(isinstance(event, CallStart) for event in rest):
            return StreamingParseResult(hand_over(rest) + self._drift(), thoughts)
        said = _text(rest)
        if self._never_empty and not said:
            return StreamingParseResult(thoughts, "")
        return StreamingParseResult(said, thoughts)

    # -- a stream -----------------------------------------------------------------------------

    def parse_streaming_increment(self, new_text: str) -> StreamingParseResult:
        """SGLang sends a step's thoughts before the rest, so thoughts behind anything else wait for the
        next step, and all that follows them."""
        events = [*self._waiting, *self._feed(new_text)]
        go = _in_order(events)
        self._waiting = events[go:]
        return self._result(events[:go], last=False)

    def finish(self) -> StreamingParseResult:
        events = [*self._waiting, *self._finish()]
        self._waiting = []
        return self._result(events, last=True)

    def _result(self, events: Sequence[Event], last: bool) -> StreamingParseResult:
        new = [event.text for event in events if isinstance(event, Reasoning)]
        rest = [event for event in events if not isinstance(event, Reasoning)]
        self._said = self._said or bool(rest)
        if self._never_empty and not self._said:
            self._all += new
            if last:
                return StreamingParseResult("".join(self._all), "")
        self._thought += new
        thoughts = ""
        if self.stream_reasoning or rest or last:
            thoughts = "".join(self._thought)
            self._thought.clear()
        if not self._hands_over:
            return StreamingParseResult(_text(rest), thoughts)
        return StreamingParseResult(hand_over(rest) + (self._drift() if last else ""), thoughts)

    def _drift(self) -> str:
        """For who counts it, behind the last of what is handed over."""
        return hand_over_drift(self._parser.drift) if isinstance(self._parser, EventParser) else ""


def _in_order(events: Sequence[Event]) -> int:
    """How many of these may go out in one step: thoughts, then anything else."""
    for place in range(1, len(events)):
        if isinstance(events[place], Reasoning) and not isinstance(events[place - 1], Reasoning):
            return place
    return len(events)


def _text(events: Iterable[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Content))


def _plain(spellings: Sequence[str]) -> str:
    """The first of these that has no gap."""
    return next((s for s in map(without_optional, spellings) if GAP not in s), "")


def _read(request: Any) -> Request:
    """A request's tools, those that its messages declare included, and its choice of them."""
    tools = list(request.tools or [])
    for message in getattr(request, "messages", None) or []:
        tools += getattr(message, "tools", None) or []
    return read_parts(tools, request.tool_choice)


@cache
def reasoning_class(name: str) -> type[ReasoningDetector]:
    """The detector of a style. `find_style` says so where there is none of that name."""
    members = {
        "__module__": __name__,
        "__doc__": f"Reads thoughts in the style {name}.",
        "style": find_style(name),
        "text_format": text_format(name),
    }
    return type(PREFIX + name, (ReasoningDetector,), members)


# -- what SGLang is told --------------------------------------------------------------------------


def add_reasoning() -> None:
    """Puts a detector for each style into SGLang's table. May be called any number of times."""
    for name in styles():
        ReasoningParser.DetectorMap[PREFIX + name] = reasoning_class(name)
    _add_hook()


@cache
def _add_hook() -> None:
    hooks = import_module("sglang.srt.plugins.hook_registry")
    hooks.HookRegistry.register(_MADE, _tell_request, hooks.HookType.AFTER)


def _tell_request(_: Any, parser: Any, *arguments: Any, **named: Any) -> None:
    """Behind the making of a `ReasoningParser`."""
    if isinstance(parser.detector, ReasoningDetector):
        request = arguments[3] if len(arguments) > 3 else named.get("request")
        parser.detector.request = request


@cache
def keep_special_tokens() -> None:
    """For processes that serve HTTP: no other has to load what is hooked into here."""
    hooks = import_module("sglang.srt.plugins.hook_registry")
    hooks.HookRegistry.register(_SPECIAL, _keep_special_tokens, hooks.HookType.AFTER)
    hooks.HookRegistry.apply_hooks()


def _keep_special_tokens(_: Any, serving: Any, request: Any) -> None:
    if is_ours(serving.reasoning_parser):
        request.skip_special_tokens = False


def is_ours(parser: str | None) -> bool:
    """Whether a name is that of a reasoning parser of toolwire's."""
    detector = ReasoningParser.DetectorMap.get(parser)
    return detector is not None and issubclass(detector, ReasoningDetector)
