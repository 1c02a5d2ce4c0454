"""What is decided about an answer is the same, whoever asks and however the answer came."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import Message, list_formats, parse
from toolwire.openai import DeltaStream, accumulate
from toolwire.openai.answers import CallIds, finish_reason, first_call, is_complete
from toolwire.openai.normalize import normalize_response
from toolwire.openai.stream_normalize import ChatStream

from ..core.generate import Conversation, broken, conversations, tools_for
from ..support import (
    TOOLS,
    CallRead,
    check_all_splits,
    cut_at,
    events_of,
    policy_for,
    summary,
    whole_summary,
)

ONE = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
FORMATS = pytest.mark.parametrize("format", list_formats())
CUTS = st.lists(st.integers(0, 300), max_size=5)
#: What a model may write in the wrong place.
DAMAGE = st.sampled_from(['"', "'", "{", "}", "[", "]", "(", ")", "\\", ",", ":", "nul", "1", " "])


@st.composite
def damaged(draw: st.DrawFn, format: str) -> tuple[str, Any]:
    """A conversation with characters lost, put in or cut off, and its tools."""
    conversation: Conversation = draw(conversations(format))
    text = conversation.text
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(0, 3))
        text = text[:start] + draw(DAMAGE) + text[end:]
    if draw(st.booleans()):
        text = text[: draw(st.integers(0, len(text)))]
    return text, tools_for(list(conversation.calls))


def streamed(format: str, chunks: list[str], tools: Any, **policy: Any) -> Message:
    stream = DeltaStream(format, tools, **policy)
    return accumulate([d for chunk in chunks for d in stream.feed(chunk)] + stream.finish())


def told(message: Message) -> tuple[str | None, str | None, list[CallRead]]:
    """Everything but the ids: damage to a header can make a thought of a call."""
    calls = [(c.name, c.arguments, c.complete) for c in message.tool_calls]
    return message.reasoning, message.content, calls


# Complete or not


@pytest.mark.parametrize(
    ("arguments", "complete"),
    [
        ("{}", True),
        (' {"a": [1, {"b": "}"}]}\n', True),
        ('{"a": }', True),  # it is finished, and not valid
        ("{a: 1,}", True),
        ('{"a": ]}', True),  # what fits nothing does not count
        ('{"a": \\}', True),  # a backslash means something in strings only
        ('{"a": "\\"}', False),
        ('{"a": "x', False),
        ('{"a": "\\', False),
        ('{"a": 1', False),
        ('{"a": [1}', False),
        ('{"a": 1}}', False),
        ('{"a": 1} and more', False),
        ("[1, 2]", True),
        ('"text"', True),
        ('"\\q"', True),
        ('"text', False),
        ('"a" b', False),
        ("12", True),
        ("tru", False),
        ("", False),
        (" ", False),
        ("[" * 100_000 + "]" * 100_000, True),
        ("[" * 100_000, False),
    ],
)
def test_complete(arguments: str, complete: bool) -> None:
    assert is_complete(arguments) is complete


@pytest.mark.parametrize("arguments", ['{"a": }', '{"a": [1}', '{"a": ]}', "tru", '"x"', "12"])
def test_the_same_words_for_the_same_arguments(arguments: str) -> None:
    text = f'<tool_call>{{"name": "add", "arguments": {arguments}}}</tool_call>'
    whole = parse("hermes", text, TOOLS)
    assert told(streamed("hermes", [text], TOOLS)) == told(whole)
    (call,) = whole.tool_calls
    assert call.complete is is_complete(call.arguments)


_ARGUMENTS = [
    "{}",
    '{"a": [1}',
    "5",
    "-",
    "-1.5e3",
    "5x",
    "tru",
    "foo",
    "foo bar",
    "[1, 2]",
    "[1",
    '"x',
]
_QUOTED = [r'"{\"a\": 1}"', r'"{\"a\": 1"', r'"{\"a\": 1]}"', r'"{\"a\": [1}"', r'"{\"a\": 1} x"']
_AROUND = [
    ("hermes", '<tool_call>{"name": "add", "arguments": %s', "}</tool_call>"),
    ("mistral", "[TOOL_CALLS]add[ARGS]%s", ""),
    ("special_token", "<|tool_call|>add\n%s", "<|end_tool_call|>"),
    ("labeled", "<tool_call>\nname: add\narguments: %s", "\n</tool_call>"),
    ("sarashina", "<|tool_calls|>[{'name': 'add', 'arguments': %s", "}]"),
    ("harmony", "<|channel|>commentary to=functions.add<|message|>%s", "<|call|>"),
]


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize(("format", "before", "behind"), _AROUND)
@pytest.mark.parametrize("arguments", [*_ARGUMENTS, *_QUOTED])
def test_events_have_the_same_word_for_it(
    arguments: str, format: str, before: str, behind: str, closed: bool
) -> None:
    text = before % arguments + behind * closed
    for name, found, complete in summary(check_all_splits(format, text))[1]:
        assert (name, complete) == ("add", is_complete(found))


@pytest.mark.parametrize("begun", ["'ab", "'", '"a', "Tr"])
def test_a_text_that_is_cut_off_is_never_closed(begun: str) -> None:
    text = f"<|tool_calls|>[{{'name': 'add', 'arguments': {begun}"
    (call,) = parse("sarashina", text, TOOLS).tool_calls
    assert (call.arguments, call.complete) == (f'"{begun.lstrip(chr(39) + chr(34))}', False)


@FORMATS
@given(data=st.data())
def test_client_and_server_agree_about_damaged_texts(format: str, data: Any) -> None:
    text, tools = data.draw(damaged(format))
    chunks = cut_at(text, [min(place, len(text)) for place in data.draw(CUTS)])
    assert told(streamed(format, chunks, tools)) == told(parse(format, text, tools))


@FORMATS
@given(data=st.data())
def test_client_and_server_agree_about_broken_delimiters(format: str, data: Any) -> None:
    text, _, calls = data.draw(broken(format))
    tools = tools_for(calls)
    chunks = cut_at(text, [min(place, len(text)) for place in data.draw(CUTS)])
    assert told(streamed(format, chunks, tools)) == told(parse(format, text, tools))


@FORMATS
@given(data=st.data())
def test_a_message_says_what_the_events_say(format: str, data: Any) -> None:
    """The core says it while it reads, a message by the arguments: where nothing but the end is
    wrong, that is the same."""
    conversation: Conversation = data.draw(conversations(format))
    tools = tools_for(list(conversation.calls))
    text = conversation.text[: data.draw(st.integers(0, len(conversation.text)))]
    assert told(parse(format, text, tools)) == whole_summary(events_of(format, [text], tools))


# Only one call


@FORMATS
@given(data=st.data())
def test_only_the_first_call_goes_out(format: str, data: Any) -> None:
    text, tools = data.draw(damaged(format))
    chunks = cut_at(text, [min(place, len(text)) for place in data.draw(CUTS)])
    thoughts, content, calls = whole_summary(events_of(format, [text], tools))
    one = (thoughts, content, calls[:1])
    assert whole_summary(first_call(events_of(format, chunks, tools))) == one
    thoughts, content, calls = told(parse(format, text, tools))
    one = (thoughts, content, calls[:1])
    assert told(streamed(format, chunks, tools, parallel=False)) == one


@pytest.mark.parametrize("mode", ["verified", "live"])
@given(
    pieces=st.lists(st.sampled_from([ONE, "text", " ", ONE[:-20], ONE.replace("1", "")])),
    places=CUTS,
    reason=st.sampled_from(["stop", "length", None]),
    native=st.booleans(),
)
def test_the_gateway_lets_one_call_out_in_every_way(
    mode: str, pieces: list[str], places: list[int], reason: str | None, native: bool
) -> None:
    policy = policy_for(TOOLS, one=True, format="hermes")
    text = "".join(pieces)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if native:
        call = {"type": "function", "function": {"name": "add", "arguments": "{}"}}
        message["tool_calls"] = [call | {"index": i, "id": f"c{i}"} for i in range(3)]
    body = {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    whole, found, count = normalize_response(body, policy)
    assert count <= 1
    stream = ChatStream(policy, mode)
    deltas: list[Any] = [{"content": c} for c in cut_at(text, [min(p, len(text)) for p in places])]
    if native:
        deltas.append({"tool_calls": message["tool_calls"]})
    chunks = [{"choices": [{"index": 0, "delta": d, "finish_reason": None}]} for d in deltas]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    out = [sent for chunk in chunks for sent in stream.feed(chunk)] + stream.finish()
    calls = accumulate([c["delta"] for chunk in out for c in chunk.get("choices", ())]).tool_calls
    if mode == "verified" and reason is None:
        assert calls == []
    elif mode == "verified":
        sent = whole["choices"][0]["message"].get("tool_calls") or []
        assert [c.arguments for c in calls] == [c["function"]["arguments"] for c in sent]
        dropped = "one more than was asked for"
        assert [f.detail for f in found if dropped in f.detail] == [
            f.detail for f in stream.findings if dropped in f.detail
        ]
    assert len(calls) <= 1


def test_custom_calls_are_counted_too() -> None:
    custom = {"type": "custom", "custom": {"name": "patch", "input": "x"}}
    calls = [custom | {"id": "c1"}, custom | {"id": "c2"}]
    policy = policy_for(one=True)
    body = {"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}
    whole, _, count = normalize_response(body, policy)
    assert (whole["choices"][0]["message"]["tool_calls"], count) == (calls[:1], 1)
    stream = ChatStream(policy)
    entries = [call | {"index": i} for i, call in enumerate(calls)]
    out = stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": entries}}]})
    assert out == []
    out = stream.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    sent = [e for c in out for e in c["choices"][0]["delta"].get("tool_calls", ())]
    assert [entry["id"] for entry in sent] == ["c1"]
    assert stream.calls == 1
    assert [finding.action for finding in stream.findings] == ["dropped"]


# Ids and reasons


def test_a_model_s_own_id_stays() -> None:
    give = CallIds()
    assert give("abc", "add") == "abc"
    made = {give(own, "add") for own in (None, "", None)}
    assert len(made) == 3
    assert all(id.startswith("call_") for id in made)


@pytest.mark.parametrize("calls", [True, False])
@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize(
    "reason",
    ["stop", "tool_calls", "function_call", "length", "content_filter", "abort", "x", None],
)
def test_reasons(reason: str | None, calls: bool, legacy: bool) -> None:
    found = finish_reason(reason, calls, legacy=legacy)
    if reason in ("stop", "tool_calls", "function_call"):
        assert found == ("stop" if not calls else "function_call" if legacy else "tool_calls")
    else:
        assert found == reason
    stream = DeltaStream("hermes", TOOLS, legacy_function_call=legacy)
    stream.feed(ONE if calls else "text")
    stream.finish()
    assert stream.finish_reason(reason) == found


def test_a_lost_call_is_a_reason() -> None:
    assert finish_reason(None, False, lost=True) == finish_reason(None, True, lost=True) == "length"
    assert finish_reason("stop", True, lost=True) == "tool_calls"
