"""Thoughts in what servers send: in the text, or apart with a call at their end; whole and streamed."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toolwire.openai.deltas import accumulate
from toolwire.openai.normalize import Policy, normalize_response
from toolwire.openai.request import read_request
from toolwire.openai.stream_normalize import ChatStream

from ..support import ADD, NOARGS

Json = dict[str, Any]

CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
ADDED = ("add", '{"a": 1}')
#: What a client gets: thoughts, text, calls.
Got = tuple[str | None, str | None, list[tuple[str, str]]]


def policy(reasoning: str, format: str = "hermes", **more: Any) -> Policy:
    request = read_request({"tools": [ADD, NOARGS]} | more)
    return Policy(format, request, reasoning=reasoning)


def whole(message: Json, policy: Policy, reason: str = "stop") -> Got:
    choice = {"index": 0, "message": {"role": "assistant"} | message, "finish_reason": reason}
    answer, _, _ = normalize_response({"choices": [choice]}, policy)
    normal = answer["choices"][0]["message"]
    calls = [c["function"] for c in normal.get("tool_calls") or ()]
    thoughts = normal.get("reasoning_content") or normal.get("reasoning")
    return thoughts or None, normal["content"], [(c["name"], c["arguments"]) for c in calls]


def streamed(deltas: list[Json], policy: Policy, reason: str = "stop") -> Got:
    stream = ChatStream(policy)
    out: list[Json] = []
    for delta in deltas:
        out += stream.feed({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    out += stream.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    out += stream.finish()
    assert stream.held < 10**6
    message = accumulate([c["delta"] for chunk in out for c in chunk["choices"]])
    calls = [(call.name, call.arguments) for call in message.tool_calls]
    return message.reasoning, message.content, calls


def pieces(key: str, text: str, cuts: list[int]) -> list[Json]:
    places = sorted({cut % (len(text) + 1) for cut in cuts} | {0, len(text)})
    return [{key: text[a:b]} for a, b in pairwise(places)]


#: A text, and what it is with `split`, with `keep`, and with `off`.
TEXTS: dict[str, tuple[str, Got, Got, Got]] = {
    "thoughts and text": (
        "<think>\nHm.\n</think>\n\nYes.",
        ("Hm.", "Yes.", []),
        (None, "<think>\nHm.\n</think>\n\nYes.", []),
        (None, "<think>\nHm.\n</think>\n\nYes.", []),
    ),
    "thoughts and a call": (
        f"<think>\nHm.\n</think>\n\n{CALL}",
        ("Hm.", None, [ADDED]),
        (None, "<think>\nHm.\n</think>", [ADDED]),
        (None, "<think>\nHm.\n</think>", [ADDED]),
    ),
    "a call in closed thoughts": (
        f"<think>Maybe {CALL} or not.</think>No.",
        (f"Maybe {CALL} or not.", "No.", []),
        (None, f"<think>Maybe {CALL} or not.</think>No.", []),
        (None, "<think>Maybe  or not.</think>No.", [ADDED]),
    ),
    "a call at the end of thoughts that never closed": (
        f"<think>Let me.\n{CALL}",
        ("Let me.", None, [ADDED]),
        (None, "<think>Let me.", [ADDED]),
        (None, "<think>Let me.", [ADDED]),
    ),
    "thoughts behind a call": (
        f"<think>One.</think>{CALL}<think>Two.</think>Done.",
        ("One.Two.", "Done.", [ADDED]),
        (None, "<think>One.</think><think>Two.</think>Done.", [ADDED]),
        (None, "<think>One.</think><think>Two.</think>Done.", [ADDED]),
    ),
    "no thoughts": ("Is 1 < 2? <think>", *((None, "Is 1 < 2? <think>", []),) * 3),
    "a closer at the start": (
        "</think>Yes.",
        (None, "Yes.", []),
        (None, "</think>Yes.", []),
        (None, "</think>Yes.", []),
    ),
    "less than": (
        "<think>< 5</think>< 6",
        ("< 5", "< 6", []),
        (None, "<think>< 5</think>< 6", []),
        (None, "<think>< 5</think>< 6", []),
    ),
    "an opener in thoughts": (
        "<think> <think>a</think> b",
        ("<think>a", "b", []),
        (None, "<think> <think>a</think> b", []),
        (None, "<think> <think>a</think> b", []),
    ),
}
WAYS = {"split": 1, "keep": 2, "off": 3}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TEXTS)
@settings(max_examples=10, deadline=None)
@given(cuts=st.lists(st.integers(0, 200), max_size=200))
def test_thoughts_in_the_text(name: str, way: str, cuts: list[int]) -> None:
    text = TEXTS[name][0]
    wanted = TEXTS[name][WAYS[way]]
    assert whole({"content": text}, policy(way)) == wanted
    assert streamed(pieces("content", text, cuts), policy(way)) == wanted
    assert streamed(pieces("content", text, list(range(200))), policy(way)) == wanted


@pytest.mark.parametrize("more", [{"tools": None}, {"tool_choice": "none"}])
def test_thoughts_are_split_where_no_call_is_wanted(more: Json) -> None:
    text = f"<think>Hm.</think>{CALL}"
    assert whole({"content": text}, policy("split", **more)) == ("Hm.", CALL, [])
    assert streamed([{"content": c} for c in text], policy("split", **more)) == ("Hm.", CALL, [])
    for way in ("keep", "off"):
        assert whole({"content": text}, policy(way, **more)) == (None, text, [])


def test_text_without_thoughts_passes_as_it_is_where_no_call_is_wanted() -> None:
    """Event by event, the very same objects: also one with nothing but a space."""
    stream = ChatStream(policy("split", tools=None))
    for text in ["G", "rüße,", " ", "<th", "ink>", "!", " "]:
        chunk = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
        assert [one is chunk for one in stream.feed(chunk)] == [True]
    special = "Hm. [THINK]a[/THINK] b"
    for way in ([special], list(special)):
        deltas = [{"content": piece} for piece in way]
        got = streamed(deltas, policy("split", "mistral", tools=None))
        assert got == whole({"content": special}, policy("split", "mistral", tools=None))
        assert got[0] == "a"


def test_thoughts_before_native_calls() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    message = {"content": "<think>Hm.</think>", "tool_calls": [call]}
    assert whole(message, policy("split")) == ("Hm.", None, [ADDED])
    deltas = [{"content": "<think>Hm."}, {"content": "</think>"}]
    deltas.append({"tool_calls": [call | {"index": 0}]})
    assert streamed(deltas, policy("split")) == ("Hm.", None, [ADDED])


def test_channels_say_by_themselves_what_is_a_thought() -> None:
    text = (
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes."
    )
    for way in ("split", "off"):
        assert whole({"content": text}, policy(way, "harmony")) == ("Hm.", "Yes.", [])
    assert whole({"content": text}, policy("keep", "harmony")) == (None, "Hm.Yes.", [])


def test_a_call_in_print_keeps_its_text() -> None:
    """In the middle of a sentence, words without quotes are no values."""
    for way in WAYS:
        read = policy(way, "call_text")
        for text in ("print(add(a))", "<think>x</think>print(add(a))"):
            wanted = ("x", "print(add(a))", []) if "x" in text and way == "split" else None
            assert whole({"content": text}, read) == (wanted or (None, text, []))
            assert streamed([{"content": c} for c in text], read) == (wanted or (None, text, []))


# -- thoughts that the server sends apart ---------------------------------------------------------

KEYS = ["reasoning_content", "reasoning"]

#: Thoughts that come apart, with nothing else; what is left of them, and the calls.
APART: dict[str, tuple[str, str | None, list[tuple[str, str]]]] = {
    "a call at the end": (f"Let me.\n{CALL}\n", "Let me.", [ADDED]),
    "only a call": (CALL, None, [ADDED]),
    "two calls": (f"So:\n{CALL}\n{CALL}", "So:", [ADDED, ADDED]),
    "a call, and more": (f"Let me {CALL} or not.", f"Let me {CALL} or not.", []),
    "half a call": ('Let me.\n<tool_call>\n{"name": "add", "arg', "same", []),
    "none": ("\n Let me. \n", "same", []),
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", APART)
@settings(max_examples=10, deadline=None)
@given(cuts=st.lists(st.integers(0, 200), max_size=200))
def test_a_call_that_ends_thoughts_is_one(name: str, key: str, cuts: list[int]) -> None:
    text, left, calls = APART[name]
    wanted = (text if left == "same" else left, None, calls)
    assert whole({"content": None, key: text}, policy("split")) == wanted
    assert whole({"content": "", key: text}, policy("keep")) == wanted
    assert streamed(pieces(key, text, cuts), policy("split")) == wanted
    assert streamed(pieces(key, text, list(range(200))), policy("split")) == wanted
    assert whole({"content": None, key: text}, policy("off")) == (text, None, [])
    assert streamed(pieces(key, text, cuts), policy("off")) == (text, None, [])


@pytest.mark.parametrize("name", APART)
@settings(max_examples=10, deadline=None)
@given(cuts=st.lists(st.integers(0, 200), max_size=200))
def test_where_anything_else_comes_thoughts_are_thoughts(name: str, cuts: list[int]) -> None:
    text = APART[name][0]
    deltas = pieces("reasoning_content", text, cuts)
    message = {"reasoning_content": text, "content": "Yes."}
    assert whole(message, policy("split")) == (text, "Yes.", [])
    assert streamed([*deltas, {"content": "Yes."}], policy("split")) == (text, "Yes.", [])
    last = deltas[-1] | {"content": "Yes."}
    assert streamed([*deltas[:-1], last], policy("split")) == (text, "Yes.", [])
    call = {"id": "c1", "type": "function", "function": {"name": "noargs", "arguments": "{}"}}
    wanted = (text, None, [("noargs", "{}")])
    assert whole({"reasoning_content": text, "tool_calls": [call]}, policy("split")) == wanted
    native = {"tool_calls": [call | {"index": 0}]}
    assert streamed([*deltas, native], policy("split")) == wanted


def test_thoughts_of_a_stream_that_breaks_off_are_all_there() -> None:
    stream = ChatStream(policy("split"))
    text = f"Let me.\n{CALL}"
    out = stream.feed({"choices": [{"index": 0, "delta": {"reasoning_content": text}}]})
    out += stream.finish(died=True)
    said = [c["delta"].get("reasoning_content") or "" for chunk in out for c in chunk["choices"]]
    assert "".join(said) == text
