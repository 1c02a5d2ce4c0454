"""Thoughts in the text of Responses and Messages: an item, or a block, of their own before the text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from toolwire.gateway.messages_native import normalize_message
from toolwire.gateway.messages_native_stream import MessagesStream
from toolwire.gateway.messages_stream import TranslatedStream
from toolwire.gateway.responses import normalize_output
from toolwire.gateway.responses_stream import ResponsesStream
from toolwire.openai.policy import Policy
from toolwire.openai.request import read_request

from .scripted_answers import message
from .scripted_messages import message_events, text, whole_message
from .scripted_upstream import response, response_events
from .support_gateway import TOOLS
from .support_messages import accumulated, parts

Json = dict[str, Any]

CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
ADDED = ("add", {"a": 1})
#: A text, and what a client gets with `split`: thoughts, text, calls.
SPLIT: dict[str, tuple[str, tuple[str, str, list[Any]]]] = {
    "text": ("<think>\nHm.\n</think>\n\nYes.", ("Hm.", "Yes.", [])),
    "a call": (f"<think>Hm.</think>\n{CALL}", ("Hm.", "", [ADDED])),
    "both": (f"<think>Hm.</think>Look: {CALL}", ("Hm.", "Look:", [ADDED])),
    "only thoughts": ("<think>Hm.</think>", ("Hm.", "", [])),
    "never closed": (f"<think>Hm.\n{CALL}", ("Hm.", "", [ADDED])),
    "none": ("Yes.", ("", "Yes.", [])),
}
KEPT = {
    "text": ("", "<think>\nHm.\n</think>\n\nYes.", []),
    "both": ("", "<think>Hm.</think>Look:", [ADDED]),
}


def policy(reasoning: str) -> Policy:
    return Policy("hermes", read_request({"tools": TOOLS}), reasoning=reasoning)


def in_output(output: list[Json]) -> tuple[str, str, list[Any]]:
    """Thoughts, text and calls; in this order, as they stand in the output."""
    kinds = [item["type"] for item in output]
    assert kinds == sorted(kinds, key=["reasoning", "message", "function_call"].index)
    found = {
        kind: "".join(p["text"] for i in output if i["type"] == kind for p in i["content"])
        for kind in ("reasoning", "message")
    }

    calls = [i for i in output if i["type"] == "function_call"]
    return (
        found["reasoning"],
        found["message"],
        [(call["name"], json.loads(call["arguments"])) for call in calls],
    )


def wanted_of(name: str, way: str) -> tuple[str, str, list[Any]]:
    return SPLIT[name][1] if way == "split" else KEPT[name]


CASES = [(name, "split") for name in SPLIT] + [(name, "keep") for name in KEPT]


@pytest.mark.parametrize(("name", "way"), CASES)
def test_responses_whole(name: str, way: str) -> None:
    answer, _, _ = normalize_output(response([message(SPLIT[name][0])]), policy(way))
    assert in_output(answer["output"]) == wanted_of(name, way)


@pytest.mark.parametrize("emit", ["finish", "complete"])
@pytest.mark.parametrize(("name", "way"), CASES)
def test_responses_streamed(name: str, way: str, emit: str) -> None:
    stream = ResponsesStream(policy(way), emit=emit)
    events = response_events([message(SPLIT[name][0])])
    out = [one for event in events for one in stream.feed(event)] + stream.finish()
    assert [event["sequence_number"] for event in out] == list(range(len(out)))
    last = out[-1]
    assert last["type"] == "response.completed"
    assert in_output(last["response"]["output"]) == wanted_of(name, way)
    check_items(out, last["response"]["output"])


def check_items(events: list[Json], output: list[Json]) -> None:
    """Every item is announced once, in order, grows while it is open, and ends as the output has it."""
    begun: list[int] = []
    ended: dict[int, Json] = {}
    said: dict[int, str] = {}
    for event in events:
        kind, place = event["type"], event.get("output_index")
        if kind == "response.output_item.added":
            assert place == len(begun)
            begun.append(place)
        elif kind == "response.output_item.done":
            ended[place] = event["item"]
        elif kind.endswith("text.delta"):
            assert place in begun
            assert place not in ended
            said[place] = said.get(place, "") + event["delta"]
    assert [ended[place] for place in begun] == output
    for place, words in said.items():
        assert words == "".join(part["text"] for part in output[place]["content"])


@pytest.mark.parametrize(("name", "way"), CASES)
def test_messages_whole(name: str, way: str) -> None:
    answer, _, _ = normalize_message(whole_message([text(SPLIT[name][0])], "end_turn"), policy(way))
    assert parts(answer["content"]) == wanted_of(name, way)


@pytest.mark.parametrize(("name", "way"), CASES)
def test_messages_streamed(name: str, way: str) -> None:
    stream = MessagesStream(policy(way))
    events = message_events([text(SPLIT[name][0])], "end_turn")
    out = [one for event in events for one in stream.feed(event)] + stream.finish()
    made = accumulated(out)
    assert parts(made["content"]) == wanted_of(name, way)
    assert made["stop_reason"] == ("tool_use" if wanted_of(name, way)[2] else "end_turn")


@pytest.mark.parametrize(("name", "way"), CASES)
def test_messages_translated(name: str, way: str) -> None:
    stream = TranslatedStream(policy(way))
    deltas = [{"content": c} for c in SPLIT[name][0]]
    out = []
    for delta, reason in [*((delta, None) for delta in deltas), ({}, "stop")]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        out += stream.feed({"id": "c", "model": "m", "choices": [choice]})
    made = accumulated(out + stream.finish())
    assert parts(made["content"]) == wanted_of(name, way)
