"""Scripted outputs through a real server: what clients of three APIs end up with.

All requests are sent side by side by one fixture, since the server is quickest with many at a time;
the tests then look at the answers one by one.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from engine_cases import ADD_ONE_TWO, CASES, ONE_TWO, TOOLS, Case, block
from engine_client import Answer, Asker, chat_in_stages
from gated_output import GatedOutput
from sglang_asking import WAYS, job, request_for
from token_gate import Gate

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


#: A long argument: sixty tokens reach into it and not to its end, however it is cut into tokens.
WHOLE = json.dumps({"path": "a", "content": ", ".join("qxzjvkqwyz" * 10)})
LONG = block(f'{{"name": "write_file", "arguments": {WHOLE}}}')


def test_the_arguments_stream(asker: Asker, tmp_path: Path) -> None:
    """A call is not sent in one piece: however few tokens the model writes, some of them come, and the
    name with the first of them."""
    stages = [60, *[2] * 8]
    with Gate(tmp_path / "gate") as gate:
        gated = {
            "custom_logit_processor": GatedOutput.to_str(),
            "custom_params": {"gate": gate.path},
        }
        request = request_for("chat-stream", TOOLS, "hermes", LONG, extra_body=gated)
        ((answer, looks),) = asker.all(
            [lambda client: chat_in_stages(client, QUESTION, gate, stages, **request)]
        )
    assert (answer.calls, answer.content) == ([("write_file", WHOLE)], None)
    assert len(looks) == len(stages)
    for look in looks:
        ((name, arguments),) = look.calls
        assert name == "write_file"
        assert WHOLE.startswith(arguments)
        assert arguments != WHOLE
    pieces = [call for delta in answer.deltas for call in delta.get("tool_calls") or []]
    assert not any(piece["function"].get("name") for piece in pieces[1:])


def test_cut_by_the_token_limit(asker: Asker) -> None:
    for (answer,) in asker.all(
        job(way, QUESTION, TOOLS, "hermes", LONG, max_tokens=60) for way in ("chat", "chat-stream")
    ):
        ((name, arguments),) = answer.calls
        assert name == "write_file"
        assert arguments.startswith("{")
        assert WHOLE.startswith(arguments)
        assert arguments != WHOLE
        assert answer.finish == "length"


def test_several_choices(asker: Asker) -> None:
    text = f"Sure.\n{ADD_ONE_TWO}"
    for got in asker.all(
        job(way, QUESTION, TOOLS, "hermes", text, n=2) for way in ("chat", "chat-stream")
    ):
        assert [(a.calls, a.content) for a in got] == [([("add", ONE_TWO)], "Sure.")] * 2
        assert len({a.ids[0] for a in got}) == 2
