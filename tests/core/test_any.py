"""`any`: every marked format is read as by itself, whatever else the message has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import (
    CallStart,
    Content,
    Parser,
    ToolwireError,
    constrain,
    get_format,
    list_formats,
    register_format,
    write,
)
from toolwire.core.any_run import AnyReader
from toolwire.formats.any_format import STYLE, AnyCalls
from toolwire.formats.registry import names_read

from ..corpus_cases import CASES, Case
from ..support import (
    check_all_splits,
    cut_at,
    events_of,
    filled,
    printed_by,
    summary,
    whole_summary,
)
from ..test_adversarial import COMMON, steps
from ..writers import WRITERS
from .generate import Conversation, calls_for, conversations, delimiters, prose, soup, tools_for
from .second_list import (
    KNOWN,
    NO_CALLS,
    OTHER_JSON,
    OTHER_SUM,
    SUM,
    SUM_JSON,
    marked_list,
    marked_lists,
)
from .test_fast_paths import check as check_fast_paths
from .test_rules import check_shape, is_part_of
from .thinking import closers, openers

#: What a model writes without a marker.
BARE = {"call_text", "json", "llama3_json", "pythonic", "xlam"}
READ = sorted(names_read(get_format("any")))
each_format = pytest.mark.parametrize("format", READ)
some_format = st.sampled_from(READ)
#: In the others a message is a row of parts, from the first header on to its end.
PLAIN = [format for format in READ if not get_format(format).channels]
FEW_TOOLS = tools_for([("f", {"k": "v"}), ("g", {"k": 1})])


def chunks(data: st.DataObject, text: str) -> list[str]:
    return cut_at(text, data.draw(st.lists(st.integers(0, len(text)), max_size=8), "cuts"))


def test_it_reads_every_format_that_has_a_marker() -> None:
    assert set(list_formats()) - set(READ) == BARE


def messages(format: str) -> st.SearchStrategy[Conversation]:
    """Where a header begins with its recipient, it is known as one only where the message begins."""
    found = conversations(format)
    return found if format in PLAIN else found.filter(lambda c: c.pieces[0][0] == "call")


# -- one format -----------------------------------------------------------------------------------


@each_format
@given(data=st.data())
def test_a_message_is_read_as_in_its_own_format(format: str, data: st.DataObject) -> None:
    conversation = data.draw(messages(format))
    text, tools = conversation.text, tools_for(list(conversation.calls))
    own = events_of(format, [text], tools)
    assert events_of("any", [text], tools) == own
    assert events_of("any", list(text), tools) == own
    assert events_of("any", chunks(data, text), tools) == own


@each_format
@given(data=st.data())
def test_so_are_several_calls_at_once(format: str, data: st.DataObject) -> None:
    calls = data.draw(calls_for(format, min_size=2))
    text, tools = WRITERS[format](calls), tools_for(calls)
    own = events_of(format, [text], tools)
    assert [name for name, _, _ in summary(own)[1]] == [name for name, _ in calls]
    assert events_of("any", [text], tools) == own
    assert events_of("any", list(text), tools) == own


def first_call(format: str, text: str, tools: Any) -> int:
    """After how many characters the first call is certain."""
    parser = Parser(format, tools)
    for place, character in enumerate(text):
        if any(isinstance(event, CallStart) for event in parser.feed(character)):
            return place
    return len(text)


@each_format
@given(data=st.data())
def test_a_call_is_no_later(format: str, data: st.DataObject) -> None:
    calls = data.draw(calls_for(format))
    text, tools = WRITERS[format](calls), tools_for(calls)
    assert first_call("any", text, tools) == first_call(format, text, tools)


@each_format
def test_calls_to_tools_that_nobody_declared_are_text(format: str) -> None:
    text = WRITERS[format]([("unknown", {"k": "v"}), ("unknown", {})])
    for pieces in ([text], list(text)):
        content, calls = summary(events_of("any", pieces, FEW_TOOLS))
        assert calls == []
        assert content == text or (format not in PLAIN and is_part_of(content or "", text))
        assert len(summary(events_of("any", pieces, None))[1]) == 2


@each_format
def test_beside_them_others_count(format: str) -> None:
    calls = [("unknown", {"k": "v"}), ("f", {"k": "v"}), ("unknown", {})]
    text = "\n".join(WRITERS[format]([call]) for call in calls)
    whole = events_of("any", [text], FEW_TOOLS)
    assert [name for name, _, _ in summary(whole)[1]] == ["f"]
    said = summary(whole)[0] or ""
    channels = get_format(format).channels
    in_header = channels is not None and channels.name_in_header  # which is markup
    assert ("unknown" in said) == (not in_header)
    assert "v" in said
    assert events_of("any", list(text), FEW_TOOLS) == whole


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("harmony", 'to=functions.f<|channel|>commentary<|message|>{"k": "v"}<|call|>'),
        ("muse_glimmer", ' to=f<|message|><atem:invoke name="f"></atem:invoke><|eot|>'),
        ("inkling", 'f<|content_invoke_tool_json|>{"name":"f","args":{"k":"v"}}<|end_message|>'),
        ("inkling", "f<|content_text|>Hello.<|end_message|>"),
        ("harmony", "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|message|>f"),
    ],
)
def test_the_prompt_may_have_begun_the_first_header(format: str, text: str) -> None:
    own = events_of(format, [text], FEW_TOOLS)
    for pieces in ([text], list(text)):
        assert events_of("any", pieces, FEW_TOOLS) == own


@pytest.mark.parametrize("text", ["f it is", "to=f it is", "g", "to=", " f <|END|>", "functools"])
def test_a_word_that_could_begin_a_header_is_text(text: str) -> None:
    for pieces in ([text], list(text)):
        assert events_of("any", pieces, FEW_TOOLS) == [Content(text)]


@pytest.mark.parametrize("format", [format for format in marked_lists() if format in READ])
@pytest.mark.parametrize("member", NO_CALLS)
def test_a_member_that_is_no_call_takes_nobody_with_it(format: str, member: str) -> None:
    text, _ = marked_list(format, member, SUM_JSON, "7", OTHER_JSON)
    whole = events_of("any", [text], KNOWN)
    assert events_of("any", list(text), KNOWN) == whole
    content, calls = summary(whole)
    assert calls == [SUM, OTHER_SUM]
    assert member in (content or "")
    assert "7" in (content or "")


@pytest.mark.parametrize("format", [format for format in marked_lists() if format in READ])
def test_so_it_is_however_it_is_cut(format: str) -> None:
    text, _ = marked_list(format, "1", SUM_JSON, "[{bad}]", OTHER_JSON)
    assert summary(check_all_splits("any", text, KNOWN, pairs_under=0))[1] == [SUM, OTHER_SUM]


# -- several formats ------------------------------------------------------------------------------


@given(data=st.data())
def test_formats_may_be_mixed(data: st.DataObject) -> None:
    pieces, every = [], []
    for number in range(data.draw(st.integers(2, 4))):
        format = data.draw(st.sampled_from(PLAIN))
        ((_, arguments),) = data.draw(calls_for(format).map(lambda calls: calls[:1]))
        every.append((f"tool{number}", arguments))
        pieces.append(("prose", data.draw(prose(before_call=True)) + "then\n"))
        pieces.append(("call", WRITERS[format](every[-1:]).strip("\n")))
    conversation = Conversation(tuple(pieces), tuple(every))
    text, tools = conversation.text, tools_for(every)
    whole = events_of("any", [text], tools)
    content, calls = summary(whole)
    assert [name for name, _, _ in calls] == [name for name, _ in every]
    assert content == conversation.content
    assert events_of("any", list(text), tools) == whole
    assert events_of("any", chunks(data, text), tools) == whole


@given(data=st.data())
def test_openers_in_prose_are_prose(data: st.DataObject) -> None:
    """Also openers of other formats, before and behind a call."""
    every = delimiters_of_all()
    format = data.draw(st.sampled_from(PLAIN))
    calls = data.draw(calls_for(format).map(lambda calls: calls[:1]))
    before, after = (data.draw(st.sampled_from(every)) for _ in range(2))
    text = f"Use {before}, as in:\n{WRITERS[format](calls)}\nand not: {after}, see?"
    whole = events_of("any", [text], tools_for(calls))
    content, found = summary(whole)
    assert [name for name, _, _ in found] == [name for name, _ in calls]
    assert (content or "").startswith(f"Use {before}, as in:")
    assert events_of("any", chunks(data, text), tools_for(calls)) == whole


def delimiters_of_all() -> list[str]:
    """Of formats that mark calls and nothing else: headers of parts are never text."""
    specs = [get_format(format) for format in READ]
    found = [mark for spec in specs if not spec.channels for mark in delimiters(spec)]
    return sorted(dict.fromkeys(mark for mark in found if mark.strip()))


@given(data=st.data())
def test_any_text_reads_the_same_however_it_is_cut(data: st.DataObject) -> None:
    """Delimiters of all formats in any order: nothing is lost, and no call means verbatim."""
    formats = data.draw(st.lists(some_format, min_size=2, max_size=4))
    text = "".join(data.draw(soup(format)) for format in formats)
    tools = data.draw(st.sampled_from([None, FEW_TOOLS]))
    whole = events_of("any", [text], tools)
    check_shape(whole)
    channels = any(get_format(format).channels for format in formats)
    if not any(isinstance(event, CallStart) for event in whole) and not channels:
        assert summary(whole)[0] == (text or None)
    for said in whole_summary(whole)[:2]:
        assert is_part_of(said or "", text)
    assert events_of("any", list(text), tools) == whole
    assert events_of("any", chunks(data, text), tools) == whole


@given(data=st.data())
def test_fast_paths_change_nothing(data: st.DataObject) -> None:
    formats = data.draw(st.lists(some_format, min_size=1, max_size=3))
    parts = [data.draw(st.one_of(soup(f), conversations(f).map(lambda c: c.text))) for f in formats]
    style = data.draw(st.sampled_from([None, STYLE]))
    check_fast_paths("any", "\n".join(parts), FEW_TOOLS, data, style)


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.format in READ and not get_format(c.format).bare], ids=str
)
def test_the_corpus_is_read_as_by_each_format(case: Case) -> None:
    declared = {tool["function"]["name"] for tool in case.tools}
    if {name for name, _, _ in case.calls} <= declared:
        whole = events_of("any", [case.text], case.tools)
        assert summary(whole) == (case.content, list(case.calls))
        assert events_of("any", list(case.text), case.tools) == whole


# -- what is documented ---------------------------------------------------------------------------

RULES = Path(__file__).parents[2] / "docs" / "rules.md"


def shared_openers() -> list[str]:
    """Rows of a table: openers that several formats have, and these in the order in which they are
    tried. Of several openers, the one that the first format writes."""
    reader = get_format("any").reading
    assert isinstance(reader, AnyReader)
    rows: dict[tuple[str, ...], list[str]] = {}
    for spelling in sorted(reader.starts.spellings):
        opener = filled(spelling, "x")
        formats = tuple(c.format.name for c in reader.candidates(opener, True))
        if len(formats) > 1:
            rows.setdefault(formats, []).append(spelling)
    return [row(written_by(formats[0], openers), formats) for formats, openers in rows.items()]


def written_by(format: str, openers: list[str]) -> str:
    spec = get_format(format)
    firsts = [*[wrapper.open[0] for wrapper in spec.wrappers], *spec.shape.heads]
    return next((first for first in firsts if first in openers), openers[0])


def row(opener: str, formats: tuple[str, ...]) -> str:
    escaped = opener.replace("|", "\\|")
    return f"| `{escaped}` | {', '.join(formats)} |"


def taken_for_others() -> list[str]:
    """Rows of a table: formats that are read in the same way as another one, which stands for them."""
    spec = get_format("any")
    assert isinstance(spec.shape, AnyCalls)
    names = {format.name for format in spec.shape.formats}
    rows: dict[str, list[str]] = {}
    for format in PLAIN:
        if format not in names:
            own = get_format(format)
            same = next(
                f.name
                for f in spec.shape.formats
                if (f.shape, f.wrappers) == (own.shape, own.wrappers)
            )
            rows.setdefault(same, []).append(format)
    return [f"| {name} | {', '.join(others)} |" for name, others in sorted(rows.items())]


def test_the_rules_say_who_is_preferred() -> None:
    page = RULES.read_text(encoding="utf-8")
    for row in [*shared_openers(), *taken_for_others()]:
        assert row in page, row


# -- thoughts -------------------------------------------------------------------------------------

STYLES = [style.name for style in STYLE.choices]
_TEXT = get_format("any").text_wrapper
#: What is never text, whatever the style is.
AROUND_TEXT = {*_TEXT.open, *_TEXT.close} if _TEXT else set()


@pytest.mark.parametrize("name", STYLES)
@given(data=st.data())
def test_the_first_marker_says_how_thoughts_are_marked(name: str, data: st.DataObject) -> None:
    """What other styles would be markers of is text, inside of thoughts and behind them."""
    style = next(style for style in STYLE.choices if style.name == name)
    format = data.draw(st.sampled_from(PLAIN))
    calls = data.draw(calls_for(format).map(lambda calls: calls[:1]))
    begin, end = openers(style)[-1], closers(style)[-1]
    others = [other for other in STYLE.choices if not set(other.markers) & set(style.markers)]
    markers = [m for other in others for m in (*openers(other), *closers(other))]
    mentioned = data.draw(st.sampled_from([m for m in markers if m not in AROUND_TEXT]))
    text = f"{begin}Hm, {mentioned} it is.{end}Yes, {mentioned}.\n{WRITERS[format](calls)}"
    whole = events_of("any", [text], tools_for(calls), True)
    reasoning, content, found = whole_summary(whole)
    assert reasoning == f"Hm, {mentioned} it is."
    assert content == f"Yes, {mentioned}."
    assert [call[0] for call in found] == [name for name, _ in calls]
    assert events_of("any", list(text), tools_for(calls), True) == whole


@pytest.mark.parametrize("name", STYLES)
def test_so_does_the_first_that_ends_them(name: str) -> None:
    style = next(style for style in STYLE.choices if style.name == name)
    for end in closers(style):
        text = f"Hm.{end}Yes."
        for pieces in ([text], list(text)):
            events = events_of("any", pieces, FEW_TOOLS, True, True)
            assert whole_summary(events)[:2] == ("Hm.", "Yes.")


@given(data=st.data())
def test_thoughts_are_the_same_however_they_are_cut(data: st.DataObject) -> None:
    markers = [*openers(STYLE), *closers(STYLE), "`", "```\n", "\n"]
    parts = data.draw(
        st.lists(
            st.one_of(
                st.sampled_from(markers),
                some_format.flatmap(soup),
                some_format.map(lambda f: WRITERS[f]([("f", {"k": "v"})])),
            ),
            max_size=6,
        )
    )
    text, inside = "".join(parts), data.draw(st.booleans())
    tools = data.draw(st.sampled_from([None, FEW_TOOLS]))
    whole = events_of("any", [text], tools, True, inside)
    check_shape(whole)
    for said in whole_summary(whole)[:2]:
        assert is_part_of(said or "", text)
    assert events_of("any", list(text), tools, True, inside) == whole
    assert events_of("any", chunks(data, text), tools, True, inside) == whole


# -- cost -----------------------------------------------------------------------------------------


def read(text: str, size: int, reasoning: Any) -> None:
    parser = Parser("any", FEW_TOOLS, reasoning)
    for i in range(0, len(text), size):
        parser.feed(text[i : i + size])
    parser.finish()


@given(data=st.data())
def test_what_comes_many_times_costs_no_more_each_time(data: st.DataObject) -> None:
    formats = data.draw(st.lists(some_format, min_size=1, max_size=2))
    reasoning = data.draw(st.sampled_from([None, True]))
    calls = [WRITERS[format]([("f", {"k": "a b"}), ("g", {"k": 1})]) for format in formats]
    text = "Yes.\n" + "\nand\n".join(calls) + "\nDone."
    marks = [mark for format in formats for mark in delimiters(get_format(format))]
    marks += [*openers(STYLE), *closers(STYLE)] if reasoning else []
    units = [*COMMON, *marks, *(mark[:-1] for mark in marks if len(mark) > 1), "f", *calls]
    place = data.draw(st.integers(0, len(text)))
    unit = "".join(data.draw(st.lists(st.sampled_from(units), min_size=1, max_size=4)))
    size = data.draw(st.sampled_from([1, 5, 100_000]))
    few, many = (text[:place] + unit * count + text[place:] for count in (50, 200))
    read(many, size, reasoning)  # what is made once is made now
    assert steps(read, many, size, reasoning) < 5 * steps(read, few, size, reasoning) + 2000


def test_openers_that_lead_nowhere_are_read_once_by_each_format() -> None:
    """One format goes on where others give up: it is not asked again at each opener behind."""
    unit = "<tool_call><tool_calls>"
    few, many = (unit * count + "x" for count in (100, 400))
    read(many, 100_000, None)
    assert steps(read, many, 100_000, None) < 5 * steps(read, few, 100_000, None)


# -- beside reading -------------------------------------------------------------------------------


def test_it_writes_nothing() -> None:
    with pytest.raises(ToolwireError, match="name the one to write"):
        write("any", [{"name": "f", "arguments": {}}])


def test_forced_calls_are_asked_for_in_json() -> None:
    found = constrain("any", FEW_TOOLS, "required")
    assert found.format == "json"
    assert found.tag is not None
    assert constrain("any", FEW_TOOLS, "auto").tag is None


def test_its_name_is_taken() -> None:
    assert "any" not in list_formats()
    assert "any" in list_formats(aliases=True)
    with pytest.raises(ToolwireError, match="already"):
        register_format(replace(get_format("hermes"), name="any", aliases=()))


OWN_FORMAT = """
import toolwire
text = '<my_call>{"name": "f", "arguments": {"k": "v"}}</my_call>'
print(len(toolwire.parse("any", text).tool_calls))
wrapper = toolwire.Wrapper(("<my_call>",), ("</my_call>",))
toolwire.register_format(toolwire.Format("mine", toolwire.JsonCalls(), wrappers=(wrapper,)))
print([call.name for call in toolwire.parse("any", text).tool_calls])
"""


def test_a_format_of_your_own_is_read_too() -> None:
    assert printed_by(OWN_FORMAT) == ["0", "['f']"]
