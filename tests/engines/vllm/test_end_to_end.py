"""Scripted outputs through a real server: what the official client ends up with.

All requests are sent side by side by one fixture, since the server is quickest with many at a time;
the tests then look at the answers one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from engine_cases import ADD_ONE_TWO, CASES, ONE_TWO, TOOLS, Case
from engine_client import WAYS, Answer, Asker, body, chat, chat_in_stages, chat_stream
from long_cases import LONG, X15, long_argument
from token_gate import Gate
from tokenizers import Tokenizer

QUESTION = [{"role": "user", "content": "Go."}]
ALL = [*CASES, *LONG]
WORDS = long_argument("words", f'"{"some words " * 40}"')


def ids(tokenizer: Tokenizer, text: str) -> list[int]:
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return found


@pytest.fixture(scope="session")
def answers(asker: Asker, tokenizer: Tokenizer) -> dict[tuple[str, str], Answer]:
    """The answer to every case, asked for in every way."""

    def job(case: Case, ask: Callable[..., Any]) -> Callable[..., Any]:
        request = body(case.tools, ids(tokenizer, case.text), format=case.format)
        return lambda client: ask(client, QUESTION, **request)

    answers: dict[tuple[str, str], Answer] = {}
    for cases in (CASES, LONG):  # megabytes would keep the server from sending the rest bit by bit
        jobs = {(str(case), way): job(case, WAYS[way]) for case in cases for way in WAYS}
        answers |= {key: got[0] for key, got in zip(jobs, asker.all(jobs.values()), strict=True)}
    return answers


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", ALL, ids=str)
def test_scripted(case: Case, way: str, answers: dict[tuple[str, str], Answer]) -> None:
    got = answers[str(case), way]
    assert got.calls == case.calls
    assert (got.content or None) == case.content
    assert all(got.ids)
    assert len(set(got.ids)) == len(got.calls)


@pytest.mark.parametrize("case", ALL, ids=str)
def test_finish_reason(case: Case, answers: dict[tuple[str, str], Answer]) -> None:
    for way in ("chat", "chat-stream"):
        assert answers[str(case), way].finish == ("tool_calls" if case.calls else "stop")


@pytest.mark.parametrize("case", [WORDS, X15], ids=str)
def test_the_arguments_stream(
    case: Case, asker: Asker, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """A call is not sent in one piece: however few tokens the model writes, some of them come, and the
    name with the first of them."""
    script = ids(tokenizer, case.text)
    begun = len(ids(tokenizer, case.text[: case.text.index("content") + 30]))
    stages = [begun, *[2] * 10]
    assert sum(stages) < len(script) - 2
    with Gate(tmp_path / "gate") as gate:
        request = body(case.tools, script, format=case.format, gate=gate.path)
        ((answer, looks),) = asker.all(
            [lambda client: chat_in_stages(client, QUESTION, gate, stages, **request)]
        )
    assert (answer.calls, answer.content) == (case.calls, case.content)
    assert all("content" not in delta for delta in answer.deltas if delta.get("tool_calls"))
    ((name, arguments),) = answer.calls
    assert len(looks) == len(stages)
    for look in looks:
        assert look.calls[0][0] == name
        assert arguments.startswith(look.calls[0][1])


def test_cut_by_the_token_limit(asker: Asker, tokenizer: Tokenizer) -> None:
    script = ids(tokenizer, ADD_ONE_TWO)
    length = len(ids(tokenizer, ADD_ONE_TWO[: ADD_ONE_TWO.index('"b"')]))
    request = body(TOOLS, script, max_tokens=length)
    whole, streamed = asker.all(
        [
            lambda client: chat(client, QUESTION, **request),
            lambda client: chat_stream(client, QUESTION, **request),
        ]
    )
    for (answer,) in (whole, streamed):
        ((name, arguments),) = answer.calls
        assert name == "add"
        assert arguments.startswith('{"a": 1,')
        assert ONE_TWO.startswith(arguments)
    assert streamed[0].finish == "length"


def test_several_choices(asker: Asker, tokenizer: Tokenizer) -> None:
    request = body(TOOLS, ids(tokenizer, f"Sure.\n{ADD_ONE_TWO}"), n=3, temperature=1)
    del request["temperature"]  # vLLM wants sampling for n > 1; the script decides all the same
    for answers in asker.all(
        [
            lambda client: chat(client, QUESTION, **request),
            lambda client: chat_stream(client, QUESTION, **request),
        ]
    ):
        assert [(a.calls, a.content) for a in answers] == [([("add", ONE_TWO)], "Sure.")] * 3
        assert len({a.ids[0] for a in answers}) == 3


def test_no_tool_choice(asker: Asker, tokenizer: Tokenizer) -> None:
    text = f"Look:\n{ADD_ONE_TWO}\n"
    request = body(TOOLS, ids(tokenizer, text), tool_choice="none")
    jobs = [(lambda client, ask=ask: ask(client, QUESTION, **request)) for ask in WAYS.values()]
    for (answer,) in asker.all(jobs):
        assert (answer.calls, answer.content) == ([], text)


def test_only_one_call(asker: Asker, tokenizer: Tokenizer) -> None:
    """`parallel_tool_calls: false` in `auto`: the first call counts, whatever the model writes."""
    text = "add(a=1, b=2)\nnoargs()"
    request = body(TOOLS, ids(tokenizer, text), parallel_tool_calls=False, format="call_text")
    jobs = [(lambda client, ask=ask: ask(client, QUESTION, **request)) for ask in WAYS.values()]
    for (answer,) in asker.all(jobs):
        assert answer.calls == [("add", ONE_TWO)]
