"""vLLM's messages, filled in without its constructors, are what the constructors make."""

from __future__ import annotations

from typing import Any

import pytest
from toolwire.engines.vllm.api import load
from toolwire.engines.vllm.messages import QuickMessages, messages
from vllm_driving import DeltaFunctionCall, DeltaMessage, DeltaToolCall

START = DeltaToolCall(
    id="call_1",
    type="function",
    index=2,
    function=DeltaFunctionCall(name="f", arguments="{"),
)
PIECE = DeltaToolCall(index=1, function=DeltaFunctionCall(arguments="é"))


def said(model: Any) -> tuple[str, str, set[str]]:
    return (
        model.model_dump_json(exclude_unset=True),
        model.model_dump_json(),
        model.model_fields_set,
    )


def test_entries() -> None:
    make = load().messages
    for made, expected in ((make.start(2, "call_1", "f", "{"), START), (make.piece(1, "é"), PIECE)):
        assert made == expected
        assert said(made) == said(expected)
        assert said(made.function) == said(expected.function)


@pytest.mark.parametrize(
    "fields",
    [{"content": "a"}, {"tool_calls": [PIECE]}, {"content": "a", "tool_calls": [START, PIECE]}],
    ids=str,
)
def test_messages(fields: dict[str, Any]) -> None:
    made = load().messages.message(fields.get("content"), fields.get("tool_calls", []))
    expected = DeltaMessage(**fields)
    assert made == expected
    assert said(made) == said(expected)


def test_messages_share_nothing() -> None:
    make = load().messages
    one, other = make.message("a", []), make.message("b", [])
    one.reasoning = "hm"
    one.tool_calls.append(PIECE)
    assert other == DeltaMessage(content="b")
    assert said(other) == said(DeltaMessage(content="b"))


def test_with_this_vllm_they_are_the_quick_ones() -> None:
    assert isinstance(load().messages, QuickMessages)


def test_a_class_with_other_fields_is_made_by_its_constructor() -> None:
    class Later(DeltaMessage):  # type: ignore[misc]
        mood: str = "fine"

    make = messages(Later, DeltaToolCall, DeltaFunctionCall)
    assert make.message("a", []) == Later(content="a")
    assert make.message("a", []).mood == "fine"
    assert make.piece(1, "é") == PIECE
