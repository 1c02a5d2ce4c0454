"""Where a grammar holds a model to its calls, a call begins with its name; all else is as ever."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
import toolwire
from hypothesis import given
from hypothesis import strategies as st
from toolwire import CallEnd, CallStart, Content, Event, get_format, list_formats
from toolwire.core.parser import EventParser

from ..by_shape import ELEMENTS, JSON_OBJECTS, TAGGED
from ..real_schemas import TOOLS, calls
from ..support import coalesce

DECLARED = list(TOOLS.values())
each_format = pytest.mark.parametrize("name", list_formats())
BETWEEN_TAGS = {*TAGGED, *ELEMENTS} - {"beam"}  # whose name stands in a part's header
ONE = [{"name": "read_file", "arguments": {"path": "a/b.txt"}}]


def steps(name: str, chunks: Iterable[str], constrained: bool) -> list[list[Event]]:
    """What is said with each chunk, and at the end."""
    parser = EventParser(get_format(name), DECLARED, constrained=constrained)
    return [*(parser.feed(chunk) for chunk in chunks), parser.finish()]


def begun(found: list[list[Event]]) -> list[int]:
    """With which chunk each call begins."""
    return [
        number
        for number, events in enumerate(found)
        for event in events
        if isinstance(event, CallStart)
    ]


def said(found: list[list[Event]]) -> list[Event]:
    return coalesce(event for events in found for event in events)


def names_come_first(name: str) -> bool:
    """But for formats with an id between name and arguments: a call begins with both."""
    id = get_format(name).written.id
    return id is None or id.place != "after_name"


@each_format
@given(some=calls())
def test_all_is_the_same_but_when_a_call_begins(name: str, some: list[dict[str, Any]]) -> None:
    try:
        text = toolwire.write(name, some, DECLARED)
    except toolwire.ToolwireError:
        return  # what can't be written is no example
    first, usual = steps(name, text, True), steps(name, text, False)
    assert said(first) == said(usual)
    assert all(soon <= late for soon, late in zip(begun(first), begun(usual), strict=True))
    if not names_come_first(name):
        assert first == usual


@each_format
def test_a_call_begins_as_soon_as_its_name_is_closed(name: str) -> None:
    """Nothing that could still belong to the name comes behind it."""
    text = toolwire.write(name, ONE, DECLARED)
    layout = get_format(name).written
    end = text.rindex("read_file", 0, text.index("a/b.txt")) + len("read_file")
    (place,) = begun(steps(name, text, True))
    (late,) = begun(steps(name, text, False))
    assert place <= late
    if name in BETWEEN_TAGS and names_come_first(name):
        assert place <= end + len(layout.name_end) + 2 < late
    if name in JSON_OBJECTS:
        assert place == end < late


@each_format
@given(some=calls(), part=st.floats(0, 1))
def test_a_message_that_is_cut_off(name: str, some: list[dict[str, Any]], part: float) -> None:
    """However it comes, it is the same, and every call that began ends."""
    try:
        text = toolwire.write(name, some, DECLARED)
    except toolwire.ToolwireError:
        return  # what can't be written is no example
    text = text[: int(len(text) * part)]
    events = said(steps(name, text, True))
    assert events == said(steps(name, [text], True))
    starts = [event.index for event in events if isinstance(event, CallStart)]
    assert starts == [event.index for event in events if isinstance(event, CallEnd)]


def test_half_a_call() -> None:
    cut = '<tool_call>\n{"name": "read_file", "argu'
    events = said(steps("hermes", cut, True))
    assert events == [CallStart(0, "read_file"), CallEnd(0, False)]
    assert said(steps("hermes", cut, False)) == [Content(cut)]


def test_a_name_that_nobody_declared_waits() -> None:
    text = '<tool_call>\n{"name": "nobody", "arguments": {}}\n</tool_call>'
    assert steps("hermes", text, True) == steps("hermes", text, False)


def test_thoughts_are_free() -> None:
    """A call in them may be a thought: nothing of it is said before that is known."""
    hermes = get_format("hermes")
    text = "Maybe " + toolwire.write("hermes", ONE, DECLARED) + " or not.</think>No."
    found = []
    for constrained in (True, False):
        parser = EventParser(hermes, DECLARED, hermes.reasoning, True, constrained=constrained)
        found.append([*(parser.feed(character) for character in text), parser.finish()])
    assert found[0] == found[1]
