"""Thoughts, as properties of every format with every style that goes with it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import Parser, Reasoning, get_format

from ..support import NOARGS, cut_at, events_of, whole_summary
from ..writers import WRITERS
from .generate import broken, tools_for
from .test_rules import check_shape, is_part_of
from .thinking import (
    MARKED,
    PAIRS,
    Thinking,
    calls_end_thoughts,
    closers,
    messages,
    openers,
    pair_id,
    style_in,
    styles_of,
    thinking_soup,
)

every_format = pytest.mark.parametrize("format", MARKED)
every_pair = pytest.mark.parametrize(("format", "reasoning"), PAIRS, ids=pair_id)
CALLS = [("tool0", {"x": "v0", "y": "a b"}), ("tool1", {"x": "v1"})]
TOOLS = tools_for(CALLS)


def places(data: st.DataObject, text: str) -> list[str]:
    return cut_at(text, data.draw(st.lists(st.integers(0, len(text)), max_size=8), "cuts"))


def check_cuts(format: str, text: str, whole: Any, ask: Any, data: st.DataObject) -> None:
    assert events_of(format, list(text), *ask) == whole
    assert events_of(format, places(data, text), *ask) == whole


@every_format
@given(data=st.data())
def test_thoughts_content_and_calls_come_back(format: str, data: Any) -> None:
    """What was written is what is read, however it is cut; white space at an edge is markup."""
    reasoning = data.draw(styles_of(format), "style")
    message: Thinking = data.draw(messages(format, reasoning))
    ask = (message.tools, reasoning, message.in_reasoning)
    whole = events_of(format, [message.text], *ask)
    thoughts, content, calls = whole_summary(whole)
    assert thoughts == message.reasoning
    assert content == message.content
    assert len(calls) == sum(piece.kind == "call" for piece in message.pieces)
    check_cuts(format, message.text, whole, ask, data)


@every_format
@given(data=st.data())
def test_any_text_reads_the_same_however_it_is_cut(format: str, data: Any) -> None:
    reasoning = data.draw(styles_of(format), "style")
    text = data.draw(thinking_soup(format, reasoning))
    tools = data.draw(st.sampled_from([None, tools_for([("f", {"k": "v"}), ("g", {"k": 1})])]))
    ask = (tools, reasoning, data.draw(st.booleans(), "in_reasoning"))
    whole = events_of(format, [text], *ask)
    check_shape(whole)
    thoughts, content, _ = whole_summary(whole)
    assert is_part_of(thoughts or "", text)
    assert is_part_of(content or "", text)
    check_cuts(format, text, whole, ask, data)


@every_format
@given(data=st.data())
def test_nothing_is_lost(format: str, data: Any) -> None:
    """Whatever happens to the delimiters, of calls and of thoughts: every word is somewhere."""
    reasoning = data.draw(styles_of(format), "style")
    text, words, calls = data.draw(broken(format))
    style = style_in(format, reasoning)
    for _ in range(data.draw(st.integers(1, 3), "markers")):
        marker = data.draw(st.sampled_from([*openers(style), *closers(style)]))
        edges = [0, *(i for i, c in enumerate(text) if c.isspace() or c in '<>"'), len(text)]
        place = data.draw(st.sampled_from(edges))
        text = text[:place] + marker + text[place:]
    ask = (tools_for(calls), reasoning, data.draw(st.booleans(), "in_reasoning"))
    whole = events_of(format, [text], *ask)
    said = "".join(getattr(e, "text", "") + getattr(e, "name", "") for e in whole)
    assert [word for word in words if word not in said] == []
    check_cuts(format, text, whole, ask, data)


def said_by_character(format: str, reasoning: Any, text: str) -> list[str]:
    """What has been said of the thoughts after each character."""
    parser = Parser(format, TOOLS, reasoning)
    said, after = "", []
    for character in text:
        said += "".join(e.text for e in parser.feed(character) if isinstance(e, Reasoning))
        after.append(said)
    return after


@every_pair
def test_thoughts_go_out_as_they_come(format: str, reasoning: Any) -> None:
    """At most a delimiter is held back, also where a call, or code, is only named."""
    spec, style = get_format(format), style_in(format, reasoning)
    named = [*spec.delimiters.opens.spellings, *spec.delimiters.closes.spellings]
    body = "Well, `this`, " + "".join(f"{mark}, then\n" for mark in named) + "and so on; enough."
    after = said_by_character(format, reasoning, openers(style)[0] + body + closers(style)[0])
    longest = max(20, *map(len, [*named, *openers(style), *closers(style)]), 0)
    start = len(openers(style)[0])
    for i in range(len(body)):
        assert body.startswith(after[start + i])
        assert len(after[start + i]) >= i - 2 * longest  # a marker, and what it may begin
    assert after[-1] == body


#: In the others, a call in thoughts is a call at once.
HELD = [
    (format, reasoning)
    for format, reasoning in PAIRS
    if not calls_end_thoughts(get_format(format), style_in(format, reasoning))
]


@pytest.mark.parametrize(("format", "reasoning"), HELD, ids=pair_id)
def test_only_calls_in_thoughts_are_held_and_only_until_more_comes(
    format: str, reasoning: Any
) -> None:
    style = style_in(format, reasoning)
    call = WRITERS[format](CALLS).strip()
    before, behind = "Hm.", "\nso, yes"
    text = f"{openers(style)[0]}{before}\n{call}{behind}"
    after = said_by_character(format, reasoning, text)
    assert after[len(openers(style)[0]) + len(before) - 1] == before
    assert after[-1] == f"{before}\n{call}{behind}"


@every_pair
def test_a_block_is_out_when_it_closes(format: str, reasoning: Any) -> None:
    style = style_in(format, reasoning)
    for body in ("Hm `code`", "a `", "b ```\nc", "d tool0(", "e\n{", "f ["):
        text = openers(style)[0] + body + closers(style)[0]
        assert said_by_character(format, reasoning, text)[-1] == body


@every_pair
def test_unclosed_thoughts_end_in_calls(format: str, reasoning: Any) -> None:
    """The calls are those of the same text without thoughts."""
    style = style_in(format, reasoning)
    calls = WRITERS[format](CALLS).strip()
    alone = whole_summary(events_of(format, [calls], TOOLS))
    for text, inside in ((f"{openers(style)[0]}Hm.\n{calls}", False), (f"Hm.\n{calls}\n", True)):
        read = whole_summary(events_of(format, [text], TOOLS, reasoning, inside))
        assert read == ("Hm.", *alone[1:])
    assert len(alone[2]) == len(CALLS)


def test_a_backtick_in_thoughts_hides_no_call() -> None:
    """In thoughts, a call counts if nothing follows it: code around it would."""
    call, said = '{"name": "noargs", "arguments": {}}', [("noargs", "{}", True)]
    for format in ("xlam", "json", "llama3_json"):
        for text in (f"Hm. `[{call}]", f"Hm. `{call}"):
            for pieces in ([text], list(text), ["Hm. `[", text[6:]] if "[" in text else [text]):
                found = whole_summary(events_of(format, pieces, [NOARGS], True, True))
                assert found == ("Hm. `", None, said)
        quoted = f"Hm. `{call}`"
        assert whole_summary(events_of(format, list(quoted), [NOARGS], True, True))[0] == quoted
