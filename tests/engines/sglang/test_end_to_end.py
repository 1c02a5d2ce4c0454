"""Scripted outputs through a real server: what clients of three APIs end up with.

All requests are sent side by side by one fixture, since the server is quickest with many at a time;
the tests then look at the answers one by one.
"""

from __future__ import annotations

import json

import pytest
from engine_cases import ADD_ONE_TWO, CASES, ONE_TWO, TOOLS, Case, block
from engine_client import Answer, Asker
from sglang_asking import WAYS, job

QUESTION = [{"role": "user", "content": "Go."}]
MISSION = [case for case in CASES if case.name == "mission"]
#: Of the known failures, those that a server could add to: text around calls, and cuts.
FAILURES = [
    case
    for case in CASES
    if str(case)
    in {
        *("hermes-H4", "hermes-H8", "hermes-H12", "hermes-H14", "hermes-H17", "hermes-H18"),
        *("qwen3_coder-X1", "qwen3_coder-X5", "qwen3_coder-X13", "pythonic-O5", "mistral-O6-args"),
    }
]
FAILURE_WAYS = ["chat", "chat-stream", "responses-stream"]
Answers = dict[tuple[str, str], Answer]


@pytest.fixture(scope="session")
def answers(asker: Asker) -> Answers:
    """Mission formats in every way, failures in the ways that differ in how they put texts together."""
    asked = [(case, way) for case in MISSION for way in WAYS]
    asked += [(case, way) for case in FAILURES for way in FAILURE_WAYS]
    got = asker.all(job(way, QUESTION, case.tools, case.format, case.text) for case, way in asked)
    return {(str(case), way): one for (case, way), (one,) in zip(asked, got, strict=True)}


def test_all_mission_formats_are_here() -> None:
    assert sorted(case.format for case in MISSION) == [
        *("call_text", "hermes", "json", "labeled", "qwen3_coder", "special_token")
    ]
    assert len(FAILURES) == 11


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", MISSION, ids=str)
def test_mission_formats(case: Case, way: str, answers: Answers) -> None:
    got = answers[str(case), way]
    if way == "messages":  # it gives the arguments as an object, not as text
        assert [(name, json.loads(text)) for name, text in got.calls] == [
            (name, json.loads(text)) for name, text in case.calls
        ]
    else:
        assert got.calls == case.calls
    assert (got.content or None) == case.content
    assert all(got.ids)
    assert len(set(got.ids)) == len(got.calls)
    if not way.startswith("responses"):
        assert got.finish == ("tool_use" if way.startswith("messages") else "tool_calls")


@pytest.mark.parametrize("way", FAILURE_WAYS)
@pytest.mark.parametrize("case", FAILURES, ids=str)
def test_known_failures(case: Case, way: str, answers: Answers) -> None:
    got = answers[str(case), way]
    assert (got.calls, got.content or None) == (case.calls, case.content)


@pytest.mark.parametrize("name", ["hermes-H17", "qwen3_coder-X5"])
def test_a_call_that_was_cut_is_not_called_finished(name: str, answers: Answers) -> None:
    assert answers[name, "chat-stream"].finish == "stop"


def test_the_arguments_stream(answers: Answers) -> None:
    """A call is not sent in one piece, and its name comes with its first piece."""
    deltas = answers["hermes-mission", "chat-stream"].deltas
    pieces = [call for delta in deltas for call in delta.get("tool_calls") or []]
    assert len(pieces) > 5
    assert pieces[0]["function"]["name"] == "add"
    assert not any(piece["function"].get("name") for piece in pieces[1:])


def test_cut_by_the_token_limit(asker: Asker) -> None:
    """Sixty tokens reach the arguments and not their end, however the text is cut into tokens."""
    letters = ", ".join("qxzjvkqwyz" * 20)
    whole = f'{{"path": "a", "content": "{letters}"}}'
    text = block(f'{{"name": "write_file", "arguments": {whole}}}')
    for (answer,) in asker.all(
        job(way, QUESTION, TOOLS, "hermes", text, max_tokens=60) for way in ("chat", "chat-stream")
    ):
        ((name, arguments),) = answer.calls
        assert name == "write_file"
        assert arguments.startswith("{")
        assert whole.startswith(arguments)
        assert arguments != whole
        assert answer.finish == "length"


def test_several_choices(asker: Asker) -> None:
    text = f"Sure.\n{ADD_ONE_TWO}"
    for got in asker.all(
        job(way, QUESTION, TOOLS, "hermes", text, n=2) for way in ("chat", "chat-stream")
    ):
        assert [(a.calls, a.content) for a in got] == [([("add", ONE_TWO)], "Sure.")] * 2
        assert len({a.ids[0] for a in got}) == 2
