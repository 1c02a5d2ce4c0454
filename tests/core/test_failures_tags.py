"""What today's servers get wrong with calls in tags: the rows X, cut in every way.

Where a row makes sense for other formats of its kind, it runs there too (`test_..._everywhere`).
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from toolwire import parse

from ..by_shape import TAGGED
from ..support import TOOLS, check_all_splits, summary, tool
from ..writers import WRITERS
from .rows import GOOD, GOOD_CALL, check


def qwen(body: str) -> str:
    return f"<tool_call>\n<function=add>\n{body}\n</function>\n</tool_call>"


def parameter(key: str, value: str) -> str:
    return f"<parameter={key}>\n{value}\n</parameter>"


FILE_TOOL = (
    "<tool_call>\n<function=write_file>\n<parameter=content>\n{}\n</parameter>\n</function>\n"
    "</tool_call>"
)


def file_call(value: str) -> tuple[str, str, bool]:
    return ("write_file", json.dumps({"content": value}, ensure_ascii=False), True)


@pytest.mark.parametrize(
    "value",
    [
        "a</parameter>b",
        "a\n</parameter>\nb",
        "a</function>b",
        "a\n</parameter>\n</function>\nb",
        "a<parameter=foo>b",
        "a\n<parameter=foo>\nb",
        "a\n<parameter=content>\nb",
        "<function=add>",
        "a <tool_call> b",
        "</parameter></parameter>x",
        "\n\n  leading and trailing  \n\n",
        "<",
        "</parameter",
        'quotes " and \\ and \t tabs',
    ],
)
def test_x1_x2_x13_values_verbatim(value: str) -> None:
    check("qwen3_coder", FILE_TOOL.format(value), None, [file_call(value)])


def test_x2_a_declared_parameter_on_a_line_of_its_own_ends_the_value() -> None:
    text = qwen("<parameter=a>\n1\n<parameter=b>\n2\n</parameter>")
    check("qwen3_coder", text, None, [("add", '{"a": 1, "b": 2}', True)])


def test_x3_the_last_closing_tag_is_missing() -> None:
    text = qwen("<parameter=a>\n2\n</parameter>\n<parameter=b>\n2")
    check("qwen3_coder", text, None, [GOOD_CALL])


def test_x4_the_function_is_not_closed() -> None:
    first = f"<tool_call>\n<function=add>\n{parameter('a', '1')}\n</tool_call>\n"
    text = first + qwen(parameter("a", "2"))
    check("qwen3_coder", text, None, [("add", '{"a": 1}', True), ("add", '{"a": 2}', True)])


def test_x5_cut_inside_a_value() -> None:
    text = "<tool_call>\n<function=write_file>\n<parameter=path>\na/b"
    check("qwen3_coder", text, None, [("write_file", '{"path": "a/b', False)])


def test_x6_cut_inside_the_name() -> None:
    for text in ("<function=write_fi", "<tool_call>\n<function=write_fi"):
        check("qwen3_coder", text, text, [])


def test_x7_prose_about_tags() -> None:
    text = "`<function=add>` opens a call"
    check("qwen3_coder", text, text, [])


def test_x8_a_json_object_in_the_tag() -> None:
    check("qwen3_coder", GOOD, None, [GOOD_CALL])


@pytest.mark.parametrize("head", ["<function=add>", '<function="add">', '<function name="add">'])
@pytest.mark.parametrize("key", ["<parameter=a>", '<parameter name="a">', '<parameter="a">'])
def test_x9_other_spellings_of_the_tags(head: str, key: str) -> None:
    text = f"<tool_call>{head}{key}1</parameter></function></tool_call>"
    check("qwen3_coder", text, None, [("add", '{"a": 1}', True)])


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"$ref": "#/$defs/N"}, "5", "5"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "5", "5"),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "null", "null"),
        ({"type": ["integer", "null"]}, "None", "null"),
        ({"type": "integer", "nullable": True}, "null", "null"),
        ({"type": ["string", "integer"]}, "5", "5"),
        ({"type": ["string", "integer"]}, "five", '"five"'),
        ({"oneOf": [{"type": "array"}, {"type": "string"}]}, "[1]", "[1]"),
        ({"allOf": [{"$ref": "#/$defs/N"}]}, "5", "5"),
        ({"enum": [1, "two"]}, "1", "1"),
        ({"enum": [1, "two"]}, "two", '"two"'),
        ({"const": True}, "True", "true"),
        ({"properties": {}}, '{"x": 1}', '{"x": 1}'),
        ({"items": {}}, "[1, 2]", "[1, 2]"),
        ({"type": "number"}, "9223372036854775807", "9223372036854775807"),
        ({"type": "integer"}, "5.0", "5.0"),
        ({"type": "integer"}, "5.5", '"5.5"'),
        ({"type": "integer"}, "abc", '"abc"'),
        ({"type": "boolean"}, " True ", "true"),
        ({"type": "object"}, "{'a': 1}", '{"a": 1}'),
        ({"type": "string"}, "02134", '"02134"'),
        ({"type": "string"}, "true", '"true"'),
        ({"type": "string"}, "null", '"null"'),
        ({"type": "string"}, '{"a": 1}', '"{\\"a\\": 1}"'),
        ({}, "5", '"5"'),
    ],
)
def test_x10_x11_x12_x14_types(schema: dict[str, Any], text: str, value: str) -> None:
    """The declared type decides; where the text can't be of it, it stays a string."""
    declared = tool("f", v=schema)
    declared["function"]["parameters"]["$defs"] = {"N": {"type": "integer"}}
    call = f"<tool_call>\n<function=f>\n{parameter('v', text)}\n</function>\n</tool_call>"
    check("qwen3_coder", call, None, [("f", f'{{"v": {value}}}', True)], [declared])


def test_x15_a_long_value_streams() -> None:
    value = "line of a file\n" * 2000
    whole = parse("qwen3_coder", FILE_TOOL.format(value), TOOLS)
    assert whole.tool_calls[0].load() == {"content": value}


def test_x16_the_opener_is_missing() -> None:
    text = f"Yes.\n<function=add>\n{parameter('a', '1')}\n</function>\n"
    check("qwen3_coder", text, "Yes.", [("add", '{"a": 1}', True)])
    other = text.replace("add", "undeclared")
    assert summary(check_all_splits("qwen3_coder", other, pairs_under=0)) == (other, [])


def last_tag_values(format: str) -> tuple[str, str]:
    """The text of a call with one value, before and behind that value."""
    before, after = WRITERS[format]([("write_file", {"content": "VALUE"})]).split("VALUE")
    return before, after


@pytest.mark.parametrize("format", TAGGED)
def test_tag_rows_everywhere(format: str) -> None:
    before, after = last_tag_values(format)
    closer = re.match(r"<\|close\|>\w+<\|sep\|>|[^>]*>", after.strip())[0]  # type: ignore[index]
    rows = [
        f"a{closer}b",  # X1
        "a <tool_call> b",
        "  spaces kept  ",  # X13
        "02134",  # X12
    ]
    for value in rows:
        events = check_all_splits(format, before + value + after, pairs_under=0)
        assert summary(events) == (None, [file_call(value)]), value
    without_closer = after.replace(closer, "", 1).lstrip("\n")  # X3
    events = check_all_splits(format, f"{before}v{without_closer}".strip(), pairs_under=0)
    assert [json.loads(a) for _, a, c in summary(events)[1] if c] == [{"content": "v"}]
    events = check_all_splits(format, f"{before}v", pairs_under=0)  # X5
    assert summary(events) == (None, [("write_file", '{"content": "v', False)])


NO_OPENER = ("minicpm5", "beam", "muse_glimmer")  # the name is the first thing that stands there


@pytest.mark.parametrize("format", [f for f in TAGGED if f not in NO_OPENER])
def test_json_in_the_tag_everywhere(format: str) -> None:
    """X8: a model that drifts into JSON inside the format's own markers."""
    before = WRITERS[format]([("noargs", {})]).split("noargs")[0]
    call = r"<(?:function=|(?:｜\w+｜ ?|steptml:)?invoke|\|open\|>call)"
    opener = re.split(call, before)[0]
    text = opener + '{"name": "add", "arguments": {"a": 2, "b": 2}}'
    assert summary(check_all_splits(format, text, pairs_under=0)) == (None, [GOOD_CALL])
