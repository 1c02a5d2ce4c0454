"""Drives SGLang's detectors as its server does, token by token, through `FunctionCallParser`."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.entrypoints.openai.serving_chat import OpenAIServingChat
from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser.reasoning_parser import ReasoningParser
from toolwire import get_format, register_format
from toolwire.engines.names import sglang_names
from toolwire.engines.sglang import adapter as sglang_adapter
from toolwire.engines.sglang import plugin as sglang_plugin
from workloads import Step

LABEL = "SGLang"
PACKAGES = ("toolwire", "sglang", "pydantic", "torch", "transformers")

PREFERRED = ("hermes", "qwen3_coder", "glm45", "glm47")


class _Floor(BaseFormatDetector):  # type: ignore[misc]
    def has_tool_call(self, text: str) -> bool:
        return True

    def detect_and_parse(self, text: str, tools: Any) -> Any:
        return self.parse_streaming_increment(text, tools)

    def structure_info(self) -> Any:
        raise NotImplementedError


class ContentFloor(_Floor):
    def parse_streaming_increment(self, new_text: str, tools: Any) -> Any:
        return StreamingParseResult(normal_text=new_text)


class ArgumentsFloor(_Floor):
    def parse_streaming_increment(self, new_text: str, tools: Any) -> Any:
        return StreamingParseResult(calls=[ToolCallItem(tool_index=0, parameters=new_text)])


class UncheckedFloor(_Floor):
    """Fills its results in directly, as toolwire does."""

    def parse_streaming_increment(self, new_text: str, tools: Any) -> Any:
        return sglang_adapter.RESULTS.result("", [sglang_adapter.RESULTS.item(0, None, new_text)])


@cache  # a name is registered once in a process
def uncounted() -> Any:
    """toolwire's detector of hermes as it would be if nobody counted anything: calls are held against no
    layout, and nobody hears of them."""
    hermes = get_format("hermes")
    name = f"{hermes.name}_uncounted"
    register_format(replace(hermes, name=name, aliases=(), layout=None))

    class Uncounted(sglang_adapter.detector_class(name)):  # type: ignore[misc]
        def _begin(self, tools: Any, text: str = "") -> Any:
            stream = super()._begin(tools, text)
            stream._watch = self._record = None
            return stream

    return Uncounted


def prepare() -> dict[str, str]:
    """Registers ours and the floors; gives SGLang's own parsers: our format's name → theirs."""
    os.environ["SGLANG_FORWARD_UNKNOWN_TOOLS"] = "1"  # as vLLM does
    logging.disable(logging.CRITICAL)  # what parsers say would be measured, too
    table = FunctionCallParser.ToolCallParserEnum
    theirs = sglang_names(table)
    sglang_plugin.register()
    table["floor_content"] = ContentFloor
    table["floor_arguments"] = ArgumentsFloor
    table["floor_unchecked"] = UncheckedFloor
    table["toolwire_hermes_uncounted"] = uncounted()
    found = {ours: name for name, ours in theirs.items()}
    found |= {name: name for name in PREFERRED if theirs.get(name) == name}
    return found | {"llama3_json": "llama3"}


class Stream:
    """One answer as SGLang reads it."""

    def __init__(self, tokenizer: Any, parser_name: str, tools: Sequence[Any]) -> None:
        self.parser = FunctionCallParser([Tool(**tool) for tool in tools], parser_name)

    def feed(self, steps: Sequence[Step]) -> None:
        """All but the last step."""
        parse = self.parser.parse_stream_chunk
        for text, _ in steps:
            parse(text)

    def finish(self, step: Step) -> None:
        self.parser.parse_stream_chunk(step[0])
        self.parser.parse_stream_end()

    def deltas(self, steps: Sequence[Step]) -> Iterator[tuple[str, list[tuple[int, str, str]]]]:
        """For each step the text and the pieces of calls: (number, name, arguments)."""
        for number, (piece, _) in enumerate(steps):
            text, calls = self.parser.parse_stream_chunk(piece)
            if number < len(steps) - 1:
                yield text or "", [_piece(call) for call in calls]
                continue
            end_text, end_calls = self.parser.parse_stream_end()
            pieces = [_piece(call) for call in [*calls, *end_calls]]
            yield (text or "") + end_text, [*pieces, *self._rest()]

    def _rest(self) -> list[tuple[int, str, str]]:
        """What SGLang's server adds at the end, out of what the detector says it has left out."""
        found = OpenAIServingChat._check_for_unstreamed_tool_args(
            None, self.parser, {"meta_info": {"id": "x"}}, SimpleNamespace(model="model"), 0, 0
        )
        if found is None:
            return []
        chunk = json.loads(found.removeprefix("data: "))
        calls = chunk["choices"][0]["delta"]["tool_calls"]
        return [(call["index"], "", call["function"]["arguments"] or "") for call in calls]


# -- whole texts ----------------------------------------------------------------------------------


def whole_tokenizer(texts: Iterable[str]) -> None:
    """SGLang's parsers need none."""


def reasoning_names() -> list[str]:
    return [name for name in ReasoningParser.DetectorMap if "toolwire" not in name]


def read_whole(
    tokenizer: None, parser_name: str, reasoning: str | None, turn: Mapping[str, Any]
) -> tuple[str | None, str | None, list[tuple[str | None, str, str]]]:
    """Thoughts, text and calls (no id, name, arguments), as in an answer that is not streamed."""
    thought, text = None, turn["text"]
    if reasoning is not None:
        # A thought that the prompt has opened is one from the first character on.
        opened = turn["in_thought"] or None
        thoughts = ReasoningParser(
            reasoning, False, force_reasoning=opened, tool_call_parser_active=True
        )
        thought, text = thoughts.parse_non_stream(text)
    parser = FunctionCallParser([Tool(**tool) for tool in turn["tools"]], parser_name)
    if not parser.has_tool_call(text):
        return thought, text, []
    content, calls = parser.parse_non_stream(text)
    return thought, content, [(None, call.name or "", call.parameters) for call in calls]


def _piece(call: Any) -> tuple[int, str, str]:
    return call.tool_index, call.name or "", call.parameters or ""
