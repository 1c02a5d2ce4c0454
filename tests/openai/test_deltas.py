"""The shape of what goes over the wire."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import Message, ToolwireError, list_formats, parse
from toolwire.openai import DeltaStream, accumulate

from ..core.generate import Conversation, conversations, tools_for
from ..support import TOOLS, cut_at

ONE = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
TWO = '<tool_call>{"name": "noargs"}</tool_call>'
ID = re.compile(r"call_[0-9a-f]{24}")


def stream(
    chunks: list[str], format: str = "hermes", tools: Any = TOOLS, **policy: Any
) -> list[Any]:
    deltas = DeltaStream(format, tools, **policy)
    return [d for chunk in chunks for d in deltas.feed(chunk)] + deltas.finish()


def test_the_first_delta_of_a_call_and_the_later_ones() -> None:
    deltas = stream(['<tool_call>{"name": "add", "arguments": ', '{"a": ', "1}}", "</tool_call>"])
    first, second = deltas
    call = first["tool_calls"][0]
    assert ID.fullmatch(call.pop("id"))
    assert first == {
        "tool_calls": [
            {"index": 0, "type": "function", "function": {"name": "add", "arguments": '{"a": '}}
        ]
    }
    assert second == {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}


def test_the_first_arguments_may_be_empty_but_are_a_string() -> None:
    deltas = DeltaStream("hermes", TOOLS)
    deltas.feed('<tool_call>{"name": "add", "arguments": ')
    (first,) = deltas.feed("n")
    assert first["tool_calls"][0]["function"] == {"name": "add", "arguments": ""}


def test_text_and_calls_stay_in_order_one_entry_for_each_index() -> None:
    deltas = stream([f"Hi. {ONE}{TWO} Bye."])
    assert [list(d) for d in deltas] == [["content"], ["tool_calls"], ["content"]]
    assert [c["index"] for c in deltas[1]["tool_calls"]] == [0, 1]
    assert deltas[0] == {"content": "Hi."}
    assert deltas[2] == {"content": "  Bye."}


def test_ids_are_unique_and_the_models_own_are_kept() -> None:
    message = accumulate(stream([ONE + TWO]))
    assert message.tool_calls[0].id != message.tool_calls[1].id
    text = "[TOOL_CALLS]add[CALL_ID]abc123def[ARGS]{}"
    assert accumulate(stream([text], "mistral")).tool_calls[0].id == "abc123def"


def test_role() -> None:
    deltas = DeltaStream("hermes", role=True)
    assert deltas.feed("Hi") == [{"role": "assistant"}, {"content": "Hi"}]
    assert deltas.feed("!") == [{"content": "!"}]


def test_only_the_first_call() -> None:
    text = f"a {ONE} b {TWO} c"
    message = accumulate(stream([text], parallel=False))
    assert [c.name for c in message.tool_calls] == ["add"]
    assert message.content == "a  b  c"


def test_the_deprecated_function_call() -> None:
    deltas = DeltaStream("hermes", TOOLS, legacy_function_call=True)
    sent = deltas.feed('<tool_call>{"name": "add", "arguments": {"a"') + deltas.feed(
        f": 1}}}}{TWO}"
    )
    assert sent == [
        {"function_call": {"name": "add", "arguments": '{"a"'}},
        {"function_call": {"arguments": ": 1}"}},
    ]
    assert deltas.finish_reason("stop") == "function_call"
    call = accumulate(sent).tool_calls[0]
    assert (call.name, call.arguments) == ("add", '{"a": 1}')


@pytest.mark.parametrize(
    ("text", "engine", "reason"),
    [
        (ONE, "stop", "tool_calls"),
        (ONE, "length", "length"),
        (ONE, "content_filter", "content_filter"),
        (ONE, None, None),
        ("text", "stop", "stop"),
        ("text", "tool_calls", "stop"),
        ("text", "length", "length"),
    ],
)
def test_finish_reasons(text: str, engine: str | None, reason: str | None) -> None:
    deltas = DeltaStream("hermes", TOOLS)
    deltas.feed(text)
    deltas.finish()
    assert deltas.finish_reason(engine) == reason


def test_an_unknown_tool_choice() -> None:
    with pytest.raises(ToolwireError, match="tool_choice is 'sometimes'"):
        DeltaStream("hermes", tool_choice="sometimes")
    DeltaStream("hermes", tool_choice={"type": "function", "function": {"name": "add"}})


def plain(message: Message) -> tuple[str | None, list[tuple[str, str]]]:
    return message.content, [(c.name, c.arguments) for c in message.tool_calls]


@pytest.mark.parametrize("format", list_formats())
@given(data=st.data())
def test_the_client_gets_what_parse_gives(format: str, data: Any) -> None:
    conversation: Conversation = data.draw(conversations(format))
    tools = tools_for(list(conversation.calls))
    text = conversation.text
    chunks = cut_at(text, data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    deltas = stream(chunks, format, tools)
    assert plain(accumulate(deltas)) == plain(parse(format, text, tools))
    for delta in deltas:
        assert len(delta) == 1
        for call in delta.get("tool_calls", ()):
            assert isinstance(call["function"]["arguments"], str)
            assert ("id" in call) == ("name" in call["function"]) == ("type" in call)
