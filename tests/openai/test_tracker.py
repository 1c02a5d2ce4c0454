"""Calls followed through a conversation."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from toolwire import ToolwireError
from toolwire.openai import CallState, ToolCallTracker

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}


def test_a_call_goes_from_pending_to_completed() -> None:
    ticks = itertools.count(100)
    tracker = ToolCallTracker(clock=lambda: float(next(ticks)))
    assert tracker.add("c1", "add", '{"a": 1}').state is CallState.PENDING
    assert [call.id for call in tracker.pending] == ["c1"]
    tracker.start("c1")
    assert [call.id for call in tracker.executing] == ["c1"]
    call = tracker.complete("c1", "2")
    assert (call.created_at, call.started_at, call.finished_at) == (100.0, 101.0, 102.0)
    assert (call.name, call.arguments, call.response, call.error) == ("add", '{"a": 1}', "2", None)
    assert tracker.completed == [call]
    assert tracker.unanswered == []


def test_a_call_may_fail_without_having_started() -> None:
    tracker = ToolCallTracker()
    tracker.add("c1", "add")
    tracker.add("c2", "add")
    call = tracker.fail("c1", "no such tool")
    assert (call.state, call.error) == ("error", "no such tool")
    assert call.started_at is None
    assert tracker.errors == [call]
    assert [call.id for call in tracker.unanswered] == ["c2"]
    assert tracker["c1"] == call
    assert len(list(tracker)) == len(tracker) == 2


def test_what_makes_no_sense_is_refused() -> None:
    tracker = ToolCallTracker()
    with pytest.raises(ToolwireError, match="no id"):
        tracker.add("", "add")
    tracker.add("c1", "add")
    with pytest.raises(ToolwireError, match="must be unique"):
        tracker.add("c1", "add")
    with pytest.raises(ToolwireError, match="no call with the id 'c2'"):
        tracker.complete("c2")
    tracker.start("c1")
    with pytest.raises(ToolwireError, match="already executing"):
        tracker.start("c1")
    tracker.complete("c1")
    with pytest.raises(ToolwireError, match=r"answered before \(it is completed\)"):
        tracker.fail("c1", "late")


def test_from_a_conversation() -> None:
    second = CALL | {"id": "c2"}
    custom = {"id": "c3", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
    tracker = ToolCallTracker.from_messages(
        [
            {"role": "user", "content": "1+1?"},
            {"role": "assistant", "tool_calls": [CALL, second, custom]},
            {"role": "tool", "tool_call_id": "c1", "content": "2"},
        ]
    )
    assert [call.id for call in tracker.pending] == ["c2", "c3"]
    assert tracker["c1"].response == "2"
    assert tracker["c3"].arguments == "ls"
    assert "c4" not in tracker
    tracker.see({"role": "tool", "tool_call_id": "c2", "content": "2"})
    assert [call.id for call in tracker.pending] == ["c3"]


def test_what_is_shown_of_a_call() -> None:
    ticks = itertools.count(100)
    tracker = ToolCallTracker(clock=lambda: float(next(ticks)))
    assert (tracker.add("c1", "add", '{"a": 1}').status, tracker["c1"].timestamp) == (
        "pending",
        100,
    )
    assert (tracker.start("c1").status, tracker["c1"].timestamp) == ("executing", 101)
    call = tracker.complete("c1", "2")
    assert (call.status, call.timestamp, call.parsed_arguments) == ("completed", 102, {"a": 1})
    assert call.arguments == '{"a": 1}'
    assert call.to_dict() == {
        "id": "c1",
        "name": "add",
        "arguments": {"a": 1},
        "status": "completed",
        "response": "2",
        "error": None,
        "timestamp": 102,
    }
    tracker.add("c2", "add")
    assert (tracker.fail("c2", "no").status, tracker["c2"].timestamp) == ("error", 104)


@pytest.mark.parametrize("arguments", ["{", "", "[" * 100_000, "NaN" * 2])
def test_arguments_that_are_no_json(arguments: str) -> None:
    assert ToolCallTracker().add("c1", "add", arguments).parsed_arguments is None


def test_arguments_that_came_as_an_object() -> None:
    function = {"name": "add", "arguments": {"a": "é"}}
    message = {"role": "assistant", "tool_calls": [{"id": "c1", "function": function}]}
    call = ToolCallTracker.from_messages([message])["c1"]
    assert (call.arguments, call.parsed_arguments) == ('{"a": "é"}', {"a": "é"})


@pytest.mark.parametrize(
    "messages",
    [
        None,
        5,
        "text",
        {"role": "user"},
        [None],
        [5],
        ["text"],
        [{"role": "assistant", "tool_calls": 5}],
        [{"role": "assistant", "tool_calls": "x"}],
        [{"role": "assistant", "tool_calls": [None]}],
        [{"role": "assistant", "tool_calls": [{"id": "c", "function": 5}]}],
        [{"role": "assistant", "tool_calls": [{"id": "c", "function": {"arguments": {1, 2}}}]}],
        [{"role": "assistant", "tool_calls": [{}]}],
        [{"role": "tool"}],
        [{"role": "tool", "tool_call_id": ["c"]}],
    ],
)
def test_odd_conversations_are_one_clear_sentence(messages: Any) -> None:
    with pytest.raises(ToolwireError, match=r"\w+ .*\.$"):
        ToolCallTracker.from_messages(messages)


def test_odd_entries_are_one_clear_sentence() -> None:
    tracker = ToolCallTracker()
    odd: Any
    for odd in (None, 5, [], ""):
        with pytest.raises(ToolwireError):
            tracker.add(odd, "add")
        with pytest.raises(ToolwireError):
            tracker.start(odd)
        with pytest.raises(ToolwireError):
            tracker.see(odd)
    with pytest.raises(ToolwireError, match="use one of pending"):
        tracker.in_state("x")
    assert ToolCallTracker.from_messages([{"role": "assistant", "tool_calls": None}]).pending == []
