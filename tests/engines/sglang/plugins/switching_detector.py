"""For the tests' server: each request says in which format the model writes, and what.

A server has one tool call parser, and the tests need many. Neither can every endpoint be told what
the model is to write. So a request's last tool says both: its name is `use_<format>`, and its
description is the text, or nothing where the model may write what it likes. `use_<format>--<style>`
names a style of reasoning, too (`switching_thoughts`).

`untold` is a format of a user's own that does not say how its calls are laid out, so no grammar can be
made for it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sglang.srt.function_call.function_call_parser import FunctionCallParser
from toolwire import get_format, register_format
from toolwire.engines.sglang.adapter import Detector
from xgrammar import StructuralTag

PREFIX = "use_"


def register() -> None:
    register_format(replace(get_format("hermes"), name="untold", aliases=(), layout=None))
    FunctionCallParser.ToolCallParserEnum["switching"] = Switching


def asked_for(tool: str) -> tuple[str, str]:
    """The format and the style that a tool's name asks for; no style where nobody is to think."""
    assert tool.startswith(PREFIX), "a test forgot to say the format"
    format, _, style = tool.removeprefix(PREFIX).partition("--")
    return format, style


class Switching(Detector):
    """toolwire's detector, of the format that the request asks for."""

    toolwire_format = "hermes"

    def _switch(self, tools: Any) -> list[Any]:
        """Takes the last tool's word; gives the others."""
        *others, last = tools
        self.toolwire_format, _ = asked_for(last.function.name)
        return others

    def detect_and_parse(self, text: str, tools: Any) -> Any:
        return super().detect_and_parse(text, self._switch(tools))

    def parse_streaming_increment(self, new_text: str, tools: Any) -> Any:
        return super().parse_streaming_increment(new_text, self._switch(tools))

    def finish(self, tools: Any) -> Any:
        return super().finish(self._switch(tools))

    def has_tool_call(self, text: str) -> bool:
        return True  # the tools, and so the format, are not known here

    def get_structural_tag(self, tools: Any = None, *rest: Any, **more: Any) -> Any:
        return super().get_structural_tag(self._switch(tools), *rest, **more)

    def get_auto_tool_call_structural_tag(self, tools: Any = None, **more: Any) -> Any:
        script = tools[-1].function.description
        if not script:
            return super().get_auto_tool_call_structural_tag(tools, **more)
        return StructuralTag.model_validate(
            {"type": "structural_tag", "format": {"type": "const_string", "value": script}}
        )
