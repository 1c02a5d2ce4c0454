"""The event stream of the Responses API, event by event."""

from __future__ import annotations

from typing import Any

import pytest
from toolwire.gateway.responses import ResponsesStream, normalize_output
from toolwire.openai.normalize import Policy

from .scripted_answers import ONE, OUTPUTS, TEXT_CALL, item, message
from .scripted_upstream import response, response_events
from .support_gateway import TOOLS

READS = Policy(format="hermes", tools=TOOLS)


def run(
    given: list[Any], policy: Policy = READS, mode: str = "verified", died: bool = False
) -> tuple[list[Any], list[Any]]:
    stream = ResponsesStream(policy, mode)
    out = [sent for event in given for sent in stream.feed(event)] + stream.finish(died=died)
    return out, [(finding.reason, finding.action) for finding in stream.findings]


def items(events: list[Any]) -> list[Any]:
    """The items as a client puts them together, checked on the way."""
    built: dict[int, Any] = {}
    for event in events:
        if event["type"] == "response.output_item.added":
            assert event["output_index"] == len(built), "a hole in the output"
            built[event["output_index"]] = event["item"]
        elif event["type"] == "response.output_item.done":
            built[event["output_index"]] = event["item"]
    return list(built.values())


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_stream_gives_what_the_whole_answer_gives(name: str) -> None:
    whole, _, _ = normalize_output(response(OUTPUTS[name]), READS)
    events, _ = run(response_events(OUTPUTS[name]))
    assert [e["sequence_number"] for e in events] == list(range(len(events)))
    final = events[-1]["response"]["output"]
    assert items(events) == final

    def comparable(output: list[Any]) -> list[Any]:
        ids = ("id", "call_id")
        kept = [{k: v for k, v in one.items() if k not in ids} for one in output]
        return [one for one in kept if one.get("content") != [] or one["type"] != "message"]

    assert comparable(final) == comparable(whole["output"])


def test_events_that_need_no_change_are_the_same_objects() -> None:
    given = response_events(OUTPUTS["plain"])
    out, _ = run(given, Policy())
    assert all(a is b for a, b in zip(out, given, strict=True))


def test_native_calls_go_before_those_in_the_text() -> None:
    output = [message(TEXT_CALL), item("c1", "noargs", "{}")]
    events, findings = run(response_events(output))
    calls = [one for one in items(events) if one["type"] == "function_call"]
    assert [call["call_id"] for call in calls] == ["c1"]
    assert findings == [(None, "dropped")]
    whole, _, count = normalize_output(response(output), READS)
    assert (whole["output"], count) == (output, 1)


def test_a_call_that_was_cut_off() -> None:
    output = [item("c1", "noargs", "{}"), item("c2", "add", '{"a": ')]
    given = response_events(output)
    given[-1] = given[-1] | {
        "type": "response.incomplete",
        "response": response(output, "incomplete"),
    }
    events, findings = run(given)
    assert [one["call_id"] for one in items(events)] == ["c1"]
    assert findings == [("truncated", "dropped")]
    assert [one["call_id"] for one in events[-1]["response"]["output"]] == ["c1"]
    whole, found, _ = normalize_output(response(output, "incomplete"), READS)
    assert [one["call_id"] for one in whole["output"]] == ["c1"]
    assert [finding.reason for finding in found] == ["truncated"]


def test_a_stream_that_dies() -> None:
    given = response_events([item("c1", "noargs", "{}"), item("c2", "add", ONE)])
    events, findings = run(given[:-6], died=True)
    assert [one["call_id"] for one in items(events)] == ["c1"]
    assert findings == [("truncated", "dropped")]


def test_live_passes_pieces_and_counts_what_is_wrong() -> None:
    events, findings = run(response_events(OUTPUTS["malformed"]), mode="live")
    pieces = [e["delta"] for e in events if e["type"].endswith("arguments.delta")]
    assert "".join(pieces) == '{"a": oops'
    assert len(pieces) > 1
    assert findings == [("invalid_json", None)]
    assert items(events) == events[-1]["response"]["output"]


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_one_call_at_a_time(mode: str) -> None:
    policy = Policy(parallel=False)
    output = [item("c1", "noargs", "{}"), item("c2", "noargs", "{}")]
    events, findings = run(response_events(output), policy, mode)
    assert [one["call_id"] for one in items(events)] == ["c1"]
    assert findings == [(None, "dropped")]
    whole, _, count = normalize_output(response(output), policy)
    assert (whole["output"], count) == (output[:1], 1)


def test_odd_events_pass() -> None:
    odd = [{"type": None}, {}, {"type": "response.output_text.delta"}, {"type": "x"}]
    odd.append({"type": "response.completed", "response": 5})
    out, _ = run(odd, Policy())
    assert out == odd
