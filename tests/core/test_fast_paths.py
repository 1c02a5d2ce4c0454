"""Fast paths save time and decide nothing: without them, the same text gives the same events."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import (
    Arguments,
    Content,
    Event,
    Format,
    Parser,
    ReasoningStyle,
    get_format,
    list_formats,
)
from toolwire.core.parser import EventParser

from ..formats.generate import SHAPES, formats_and_texts
from ..support import coalesce, cut_at
from ..writers import WRITERS, Call, dumps
from .generate import broken, calls_for, conversations, soup, tools_for
from .thinking import MARKED, messages, style_in, styles_of, thinking_soup

FEW_TOOLS = tools_for([("f", {"k": "v"}), ("g", {"k": 1})])


def events(
    format: str | Format,
    chunks: Iterable[str],
    tools: Any,
    style: ReasoningStyle | None = None,
    in_reasoning: bool = False,
    *,
    fast_paths: bool,
) -> list[Event]:
    spec = get_format(format) if isinstance(format, str) else format
    parser = EventParser(spec, tools, style, in_reasoning, fast_paths=fast_paths)
    found = [event for chunk in chunks for event in parser.feed(chunk)]
    return coalesce([*found, *parser.finish()])


def check(
    format: str | Format,
    text: str,
    tools: Any,
    data: st.DataObject,
    style: ReasoningStyle | None = None,
    in_reasoning: bool = False,
) -> None:
    ask = (tools, style, in_reasoning)
    size = data.draw(st.sampled_from([1, 2, 4, 16]), "size")
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=8), "cuts")
    plain = events(format, [text], *ask, fast_paths=False)
    for places in ([], cuts, range(size, len(text), size)):
        chunks = cut_at(text, places)
        assert events(format, chunks, *ask, fast_paths=False) == plain
        assert events(format, chunks, *ask, fast_paths=True) == plain


def other_types(tools: Any, type: str) -> Any:
    """The same tools, with parameters of another type than the values have."""
    other = copy.deepcopy(tools)
    for tool in other:
        for schema in tool["function"]["parameters"]["properties"].values():
            schema["type"] = type
    return other


def with_quoted_arguments(text: str, calls: list[Call]) -> str:
    """The same calls with their arguments as JSON inside a string, where they are JSON."""
    for _, arguments in calls:
        text = text.replace(dumps(arguments), dumps(dumps(arguments)), 1)
    return text


@st.composite
def texts(draw: st.DrawFn, format: str) -> tuple[str, Any]:
    """What a model may write, right and wrong, and the tools that it may have been given."""
    kind = draw(
        st.sampled_from(["conversation", "calls", "quoted", "broken", "soup", "cut by soup"])
    )
    if kind == "conversation":
        conversation = draw(conversations(format))
        text, tools = conversation.text, tools_for(list(conversation.calls))
    elif kind == "broken":
        text, _, calls = draw(broken(format))
        tools = tools_for(calls)
    elif kind == "soup":
        text, tools = draw(soup(format)), FEW_TOOLS
    else:
        calls = draw(calls_for(format))
        text, tools = WRITERS[format](calls), tools_for(calls)
        if kind == "quoted":
            text = with_quoted_arguments(text, calls)
        if kind == "cut by soup":
            place = draw(st.integers(0, len(text)))
            text = text[:place] + draw(soup(format)) + text[place:]
    return text, draw(
        st.sampled_from([tools, other_types(tools, "string"), other_types(tools, "number"), None])
    )


@pytest.mark.parametrize("format", list_formats())
@given(data=st.data())
def test_without_fast_paths_the_events_are_the_same(format: str, data: st.DataObject) -> None:
    text, tools = data.draw(texts(format))
    check(format, text, tools, data)


@pytest.mark.parametrize("format", MARKED)
@given(data=st.data())
def test_in_thoughts(format: str, data: st.DataObject) -> None:
    reasoning = data.draw(styles_of(format), "style")
    style = style_in(format, reasoning)
    if data.draw(st.booleans(), "message"):
        message = data.draw(messages(format, reasoning))
        check(format, message.text, message.tools, data, style, message.in_reasoning)
    else:
        text, inside = data.draw(thinking_soup(format, reasoning)), data.draw(st.booleans())
        check(format, text, data.draw(st.sampled_from([FEW_TOOLS, None])), data, style, inside)


@pytest.mark.parametrize("shapes", SHAPES.values(), ids=[shape.__name__ for shape in SHAPES])
@given(data=st.data())
def test_in_any_format(shapes: Any, data: st.DataObject) -> None:
    spec, text = data.draw(formats_and_texts(shapes))
    check(spec, text, data.draw(st.sampled_from([FEW_TOOLS, None])), data)


def test_a_chunk_of_many_pages_leaves_no_fast_path_behind() -> None:
    """It is read in parts, and what one of them waits for is not what the last one waits for."""
    begun = '<tool_call>{"name": "add", "arguments": {"a": "'
    for page in (60_000, 100_000, 200_000):
        parser = Parser("hermes")
        events = parser.feed(begun + "x" * page + '"}}\n</')
        events += parser.feed("tool_call>")
        events += parser.finish()
        said = "".join(event.text for event in events if isinstance(event, Arguments))
        assert said == '{"a": "' + "x" * page + '"}'
        assert not any(isinstance(event, Content) for event in events)
