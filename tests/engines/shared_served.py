"""Asks a real server all of a table (`served_cases`), in every way there is, and reads the answers.

A base for the tests of both engines: each says how its server is asked.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any
from zlib import crc32

from engine_client import Answer, Asker
from messages_client import ALL_WAYS
from served_cases import Row

QUESTION = [{"role": "user", "content": "Go."}]
Answers = Mapping[tuple[str, str], Answer]
Job = Callable[[Any], Awaitable[list[Answer]]]


def ways_of(row: Row) -> tuple[str, ...]:
    """A row is asked in one way; which, differs from row to row, so that all styles and formats together
    have all of them. With TOOLWIRE_EVERY_WAY=1, each has."""
    if os.environ.get("TOOLWIRE_EVERY_WAY") == "1":
        return row.ways
    return (row.ways[crc32(str(row).encode()) % len(row.ways)],)


class Served(ABC):
    """The tests of a table: `answers` asks all of it side by side, the tests look at them."""

    @abstractmethod
    def request(self, row: Row, way: str) -> dict[str, Any]:
        """All of a request but its messages."""

    def job(self, row: Row, way: str) -> Job:
        request = self.request(row, way)
        return lambda client: ALL_WAYS[way](client, self.messages(row), **request)

    def messages(self, row: Row) -> list[dict[str, str]]:
        return QUESTION

    def ask(self, url: str, rows: list[Row]) -> Answers:
        jobs = {(str(row), way): self.job(row, way) for row in rows for way in ways_of(row)}
        got = Asker(url).all(jobs.values())
        return {key: answer for key, (answer,) in zip(jobs, got, strict=True)}


def choice_for(row: Row, way: str) -> dict[str, Any]:
    """The tool choice, as each API spells it."""
    if row.choice == "none":
        return {}
    if way.startswith("messages"):
        return {"tool_choice": {"type": "any" if row.choice == "required" else "auto"}}
    return {"tool_choice": row.choice}


def told(answer: Answer) -> Any:
    """What a client has, whichever way it asked: where arguments come as an object, their bytes are
    nobody's."""
    return answer.reasoning or "", answer.content or "", [(n, loaded(a)) for n, a in answer.calls]


def loaded(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def wanted(row: Row) -> Any:
    message = row.expected
    calls = [(call.name, loaded(call.arguments)) for call in message.tool_calls]
    return message.reasoning or "", message.content or "", calls


def check(rows: Iterable[Row], answers: Answers) -> None:
    """All of a client's answers at once, so that what fails is seen together."""
    asked = [(row, way) for row in rows for way in ways_of(row)]
    got = {f"{row}, {way}": told(answers[str(row), way]) for row, way in asked}
    assert got == {f"{row}, {way}": wanted(row) for row, way in asked}
