"""A case: a text in a format, and what has to come out of it. And what many of them have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..support import INTEGER, STRING, tool

#: Invented for these cases: a parameter of each kind, and a tool without any.
TOOLS = [
    tool(
        "play",
        song=STRING,
        volume=INTEGER,
        loop={"type": "boolean"},
        queue={"type": "array"},
        at={"type": "object"},
    ),
    tool("stop"),
    tool("note", text=STRING, title=STRING),
]

#: Name, arguments, and whether the model finished them.
Call = tuple[str, str, bool]


@dataclass(frozen=True)
class Case:
    format: str
    name: str
    text: str
    calls: tuple[Call, ...]
    content: str | None
    tools: Any

    def __str__(self) -> str:
        return f"{self.format}-{self.name}"


def case(
    format: str, name: str, text: str, *calls: Call, content: str | None = None, tools: Any = TOOLS
) -> Case:
    return Case(format, name, text, calls, content, tools)


def prose(format: str, name: str, text: str) -> Case:
    """All of it is content."""
    return case(format, name, text, content=text)


def play(arguments: str) -> Call:
    return ("play", arguments, True)


def note(arguments: str) -> Call:
    return ("note", arguments, True)


def cut(name: str, arguments: str) -> Call:
    """A call that the model did not finish."""
    return (name, arguments, False)


STOP: Call = ("stop", "{}", True)
ODE = '{"song": "Ode", "volume": 7}'
CALL_PLAY = f'{{"name": "play", "arguments": {ODE}}}'
CALL_STOP = '{"name": "stop", "arguments": {}}'
TWO = f"{CALL_PLAY}, {CALL_STOP}"
