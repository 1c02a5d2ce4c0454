"""For the tests' server: each request says how the model marks its thoughts, and what it writes.

The last tool of a request names the format and the style (`use_<format>--<style>`); without tools the
style is `think`. In a server that is started with ECHO=1, the model says what stands in the user's
message, token for token, in every API; where a grammar forbids that, it says something else.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import torch
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.plugins.hook_registry import HookRegistry, HookType
from sglang.srt.sampling.custom_logit_processor import CustomLogitProcessor
from switching_detector import asked_for
from toolwire.engines.sglang.reasoning import ReasoningDetector
from toolwire.engines.thinking import find_style, text_format

_ASKED = "sglang.srt.managers.io_struct.GenerateReqInput.normalize_batch_and_arguments"


def register() -> None:
    ReasoningParser.DetectorMap["switching"] = SwitchingThoughts
    if os.environ.get("ECHO"):
        HookRegistry.register(_ASKED, echo, HookType.AFTER)


class SwitchingThoughts(ReasoningDetector):
    """toolwire's detector, of the style and in front of the format that the request asks for."""

    style = find_style("think")
    text_format = text_format("think")
    _format: str | None = "hermes"
    _request: Any = None

    @property
    def request(self) -> Any:
        return self._request

    @request.setter
    def request(self, request: Any) -> None:
        self._request = request
        if request is None or not request.tools:
            return
        last = request.tools[-1]
        format, style = asked_for(getattr(last, "function", last).name)
        self._format = format if style else None  # the tool call detector reads all by itself then
        self.style = find_style(style) if style else None
        self.text_format = text_format(style or "think")

    def tool_format(self) -> str | None:
        return self._format


def echo(_: Any, request: Any) -> None:
    """Behind the reading of a request, whichever API it came by."""
    request.custom_logit_processor = Echo.to_str()
    request.sampling_params["custom_params"] = {"echo": True}


class Echo(CustomLogitProcessor):  # type: ignore[misc]
    def __call__(self, logits: Any, custom_param_list: list[dict[str, Any]] | None = None) -> Any:
        for row, parameters in zip(logits, custom_param_list or (), strict=True):
            request = parameters["__req__"]
            begin, end = turn_marks(request.tokenizer)
            prompt = list(request.origin_input_ids)
            if end not in prompt:
                continue  # SGLang's own first request, to get warm
            script = said(prompt, begin, end)
            place = len(request.output_ids)
            token = script[place] if place < len(script) else end
            if not torch.isinf(row[token]):  # else a grammar forbids it
                row.fill_(float("-inf"))
                row[token] = 0.0
        return logits


@cache
def turn_marks(tokenizer: Any) -> tuple[int, int]:
    return tuple(tokenizer.convert_tokens_to_ids(["<|im_start|>", "<|im_end|>"]))


def said(prompt: list[int], begin: int, end: int) -> list[int]:
    """What stands in the last turn but the assistant's own, which has only begun."""
    closed = len(prompt) - 1 - prompt[::-1].index(end)
    opened = closed - prompt[:closed][::-1].index(begin)
    return prompt[opened:closed]
