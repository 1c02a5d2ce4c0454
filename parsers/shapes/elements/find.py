"""Finds calls whose arguments are elements, where nothing is known of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from ...core.context import Context
from ...core.driver import Run
from ...core.format import Format
from ...core.samples import Call
from ...core.window import Window
from ...events import Arguments, CallEnd, CallStart, Event
from ...schema.tools import Tool
from . import Elements
from .infer import beginning, opening_tags, shape_of


def find(text: str, tools: Mapping[str, Tool] | None) -> Iterable[Call]:
    """The first call shows what the elements are; with that, all are read."""
    tags = [tag for tag in opening_tags(text) if tag.name]
    begins = (beginning(text, tag) for tag in tags if tools is None or tag.name in tools)
    first = next(filter(None, begins), None)
    if first is None:
        return
    spec = Format(name="found", shape=shape_of(Elements, first), bare=True)
    starts = [tag.span.start - len(first.marker) for tag in tags if tag.word == first.call.word]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield from _calls(_events(spec, text[start:end], tools))


def _events(spec: Format, text: str, tools: Mapping[str, Tool] | None) -> list[Event]:
    """All that is in a text. (A parser would read the tools anew.)"""
    window = Window()
    run = Run(Context(spec, tools, window))
    steps = run.main(False)
    next(steps)
    window.push(text)
    next(steps)
    window.finish()
    next(steps, None)
    return run.out.take_events()


def _calls(events: Iterable[Event]) -> Iterable[Call]:
    name = ""
    arguments: list[str] = []
    for event in events:
        if isinstance(event, CallStart):
            name, arguments = event.name, []
        elif isinstance(event, Arguments):
            arguments.append(event.text)
        elif isinstance(event, CallEnd) and event.complete:
            try:
                found = json.loads("".join(arguments))
            except (ValueError, RecursionError):
                continue
            if isinstance(found, dict):
                yield name, found
