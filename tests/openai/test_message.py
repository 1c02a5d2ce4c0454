"""Whole messages and their calls."""

from __future__ import annotations

import pytest
from toolwire import ToolCall, ToolwireError, parse

from ..support import TOOLS


def test_parse() -> None:
    text = 'Yes. <tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
    message = parse("hermes", text, TOOLS)
    assert message.content == "Yes."
    (call,) = message.tool_calls
    assert call.id.startswith("call_")
    assert (call.name, call.arguments, call.complete) == ("add", '{"a": 1}', True)
    assert call.load() == {"a": 1}


def test_load_says_what_is_wrong() -> None:
    with pytest.raises(ToolwireError, match=r"'add' are not valid JSON: the model did not finish"):
        ToolCall("1", "add", '{"a": ', complete=False).load()
    with pytest.raises(ToolwireError, match=r"'add' are not valid JSON: Expecting value"):
        ToolCall("1", "add", '{"a": }').load()
    with pytest.raises(ToolwireError, match="a JSON list, not an object"):
        ToolCall("1", "add", "[1]").load()
    with pytest.raises(ToolwireError, match="nested too deeply"):
        ToolCall("1", "add", '{"a": ' + "[" * 200_000 + "]" * 200_000 + "}").load()


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ('{"a": 1, "b": "hel', {"a": 1, "b": "hel"}),
        ('{"a": 1, "b', {"a": 1}),
        ("{", {}),
        ("", {}),
        ("}", {}),
        ("[1", {}),
        ('{"a": ' + "[" * 100_000, {}),
    ],
)
def test_preview(arguments: str, shown: dict[str, object]) -> None:
    assert ToolCall("1", "add", arguments, complete=False).preview() == shown
