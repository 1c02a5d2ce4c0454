"""The event stream of the Responses API, event by event."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from toolwire.gateway.responses import normalize_output
from toolwire.gateway.responses_stream import ResponsesStream
from toolwire.openai.policy import Policy

from ..openai.support_steps import assert_linear
from ..support import policy_for
from .scripted_answers import ONE, OUTPUTS, TEXT_CALL, item, message
from .scripted_upstream import response, response_events
from .support_gateway import TOOLS

READS = policy_for(format="hermes", tools=TOOLS)


def run(
    given: list[Any],
    policy: Policy = READS,
    mode: str = "verified",
    died: bool = False,
    emit: str = "finish",
) -> tuple[list[Any], list[Any]]:
    stream = ResponsesStream(policy, mode, emit)
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


@pytest.mark.parametrize("emit", ["finish", "complete"])
@pytest.mark.parametrize("name", OUTPUTS)
def test_a_stream_gives_what_the_whole_answer_gives(name: str, emit: str) -> None:
    whole, _, _ = normalize_output(response(OUTPUTS[name]), READS)
    events, _ = run(response_events(OUTPUTS[name]), emit=emit)
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
    out, _ = run(given, policy_for())
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
    events, findings = run(given[:-6], died=True, emit="complete")
    assert [one["call_id"] for one in items(events)] == ["c1"]
    assert findings == [("truncated", "dropped")]
    events, findings = run(given[:-6], died=True)
    assert items(events) == []
    assert findings == [("truncated", "dropped")] * 2


@pytest.mark.parametrize("how", ["error", "response.failed", "error, response.failed"])
def test_nothing_counts_behind_an_error(how: str) -> None:
    output = [message("Hm."), item("c1", "noargs", "{}")]
    *given, _ = response_events(output)
    failed = {"type": "response.failed", "response": response(output, "failed")}
    ends = {"error": {"type": "error", "message": "out of memory"}, "response.failed": failed}
    told = [ends[name] for name in how.split(", ")]
    late = response_events([item("c2", "add", ONE)])[1:-1]
    events, findings = run([*given, *told[:1], *late, *told[1:]], died=False)
    assert [one["type"] for one in items(events)] == ["message"]
    kinds = [e["type"] for e in events if e["type"] in ends]
    assert kinds == how.split(", ")
    if "failed" in how:
        assert [one["type"] for one in events[-1]["response"]["output"]] == ["message"]
    assert findings == [("truncated", "dropped")]


@pytest.mark.parametrize("emit", ["finish", "complete"])
def test_when_a_call_goes_out(emit: str) -> None:
    stream = ResponsesStream(READS, emit=emit)
    *given, last = response_events([item("c1", "noargs", "{}"), message("Hm.")])
    before = items([sent for event in given for sent in stream.feed(event)])
    kinds = ["message"] if emit == "finish" else ["function_call", "message"]
    assert [one["type"] for one in before] == kinds
    *block, end = stream.feed(last)
    assert [e["type"] for e in block][:1] == ([] if block == [] else ["response.output_item.added"])
    assert sorted(one["type"] for one in end["response"]["output"]) == ["function_call", "message"]


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_a_tool_choice_that_is_not_obeyed(mode: str) -> None:
    output = [item("c1", "noargs", "{}"), item("c2", "add", "{}")]
    policy = policy_for(tools=TOOLS, tool_choice="none")
    events, findings = run(response_events(output), policy, mode)
    assert items(events) == events[-1]["response"]["output"] == []
    assert findings == [("disobeyed", "dropped")] * 2
    policy = policy_for(tools=TOOLS, tool_choice={"type": "function", "name": "add"})
    events, findings = run(response_events(output), policy, mode)
    assert [one["name"] for one in items(events)] == ["noargs", "add"]
    assert findings == [("disobeyed", None)]


@pytest.mark.parametrize("text", ["oops", "[1]"])
def test_live_wraps_what_it_has_not_sent(text: str) -> None:
    events, findings = run(response_events([item("c1", "add", text)]), mode="live")
    (whole,) = items(events)
    pieces = [e["delta"] for e in events if e["type"].endswith("arguments.delta")]
    assert "".join(pieces) == whole["arguments"]
    assert whole["arguments"] == ('{"input": "oops"}' if text == "oops" else text)
    wrapped = ("invalid_json", "wrapped")
    assert findings == [wrapped if text == "oops" else ("not_an_object", None)]
    assert events[-1]["response"]["output"] == [whole]


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_a_stream_without_its_last_event_was_cut_off(mode: str) -> None:
    given = response_events([item("c1", "noargs", "{}"), item("c2", "add", ONE)])
    events, findings = run(given[:-6], mode=mode, emit="complete")
    done = [e["item"] for e in events if e["type"] == "response.output_item.done"]
    assert [one["call_id"] for one in done] == ["c1"]
    assert findings == [("truncated", "dropped" if mode == "verified" else None)]
    assert events[-1]["type"] == "error"
    assert "without its last event" in events[-1]["message"]
    assert [e["sequence_number"] for e in events] == list(range(len(events)))
    assert run([], mode=mode)[0] == []


def test_live_marks_a_call_that_was_cut_off() -> None:
    output = [item("c1", "add", '{"a": ')]
    given = response_events(output)
    end = {"type": "response.incomplete", "response": response(output, "incomplete")}
    events, findings = run([*given[:-3], given[-1] | end], mode="live")
    assert "response.output_item.done" not in [e["type"] for e in events]
    (sent,) = events[-1]["response"]["output"]
    assert (sent["status"], sent["arguments"]) == ("incomplete", '{"a": ')
    assert findings == [("truncated", None)]


@pytest.mark.parametrize("status", ["in_progress", "incomplete", "failed", None])
def test_a_whole_answer_that_does_not_say_it_is_complete(status: Any) -> None:
    answer = response([item("c1", "add", '{"a": ')], status)
    whole, found, count = normalize_output(answer, READS)
    assert (whole["output"], count) == ([], 0)
    assert [(finding.reason, finding.action) for finding in found] == [("truncated", "dropped")]


def test_every_call_without_an_end_is_cut_off() -> None:
    given = response_events([item("c1", "add", '{"a": 1'), item("c2", "add", '{"b": 1')])
    events, findings = run([e for e in given[:-1] if not e["type"].endswith(".done")])
    assert items(events) == []
    assert findings == [("truncated", "dropped")] * 2


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_open_calls_cost_linear_work(mode: str) -> None:
    def work(count: int) -> Any:
        given = response_events([item(f"c{i}", "add", '{"a"') for i in range(count)])
        kinds = ("added", "delta", "item.done")  # each kind for all calls, then the next
        turned = [e for kind in kinds for e in given if e["type"].endswith(kind)]
        return lambda: run([*turned, given[-1]], mode=mode)

    assert_linear(work, 100)


def test_ends_that_are_repeated_are_told_once() -> None:
    def work(count: int) -> Any:
        given = response_events([message(f"{TEXT_CALL} {'word ' * 100}")])
        ends = [e for e in given if e["type"].endswith("done")]
        return lambda: sum(len(str(e)) for e in run([*given[:-1], *ends * count])[0])

    assert work(100)() == work(1)()
    given = response_events([message(TEXT_CALL)])
    again, _ = run([*given, *given[-1:] * 3])
    assert [e["type"] for e in again].count("response.output_item.added") == 2


@pytest.mark.parametrize("index", [[], {}, "0", None])
def test_an_impossible_index(index: Any) -> None:
    *given, end = [e | {"output_index": index} for e in response_events(OUTPUTS["simple"])]
    for events, _ in (run(given, emit="complete"), run([*given, end])):
        assert [one["call_id"] for one in items(events)] == ["c1"]


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_what_is_held_is_counted_and_given_back(mode: str) -> None:
    stream = ResponsesStream(READS, mode)
    given = response_events([message("word " * 200), item("c1", "add", "[" + "1," * 5000)])
    for event in given[:-3]:
        stream.feed(event)
    assert 11_000 < stream.held < 40_000
    stream.finish()
    assert stream.held == 0


def test_what_is_held_is_about_what_it_takes() -> None:
    deltas = [TEXT_CALL[-62:]] * 50 + ["日本 "] * 500
    kind = {"type": "response.output_text.delta", "output_index": 0, "content_index": 0}
    items = [item(f"c{i}", "add", "{" * 50) | {"x": [[]] * 50} for i in range(60)]
    for given in (
        [kind | {"delta": delta, "logprobs": [[]] * 1000} for delta in deltas],
        [e for e in response_events(items)[:-1] if e["type"] != "response.output_item.done"],
        response_events(items)[:-1],
    ):
        texts = [json.dumps(event) for event in given]
        tracemalloc.start()
        stream = ResponsesStream(READS)
        for text in texts:
            stream.feed(json.loads(text))
        really = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert really / 2 < stream.held < really * 3


def test_live_passes_pieces_and_counts_what_is_wrong() -> None:
    events, findings = run(response_events(OUTPUTS["malformed"]), mode="live")
    pieces = [e["delta"] for e in events if e["type"].endswith("arguments.delta")]
    assert "".join(pieces) == '{"a": oops'
    assert len(pieces) > 1
    assert findings == [("invalid_json", None)]
    assert items(events) == events[-1]["response"]["output"]


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_one_call_at_a_time(mode: str) -> None:
    policy = policy_for(one=True)
    output = [item("c1", "noargs", "{}"), item("c2", "noargs", "{}")]
    events, findings = run(response_events(output), policy, mode)
    assert [one["call_id"] for one in items(events)] == ["c1"]
    assert findings == [(None, "dropped")]
    whole, _, count = normalize_output(response(output), policy)
    assert (whole["output"], count) == (output[:1], 1)


def test_odd_events_pass() -> None:
    odd = [{"type": None}, {}, {"type": "response.output_text.delta"}, {"type": "x"}]
    odd.append({"type": "response.completed", "response": 5})
    out, _ = run(odd, policy_for())
    assert out == odd


# -- repair ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_calls_are_repaired_where_the_operator_asks(mode: str) -> None:
    policy = policy_for(tools=TOOLS, format="hermes", repair=frozenset({"coerce", "names"}))
    output = [item("c1", "functions.Add", '{"a": "1", "z": "2"}')]
    events, findings = run(response_events(output), policy, mode)
    (call,) = items(events)
    assert (call["name"], call["arguments"]) == ("add", '{"a": 1, "z": "2"}')
    assert events[-1]["response"]["output"] == [call]
    pieces = [e["delta"] for e in events if e["type"].endswith("arguments.delta")]
    assert "".join(pieces) == call["arguments"]
    assert "" not in pieces
    assert sorted(findings) == [(None, "coerced"), (None, "renamed")]
    whole, _, _ = normalize_output(response(output), policy)
    assert [(one["name"], one["arguments"]) for one in whole["output"]] == [
        ("add", '{"a": 1, "z": "2"}')
    ]


def test_a_call_that_ends_in_a_held_string_keeps_it_live() -> None:
    policy = policy_for(tools=TOOLS, repair=frozenset({"coerce"}))
    events, findings = run(response_events([item("c1", "add", '{"a": "1')]), policy, "live")
    pieces = [e["delta"] for e in events if e["type"].endswith("arguments.delta")]
    assert "".join(pieces) == items(events)[0]["arguments"] == '{"a": "1'
    assert findings == [("invalid_json", None)]
