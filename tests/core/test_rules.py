"""The design's rules, as properties of every registered format.

Each test is named after the rule it holds. A format whose calls nobody has written by hand, neither as
a writer in `writers.py` nor as cases, fails `test_every_format_is_tested`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toolwire import Arguments, CallEnd, CallStart, Parser, get_format, list_formats
from toolwire.schema.kinds import json_type

from ..by_shape import JSON_ARGUMENTS
from ..corpus_cases import CASES
from ..support import cut_at, events_of, summary, whole_summary
from ..writers import BY_HAND, WRITERS
from .generate import (
    Conversation,
    broken,
    calls_for,
    conversations,
    delimiters,
    soup,
    tools_for,
)

every_format = pytest.mark.parametrize("format", list_formats())


def test_every_format_is_tested() -> None:
    with_cases = {case.format for case in CASES if case.calls}
    assert set(BY_HAND) | with_cases >= set(WRITERS) == set(list_formats())


def places(draw: st.DataObject, text: str) -> list[str]:
    """A random way to cut `text`."""
    return cut_at(text, draw.draw(st.lists(st.integers(0, len(text)), max_size=8), "cuts"))


@every_format
@given(data=st.data())
def test_calls_and_content_come_back_for_every_split(format: str, data: Any) -> None:
    """Rules 1, 2, 4, 6, 7 and 10: what was written is what is read, however it is cut."""
    conversation: Conversation = data.draw(conversations(format))
    text = conversation.text
    tools = tools_for(list(conversation.calls))
    whole = events_of(format, [text], tools)
    content, calls = summary(whole)
    assert [(n, json.loads(a), c) for n, a, c in calls] == [
        (n, a, True) for n, a in conversation.calls
    ]
    assert content == conversation.content
    if format in JSON_ARGUMENTS:
        assert [a for _, a, _ in calls] == [
            json.dumps(a, ensure_ascii=False) for _, a in conversation.calls
        ]
    assert events_of(format, list(text), tools) == whole
    assert events_of(format, places(data, text), tools) == whole


@every_format
@given(data=st.data())
def test_several_calls_at_once(format: str, data: Any) -> None:
    """Rule 5 in its plain form: each call of a group is a call, and nothing else is left."""
    calls = data.draw(calls_for(format, min_size=2))
    text = WRITERS[format](calls)
    whole = events_of(format, [text], tools_for(calls))
    content, found = summary(whole)
    assert content is None
    assert [(n, json.loads(a), c) for n, a, c in found] == [(n, a, True) for n, a in calls]
    assert events_of(format, places(data, text), tools_for(calls)) == whole


@every_format
@given(data=st.data())
def test_broken_delimiters_lose_nothing(format: str, data: Any) -> None:
    """Rules 1, 2, 5: whatever happens to the delimiters, every word is somewhere."""
    text, words, calls = data.draw(broken(format))
    whole = events_of(format, [text], tools_for(calls))
    said = "".join(getattr(e, "text", "") + getattr(e, "name", "") for e in whole)
    assert [w for w in words if w not in said] == []
    assert events_of(format, list(text), tools_for(calls)) == whole
    assert events_of(format, places(data, text), tools_for(calls)) == whole


@every_format
@given(data=st.data())
def test_any_text_reads_the_same_however_it_is_cut(format: str, data: Any) -> None:
    """Rules 1 and 2 over delimiters in any order: never an exception, and no call means verbatim."""
    text = data.draw(soup(format))
    tools = data.draw(st.sampled_from([None, tools_for([("f", {"k": "v"}), ("g", {"k": 1})])]))
    whole = events_of(format, [text], tools)
    check_shape(whole)
    if not any(isinstance(e, CallStart) for e in whole) and not get_format(format).channels:
        assert summary(whole)[0] == (text or None)  # (Headers are markup, with a call or without.)
    for said in whole_summary(whole)[:2]:
        assert is_part_of(said or "", text)
    assert events_of(format, list(text), tools) == whole
    assert events_of(format, places(data, text), tools) == whole


def check_shape(events: list[Any]) -> None:
    """A call is a start, arguments, an end; indices count up; nothing in between."""
    open_call: int | None = None
    calls = 0
    for event in events:
        if isinstance(event, CallStart):
            assert open_call is None
            assert event.index == calls
            assert event.name
            open_call, calls = calls, calls + 1
        elif isinstance(event, Arguments):
            assert event.index == open_call
            assert event.text
        elif isinstance(event, CallEnd):
            assert event.index == open_call
            open_call = None
        else:
            assert open_call is None
            assert event.text
    assert open_call is None


def longest_delimiter(format: str) -> int:
    spec = get_format(format)
    # Where a part ends, that may be a value's closer and the part's end, of which half is there.
    least = 40 if spec.channels else 20
    return max([least, *map(len, delimiters(spec))])


def is_part_of(part: str, text: str) -> bool:
    """Whether `part` is `text` with some characters left out."""
    rest = iter(text)
    return all(c in rest for c in part)


@every_format
def test_unfinished_stays_unfinished(format: str) -> None:
    """Rule 8: cut anywhere, arguments are the beginning of what they would have been."""
    calls = [("write_file", {"path": "a/b.txt", "content": 'one "two"\nthree'})]
    text = WRITERS[format](calls)
    full = summary(events_of(format, [text], tools_for(calls)))[1][0][1]
    for i in range(len(text)):
        for _, arguments, complete in summary(events_of(format, [text[:i]], tools_for(calls)))[1]:
            if complete:
                assert json.loads(arguments)
                assert format not in JSON_ARGUMENTS or arguments == full
            else:
                # A delimiter that is cut in half, inside a value, is text.
                assert full.startswith(arguments[: -longest_delimiter(format)])
                assert json_type(arguments) is None


@every_format
def test_a_call_that_is_cut_leaves_no_text(format: str) -> None:
    """Rule 8: wherever the message ends in a call, what has come of its markup is no content."""
    arguments = {"path": "a", "content": "b\nc"}
    text = WRITERS[format]([("write_file", arguments)])
    for end in range(1, len(text) + 1):
        reasoning, content, calls = whole_summary(events_of(format, [text[:end]]))
        assert reasoning is None
        assert [name for name, _, _ in calls] in ([], ["write_file"])
        assert not (calls and content), text[:end]


@every_format
def test_early_and_fine_grained(format: str) -> None:
    """Rule 3: a string streams as it comes; at most a delimiter's length is held back."""
    value = "word " * 40 + "end"
    calls = [("write_file", {"content": value})]
    text = WRITERS[format](calls)
    parser = Parser(format, tools_for(calls))
    start = text.index(value)
    longest = longest_delimiter(format)
    named = None
    written = ""
    for i, character in enumerate(text):
        for event in parser.feed(character):
            if isinstance(event, CallStart):
                named = i
            elif isinstance(event, Arguments):
                written += event.text
        if start + 2 < i < start + len(value):
            assert named is not None
            assert len(written) >= i - start - longest
    assert named is not None
    assert named <= start + 2


@every_format
@settings(max_examples=10)
@given(text=st.text(max_size=40))
def test_prose_is_verbatim(format: str, text: str) -> None:
    """Rules 2 and 7: text without a call is passed on, every character of it."""
    prose = text.replace("(", "").replace("{", "").replace("[", "").replace("<", "")
    assert summary(events_of(format, list(prose)))[0] == (prose or None)
