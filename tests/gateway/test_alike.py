"""Events that are like one before them are not read again: what comes of a stream is the same."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.gateway.exchange import Plan, plan
from toolwire.gateway.settings import Settings
from toolwire.gateway.sse import stream_objects
from toolwire.gateway.stream_session import StreamSession

Delta = dict[str, Any]

TOOLS = [{"type": "function", "function": {"name": "add"}}]
REQUEST = {
    "model": "m",
    "stream": True,
    "tools": TOOLS,
    "messages": [{"role": "user", "content": "?"}],
}
CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'

PIECES = [
    "Hi",
    " there",
    "é",
    "日",
    "\U0001f600",
    '"',
    "\\",
    "\n",
    "<",
    "<tool",
    "\x7f",
    "",
    " ",
    CALL,
    CALL[:9],
    CALL[9:],
]
TEXTS: st.SearchStrategy[Delta] = st.sampled_from(PIECES).map(lambda text: {"content": text})
NATIVE = {
    "index": 0,
    "id": "c1",
    "type": "function",
    "function": {"name": "add", "arguments": "{}"},
}
OTHERS: list[Delta] = [
    {"role": "assistant", "content": ""},
    {"role": "assistant", "content": "So"},
    {"content": "a", "reasoning_content": None},
    {"content": "a", "reasoning_content": "Hm."},
    {"reasoning_content": "Hm."},
    {"tool_calls": [NATIVE]},
    {"content": "a", "tool_calls": [NATIVE]},
    {"content": None},
    {},
]
DELTAS = st.lists(st.one_of(TEXTS, TEXTS, TEXTS, st.sampled_from(OTHERS)), max_size=12)


def asked(format: str | None) -> tuple[Plan, Settings]:
    settings = Settings(format=format, ids="sequential")
    found = plan("/v1/chat/completions", "chat", json.dumps(REQUEST).encode(), settings)
    assert isinstance(found, Plan)
    return found, settings


def event(choice: dict[str, Any], created: int) -> bytes:
    chunk = {"id": "x", "created": created, "choices": [choice]}
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def events(deltas: list[tuple[int, Delta]], alike: bool) -> list[bytes]:
    """A stream, in which each event has a number of its own, or all have the same."""
    said = [({"index": i, "delta": d, "finish_reason": None}) for i, d in deltas]
    ends = [{"index": i, "delta": {}, "finish_reason": "stop"} for i in (0, 1)]
    numbered = enumerate([*said, *ends], 1)
    return [event(choice, 0 if alike else number) for number, choice in numbered]


def sent(session: StreamSession, stream: list[bytes]) -> bytes:
    return (
        b"".join(map(session.feed, stream)) + session.feed(b"data: [DONE]\n\n") + session.finish()
    )


def told(out: bytes) -> list[dict[str, Any]]:
    """What the client reads. An id that was made is another one each time."""
    found = [chunk | {"created": 0} for chunk in stream_objects(out)]
    for entry in (
        e for c in found for one in c["choices"] for e in one["delta"].get("tool_calls", ())
    ):
        entry.pop("id", None)
    return found


@pytest.mark.parametrize("format", [None, "hermes", "call_text"])
@given(deltas=st.lists(st.tuples(st.sampled_from([0, 0, 0, 1]), DELTAS), max_size=4))
def test_it_is_what_comes_of_events_that_differ(
    format: str | None, deltas: list[tuple[int, list[Delta]]]
) -> None:
    flat = [(index, delta) for index, part in deltas for delta in part]
    came = [
        sent(StreamSession(*asked(format), None), events(flat, alike)) for alike in (True, False)
    ]
    assert told(came[0]) == told(came[1])


@pytest.mark.parametrize("format", [None, "hermes"])
@given(texts=st.lists(TEXTS, max_size=8), data=st.data())
def test_events_may_come_in_any_pieces(
    format: str | None, texts: list[Delta], data: st.DataObject
) -> None:
    """Only what is one whole event is known without being cut out of the stream."""
    stream = events([(0, text) for text in texts], alike=True)
    whole = b"".join(stream)
    places = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    pieces = [whole[a:b] for a, b in pairwise([0, *places, len(whole)])]
    came = [sent(StreamSession(*asked(format), None), given) for given in (stream, pieces)]
    assert told(came[0]) == told(came[1])


def test_text_that_has_nothing_to_find_goes_on_as_it_came() -> None:
    stream = events([(0, {"content": text}) for text in ("Hi", " there", "é", "!")], alike=True)
    session = StreamSession(*asked("hermes"), None)
    assert [session.feed(one) for one in stream[:4]] == stream[:4]


@pytest.mark.parametrize(
    "second",
    [
        b'data: {"choices": [{"delta": {"content": "b", "tool_calls": [1]}}]}\n\n',
        b'data: {"choices": [{"delta": {"content": "b"}, "finish_reason": "stop"}]}\n\n',
        b'data: {"choices": [{"delta": {"content": "b\n"}}]}\n\n',
        b'data: {"choices": [{"delta": {"content": "\xff"}}]}\n\n',
        b'data: {"choices": [{"delta": {"content": "b", "content": "c"}}]}\n\n',
    ],
)
def test_what_looks_like_it_is_read(second: bytes) -> None:
    first = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
    behind, alone = (StreamSession(*asked("hermes"), None) for _ in range(2))
    behind.feed(first)
    alone.feed(first.replace(b'"a"', b'"\\u0061"'))  # is like none
    assert behind.feed(second) == alone.feed(second)
    assert behind.finish() == alone.finish()
