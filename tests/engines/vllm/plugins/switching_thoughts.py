"""One server, every style and format: both parsers are, for each request, those that it names.

A request says `chat_template_kwargs={"style": "think", "format": "hermes"}`. vLLM gives these to the
reasoning parser, in the server and in the engine; the tool parser, which it makes right behind, gets
nothing but the tools. So the first one leaves the format for the second. What is made is toolwire's own,
by the names that its entry point registered: these classes are never in the way.
"""

from __future__ import annotations

import threading
from typing import Any

from vllm.reasoning import ReasoningParser, ReasoningParserManager
from vllm.tool_parsers import ToolParser, ToolParserManager


class Asked(threading.local):
    format = "hermes"


asked = Asked()


class SwitchingThoughts(ReasoningParser):  # type: ignore[misc]
    def __new__(cls, tokenizer: Any, *rest: Any, **more: Any) -> Any:
        wanted = more.get("chat_template_kwargs") or {}
        asked.format = wanted.get("format", "hermes")
        style = wanted.get("style", "think")
        kind = ReasoningParserManager.get_reasoning_parser(f"toolwire_{style}")
        return kind(tokenizer, *rest, **more)


class SwitchingCalls(ToolParser):  # type: ignore[misc]
    def __new__(cls, tokenizer: Any, tools: Any = None) -> Any:
        kind = ToolParserManager.get_tool_parser(f"toolwire_{asked.format}")
        return kind(tokenizer, tools)


ReasoningParserManager.register_module("switching", module=SwitchingThoughts)
ToolParserManager.register_module("switching", module=SwitchingCalls)
