"""A message's thoughts, as they go over the wire and come back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import (
    Message,
    Parser,
    ToolCall,
    ToolwireError,
    get_format,
    list_formats,
    parse,
    write,
)
from toolwire.openai import DeltaStream, accumulate

from ..core.thinking import MARKED, messages, style_in, styles_of
from ..support import TOOLS, cut_at, events_of, whole_summary
from .test_deltas import ONE, stream

TEXT = f"<think>\nHm.\n</think>\n\nYes.\n{ONE}"


def test_thoughts_have_a_key_of_their_own() -> None:
    assert stream(["<think>Hm", ".</think>", "Yes."], reasoning=True) == [
        {"reasoning_content": "Hm"},
        {"reasoning_content": "."},
        {"content": "Yes."},
    ]


def test_some_servers_call_it_reasoning() -> None:
    deltas = stream([TEXT], reasoning=True, reasoning_key="reasoning")
    assert deltas[:2] == [{"reasoning": "Hm."}, {"content": "Yes."}]
    assert accumulate(deltas).reasoning == "Hm."


@pytest.mark.parametrize("format", [f for f in list_formats() if get_format(f).channels])
def test_channels_where_nobody_asks_for_calls(format: str) -> None:
    """A part for a tool is text then, as it was written; thoughts are thoughts."""
    channels = get_format(format).channels
    assert channels is not None
    call = write(format, [{"name": "add", "arguments": {"a": 1}}])
    text = f"{channels.thought_begin}Hm.{channels.thought_end}{call}"
    assert accumulate(stream([text], format=format)).tool_calls
    for size in (1, 3, len(text)):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        message = accumulate(stream(chunks, format=format, tool_choice="none"))
        assert (message.reasoning, message.tool_calls) == ("Hm.", [])
        assert (message.content or "").endswith(call.strip())


@pytest.mark.parametrize("key", ["content", "tool_calls", "thoughts", ""])
def test_no_other_key(key: str) -> None:
    with pytest.raises(ToolwireError, match="use 'reasoning_content' or 'reasoning'"):
        DeltaStream("hermes", TOOLS, reasoning=True, reasoning_key=key)


def test_where_none_is_asked_for_it_is_content() -> None:
    assert stream(["<think>Hm.</think>Yes."]) == [{"content": "<think>Hm.</think>Yes."}]


@pytest.mark.parametrize("format", MARKED)
@given(data=st.data())
def test_deltas_add_up_and_never_mix(format: str, data: st.DataObject) -> None:
    reasoning = data.draw(styles_of(format), "style")
    message = data.draw(messages(format, reasoning))
    text, tools = message.text, message.tools
    chunks = cut_at(text, data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    ask = {"reasoning": reasoning, "in_reasoning": message.in_reasoning}
    deltas = stream(chunks, format, tools, **ask)
    assert all(len(delta) == 1 and all(delta.values()) for delta in deltas)
    added, whole = accumulate(deltas), parse(format, text, tools, **ask)
    assert (added.content, added.reasoning) == (whole.content, whole.reasoning)
    assert [(c.name, c.arguments, c.complete) for c in added.tool_calls] == [
        (c.name, c.arguments, c.complete) for c in whole.tool_calls
    ]


def test_without_tools_thoughts_are_thoughts() -> None:
    """`tool_choice="none"`: calls are text, wherever they stand."""
    deltas = stream([f"<think>Hm. {ONE}"], reasoning=True, tool_choice="none")
    assert deltas == [{"reasoning_content": f"Hm. {ONE}"}]
    deltas = stream([f"Hm.</think>{ONE}"], reasoning=True, in_reasoning=True, tool_choice="none")
    assert deltas == [{"reasoning_content": "Hm."}, {"content": ONE}]


def test_without_tools_text_is_marked_as_with_them() -> None:
    text = "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Yes.<|END_RESPONSE|>"
    with_tools = stream([text], "cohere", reasoning=True)
    assert with_tools == [{"reasoning_content": "Hm."}, {"content": "Yes."}]
    assert stream([text], "cohere", reasoning=True, tool_choice="none") == with_tools


def test_one_call_only() -> None:
    """Thoughts around a call that is left out stay."""
    text = f"<think>a</think>{ONE}<think>b</think>{ONE}<think>c</think>"
    added = accumulate(stream([text], reasoning=True, parallel=False))
    assert (added.reasoning, len(added.tool_calls)) == ("abc", 1)


def test_accumulate_takes_either_key_once() -> None:
    both = {"reasoning": "c", "reasoning_content": "c"}
    deltas = [{"reasoning_content": "a"}, {"reasoning": "b"}, both]
    assert accumulate(deltas) == Message(None, [], "abc")
    assert accumulate([{"reasoning_content": None, "content": "x"}]) == Message("x", [], None)


def test_a_message_as_a_dict() -> None:
    message = parse("hermes", TEXT, TOOLS, reasoning=True)
    asked = message.to_dict()
    assert list(asked) == ["role", "content", "reasoning_content", "tool_calls"]
    assert asked["reasoning_content"] == "Hm."
    assert message.to_dict("reasoning")["reasoning"] == "Hm."
    assert "reasoning_content" not in Message("Yes.", []).to_dict()
    assert message == Message("Yes.", message.tool_calls, "Hm.")


@pytest.mark.parametrize("format", list_formats())
def test_what_is_written_comes_back(format: str) -> None:
    calls = [{"name": "add", "arguments": {"a": 1, "b": 2}}, {"name": "noargs", "arguments": {}}]
    text = write(format, calls, TOOLS, reasoning="I will add.\n\nThen the other one.")
    reasoning, content, read = whole_summary(events_of(format, [text], TOOLS, True))
    assert (reasoning, content) == ("I will add.\n\nThen the other one.", None)
    assert [(name, json.loads(a)) for name, a, _ in read] == [
        (call["name"], call["arguments"]) for call in calls
    ]
    alone = write(format, [], reasoning="Hm.")
    assert whole_summary(events_of(format, [alone], TOOLS, True)) == ("Hm.", None, [])


@pytest.mark.parametrize("format", list_formats())
def test_thoughts_that_would_end_early_are_not_written(format: str) -> None:
    channels = get_format(format).channels
    marker = channels.end[0] if channels else style_in(format, True).close[0]
    with pytest.raises(ToolwireError, match=f"The format {format} can't write these thoughts"):
        write(format, [], reasoning=f"a {marker} b")


def test_thoughts_are_text() -> None:
    with pytest.raises(ToolwireError, match="reasoning must be a str, not int"):
        write("hermes", [], reasoning=5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        ({"reasoning": "thinking"}, "There is no style of reasoning named 'thinking'."),
        ({"reasoning": "thinc"}, "Did you mean 'think'"),
        ({"reasoning": ("<a>",)}, "a pair of markers such as"),
        ({"reasoning": ("<a>", "")}, "a pair of markers such as"),
        ({"reasoning": 5}, "use True for the format's own style"),
        ({"reasoning": ("a", "ab")}, "The marker 'ab' begins with another one, 'a'"),
        ({"reasoning": ("…a", "b")}, "must have text on both sides of every …"),
        ({"in_reasoning": True}, "in_reasoning=True needs a style of reasoning"),
        (
            {"reasoning": False, "in_reasoning": True},
            "in_reasoning=True needs a style of reasoning",
        ),
    ],
)
def test_a_mistake_is_one_sentence(ask: dict[str, Any], said: str) -> None:
    for make in (Parser, DeltaStream):
        with pytest.raises(ToolwireError) as caught:
            make("hermes", TOOLS, **ask)
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_call_in_thoughts_has_its_own_id() -> None:
    (call,) = parse("hermes", f"Hm. {ONE}", TOOLS, True, True).tool_calls
    assert isinstance(call, ToolCall)
    assert call.id.startswith("call_")
