"""What callers get wrong is one clear error; what models get wrong is none."""

from __future__ import annotations

from typing import Any

import pytest
import toolwire
from toolwire import (
    Format,
    Parser,
    ToolwireError,
    Wrapper,
    get_format,
    list_formats,
    register_format,
)
from toolwire.shapes import JsonCalls, NamedJson, Tag, Tags

from ..support import TOOLS, summary, tool
from ..writers import WRITERS
from .generate import delimiters

every_format = pytest.mark.parametrize("format", list_formats())


def test_an_unknown_format() -> None:
    with pytest.raises(ToolwireError, match=r"no format named 'hermess'. Did you mean 'hermes'"):
        Parser("hermess")
    with pytest.raises(ToolwireError, match="list_formats"):
        get_format("?")
    with pytest.raises(ToolwireError, match="name is a str, not int"):
        get_format(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tools", "sentence"),
    [
        ({}, r"tools must be a list .*, not dict"),
        ("add", "tools must be a list"),
        (["add"], r"tools\[0\] must be an object"),
        ([{"type": "function", "function": "add"}], r"tools\[0\].function must be an object"),
        ([{"type": "function", "function": {}}], r"tools\[0\] has no name"),
        ([{"type": "function", "name": ""}], "has no name"),
        ([*TOOLS, {"type": "function", "name": "f", "parameters": []}], r"tools\[4\]: .* 'f'"),
    ],
)
def test_malformed_tools(tools: Any, sentence: str) -> None:
    with pytest.raises(ToolwireError, match=sentence):
        Parser("hermes", tools)
    with pytest.raises(ToolwireError, match=sentence):
        toolwire.constrain("hermes", tools, "required")


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(levels):
        schema = {"anyOf": [schema]}
    return schema


@pytest.mark.parametrize("levels", [200, 900, 50_000])
def test_a_schema_that_is_nested_too_deeply(levels: int) -> None:
    """It is refused when the parser is made, and can't hurt later."""
    tools = [tool("f", a=nested(levels))]
    for format in ("hermes", "qwen3_coder", "pythonic"):
        with pytest.raises(
            ToolwireError, match=r"tools\[0\]: the parameters of 'f' are nested more"
        ):
            Parser(format, tools)


def test_a_schema_that_holds_itself() -> None:
    circle: dict[str, Any] = {"type": "object", "properties": {}}
    circle["properties"]["a"] = circle
    with pytest.raises(ToolwireError, match="levels deep"):
        Parser("hermes", [{"type": "function", "function": {"name": "f", "parameters": circle}}])


def test_a_schema_that_is_nested_deeply() -> None:
    text = "<tool_call>\n<function=f>\n<parameter=a>\n5\n</parameter>\n</function>\n</tool_call>"
    message = toolwire.parse("qwen3_coder", text, [tool("f", a=nested(100))])
    assert message.tool_calls[0].arguments == '{"a": 5}'


@pytest.mark.parametrize("pattern", [r"\s*(?P<name>[^>]+?)\s*", r"(?P<name>\w+(?:\w+)*)"])
def test_patterns_that_could_be_slow(pattern: str) -> None:
    with pytest.raises(ToolwireError, match=r"Tag.inner takes very long for texts with '.' many"):
        Tag(("<call ",), inner=pattern)
    with pytest.raises(ToolwireError, match=r"NamedJson.header takes very long"):
        NamedJson(header=pattern)


def test_patterns_that_refer_to_themselves() -> None:
    with pytest.raises(ToolwireError, match=r"Tag.inner must not refer to its own groups"):
        Tag(("<call ",), inner=r"(?P<quote>['\"])(?P<name>\w+)(?P=quote)")


def test_both_forms_of_tools() -> None:
    flat = {
        "type": "function",
        "name": "f",
        "parameters": {"properties": {"n": {"type": "integer"}}},
    }
    text = "<tool_call>\n<function=f>\n<parameter=n>\n5\n</parameter>\n</function>\n</tool_call>"
    for tools in ([flat], [{"type": "function", "function": flat}], [{"type": "web_search"}, flat]):
        assert toolwire.parse("qwen3_coder", text, tools).tool_calls[0].arguments == '{"n": 5}'


def test_a_chunk_that_is_no_text() -> None:
    with pytest.raises(ToolwireError, match=r"takes a str, not bytes: decode"):
        Parser("hermes").feed(b"x")  # type: ignore[arg-type]


def test_feed_after_finish() -> None:
    parser = Parser("hermes")
    parser.finish()
    with pytest.raises(ToolwireError, match=r"make a new Parser"):
        parser.feed("x")
    assert parser.finish() == []


def test_registering() -> None:
    shape = get_format("hermes").shape
    with pytest.raises(ToolwireError, match="already"):
        register_format(Format(name="hermes", shape=shape))
    with pytest.raises(ToolwireError, match="lower-case"):
        register_format(Format(name="My Format", shape=shape))
    with pytest.raises(ToolwireError, match=r"takes a toolwire.Format"):
        register_format("hermes")  # type: ignore[arg-type]


def test_patterns_that_find_no_name() -> None:
    """A format's own patterns may make the name optional. Without one there is no call."""
    maybe = r"(?P<name>[a-z]+)?"
    tag = Tag(("<call",), inner=maybe)
    tags = Tags(call=tag, parameter=Tag(("<k=",)), parameter_close=("</k>",), close=("</call>",))
    named = NamedJson(separator=("|",), header=rf"{maybe}:0")
    for shape, text in ((tags, "<x><call><k=a>1</k></call></x>"), (named, "<x>:0|{}</x>")):
        format = Format(name="own", shape=shape, wrappers=(Wrapper(("<x>",), ("</x>",)),))
        message = toolwire.parse(format, text)
        assert (message.content, message.tool_calls) == (text, [])


def test_a_pattern_that_finds_something_else_than_true_or_false() -> None:
    parameter = Tag(("<k ",), inner=r"(?P<name>\w+) (?P<string>\w+)")
    tags = Tags(Tag(("<call ",)), parameter, parameter_close=("</k>",), close=("</call>",))
    format = Format(name="own", shape=tags, bare=True)
    said = toolwire.parse(format, "<call f><k a yes>1</k><k b true>2</k></call>")
    assert said.tool_calls[0].arguments == '{"a": "1", "b": "2"}'


@pytest.mark.parametrize("spellings", ["<x>", ("",), (1,), None], ids=repr)
def test_delimiters_that_are_none(spellings: Any) -> None:
    sentence = "must be a tuple of strings, none of them empty, not "
    with pytest.raises(ToolwireError, match=f"Wrapper.open {sentence}"):
        Wrapper(open=spellings)
    with pytest.raises(ToolwireError, match=f"JsonCalls.name_keys {sentence}"):
        JsonCalls(name_keys=spellings)
    with pytest.raises(ToolwireError, match=f"Tag.begin {sentence}"):
        Tag(begin=spellings)


def test_aliases() -> None:
    assert get_format("qwen25") is get_format("hermes")
    assert get_format("qwen3_xml") is get_format("qwen3_coder")
    assert "qwen25" not in list_formats()
    assert "qwen25" in list_formats(aliases=True)


def read(format: str, text: str, chunk: int) -> str:
    """Feed `text` in pieces; everything that came out of it as text."""
    parser = Parser(format, TOOLS)
    events = [e for i in range(0, len(text), chunk) for e in parser.feed(text[i : i + chunk])]
    content, calls = summary([*events, *parser.finish()])
    return (content or "") + "".join(arguments for _, arguments, _ in calls)


@pytest.mark.slow
@every_format
@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{" * 100_000, "(" * 100_000, '{"a":' * 50_000, "[{" * 50_000],
    ids=["lists", "objects", "parentheses", "members", "both"],
)
def test_deep_nesting(format: str, text: str) -> None:
    """In prose, and as the value of an argument."""
    assert read(format, text, 100_000) == text
    before, after = WRITERS[format]([("write_file", {"content": "VALUE"})]).split("VALUE")
    said = read(format, before + text + after, 4096)
    assert said.count("[") >= text.count("[")


@every_format
def test_strange_characters(format: str) -> None:
    text = "a\ud800b\0c\udfff\u2028\ufeff"
    assert read(format, text, 1) == text
    before, after = WRITERS[format]([("write_file", {"content": "VALUE"})]).split("VALUE")
    said = read(format, before + text + after, 3)
    assert "\ud800" in said
    assert "\udfff" in said


@pytest.mark.slow
@every_format
def test_a_flood_of_delimiters(format: str) -> None:
    """A megabyte of openers, of closers, and of their longest beginnings."""
    for mark in delimiters(get_format(format)) or ["```json\n{", '{"name": "add", ']:
        for piece in (mark, mark[:-1] or mark):
            text = piece * (100_000 // len(piece))
            said = read(format, text, 65_536)
            # Headers of parts are markup, with anything behind them or without.
            assert len(said) >= len(text) // 2 or get_format(format).channels


@pytest.mark.slow
def test_ten_megabytes() -> None:
    for piece in ("<tool_call>", "<tool_cal", '<tool_call>{"name": "f", "arguments": '):
        text = piece * (10_000_000 // len(piece))
        assert read("hermes", text, 1_000_000) == text
