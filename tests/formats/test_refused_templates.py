"""Response templates that can't be translated: one sentence, which names the field."""

from __future__ import annotations

import copy
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import ToolwireError, load_response_template

from .response_templates import NAMED, QWEN3, THINK, WHOLE, each, keyed, tags, template


def changed(given_template: Any, *path: Any, to: Any) -> Any:
    """A template with something else at one place."""
    other = copy.deepcopy(given_template)
    place = other
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return other


def field(*path: str, to: Any) -> Any:
    return changed(QWEN3, "fields", *path, to=to)


def thinking(**given_field: Any) -> Any:
    return template(thinking=given_field)


def calling(transform: Any, content: str = "json", **more: Any) -> Any:
    """A template for calls; without an opener, it is `<x>`."""
    opener = {} if {"open", "open_pattern"} & set(more) else {"open": "<x>"}
    return template(tool_calls={**opener, **more, "content": content, "transform": transform})


def named(content: str = "json", pattern: str = r"<x>(?P<name>\w+)", **arguments: Any) -> Any:
    """A template with an opener that captures the name."""
    return calling(NAMED, content, open_pattern=pattern, content_args=arguments)


def tagged(pattern: str) -> Any:
    return named("xml-inline", **tags(pattern))


def function(name: str, arguments: str) -> Any:
    return calling(keyed(name, arguments))


#: a template; the field that its error names, and what it says about it
REFUSED = [
    ({}, "fields", "has no fields"),
    (changed(QWEN3, "fields", to=[]), "fields", "has no fields"),
    (changed(QWEN3, "version", to=2), "version", "is 2"),
    (changed(QWEN3, "anchors", to=[]), "anchors", "not one that is known"),
    (changed(QWEN3, "defaults", to={"role": "assistant", "name": "x"}), "defaults", "'name'"),
    (changed(QWEN3, "defaults", to=[]), "defaults", "no object"),
    (field("citations", to={"open": "<co>"}), "citations", "none of thinking"),
    (field("tool_calls", "opens", to="<x>"), "tool_calls", "'opens'"),
    (field("tool_calls", to="json"), "tool_calls", "no object"),
    (field("tool_calls", "content", to=5), "tool_calls", "no name"),
    (field("thinking", to=THINK), "thinking", "so is 'reasoning_content'"),
    (field("reasoning_content", to={}), "content", "neither has 'reasoning_content'"),
    # thoughts and text
    (thinking(close="</think>"), "thinking", "needs an opener and a closer"),
    (thinking(open="<think>"), "thinking", "needs an opener and a closer"),
    (thinking(**{**THINK, "content": "json"}), "thinking", "not just text"),
    (thinking(open="<think>", close="<think>s"), "thinking", "can't be told apart"),
    (thinking(open="<think>", close=[" "]), "thinking", "nothing but white space"),
    (thinking(open="<think>", close=5), "thinking", "neither a text nor a list"),
    (thinking(open="<think>", open_pattern="x"), "thinking", "both open and open_pattern"),
    (thinking(open_pattern="", close="x"), "thinking", "nothing in it"),
    (thinking(open_pattern="(?=<think>)", close="x"), "thinking", "looks ahead"),
    (thinking(open_pattern="<a>.*?<b>", close="x"), "thinking", "that differs"),
    (thinking(open_pattern=r"<a>\s*<b>", close="x"), "thinking", "several literals"),
    (thinking(open_pattern="(?i)<a>", close="x"), "thinking", "capital"),
    (thinking(open_pattern="(?i:<a>)", close="x"), "thinking", "capital"),
    (thinking(open_pattern="(<a>", close="x"), "thinking", "no regular expression"),
    (thinking(open_pattern="(?:<a>x)+", close="x"), "thinking", "repeats something"),
    (thinking(open_pattern="<a>|(.)", close="x"), "thinking", "a choice"),
    (thinking(open_pattern="(?:[ab][cd]){9}", close="x"), "thinking", "spellings"),
    (thinking(open_pattern="[ab][cd][ef][gh][ij][kl]", close="x"), "thinking", "spellings"),
    (thinking(open_pattern="a" * 2001, close="x"), "thinking", "too long"),
    (template(content={"content": "json"}), "content", "not just text"),
    (
        template(thinking=THINK, tool_calls=each("json", WHOLE, "</x>", open="<think>")),
        "thinking",
        "opened by what opens calls",
    ),
    # calls in JSON
    (template(tool_calls=each("json", WHOLE, "</x>")), "tool_calls", "without any literal"),
    (calling(WHOLE, "text"), "tool_calls", "'text' as content"),
    (calling(WHOLE, "yaml"), "tool_calls", "'yaml' as content"),
    (calling("{content} "), "tool_calls", "makes no call"),
    (calling({"function": 1}), "tool_calls", "without a function"),
    (calling({"function": {"name": "{content.n}"}}), "tool_calls", "arguments comes from"),
    (calling({"x": ["f {y}"]}), "tool_calls", "mixes"),
    (function("f", "{content}"), "tool_calls", "name comes from"),
    (function("{content.a.n}", "{content.a.x}"), "tool_calls", "deeper"),
    (function("{content.name}", "{content}"), "tool_calls", "deeper"),
    (function("{name}", "{content}"), "tool_calls", "does not capture"),
    (calling(WHOLE, content_args={"unquoted_keys": True}), "tool_calls", "unquoted_keys"),
    # a name in the opener
    (
        calling(keyed("{name}", "{content.x}"), open_pattern="<x>(?P<name>.*?)>"),
        "tool_calls",
        "not all content",
    ),
    (named(pattern=r"(?P<name>\w+)>"), "tool_calls", "without any literal"),
    (named(pattern="<x>(?P<name>.*?)(?:>|/>)"), "tool_calls", "more than one literal"),
    (named(pattern="@(?P<name>.*?):(?P<id>.*?)!"), "tool_calls", "no single literal"),
    (named(unquoted_keys=True, string_delims=[["<", ">"]]), "tool_calls", "on both sides"),
    (named(unquoted_keys=True, string_delims="<"), "tool_calls", "on both sides"),
    (
        named(pattern="<x>(?P<name>.*?)!", unquoted_keys=True, string_delims=[["|", "|"]]),
        "tool_calls",
        "between the name and its object",
    ),
    # tags, and lines
    (calling(WHOLE, "xml-inline"), "tool_calls", "name from its opener"),
    (named("xml-inline"), "tool_calls", "no tag_pattern"),
    (
        named("xml-inline", "<x>(?P<name>.*?):(?P<id>.*?)!", **tags(">")),
        "tool_calls",
        "more than a name",
    ),
    (tagged(r"<(?P<key>\w+)>(?P<value>.*?)</(?P=key)>"), "tool_calls", "refers to what"),
    (tagged(r"<a>(?P<key>\w+)(?P<value>.*?)</a>"), "tool_calls", "between key and value"),
    (tagged(r"<a>(?P<value>\w+)<b>(?P<key>.*?)</a>"), "tool_calls", "captures key"),
    (tagged(r"(?P<key>\w+)=(?P<value>.*?);"), "tool_calls", "before the key"),
    (calling(WHOLE, "kv-lines", content_args={"kv_sep": "="}), "tool_calls", "separators"),
    (named("kv-lines"), "tool_calls", "a line for the name"),
]


@pytest.mark.parametrize(("given_template", "name", "says"), REFUSED)
def test_what_can_not_be_translated_is_one_sentence(
    given_template: Any, name: str, says: str
) -> None:
    with pytest.raises(ToolwireError) as error:
        load_response_template(given_template)
    sentence = str(error.value)
    assert f"field {name!r} " in sentence, sentence
    assert says in sentence, sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")


def test_something_else_is_no_template() -> None:
    with pytest.raises(ToolwireError, match="A response template is an object, not list"):
        load_response_template([])  # type: ignore[arg-type]


WORDS = st.sampled_from(
    ["open", "open_pattern", "close", "content", "transform", "thinking", "tool_calls", "fields",
     "function", "name", "content_args", "tag_pattern", "json", "xml-inline", "{content}",
     r"<x>(?P<name>\w+)", "<a>(?P<key>.)>(?P<value>.*)</a>"]
)  # fmt: skip
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=5)),
    max_leaves=12,
)


@given(ANYTHING)
def test_nothing_but_our_own_errors(anything: Any) -> None:
    for given_template in (anything, {"fields": anything}, {"fields": {"tool_calls": anything}}):
        with suppress(ToolwireError):
            load_response_template(given_template)
