"""A text is read in one go where nothing can come of it, and piece by piece where something may."""

from __future__ import annotations

from toolwire import CallStart, Content
from toolwire.formats.parser import Parser
from toolwire.view.due import Due

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


def pieces(text: str) -> list[str]:
    """The text as it is cut for a parser that gives just the events that are due."""
    due, parser = Due(), Parser("hermes")
    due.come(Parser("hermes").feed(text))
    found, place = [], 0
    while place < len(text):
        end = due.piece(text, place, len(text))
        found.append(text[place:end])
        due.came(parser.feed(text[place:end]))
        place = end
    return found


def test_what_gives_nothing_is_read_in_one_go() -> None:
    opener, name, *between, arguments, end, closer = pieces(CALL)
    assert (opener, name) == ('<tool_call>\n{"name": "', "get_weather")
    assert between == ['"', ",", " ", '"', "arguments", '"', ":", " ", "{"]
    assert (arguments, end, closer) == ('"city": "Oslo"}', "}", "\n</tool_call>")


def test_prose_that_is_passed_on_is_one_piece() -> None:
    assert pieces(f"Let me look: {CALL}")[:2] == ["Let me look:", ' <tool_call>\n{"name": "']


def test_a_name_in_another_spelling_is_not_looked_for_twice() -> None:
    due = Due()
    due.come([CallStart(0, "add", "id")])
    text = '{"name": "\\u0061dd"} add'
    assert due.piece(text, 0, 12) == 1  # it is not there
    assert due.piece(text, 1, len(text)) == 2  # and what comes later may be another one


def test_events_that_were_not_expected_do_no_harm() -> None:
    due = Due()
    due.come([Content("one")])
    due.came([CallStart(0, "add", "id"), Content("two")])
    assert due.piece("three", 0, 5) == 5
