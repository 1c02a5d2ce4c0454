"""Loaded by the local vLLM server of the benchmarks: what it writes, how fast, and who parses it.

A request says all three:

    vllm_xargs.script    the tokens to write (see the tests' `scripted_output`)
    vllm_xargs.pace      steps a second at most; as fast as it goes where there is none
    the first tool's description: `parser: NAME`, a tool parser by the name vLLM knows it by

So one server does for all parsers, and they can take turns. vLLM is given the very parser that
`--tool-call-parser NAME` would give it: nothing stands between the two.

The server also ends with the benchmark that started it, even if that was killed.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import torch
from scripted_output import ScriptedOutput
from vllm.tool_parsers import ToolParser, ToolParserManager

MARK = "parser: "


def _end_with_parent() -> None:
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(2)
    os.killpg(0, signal.SIGKILL)  # the server has a session of its own


threading.Thread(target=_end_with_parent, daemon=True).start()


class PacedOutput(ScriptedOutput):
    """One step of the engine waits until the pace allows it."""

    def __init__(self, config: Any, device: torch.device, is_pin_memory: bool) -> None:
        super().__init__(config, device, is_pin_memory)
        self._pace = 0.0
        self._last = 0.0

    def new_req_logits_processor(
        self, params: Any
    ) -> Callable[[list[int], torch.Tensor], torch.Tensor] | None:
        self._pace = float((params.extra_args or {}).get("pace", 0))
        return super().new_req_logits_processor(params)

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        written: torch.Tensor = super().apply(logits)
        if self._pace and self.req_info:
            next_step = self._last + 1 / self._pace
            now = time.perf_counter()
            if now < next_step:
                time.sleep(next_step - now)
            # A step that came late is not made up for.
            self._last = max(now, next_step)
        return written


class ByRequest(ToolParser):  # type: ignore[misc]
    """Not a parser: making one gives the parser that the tools name."""

    def __new__(cls, tokenizer: Any, tools: Any = None) -> Any:
        description = (tools[0].function.description if tools else None) or ""
        name = description.removeprefix(MARK) if description.startswith(MARK) else "hermes"
        return ToolParserManager.get_tool_parser(name)(tokenizer, tools)


ToolParserManager.register_module("by_request", module=ByRequest)
