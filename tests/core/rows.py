"""What rows of calls have in common that other parsers, or toolwire itself, got wrong once."""

from __future__ import annotations

from typing import Any

from ..support import TOOLS, check_all_splits, summary

#: Of each call its name, its arguments, and whether the model finished them.
Calls = list[tuple[str, str, bool]]

GOOD = '<tool_call>{"name": "add", "arguments": {"a": 2, "b": 2}}</tool_call>'
GOOD_CALL = ("add", '{"a": 2, "b": 2}', True)


def check(format: str, text: str, content: str | None, calls: Calls, tools: Any = TOOLS) -> None:
    assert summary(check_all_splits(format, text, tools)) == (content, calls)
