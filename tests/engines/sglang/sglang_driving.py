"""Drives SGLang's own FunctionCallParser as its server does, without a server."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.entrypoints.openai.serving_chat import OpenAIServingChat
from sglang.srt.function_call.function_call_parser import FunctionCallParser


@dataclass
class Got:
    """What a client of SGLang's server would have in the end."""

    calls: list[tuple[str, str]] = field(default_factory=list)
    content: str | None = None
    incomplete: set[int] = field(default_factory=set)
    steps: list[tuple[str, list[Any]]] = field(default_factory=list)


def sglang_tools(tools: Sequence[dict[str, Any]]) -> list[Tool]:
    return [Tool(**tool) for tool in tools]


def make_parser(name: str, tools: Sequence[dict[str, Any]], tool_choice: Any = None) -> Any:
    told = inspect.signature(FunctionCallParser).parameters  # the choice: since 0.5.21
    more = {"tool_choice": tool_choice} if "tool_choice" in told else {}
    return FunctionCallParser(sglang_tools(tools), name, **more)


def stream(parser: Any, pieces: Sequence[str]) -> Got:
    """Chat Completions, streamed: text before calls, the end together with the last piece."""
    got = Got()
    for number, piece in enumerate(pieces):
        text, calls = parser.parse_stream_chunk(piece)
        if number == len(pieces) - 1:
            end_text, end_calls = parser.parse_stream_end()
            text, calls = (text or "") + end_text, [*calls, *end_calls]
        got.steps.append((text, calls))
        if text:
            got.content = (got.content or "") + text
        for call in calls:
            take_in(got, call)
    assert nothing_left(parser), "SGLang would add arguments of its own"
    got.incomplete = parser.detector.incomplete_tool_call_indices
    return got


def take_in(got: Got, call: Any) -> None:
    """A call's first item has its name, and no other has; calls come one after the other."""
    if call.tool_index == len(got.calls):
        assert call.name
        got.calls.append((call.name, call.parameters))
        return
    assert call.tool_index == len(got.calls) - 1, "calls interleave"
    assert call.name is None
    name, arguments = got.calls[-1]
    got.calls[-1] = (name, arguments + call.parameters)


def nothing_left(parser: Any) -> bool:
    """SGLang's own look at what was not streamed yet."""
    look = OpenAIServingChat._check_for_unstreamed_tool_args
    more = (0,) if "created" in inspect.signature(look).parameters else ()
    return look(None, parser, {}, None, 0, *more) is None


def whole(parser: Any, text: str) -> Got:
    """Not streamed: the server asks whether there is a call, and only then reads it."""
    if not parser.has_tool_call(text):
        return Got(content=text or None)
    content, calls = parser.parse_non_stream(text)
    assert [call.tool_index for call in calls] == list(range(len(calls)))
    return Got(
        calls=[(call.name, call.parameters) for call in calls],
        content=content or None,
        incomplete=getattr(parser.detector, "incomplete_tool_call_indices", set()),
    )


def closed_by_text(got: Got) -> list[str]:
    """Arguments that came after text had closed their call, as SGLang's Messages stream sees it."""
    open_call, lost = False, []
    for text, calls in got.steps:
        if text:
            open_call = False
        for call in calls:
            if call.name:
                open_call = True
            elif not open_call:
                lost.append(call.parameters)
    return lost
