"""What today's servers get wrong, one test for each row, cut in every way.

The rows O, here, are about anything; H, about calls as JSON, are in `test_failures_json`, X, about tags,
in `test_failures_tags`.
"""

from __future__ import annotations

import json

import pytest
from toolwire.openai import DeltaStream, accumulate

from ..support import ADD, TOOLS, check_all_splits, summary, tool
from ..writers import WRITERS
from .rows import GOOD_CALL, Calls, check


@pytest.mark.parametrize("format", ["json", "llama3_json", "xlam", "hermes"])
def test_o1_a_plain_json_answer(format: str) -> None:
    for text in (
        '{"answer": 42}',
        '[{"answer": 42}]',
        '{"name": "Bob", "age": 5}',
        "```json\n{}\n```",
    ):
        check(format, text, text, [])


@pytest.mark.parametrize("separator", ["; ", ";", "\n", "\n\n"])
def test_o2_two_calls(separator: str) -> None:
    one = '{"name": "add", "parameters": {"a": 2, "b": 2}}'
    check("llama3_json", one + separator + one, None, [GOOD_CALL, GOOD_CALL])
    check("llama3_json", f"<|python_tag|>{one}{separator}{one}", None, [GOOD_CALL, GOOD_CALL])


def test_o3_prose_before_the_json() -> None:
    text = 'I will add.\n{"name": "add", "parameters": {"a": 2, "b": 2}}\nDone.'
    check("llama3_json", text, "I will add.\n\nDone.", [GOOD_CALL])


@pytest.mark.parametrize(
    "text", ["[1] See docs", "[docs](url)", "[x] done", "a [add(1, 2)] b", "[]"]
)
def test_o4_brackets_in_prose(text: str) -> None:
    check("pythonic", text, text, [])


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[add(2, 2)]", [GOOD_CALL]),
        ("[add(a=2, b=2)]", [GOOD_CALL]),
        ('[add({"a": 2, "b": 2})]', [GOOD_CALL]),
        ("[_private(x=1)]", [("_private", '{"x": 1}', True)]),
        ("[a.b(x='y')]", [("a.b", '{"x": "y"}', True)]),
        ("[f(x='two\nlines')]", [("f", '{"x": "two\\nlines"}', True)]),
        ("[\n  f(x=1),\n  g()\n]", [("f", '{"x": 1}', True), ("g", "{}", True)]),
        ("[f(x=(1, 'a', None), y={'k': True,})]",
         [("f", '{"x": [1, "a", null], "y": {"k": true}}', True)]),
        ("[f(x=\"it's\", y='say \"hi\"')]", [("f", '{"x": "it\'s", "y": "say \\"hi\\""}', True)]),
        ('[f(x="""a"b""")]', [("f", '{"x": "a\\"b"}', True)]),
        ("[f(x='\\x41\\t\\u00e9\\'')]", [("f", '{"x": "A\\t\\u00e9\'"}', True)]),
        ("[f(x=1_000, y=.5, z=-2)]", [("f", '{"x": 1000, "y": 0.5, "z": -2}', True)]),
    ],
)  # fmt: skip
def test_o5_python(text: str, calls: Calls) -> None:
    names = {name for name, _, _ in calls} - {"add"}
    check("pythonic", text, None, calls, [ADD, *map(tool, sorted(names))])


def test_o6_both_mistral_forms() -> None:
    for text in (
        '[TOOL_CALLS][{"name": "add", "arguments": {"a": 2, "b": 2}}]',
        '[TOOL_CALLS] [{"name": "add", "arguments": {"a": 2, "b": 2}}]',
        '[TOOL_CALLS]add[ARGS]{"a": 2, "b": 2}',
        '[TOOL_CALLS]add{"a": 2, "b": 2}',
        '[TOOL_CALLS]add[CALL_ID]abc123def[ARGS]{"a": 2, "b": 2}',
    ):
        check("mistral", text, None, [GOOD_CALL])


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_o7_the_end_with_the_last_text(format: str) -> None:
    """Whole in one piece, and with every last piece: the same. (`check_all_splits` holds both.)"""
    text = WRITERS[format]([("add", {"a": 2, "b": 2})])
    content, calls = summary(check_all_splits(format, text, pairs_under=0))
    assert content is None
    assert [(n, json.loads(a), c) for n, a, c in calls] == [("add", {"a": 2, "b": 2}, True)]


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_o8_a_tool_that_is_not_declared(format: str) -> None:
    """Behind a marker it is a call; without one it is prose."""
    text = WRITERS[format]([("undeclared", {"a": 2})]).strip()
    content, calls = summary(check_all_splits(format, text, pairs_under=0))
    if format in ("llama3_json", "xlam", "pythonic", "call_text"):
        assert (content, calls) == (text, [])
    else:
        assert content is None
        assert [n for n, _, _ in calls] == ["undeclared"]


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_o9_tool_choice_none(format: str) -> None:
    text = f" One.\n{WRITERS[format]([('add', {'a': 2})])}\nTwo. "
    for chunk in (1, 7, len(text)):
        stream = DeltaStream(format, TOOLS, tool_choice="none")
        deltas = [d for i in range(0, len(text), chunk) for d in stream.feed(text[i : i + chunk])]
        deltas += stream.finish()
        assert accumulate(deltas).content == text
        assert stream.finish_reason("stop") == "stop"


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_o10_only_whitespace_around_calls(format: str) -> None:
    text = f"\n \n{WRITERS[format]([('add', {'a': 2, 'b': 2})])}\n\t\n"
    content, calls = summary(check_all_splits(format, text, pairs_under=0))
    assert content is None
    assert len(calls) == 1
