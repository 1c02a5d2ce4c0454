"""Calls that look like code, `NAME(k="v")`: those that are known, and those that a format reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..core.format import Format
from ..core.parser import EventParser
from ..core.samples import Call, Sample, Span
from ..events import Arguments, CallStart
from ..schema.tools import Tool
from .find_json import loaded

# A string without an end goes to the end of the text: nothing is looked for twice.
_QUOTED = re.compile(r""""(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[()]""", re.S)


def code_spans(samples: Sequence[Sample]) -> list[list[Span]] | None:
    """Where each call stands, from its name to the parenthesis that closes it."""
    spans: list[list[Span]] = []
    for sample in samples:
        here: list[Span] = []
        floor = 0
        for name, _ in sample.calls:
            opened = re.compile(rf"(?<!\w){re.escape(name)}\(").search(sample.text, floor)
            end = closing_parenthesis(sample.text, opened.end() - 1) if opened else 0
            if opened is None or not end:
                return None
            here.append(Span(opened.start(), end))
            floor = end
        spans.append(here)
    return spans if any(spans) else None


def closing_parenthesis(text: str, start: int) -> int:
    """Behind the parenthesis that closes the one at `start`; 0 where none does."""
    depth = 0
    for found in _QUOTED.finditer(text, start):
        if found[0] in "()":
            depth += 1 if found[0] == "(" else -1
            if not depth:
                return found.end()
    return 0


def calls_read(format: Format, text: str, tools: Mapping[str, Tool] | None) -> Iterator[Call]:
    """The calls that a format reads in a text, as far as their arguments are JSON."""
    definitions = [
        {"type": "function", "function": {"name": tool.name, "parameters": tool.schema}}
        for tool in (tools or {}).values()
    ]
    parser = EventParser(format, definitions or None)
    names: list[str] = []
    arguments: dict[int, list[str]] = {}
    for event in [*parser.feed(text), *parser.finish()]:
        if isinstance(event, CallStart):
            names.append(event.name)
        elif isinstance(event, Arguments):
            arguments.setdefault(event.index, []).append(event.text)
    for index, name in enumerate(names):
        value = loaded("".join(arguments.get(index, ())))
        if isinstance(value, dict):
            yield name, value
