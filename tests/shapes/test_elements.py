"""Trees of elements: any depth, early, by schemas that refer to themselves, in linear time."""

from __future__ import annotations

import json
from typing import Any

import pytest
import toolwire
from toolwire import Arguments, Elements, ElementTypes, Parser, ToolwireError, constrain

from ..support import INTEGER, STRING, check_all_splits, events_of, summary, tool
from ..test_adversarial import steps

NS = "]<]minimax[>["
TREE = {
    "type": "object",
    "properties": {
        "name": STRING,
        "size": INTEGER,
        "left": {"$ref": "#/$defs/Tree"},
        "all": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
    },
}
SAVE = {
    "type": "function",
    "function": {
        "name": "save",
        "parameters": {
            "type": "object",
            "properties": {
                "tree": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]},
                "by_name": {"type": "object", "additionalProperties": INTEGER},
                "text": STRING,
            },
            "$defs": {"Tree": TREE},
        },
    },
}


def m3(elements: str, closed: bool = True) -> str:
    """A call to `save`; ~ is the marker."""
    end = "~</invoke>\n~</tool_call>" if closed else ""
    return f'~<tool_call>\n~<invoke name="save">{elements}{end}'.replace("~", NS)


def read(text: str, tools: Any = (SAVE,)) -> tuple[str, bool]:
    (call,) = summary(check_all_splits("minimax_m3", text, list(tools), pairs_under=0))[1]
    return call[1], call[2]


def test_a_schema_that_refers_to_itself() -> None:
    inner = "~<left>~<size>1~</size>~<all>~<item>~<size>2~</size>~<name>3~</name>~</item>~</all>~</left>"
    found, complete = read(m3(f"~<tree>{inner}~</tree>~<by_name>~<x>4~</x>~</by_name>"))
    assert complete
    tree = {"left": {"size": 1, "all": [{"size": 2, "name": "3"}]}}
    assert json.loads(found) == {"tree": tree, "by_name": {"x": 4}}


@pytest.mark.parametrize("format", ["minimax_m3", "cohere_command5"])
@pytest.mark.parametrize("size", [1, 7, 10_000_000])
def test_any_depth(format: str, size: int) -> None:
    depth = 3000
    opening, closing = f"{NS}<left>", f"{NS}</left>"
    text = m3(f"~<tree>{opening * depth}~<size>1~</size>{closing * depth}~</tree>")
    if format == "cohere_command5":
        one = '<cofl:value name="left" type="dict">' * depth
        leaf = '<cofl:value name="size" type="json">1</cofl:value>'
        text = f'<cofl:tool_calls><cofl:tool_call id="0" name="save">{one}{leaf}'
        text += "</cofl:value>" * depth + "</cofl:tool_call></cofl:tool_calls>"
    chunks = [text[i : i + size] for i in range(0, len(text), size)]
    ((_, arguments, complete),) = summary(events_of(format, chunks, [SAVE]))[1]
    assert complete
    assert arguments.count('{"left": ') in (depth, depth - 1)
    assert arguments.endswith('{"size": 1' + "}" * (arguments.count("{")))


def test_four_times_the_depth_takes_four_times_the_steps() -> None:
    def feed(depth: int, size: int) -> None:
        inside = "~<left>" * depth + "~<name>a~</x>~</left> b" * depth
        text = m3(f"~<tree>{inside}", closed=False)
        parser = Parser("minimax_m3", [SAVE])
        for i in range(0, len(text), size):
            parser.feed(text[i : i + size])
        parser.finish()

    for size in (3, 100_000):
        feed(200, size)
        assert steps(feed, 200, size) < 5 * steps(feed, 50, size) + 500


@pytest.mark.parametrize(
    "path", ["~<text>", "~<tree>~<left>~<name>", "~<tree>~<all>~<item>~<name>"]
)
def test_strings_leave_as_they_come(path: str) -> None:
    parser = Parser("minimax_m3", [SAVE])
    parser.feed(m3(path, closed=False) + "one")
    for word in (" two", ' "three"', " <b>", " four"):
        (event,) = parser.feed(word)
        assert isinstance(event, Arguments)
        assert json.loads(f'"{event.text}"') == word


def test_a_closer_without_marker_counts_by_what_follows() -> None:
    """Only a marked tag makes it one, and not the closer that it would be itself."""
    for rest, found in (
        ("</text>~</text>", "</text>"),
        ("</text> ~</text>", "</text> "),
        ("</text>.~</text>", "</text>."),
        ("</text></text>~</text>", "</text></text>"),
        ("</text>", ""),
        ("</text>\n", ""),
        ("</text></other>", ""),
    ):
        assert read(m3(f"~<text>a{rest}"))[0] == json.dumps({"text": f"a{found}"}), rest
    assert read(m3("~<text>a</text>", closed=False)) == ('{"text": "a</text>', False)
    assert read(m3("~<text>a</text></invoke></tool_call>", closed=False)) == ('{"text": "a"}', True)


def test_what_is_written_is_read_back_at_any_depth() -> None:
    value: Any = "leaf"
    for level in range(300):
        value = [value] if level % 2 else {"k": value}
    for format in ("minimax_m3", "cohere_command5"):
        call = {"name": "f", "arguments": {"v": value}}
        if (
            format == "minimax_m3"
        ):  # deeper than a schema may be, so nothing tells lists from objects
            call["arguments"] = {"v": {"k": [{"k": "leaf"}]}}
        text = toolwire.write(format, [call])
        assert text.count("leaf") == 1


def test_schemas_that_elements_cannot_say_are_asked_for_as_json() -> None:
    for parameters in (
        SAVE["function"]["parameters"],
        {"properties": {"a": {"type": "array"}}},
        {"properties": {"a": {"type": ["array", "string"], "items": STRING}}},
        {"properties": {"a": {"type": "array", "items": STRING, "minItems": 1}}},
        {"properties": {"a": {"type": "object", "properties": {}}}},
    ):
        declared = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
        assert constrain("minimax_m3", declared, "required").format == "json"
    fits = [
        tool("f", a={"type": "array", "items": {"type": "object", "properties": {"k": INTEGER}}})
    ]
    for format in ("minimax_m3", "cohere_command5"):
        assert constrain(format, fits, "required").format == format


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"call": "a b"}, "Elements can't be called 'a b'"),
        ({"call": ""}, "Elements can't be called ''"),
        ({"call": "a", "element": "<b"}, "Elements can't be called '<b'"),
        ({"call": "a", "marker": "a b"}, "Elements.marker can't have white space in it."),
    ],
)
def test_words_that_no_tag_can_have(fields: dict[str, str], sentence: str) -> None:
    with pytest.raises(ToolwireError, match=sentence.replace("(", r"\(")):
        Elements(**fields, types=ElementTypes("type"))


@pytest.mark.parametrize(
    "rest", ["<t", "<t>", "<tool", "<", "</", "</x", "]<]mini", "<t x", "a<b>c"]
)
@pytest.mark.parametrize("inside", ["<a>{0}<x>{0}</x>i", "<a>i", "<data>i", "<a>{0}<x>i"])
def test_what_only_looks_like_a_tag_at_first_is_text_however_it_is_cut(
    inside: str, rest: str
) -> None:
    marker = "]<]minimax[>["
    call = f'{marker}<invoke name="put">{marker}' + inside.format(marker)
    tools = [tool("put", data={"type": "object"})]
    check_all_splits("minimax_m3", call + rest, tools, pairs_under=0)
