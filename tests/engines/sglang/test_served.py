"""Every style with every way of calling, and every format, through a real server: what clients of three
APIs get is what `toolwire.parse` reads."""

from __future__ import annotations

from typing import Any

import pytest
from engine_client import MODEL
from engine_server import EngineServer
from served_cases import FORMATS, REQUIRED, THOUGHTS, TOOLLESS, Row
from sglang_asking import use
from shared_served import Answers, Served, check, choice_for

#: A server has one closer behind which its grammar begins, and this one's is `</think>`.
HELD = {pair: row for pair, row in REQUIRED.items() if "</think>" in row.text}


class Asking(Served):
    def request(self, row: Row, way: str) -> dict[str, Any]:
        request: dict[str, Any] = {"model": MODEL, "temperature": 0, **choice_for(row, way)}
        if row.tools:
            name = f"{row.format}--{row.style}" if row.style else row.format
            request["tools"] = [*row.tools, use(name)]
        if way.startswith("messages"):
            return request if row.inside else {**request, "thinking": {"type": "disabled"}}
        thinking = {"chat_template_kwargs": {"enable_thinking": row.inside}}
        return {**request, "extra_body": thinking}

    def messages(self, row: Row) -> list[dict[str, str]]:
        return [{"role": "user", "content": row.text}]


@pytest.fixture(scope="session")
def answers(switching_server: EngineServer) -> Answers:
    rows = [row for table in (THOUGHTS, FORMATS) for rows in table.values() for row in rows]
    return Asking().ask(switching_server.url, [*rows, *HELD.values(), *TOOLLESS])


@pytest.mark.parametrize("pair", THOUGHTS)
def test_thoughts(pair: str, answers: Answers) -> None:
    check(THOUGHTS[pair], answers)


@pytest.mark.parametrize("pair", HELD)
def test_forced_calls_behind_thoughts(pair: str, answers: Answers) -> None:
    check([HELD[pair]], answers)


def test_requests_without_tools(answers: Answers) -> None:
    check(TOOLLESS, answers)


@pytest.mark.parametrize("format", FORMATS)
def test_formats(format: str, answers: Answers) -> None:
    check(FORMATS[format], answers)
