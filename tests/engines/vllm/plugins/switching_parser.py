"""One server, every format: a tool parser that is, for each request, the toolwire parser it names.

A server has one parser, and starting one takes most of a minute. So the tests start one with this
parser, and a request says `vllm_xargs={"format": "qwen3_coder"}`. The parsers behind it are the
real ones, by the names that toolwire's entry point registered.
"""

from __future__ import annotations

from typing import Any

from vllm.tool_parsers import ToolParser, ToolParserManager


class SwitchingParser(ToolParser):  # type: ignore[misc]
    engine_based_streaming = True
    supports_required_and_named = False
    structural_tag_model = "switching"

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        super().__init__(tokenizer, tools)
        self._arguments = (tokenizer, tools)
        self._parser: Any = None

    def _for(self, request: Any) -> Any:
        if self._parser is None:
            name = (request.vllm_xargs or {}).get("format", "hermes")
            kind = ToolParserManager.get_tool_parser(f"toolwire_{name}")
            self._parser = kind(*self._arguments)
        return self._parser

    def adjust_request(self, request: Any) -> Any:
        return self._for(request).adjust_request(request)

    def get_structural_tag(self, request: Any, **options: Any) -> Any:
        return self._for(request).get_structural_tag(request, **options)

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        return self._for(request).extract_tool_calls(model_output, request)

    def extract_tool_calls_streaming(self, *arguments: Any) -> Any:
        return self._for(arguments[-1]).extract_tool_calls_streaming(*arguments)

    def finish_streaming(self) -> Any:
        return None if self._parser is None else self._parser.finish_streaming()

    def get_remaining_unstreamed_args(self) -> str:
        return ""


ToolParserManager.register_module("switching", module=SwitchingParser)
