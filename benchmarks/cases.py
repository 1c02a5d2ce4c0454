"""The corpus of the correctness benchmark: what models write, and the calls that are in it.

Two sources, both from the tests: the known failures of today's servers, written out by hand
(`engine_cases`), and a list of ordinary situations that every format's writer puts into its words.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from workloads import STRING, WRITERS, Step, tool

import engine_cases  # isort: skip  # workloads shows the way to it

INTEGER, NUMBER, BOOLEAN = ({"type": kind} for kind in ("integer", "number", "boolean"))
#: With all types said, also those further in: a format that writes none has values by them.
POINTS = {"type": "array", "items": {"type": "array", "items": NUMBER}}
WORDS = {"type": "array", "items": {"type": ["string", "null"]}}
STYLE = {
    "type": "object",
    "properties": {"a": {"type": "object", "properties": {"b": WORDS}}},
}
TOOLS = [
    tool("get_weather", city=STRING, unit=STRING),
    tool("noargs"),
    tool("write_file", path=STRING, content=STRING),
    tool("plot", points=POINTS, style=STYLE, grid=BOOLEAN),
    tool("count", big=INTEGER, share=NUMBER, below=INTEGER),
]

Call = tuple[str, dict[str, Any]]
Calls = list[tuple[str, Any]]


@dataclass(frozen=True)
class Case:
    name: str
    format: str
    text: str
    tools: list[dict[str, Any]]
    calls: Calls | None  # None: cut off, so only the sameness counts


OSLO: Call = ("get_weather", {"city": "Oslo", "unit": "C"})
FILE: Call = (
    "write_file",
    {"path": "a.py", "content": 'print("a\\tb")\nif a < b and b > 0:\n    f({})'},
)

SITUATIONS: dict[str, list[Call]] = {
    "one call": [OSLO],
    "no arguments": [("noargs", {})],
    "two calls": [OSLO, ("get_weather", {"city": "Rome", "unit": "F"})],
    "three tools": [OSLO, ("noargs", {}), ("write_file", {"path": "a.txt", "content": "hello"})],
    "other alphabets": [("get_weather", {"city": "東京 – Łódź 🦊", "unit": "°C"})],
    "a file": [FILE],
    "markup in a string": [
        ("write_file", {"path": "a.md", "content": "use <tool_call> and </tool_call> or <b>"})
    ],
    "an empty string": [("write_file", {"path": "empty", "content": ""})],
    "a long string": [
        ("write_file", {"path": "a", "content": "All work and no play. " * 20 + "."})
    ],
    "nested": [
        ("plot", {"points": [[1, 2], [3.5, -4]], "style": {"a": {"b": ["c", None]}}, "grid": True})
    ],
    "numbers": [("count", {"big": 9223372036854775807, "share": 0.5, "below": -1})],
}


def ordinary(format_name: str) -> Iterator[Case]:
    write = WRITERS[format_name]
    for name, calls in SITUATIONS.items():
        yield Case(name, format_name, write(calls), TOOLS, list(calls))
    one = write([OSLO])
    yield Case("text before", format_name, f"Let me see.\n{one}", TOOLS, [OSLO])
    yield Case("no call", format_name, "Oslo is cold, and 3 < 4. Is it? [1]", TOOLS, [])
    yield Case("cut off", format_name, one[: len(one) * 2 // 3], TOOLS, None)


def by_hand(format_name: str) -> Iterator[Case]:
    for case in engine_cases.CASES:
        if case.format == format_name:
            calls = [(name, loaded(arguments)) for name, arguments in case.calls]
            yield Case(case.name, format_name, case.text, case.tools, calls)


def corpus(format_name: str) -> list[Case]:
    return [*ordinary(format_name), *by_hand(format_name)]


def loaded(arguments: str) -> Any:
    """Arguments as a value, so that spaces do not matter; as they are where they are no JSON."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


def random_splits(steps: list[Step], count: int) -> Iterator[list[Step]]:
    """`count` ways to hand over the same tokens: from one at a time to nearly all at once."""
    chance = random.Random("".join(text for text, _ in steps))  # the same for the same text
    for _ in range(count):
        share = chance.random()
        groups: list[Step] = []
        for number, (text, ids) in enumerate(steps):
            if number and chance.random() < share:
                before, earlier = groups.pop()
                groups.append((before + text, earlier + ids))
            else:
                groups.append((text, ids))
        yield groups
