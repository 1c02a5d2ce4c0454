"""What today's servers get wrong, one test for each row, cut in every way.

The rows H are about calls as JSON, X about tags, O about anything else. Where a row makes sense for
other formats of its kind, it runs there too (`test_..._everywhere`).
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import parse
from toolwire.openai import DeltaStream, accumulate

from ..by_shape import JSON_OBJECTS, TAGGED
from ..support import ADD, TOOLS, check_all_splits, cut_at, events_of, summary, tool
from ..writers import WRITERS

Calls = list[tuple[str, str, bool]]

GOOD = '<tool_call>{"name": "add", "arguments": {"a": 2, "b": 2}}</tool_call>'
GOOD_CALL = ("add", '{"a": 2, "b": 2}', True)


def hermes(body: str) -> str:
    return f"<tool_call>{body}</tool_call>"


def qwen(body: str) -> str:
    return f"<tool_call>\n<function=add>\n{body}\n</function>\n</tool_call>"


def parameter(key: str, value: str) -> str:
    return f"<parameter={key}>\n{value}\n</parameter>"


def check(format: str, text: str, content: str | None, calls: Calls, tools: Any = TOOLS) -> None:
    assert summary(check_all_splits(format, text, tools)) == (content, calls)


HERMES: list[tuple[str, str, str | None, Calls]] = [
    (
        "H1 arguments before the name",
        hermes('{"arguments": {"a": 2, "b": 2}, "name": "add"}'),
        None,
        [GOOD_CALL],
    ),
    (
        "H2 a name among the arguments",
        hermes('{"arguments": {"name": "bob"}, "name": "add"}'),
        None,
        [("add", '{"name": "bob"}', True)],
    ),
    (
        "H3 other keys behind the arguments",
        hermes('{"name": "add", "arguments": {"a": 1}, "id": "x1"}'),
        None,
        [("add", '{"a": 1}', True)],
    ),
    (
        "H3 other keys before the name",
        hermes('{"id": {"x": "}"}, "name": "add", "arguments": {"a": 1}}'),
        None,
        [("add", '{"a": 1}', True)],
    ),
    (
        "H4 a closer in a string",
        hermes('{"name": "write_file", "arguments": {"content": "a </tool_call> b"}}'),
        None,
        [("write_file", '{"content": "a </tool_call> b"}', True)],
    ),
    ("H5 no arguments", hermes('{"name": "noargs"}'), None, [("noargs", "{}", True)]),
    (
        "H5 null",
        hermes('{"name": "noargs", "arguments": null}'),
        None,
        [("noargs", "{}", True)],
    ),
    (
        "H5 an empty string",
        hermes('{"name": "noargs", "arguments": ""}'),
        None,
        [("noargs", "{}", True)],
    ),
    (
        "H6 parameters",
        hermes('{"name": "add", "parameters": {"a": 2, "b": 2}}'),
        None,
        [GOOD_CALL],
    ),
    (
        "H7 arguments as a string",
        hermes(r'{"name": "add", "arguments": "{\"a\": 2, \"b\": 2}"}'),
        None,
        [GOOD_CALL],
    ),
    (
        "H7 with escapes in it",
        hermes(r'{"name": "f", "arguments": "\n {\"a\": \"\\\"\ud83d\ude00\\n\"} "}'),
        None,
        [("f", '{"a": "\\"😀\\n"}', True)],
    ),
    (
        "H8 the first has no name",
        hermes('{"nam": "add", "arguments": {}}') + "\n" + GOOD,
        hermes('{"nam": "add", "arguments": {}}'),
        [GOOD_CALL],
    ),
    (
        "H8 a name that is no string",
        hermes('{"name": 5, "arguments": {}}') + "\n" + GOOD,
        hermes('{"name": 5, "arguments": {}}'),
        [GOOD_CALL],
    ),
    (
        "H8b broken arguments",
        hermes('{"name": "add", "arguments": {"a": }}') + "\n" + GOOD,
        None,
        [("add", '{"a": }', True), GOOD_CALL],
    ),
    (
        "H9 the last brace is missing",
        hermes('{"name": "add", "arguments": {"a": 2, "b": 2}'),
        None,
        [GOOD_CALL],
    ),
    (
        "H10 one brace too many",
        hermes('{"name": "add", "arguments": {"a": 2, "b": 2}}}'),
        None,
        [GOOD_CALL],
    ),
    (
        "H11 an array in the tag",
        hermes('[{"name": "add", "arguments": {"a": 2, "b": 2}}, {"name": "noargs"}]'),
        None,
        [GOOD_CALL, ("noargs", "{}", True)],
    ),
    (
        "H11 two objects in the tag",
        hermes('{"name": "add", "arguments": {"a": 2, "b": 2}}\n{"name": "noargs"}'),
        None,
        [GOOD_CALL, ("noargs", "{}", True)],
    ),
    (
        "H11 a code fence in the tag",
        hermes('\n```json\n{"name": "add", "arguments": {"a": 2, "b": 2}}\n```\n'),
        None,
        [GOOD_CALL],
    ),
    (
        "H12 prose about the tag",
        "You wrap it in <tool_call> tags, then <tool_call> again",
        "You wrap it in <tool_call> tags, then <tool_call> again",
        [],
    ),
    ("H13 a tag cut off", "Use the tag <tool_c", "Use the tag <tool_c", []),
    (
        "H14 text around calls",
        f"One.\n{GOOD}\nTwo.\n{GOOD} Three. ",
        "One.\n\nTwo.\n Three.",
        [GOOD_CALL, GOOD_CALL],
    ),
    (
        "H15 an escape in the name",
        hermes(r'{"name": "my\u002dtool", "arguments": {}}'),
        None,
        [("my-tool", "{}", True)],
    ),
    (
        "H16 numbers as they are written",
        hermes('{"name": "f", "arguments": {"n": 9223372036854775807, "x": 1.0, "z": 1e5}}'),
        None,
        [("f", '{"n": 9223372036854775807, "x": 1.0, "z": 1e5}', True)],
    ),
    (
        "H17 cut inside a string",
        '<tool_call>{"name": "write_file", "arguments": {"path": "a/b',
        None,
        [("write_file", '{"path": "a/b', False)],
    ),
    (
        "H18 cut inside the name",
        '<tool_call>{"name": "wri',
        '<tool_call>{"name": "wri',
        [],
    ),
    (
        "H18 cut before the arguments",
        '<tool_call>{"name": "add", "arguments": ',
        '<tool_call>{"name": "add", "arguments": ',
        [],
    ),
    (
        "H19 the closer is missing",
        f'<tool_call>{{"name": "noargs", "arguments": {{}}}}\n{GOOD}',
        None,
        [("noargs", "{}", True), GOOD_CALL],
    ),
    (
        "H20 a closing quote is missing",
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo}}\n</tool_call>\n' + GOOD,
        None,
        [("get_weather", '{"city": "Oslo}}\n', False), GOOD_CALL],
    ),
]


@pytest.mark.parametrize(
    ("text", "content", "calls"), [r[1:] for r in HERMES], ids=[r[0] for r in HERMES]
)
def test_hermes(text: str, content: str | None, calls: Calls) -> None:
    check("hermes", text, content, calls)


@given(data=st.data())
def test_hermes_cut_anywhere(data: Any) -> None:
    """The rows once more, cut as Hypothesis likes."""
    _, text, content, calls = data.draw(st.sampled_from(HERMES))
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=12))
    assert summary(events_of("hermes", cut_at(text, cuts))) == (content, calls)


def wrap(format: str, body: str) -> str:
    """`body` in place of the object that `format` writes for a call."""
    calls = [("add", {"a": 2, "b": 2})]
    written = json.dumps({"name": "add", "arguments": calls[0][1]})
    if format == "llama3_json":
        written = written.replace("arguments", "parameters")
    elif format == "cohere":
        members = {"tool_call_id": "0", "tool_name": "add", "parameters": calls[0][1]}
        written = json.dumps(members)
    elif format == "command_r":
        arguments = '"tool_name": "add",\n        "parameters": {"a": 2, "b": 2}'
        written = f"{{\n        {arguments}\n    }}"
    text = WRITERS[format](calls)
    assert written in text
    return text.replace(written, body)


@pytest.mark.parametrize("format", JSON_OBJECTS)
@pytest.mark.parametrize(
    ("body", "arguments"),
    [
        ('{"arguments": {"a": 2, "b": 2}, "name": "add"}', '{"a": 2, "b": 2}'),
        ('{"arguments": {"name": "bob"}, "name": "add"}', '{"name": "bob"}'),
        ('{"name": "add", "arguments": {"a": 1}, "id": "x1"}', '{"a": 1}'),
        ('{"name": "add", "parameters": {"a": 1}}', '{"a": 1}'),
        ('{"name": "add", "arguments": null}', "{}"),
        ('{"name": "add", "arguments": ""}', "{}"),
        (r'{"name": "add", "arguments": "{\"a\": 1}"}', '{"a": 1}'),
        ('{"name": "add", "arguments": {"a": }}', '{"a": }'),
        (r'{"name": "\u0061dd", "arguments": {"a": 1}}', '{"a": 1}'),
        ('{"name": "add", "arguments": {"z": 1e5}}}', '{"z": 1e5}'),
        ('{"type": "function", "function": {"name": "add", "arguments": {"a": 1}}}', '{"a": 1}'),
    ],
)
def test_json_rows_everywhere(format: str, body: str, arguments: str) -> None:
    text = wrap(format, body)
    events = check_all_splits(format, text, pairs_under=0)
    assert summary(events) == (None, [("add", arguments, True)])


@pytest.mark.parametrize("format", [f for f in JSON_OBJECTS if f != "cohere"])
def test_a_bad_call_does_not_take_its_siblings(format: str) -> None:
    good = WRITERS[format]([("add", {"a": 2, "b": 2})]).strip()
    bad = wrap(format, '{"nam": "add", "arguments": {}}').strip()
    content, calls = summary(check_all_splits(format, f"{bad}\n{good}", pairs_under=0))
    assert content == bad
    assert calls == [GOOD_CALL]


@pytest.mark.parametrize("format", ["hermes", "jamba", "granite", "nemotron", "phi4", "mistral"])
def test_a_bad_call_in_an_array_does_not_take_its_siblings(format: str) -> None:
    good = '{"name": "add", "arguments": {"a": 2, "b": 2}}'
    bad = '{"nam": "add", "arguments": {}}'
    before, after = {
        "hermes": ("<tool_call>[", "]</tool_call>"),
        "jamba": ("<tool_calls>[", "]</tool_calls>"),
        "granite": ("<|tool_call|> [", "]"),
        "nemotron": ("<TOOLCALL>[", "]</TOOLCALL>"),
        "phi4": ("functools[", "]"),
        "mistral": ("[TOOL_CALLS] [", "]"),
    }[format]
    for first, second in ((good, bad), (bad, good)):
        events = check_all_splits(format, f"{before}{first}, {second}{after}", pairs_under=0)
        assert summary(events) == (bad, [GOOD_CALL])


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


@pytest.mark.parametrize("format", ["json", "llama3_json", "xlam", "hermes"])
def test_o1_a_plain_json_answer(format: str) -> None:
    for text in (
        '{"answer": 42}',
        '[{"answer": 42}]',
        '{"name": "Bob", "age": 5}',
        "```json\n{}\n```",
    ):
        check(format, text, text, [])


@pytest.mark.parametrize("separator", ["; ", ";", "\n", "\n\n"])
def test_o2_two_calls(separator: str) -> None:
    one = '{"name": "add", "parameters": {"a": 2, "b": 2}}'
    check("llama3_json", one + separator + one, None, [GOOD_CALL, GOOD_CALL])
    check("llama3_json", f"<|python_tag|>{one}{separator}{one}", None, [GOOD_CALL, GOOD_CALL])


def test_o3_prose_before_the_json() -> None:
    text = 'I will add.\n{"name": "add", "parameters": {"a": 2, "b": 2}}\nDone.'
    check("llama3_json", text, "I will add.\n\nDone.", [GOOD_CALL])


@pytest.mark.parametrize(
    "text", ["[1] See docs", "[docs](url)", "[x] done", "a [add(1, 2)] b", "[]"]
)
def test_o4_brackets_in_prose(text: str) -> None:
    check("pythonic", text, text, [])


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[add(2, 2)]", [GOOD_CALL]),
        ("[add(a=2, b=2)]", [GOOD_CALL]),
        ('[add({"a": 2, "b": 2})]', [GOOD_CALL]),
        ("[_private(x=1)]", [("_private", '{"x": 1}', True)]),
        ("[a.b(x='y')]", [("a.b", '{"x": "y"}', True)]),
        ("[f(x='two\nlines')]", [("f", '{"x": "two\\nlines"}', True)]),
        ("[\n  f(x=1),\n  g()\n]", [("f", '{"x": 1}', True), ("g", "{}", True)]),
        ("[f(x=(1, 'a', None), y={'k': True,})]",
         [("f", '{"x": [1, "a", null], "y": {"k": true}}', True)]),
        ("[f(x=\"it's\", y='say \"hi\"')]", [("f", '{"x": "it\'s", "y": "say \\"hi\\""}', True)]),
        ('[f(x="""a"b""")]', [("f", '{"x": "a\\"b"}', True)]),
        ("[f(x='\\x41\\t\\u00e9\\'')]", [("f", '{"x": "A\\t\\u00e9\'"}', True)]),
        ("[f(x=1_000, y=.5, z=-2)]", [("f", '{"x": 1000, "y": 0.5, "z": -2}', True)]),
    ],
)  # fmt: skip
def test_o5_python(text: str, calls: Calls) -> None:
    names = {name for name, _, _ in calls} - {"add"}
    check("pythonic", text, None, calls, [ADD, *map(tool, sorted(names))])


def test_o6_both_mistral_forms() -> None:
    for text in (
        '[TOOL_CALLS][{"name": "add", "arguments": {"a": 2, "b": 2}}]',
        '[TOOL_CALLS] [{"name": "add", "arguments": {"a": 2, "b": 2}}]',
        '[TOOL_CALLS]add[ARGS]{"a": 2, "b": 2}',
        '[TOOL_CALLS]add{"a": 2, "b": 2}',
        '[TOOL_CALLS]add[CALL_ID]abc123def[ARGS]{"a": 2, "b": 2}',
    ):
        check("mistral", text, None, [GOOD_CALL])


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_o7_the_end_with_the_last_text(format: str) -> None:
    """Whole in one piece, and with every last piece: the same. (`check_all_splits` holds both.)"""
    text = WRITERS[format]([("add", {"a": 2, "b": 2})])
    content, calls = summary(check_all_splits(format, text, pairs_under=0))
    assert content is None
    assert [(n, json.loads(a), c) for n, a, c in calls] == [("add", {"a": 2, "b": 2}, True)]


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_o8_a_tool_that_is_not_declared(format: str) -> None:
    """Behind a marker it is a call; without one it is prose."""
    text = WRITERS[format]([("undeclared", {"a": 2})]).strip()
    content, calls = summary(check_all_splits(format, text, pairs_under=0))
    if format in ("llama3_json", "xlam", "pythonic", "call_text"):
        assert (content, calls) == (text, [])
    else:
        assert content is None
        assert [n for n, _, _ in calls] == ["undeclared"]


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_o9_tool_choice_none(format: str) -> None:
    text = f" One.\n{WRITERS[format]([('add', {'a': 2})])}\nTwo. "
    for chunk in (1, 7, len(text)):
        stream = DeltaStream(format, TOOLS, tool_choice="none")
        deltas = [d for i in range(0, len(text), chunk) for d in stream.feed(text[i : i + chunk])]
        deltas += stream.finish()
        assert accumulate(deltas).content == text
        assert stream.finish_reason("stop") == "stop"


@pytest.mark.parametrize("format", sorted(WRITERS))
def test_o10_only_whitespace_around_calls(format: str) -> None:
    text = f"\n \n{WRITERS[format]([('add', {'a': 2, 'b': 2})])}\n\t\n"
    content, calls = summary(check_all_splits(format, text, pairs_under=0))
    assert content is None
    assert len(calls) == 1
