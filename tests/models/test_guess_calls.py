"""Which calls are in a text: a guess, right for every way to write them that toolwire knows."""

from __future__ import annotations

from typing import Any

import pytest
from toolwire.models.guess_calls import guess_calls
from toolwire.schema.tools import read_tools

from ..by_shape import TAGGED, UNTYPED_ELEMENTS
from ..support import INTEGER, STRING, tool
from ..writers import ALONE, WRITERS

TOOLS = read_tools([tool("add", a=INTEGER, b=INTEGER), tool("write_file", path=STRING)])
TEXTS = [("add", {"a": "one", "b": "two words"}), ("write_file", {"path": "Straße 5"})]
GUESSED = [name for name in WRITERS if name not in ALONE]
NUMBERS = [("add", {"a": 1, "b": 2}), ("write_file", {"path": "7"})]


@pytest.mark.parametrize("prose", ["", "Let me see.\n"])
@pytest.mark.parametrize("format", GUESSED)
def test_every_format_is_seen_through(format: str, prose: str) -> None:
    text = prose + WRITERS[format](TEXTS)
    assert list(guess_calls(text, None)) == TEXTS
    assert list(guess_calls(text, TOOLS)) == TEXTS


@pytest.mark.parametrize("format", GUESSED)
def test_numbers(format: str) -> None:
    """Between tags, only the tools say what is a number."""
    text = WRITERS[format](NUMBERS)
    assert list(guess_calls(text, TOOLS)) == NUMBERS
    if format not in (*TAGGED, *UNTYPED_ELEMENTS) or "deepseek" in format:
        assert list(guess_calls(text, None)) == NUMBERS


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("Just text.", []),
        ('An answer: {"city": "Oslo"}', []),
        ("See the table (below).", []),
        ('{"name": "Oslo"}', []),
        ('{"name": "add"}', []),
        ("Action: add\nAction Input: {\"a\": 1}", [("add", {"a": 1})]),
        ('<do>add => {"a": 1}</do>', [("add", {"a": 1})]),
        ('{"tool": "add", "args": "{\\"a\\": 1}"}', [("add", {"a": 1})]),
        ('<function=add>{"a": 1}</function>', [("add", {"a": 1})]),
        ("<function=add></function>", [("add", {})]),
        ("<function=add>not JSON</function>", []),
        ('<f name="add"><p name="a">[{"x": {"y": 1}}]</p></f>', [("add", {"a": '[{"x": {"y": 1}}]'})]),
        ('add<k>a</k><v>[{"x": {}}]</v>', [("add", {"a": '[{"x": {}}]'})]),
        ('add(a=[{"x": {"y": 1}}])', [("add", {"a": [{"x": {"y": 1}}]})]),
        ('In <b>[{"add": {"a": 1}}]</b>', [("add", {"a": 1})]),
        ('See [{"x": {"y": 1}}, {"z": 2}].', []),
        ('Run [add(a=[1, 2]), see(b="]")] now', [("add", {"a": [1, 2]}), ("see", {"b": "]"})]),
        ("Run [add(a=1, see(b=2)", []),
        ("{" * 5_000, []),
        ('<x name="a' * 2_000, []),
    ],
)  # fmt: skip
def test_texts(text: str, calls: list[Any]) -> None:
    assert list(guess_calls(text, None)) == calls


def test_only_the_tools_names_count() -> None:
    text = 'print("x")\nadd(1, 2)\nsee(it)'
    assert list(guess_calls(text, TOOLS)) == [("add", {"a": 1, "b": 2})]
    assert list(guess_calls('{"name": "add"}', TOOLS)) == [("add", {})]
    assert list(guess_calls('{"name": "other", "arguments": {}}', TOOLS)) == []
