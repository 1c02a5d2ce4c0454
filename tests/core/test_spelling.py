"""Drift: what of a message is not spelled as its format has it."""

from __future__ import annotations

from typing import Any

import pytest
import toolwire
from toolwire import get_format, list_formats
from toolwire.core.parser import EventParser
from toolwire.formats.reasoning import style_of

from ..corpus_cases import CASES, Case
from ..support import TOOLS, cut_at

#: Formats that have a spelling of their own.
OWN = [name for name in list_formats() if get_format(name).own_spelling is not None]
CALLS: list[list[dict[str, Any]]] = [
    [{"name": "add", "arguments": {"a": 1, "b": 2}}],
    [{"name": "noargs", "arguments": {}}],
    [
        {"name": "get_weather", "arguments": {"city": "Oslo", "unit": "C"}},
        {"name": "noargs", "arguments": {}},
        {"name": "add", "arguments": {"a": 1}},
    ],
]


def drift(format: str, text: str, tools: Any = TOOLS, size: int = 0, **options: Any) -> list[str]:
    parser = EventParser(get_format(format), tools, **options)
    for chunk in cut_at(text, range(size, len(text), size)) if size else [text]:
        parser.feed(chunk)
    parser.finish()
    return parser.drift


@pytest.mark.parametrize("format", OWN)
def test_what_a_format_writes_is_its_own(format: str) -> None:
    """One call and several, without words around them and behind some, however they are cut."""
    for calls in CALLS:
        text = toolwire.write(format, calls)
        around = [text, f"{text}\n", f"\n{text}\nDone."]
        for whole in around:
            assert [drift(format, whole, size=size) for size in (0, 1, 3, 7)] == [[]] * 4, whole


@pytest.mark.parametrize("case", CASES, ids=str)
def test_cuts_do_not_matter(case: Case) -> None:
    whole = drift(case.format, case.text, case.tools)
    for size in (1, 2, 3, 7):
        assert drift(case.format, case.text, case.tools, size) == whole


ADD = '{"name": "add", "arguments": {"a": 1}}'
CALL = f"<tool_call>\n{ADD}\n</tool_call>"
XML = "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
GLM = "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>"
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>"
    '{"a": 1}<|tool_call_end|><|tool_calls_section_end|>'
)
M3 = (
    ']<]minimax[>[<tool_call>]<]minimax[>[<invoke name="add">]<]minimax[>[<a>1]<]minimax[>[</a>'
    "]<]minimax[>[</invoke>]<]minimax[>[</tool_call>"
)

NEARLY = ["marker_without_call"]

ROWS = [
    # JSON bodies
    ("hermes", CALL, []),
    ("hermes", "No call at all.", []),
    ("hermes", CALL.removesuffix("</tool_call>"), []),
    ("hermes", f"{CALL}\n{CALL}", []),
    ("hermes", CALL.replace("arguments", "parameters"), ["opening"]),
    ("hermes", CALL.replace("{", '{"type": "function", ', 1), ["opening"]),
    ("hermes", CALL.replace('{"a": 1}', r'"{\"a\": 1}"'), ["opening"]),
    ("hermes", '<tool_call>{"arguments": {"a": 1}, "name": "add"}</tool_call>', ["opening"]),
    ("hermes", f"<tool_call>\n```json\n{ADD}\n```\n</tool_call>", ["code_fence"]),
    ("hermes", f"{CALL}</tool_call>", ["closing"]),
    ("hermes", f"<tool_call>{ADD} And then?", ["closing"]),
    ("hermes", f"<tool_call>{ADD}<tool_call>{ADD}</tool_call>", ["closing"]),
    ("hermes", f"<tool_call> is how.\n{CALL}", ["marker_without_call"]),
    ("hermes", '<tool_call>{"name": "ad', ["marker_without_call"]),
    ("llama3_json", '{"name": "add", "parameters": {"a": 1}}', []),
    ("llama3_json", '<|python_tag|>{"name": "add", "parameters": {"a": 1}}', ["opening"]),
    # a name in markup
    ("kimi_k2", KIMI, []),
    ("kimi_k2", KIMI.replace("calls_section", "call_section"), ["closing", "opening"]),
    ("kimi_k2", KIMI.replace(":0", "", 1), ["opening"]),
    ("mistral", '[TOOL_CALLS]add[ARGS]{"a": 1}', []),
    ("mistral", '[TOOL_CALLS]add[CALL_ID]aB3dE6gH9[ARGS]{"a": 1}', []),
    ("mistral", f"[TOOL_CALLS] [{ADD}]", []),
    ("mistral", '[TOOL_CALLS]add\n{"a": 1}', ["opening"]),
    ("mistral", "[TOOL_CALLS]add", ["marker_without_call"]),
    # tags
    ("qwen3_coder", XML, []),
    ("qwen3_coder", CALL, ["closing", "opening"]),
    ("qwen3_coder", XML.removeprefix("<tool_call>\n"), ["no_marker"]),
    ("qwen3_coder", '<tool_call><function=add>{"a": 1}</function></tool_call>', ["opening"]),
    ("qwen3_coder", XML.replace("</function>\n", "") + "\nDone.", ["closing"]),
    ("glm45", GLM, []),
    ("glm45", GLM.replace("add\n", "add>\n"), ["opening"]),
    # elements
    ("minimax_m3", M3, []),
    ("minimax_m3", M3.replace("]<]minimax[>[<tool_call>", "<tool_call>"), ["opening"]),
    # code
    ("lfm2", "<|tool_call_start|>[add(a=1)]<|tool_call_end|>", []),
    ("lfm2", f"<|tool_call_start|>[{ADD}]<|tool_call_end|>", ["opening"]),
    ("gemma4", "<|tool_call>call:add{a:1}<tool_call|>", []),
    ("gemma4", "<|tool_call>add{a:1}<tool_call|>", ["opening"]),
    # a word is no marker
    ("phi4", "The module functools has it.", []),
    # no spelling of its own: only what is nearly a call
    ("any", CALL.replace("arguments", "parameters"), []),
    ("any", "<tool_call> is how.", ["marker_without_call"]),
]


@pytest.mark.parametrize(("format", "text", "found"), ROWS)
def test_what_is_spelled_otherwise(format: str, text: str, found: list[str]) -> None:
    assert [drift(format, text, size=size) for size in (0, 1, 4)] == [found] * 3


def test_a_call_that_is_a_thought_is_none() -> None:
    style = style_of(get_format("hermes"), True)
    odd = CALL.replace("arguments", "parameters")
    thought = f"<think>I could say {odd}, or so.</think>Well."
    assert drift("hermes", thought, style=style) == []
    assert drift("hermes", f"<think>So: {odd}", style=style) == ["opening"]
    assert drift("hermes", f"<think>So: {CALL}", style=style) == []
    assert drift("hermes", f"</tool_call><tool_call>.<think>So: {CALL}", style=style) == NEARLY


def test_a_suffix_that_differs_is_no_drift() -> None:
    calls = CALLS[2]
    text = toolwire.write("hy3", calls)
    assert ":opensource>" in text
    assert drift("hy3", text.replace(":opensource", ":6124c78e")) == []
