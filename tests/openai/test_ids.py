"""Whose id a call has: the model's own, else one as its format has them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import (
    CallEnd,
    CallStart,
    IdStyle,
    ToolwireError,
    get_format,
    list_formats,
    parse,
    write,
)
from toolwire.formats.toml_specs import dump_format, load_formats
from toolwire.openai import DeltaStream, accumulate
from toolwire.openai.answers import CallIds, make_id
from toolwire.openai.normalize import CallNormalizer, normalize_response
from toolwire.openai.request import earlier_calls, read_request
from toolwire.openai.stream_normalize import ChatStream

from ..support import TOOLS, check_all_splits, policy_for

OPENAI = r"call_[0-9a-f]{24}"
#: What made ids look like, where they are not OpenAI's.
LOOKS = {
    "mistral": r"[A-Za-z0-9]{9}",
    "solar_open": r"[a-z0-9]{10}",
    "kimi_k2": r"functions\.\w+:\d+",
}
ARRAY = '[TOOL_CALLS][{"name": "add", "arguments": {"a": 1}, "id": "VvvODy9mT"}]'
ADD = '{"name": "add", "arguments": {"a": 1}}'


def ids(format: str, text: str, **more: Any) -> list[str]:
    return [call.id for call in parse(format, text, TOOLS, **more).tool_calls]


def streamed_ids(format: str, chunks: Any, **more: Any) -> list[str]:
    stream = DeltaStream(format, TOOLS, **more)
    deltas = [d for chunk in chunks for d in stream.feed(chunk)] + stream.finish()
    return [call.id for call in accumulate(deltas).tool_calls]


@pytest.mark.parametrize("format", [f for f in list_formats() if get_format(f).layout])
def test_made_ids_look_as_the_format_has_them(format: str) -> None:
    calls = [{"name": "add", "arguments": {"a": 1}}, {"name": "get_weather", "arguments": {}}]
    text = write(format, calls, TOOLS)
    for made in (ids(format, text), streamed_ids(format, [text])):
        assert len(set(made)) == 2
        for id in made:
            assert re.fullmatch(LOOKS.get(format, OPENAI), id), id


@pytest.mark.parametrize("style", [get_format(format).ids for format in LOOKS])
@given(count=st.integers(1, 30))
def test_made_ids_differ(style: IdStyle, count: int) -> None:
    give = CallIds(style)
    assert len({give(None, "add") for _ in range(count)}) == count


# -- the model's own ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("format", "text", "own"),
    [
        ("mistral", "[TOOL_CALLS]add[CALL_ID]abc123def[ARGS]{}", "abc123def"),
        (
            "mistral",
            '[TOOL_CALLS][{"id": "VvvODy9mT", "name": "add", "arguments": {}}]',
            "VvvODy9mT",
        ),
        ("mistral", '[TOOL_CALLS][{"name": "add", "id": "VvvODy9mT"}]', "VvvODy9mT"),
        ("mistral", '[TOOL_CALLS][{"arguments": {}, "id": "a\\u00e9", "name": "add"}]', "aé"),
        (
            "json",
            '[{"id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{}"}}]',
            "call_1",
        ),
        ("sarashina", "<|tool_calls|>[{'id': 'x1', 'name': 'add', 'arguments': {}}]", "x1"),
    ],
)
def test_an_id_before_the_arguments_is_kept(format: str, text: str, own: str) -> None:
    events = check_all_splits(format, text)
    assert [event.id for event in events if isinstance(event, CallStart)] == [own]
    assert ids(format, text) == streamed_ids(format, text) == [own]


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("mistral", ARRAY),
        (
            "hermes",
            '<tool_call>{"name": "add", "arguments": {}, "x": [1], "id": "VvvODy9mT"}</tool_call>',
        ),
        ("json", '[{"function": {"name": "add", "arguments": {}}, "id": "VvvODy9mT"}]'),
        ("sarashina", "<|tool_calls|>[{'name': 'add', 'arguments': {}, 'id': 'VvvODy9mT'}]"),
    ],
)
def test_an_id_behind_the_arguments_comes_with_the_end_of_the_call(format: str, text: str) -> None:
    """In a stream the call has one already by then: of the right look, and it stays."""
    events = check_all_splits(format, text)
    assert [e.id for e in events if isinstance(e, CallStart | CallEnd)] == [None, "VvvODy9mT"]
    assert ids(format, text) == ["VvvODy9mT"]
    (made,) = streamed_ids(format, text)
    assert made != "VvvODy9mT"
    assert re.fullmatch(LOOKS.get(format, OPENAI), made)


@pytest.mark.parametrize(
    "text",
    [
        '[TOOL_CALLS][{"name": "add", "arguments": {}, "id": 5}]',
        '[TOOL_CALLS][{"name": "add", "arguments": {}, "id": ""}]',
        '[TOOL_CALLS][{"name": "add", "arguments": {}, "id": "\\x"}]',
        '[TOOL_CALLS][{"name": "add", "arguments": {}, "id": "cut o',
        '[TOOL_CALLS][{"id": 5, "name": "add", "arguments": {}}]',
        '[TOOL_CALLS][{"id": null, "name": "add", "arguments": {}}]',
    ],
)
def test_what_is_no_id_is_none(text: str) -> None:
    events = check_all_splits("mistral", text)
    assert [e.id for e in events if isinstance(e, CallStart | CallEnd)] == [None, None]
    assert re.fullmatch(LOOKS["mistral"], *ids("mistral", text))


def test_coheres_number_is_no_id() -> None:
    text = '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "add", "parameters": {}}]<|END_ACTION|>'
    assert re.fullmatch(OPENAI, *ids("cohere", text))


def test_no_two_calls_of_a_message_have_the_same_id() -> None:
    one = '{"id": "x", "name": "add", "arguments": {}}'
    first, second = ids("mistral", f"[TOOL_CALLS][{one}, {one}]")
    assert first == "x"
    assert re.fullmatch(LOOKS["mistral"], second)


# -- counted ids ----------------------------------------------------------------------------------

CALLED = {"role": "assistant", "tool_calls": [{"id": "1"}, {"id": "2"}]}
CONVERSATIONS: list[tuple[Any, int]] = [
    ({"messages": [{"role": "user", "content": "Hi"}]}, 0),
    ({"messages": [CALLED, {"role": "tool"}, CALLED, {"role": "assistant", "content": "x"}]}, 4),
    ({"messages": [{"role": "assistant", "function_call": {"name": "add"}}]}, 1),
    ({"messages": [{"role": "assistant", "tool_calls": None, "function_call": None}]}, 0),
    ({"input": [{"type": "function_call"}, {"type": "function_call_output"}, "x"]}, 1),
    ({"input": "Hi"}, 0),
    ({"messages": 5, "input": None}, 0),
]


@pytest.mark.parametrize(("body", "count"), CONVERSATIONS)
def test_the_calls_of_a_conversation_are_counted(body: Any, count: int) -> None:
    assert earlier_calls(body) == count
    assert read_request(body).earlier_calls == count


def test_kimis_ids_are_counted_on_through_the_conversation() -> None:
    text = f"<|tool_calls_section_begin|>{ADD}{ADD}<|tool_calls_section_end|>"
    wanted = ["functions.add:3", "functions.add:4"]
    assert ids("kimi_k2", text, earlier_calls=3) == wanted
    assert streamed_ids("kimi_k2", text, earlier_calls=3) == wanted


def test_a_number_that_the_model_has_used_is_passed_over() -> None:
    give = CallIds(get_format("kimi_k2").ids)
    assert give("functions.add:1", "add") == "functions.add:1"
    assert give(None, "add") == "functions.add:2"
    assert give(None, "add") == "functions.add:3"
    assert give(None, "other") == "functions.other:3"


def test_many_calls_with_ids_in_the_way_take_linear_time() -> None:
    made = 0

    class Counting(IdStyle):
        def fill(self, random: str, name: str, index: int) -> str:
            nonlocal made
            made += 1
            return super().fill(random, name, index)

    give = CallIds(Counting("{name}:{index}"))
    for i in range(1000):
        give(f"f:{1000 + i}", "f")
    for _ in range(1000):
        give(None, "f")
    assert made < 5000


# -- the gateway ----------------------------------------------------------------------------------


def test_the_gateway_makes_ids_as_the_format_has_them() -> None:
    history = {"messages": [CALLED], "tools": TOOLS}
    policy = policy_for(TOOLS, format="kimi_k2")
    policy = type(policy)(format="kimi_k2", request=read_request(history))
    text = f"<|tool_calls_section_begin|>{ADD}<|tool_calls_section_end|>"
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    normal, _, _ = normalize_response({"choices": [choice]}, policy)
    assert normal["choices"][0]["message"]["tool_calls"][0]["id"] == "functions.add:2"
    call = {"function": {"name": "add", "arguments": "{}"}}
    normalizer = CallNormalizer(policy)
    found = [normalizer.take(call), normalizer.take(call | {"id": "x"}), normalizer.take(call)]
    assert [c and c["id"] for c in found] == ["functions.add:2", "x", "functions.add:4"]


@pytest.mark.parametrize("mode", ["verified", "live"])
@pytest.mark.parametrize("text", [ARRAY, ARRAY.replace(', "id": "VvvODy9mT"', "")])
def test_the_gateways_stream_keeps_and_makes_them(mode: str, text: str) -> None:
    stream = ChatStream(policy_for(TOOLS, format="mistral"), mode)
    chunks = [
        c for piece in text for c in stream.feed({"choices": [{"delta": {"content": piece}}]})
    ]
    chunks += stream.feed({"choices": [{"delta": {}, "finish_reason": "stop"}]}) + stream.finish()
    (call,) = accumulate(c["choices"][0]["delta"] for c in chunks).tool_calls
    assert re.fullmatch(LOOKS["mistral"], call.id)
    if mode == "verified" and "VvvODy9mT" in text:
        assert call.id == "VvvODy9mT"


# -- as data --------------------------------------------------------------------------------------


def test_a_file_can_say_what_ids_look_like() -> None:
    text = """
        name = "mine"
        wrappers = {open = "<call>", close = "</call>"}
        shape = "json_calls"
        ids = "{name}-{index}"
    """
    (spec,) = load_formats(text, "mine.toml")
    assert spec.ids == IdStyle("{name}-{index}")
    assert ids(spec, f"<call>{ADD}</call>") == ["add-0"]  # type: ignore[arg-type]
    (same,) = load_formats(dump_format(get_format("mistral")), "mistral.toml")
    assert same == get_format("mistral")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"template": "call_{name}"}, "the same id"),
        ({"template": "{random}{x}"}, "can't have {x}"),
        ({"alphabet": "aaaa"}, "too few ids"),
        ({"length": 0}, "too few ids"),
        ({"length": -1}, "too few ids"),
    ],
)
def test_what_makes_no_ids_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ToolwireError, match=re.escape(words)):
        IdStyle(**fields)


def test_a_name_is_not_looked_into() -> None:
    assert make_id(IdStyle("{name}:{index}"), "{random}{index}", 2) == "{random}{index}:2"
