"""One scripted call through SGLang's own classes, for a release that toolwire was not tested with.

What SGLang's server does with an answer, streamed and whole, is done here with a text whose calls are
known. If something else comes out, the contract between SGLang and its parsers has changed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .. import scripted_call
from ..scripted_call import Outcome
from .adapter import detector_class


def self_test() -> str | None:
    """What is wrong; None where all is as it was."""
    return scripted_call.find_fault(_streamed, _whole, _held)


def _held() -> bool:
    return bool(_parser().get_structure_constraint("required"))


def _parser() -> Any:
    kind = import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
    tool = import_module("sglang.srt.entrypoints.openai.protocol").Tool
    name = f"toolwire_{scripted_call.FORMAT}"
    kind.ToolCallParserEnum.setdefault(name, detector_class(scripted_call.FORMAT))
    return kind([tool(**scripted_call.TOOL)], name)


def _whole(text: str) -> Outcome:
    parser = _parser()
    if not parser.has_tool_call(text):
        return text, []
    content, calls = parser.parse_non_stream(text)
    return content, [(call.name, call.parameters) for call in calls]


def _streamed(text: str) -> Outcome:
    parser = _parser()
    content: list[str] = []
    calls: list[tuple[str, str]] = []
    steps = [parser.parse_stream_chunk(text[at : at + 7]) for at in range(0, len(text), 7)]
    for said, pieces in (*steps, parser.parse_stream_end()):
        content.append(said or "")
        for piece in pieces:
            if piece.name:
                calls.append((piece.name, ""))
            name, arguments = calls[piece.tool_index]
            calls[piece.tool_index] = (name, arguments + piece.parameters)
    return "".join(content), calls
