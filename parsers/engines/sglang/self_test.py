"""One scripted call through SGLang's own classes, for a release that toolwire was not tested with.

What SGLang's server does with an answer, streamed and whole, is done here with a text whose calls are
known. If something else comes out, the contract between SGLang and its parsers has changed.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...formats.write import write
from .adapter import detector_class

_FORMAT = "hermes"
_CALL = {"name": "toolwire_test", "arguments": {"text": 'one "two"\nthree'}}
_TOOL = {
    "type": "function",
    "function": {
        "name": "toolwire_test",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    },
}
_EXPECTED = ("Well.", [("toolwire_test", '{"text": "one \\"two\\"\\nthree"}')])


def self_test() -> str | None:
    """What is wrong; None where all is as it was."""
    text = f"Well.\n{write(_FORMAT, [_CALL], [_TOOL])}"
    try:
        got = {"streamed": _streamed(text), "whole": _whole(text)}
        held = _parser().get_structure_constraint("required")
    except Exception as error:  # noqa: BLE001 - whatever a changed contract leads to
        return f"{type(error).__name__}: {error}"
    wrong = [way for way, found in got.items() if found != _EXPECTED]
    if wrong:
        return f"{' and '.join(wrong)}, a call came out as {got[wrong[0]]}"
    return None if held else "a required call is not held to its tool"


def _parser() -> Any:
    kind = import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
    tool = import_module("sglang.srt.entrypoints.openai.protocol").Tool
    name = f"toolwire_{_FORMAT}"
    kind.ToolCallParserEnum.setdefault(name, detector_class(_FORMAT))
    return kind([tool(**_TOOL)], name)


def _whole(text: str) -> tuple[str, list[tuple[str, str]]]:
    parser = _parser()
    if not parser.has_tool_call(text):
        return text, []
    content, calls = parser.parse_non_stream(text)
    return content, [(call.name, call.parameters) for call in calls]


def _streamed(text: str) -> tuple[str, list[tuple[str, str]]]:
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
