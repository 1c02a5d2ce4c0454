"""The rules to the letter, where the rows about failures do not reach."""

from __future__ import annotations

import json
from typing import Any

import pytest
from toolwire import (
    Arguments,
    CallStart,
    Content,
    Format,
    Labels,
    NamedJson,
    Parser,
    Tag,
    Tags,
    Wrapper,
    get_format,
    list_formats,
)
from toolwire.shapes import Shape

from ..support import ADD, TOOLS, check_all_splits, coalesce, events_of, summary, tool
from ..writers import WRITERS
from .generate import delimiters

Calls = list[tuple[str, str, bool]]
CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
ADD_1 = ("add", '{"a": 1}', True)


def read(format: str, text: str, tools: Any = TOOLS) -> tuple[str | None, Calls]:
    return summary(check_all_splits(format, text, tools))


# -- whitespace at a call's edge ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"Sure.\n{CALL}\nDone.\n", "Sure.\n\nDone."),
        (f"\n {CALL} \n", None),
        (f"\n {CALL} \n{CALL}\t", None),
        (f" {CALL} Done", " Done"),
        (f"{CALL}\nDone. ", "Done."),
        (f"Sure. {CALL}", "Sure."),
        (" no call \n", " no call \n"),
        (f"a{CALL} {CALL}b", "a b"),
    ],
)
def test_whitespace_at_a_calls_edge(text: str, content: str | None) -> None:
    assert read("hermes", text)[0] == content


# -- the commit point -----------------------------------------------------------------------------


def test_the_name_is_out_when_the_arguments_begin() -> None:
    parser = Parser("hermes", TOOLS)
    assert parser.feed('<tool_call>\n{"name": "add", "arguments": ') == []
    assert parser.feed("{") == [CallStart(0, "add"), Arguments(0, "{")]
    assert parser.feed('"a": "x') == [Arguments(0, '"a": "x')]


def test_prose_streams_up_to_what_may_be_a_delimiter() -> None:
    parser = Parser("hermes", TOOLS)
    assert parser.feed("Hello <b> <tool") == [Content("Hello <b>")]
    assert parser.feed(" bar>") == [Content(" <tool bar>")]


def test_a_plain_json_answer_streams() -> None:
    parser = Parser("json", TOOLS)
    assert coalesce(parser.feed('{"answer": "lo')) == [Content('{"answer": "lo')]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        # other members and stray punctuation behind the arguments are markup
        ('{"name": "add", "arguments": {"a": 1}, "id": "}", "type": {"x": [1]}}', [ADD_1]),
        ('{"name": "add", "arguments": {"a": 1}}]};,\n', [ADD_1]),
        # a value of another type is passed on
        ('{"name": "add", "arguments": [1, 2]}', [("add", "[1, 2]", True)]),
        ('{"name": "add", "arguments": 5}', [("add", "5", True)]),
        ('{"name": "add", "arguments": "text"}', [("add", '"text"', True)]),
        # OpenAI's own nesting
        ('{"type": "function", "function": {"name": "add", "arguments": "{\\"a\\": 1}"}}', [ADD_1]),
        # a bracket that closes nothing is text; one that is missing leaves the call unfinished
        ('{"name": "add", "arguments": {"a": 1], "b": 2}}', [("add", '{"a": 1], "b": 2}', True)]),
        ('{"name": "add", "arguments": {"a": [1, 2}}', [("add", '{"a": [1, 2}', False)]),
        # cut off outside a string: the beginning of a closer is dropped
        ('{"name": "add", "arguments": {"a": 1', [("add", '{"a": 1', False)]),
    ],
)
def test_where_json_arguments_end(text: str, calls: Calls) -> None:
    assert read("hermes", f"<tool_call>{text}</tool_call>") == (None, calls)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("special_token", "<|tool_call|>noargs<|end_tool_call|>"),
        ("special_token", "<|tool_call|>noargs\nnull<|end_tool_call|>"),
        ("special_token", '<|tool_call|>noargs\n""<|end_tool_call|>'),
        ("labeled", "<tool_call>\nname: noargs\n</tool_call>"),
        ("labeled", "<tool_call>\nname: noargs\narguments:\n</tool_call>"),
        ("labeled", "<tool_call>\nname: noargs\narguments: null\n</tool_call>"),
        ("qwen3_coder", "<tool_call>\n<function=noargs>\n</function>\n</tool_call>"),
        ("qwen3_coder", "<tool_call>\n<function=noargs>\n</tool_call>"),
        ("glm45", "<tool_call>noargs\n</tool_call>"),
        ("minicpm5", '<function name="noargs"></function>'),
        ("kimi_k2", "<|tool_call_begin|>noargs:0<|tool_call_argument_begin|><|tool_call_end|>"),
        ("pythonic", "[noargs()]"),
        ("olmo3", "<function_calls>noargs()</function_calls>"),
        ("call_text", "noargs()"),
        ("gemma4", "<|tool_call>call:noargs{}<tool_call|>"),
        ("gemma4", "<|tool_call>call:noargs<tool_call|>"),
        ("apertus", '<|tools_prefix|>[{"noargs": null}]<|tools_suffix|>'),
    ],
)
def test_no_arguments_at_all(format: str, text: str) -> None:
    assert read(format, text) == (None, [("noargs", "{}", True)])


def test_an_object_under_an_unknown_key_is_not_thrown_away() -> None:
    text = '<tool_call>{"name": "add", "argumnets": {"a": 1}}</tool_call>'
    assert read("hermes", text) == (text, [])
    text = '<tool_call>{"name": "noargs", "why": "so"}</tool_call>'
    assert read("hermes", text) == (None, [("noargs", "{}", True)])


def test_other_text_behind_the_arguments_is_content() -> None:
    text = '<tool_call>{"name": "add", "arguments": {"a": 1}} and so on </tool_call>'
    assert read("hermes", text) == ("and so on", [ADD_1])


def test_a_stray_closer() -> None:
    assert read("hermes", f"{CALL}\n</tool_call> x </tool_call>") == ("x </tool_call>", [ADD_1])
    assert read("hermes", "x </tool_call> y") == ("x </tool_call> y", [])


@pytest.mark.parametrize("cut", ["<", "</", "</tool_c", "</tool_call"])
def test_a_closer_cut_off_by_the_end(cut: str) -> None:
    """Outside a string it is markup, inside one it is text."""
    done = '<tool_call>{"name": "add", "arguments": {"a": 1}}'
    assert read("hermes", done + cut) == (None, [ADD_1])
    half = '<tool_call>{"name": "add", "arguments": {"a": 1'
    assert read("hermes", half + cut) == (None, [("add", '{"a": 1', False)])
    string = '<tool_call>{"name": "add", "arguments": {"a": "1'
    assert read("hermes", string + cut) == (None, [("add", '{"a": "1' + cut, False)])


@pytest.mark.parametrize("cut", ["<", "</", "</parame", "\n</parame"])
def test_a_tags_closer_cut_off_by_the_end(cut: str) -> None:
    """The same in a value between tags: a number is no string, and an object may have one open."""
    tools = [*TOOLS, tool("nested", o={"type": "object"})]
    begun = "<tool_call>\n<function={}>\n<parameter={}>\n{}"
    for name, key, value, read_as in (
        ("add", "a", "1", '{"a": 1'),
        ("get_weather", "city", "Os", '{"city": "Os' + json.dumps(cut)[1:-1]),
        ("nested", "o", '{"x": [1', '{"o": {"x": [1'),
        ("nested", "o", '{"x": "y', '{"o": {"x": "y' + cut),
    ):
        text = begun.format(name, key, value) + cut
        assert read("qwen3_coder", text, tools) == (None, [(name, read_as, False)])


def test_a_closer_in_an_open_string() -> None:
    """It counts at the end of the message, and before a newline and an opener; else it is text."""
    lost = '<tool_call>{"name": "add", "arguments": {"a": "x}}</tool_call>'
    assert read("hermes", lost) == (None, [("add", '{"a": "x}}', False)])
    assert read("hermes", f"{lost} \n {CALL}") == (None, [("add", '{"a": "x}}', False), ADD_1])
    kept = f'{lost} {CALL}"}}}}</tool_call>'
    assert read("hermes", kept)[1][0][1].startswith('{"a": "x}}</tool_call> <tool_call>{')
    three = '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{"a": "x}'
    three += "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    assert read("deepseek_v3_1", three) == (None, [("add", '{"a": "x}', False)])


def test_complete() -> None:
    assert read("hermes", '<tool_call>{"name": "add", "arguments": {"a": 1}')[1][0][2] is True
    assert read("hermes", '<tool_call>{"name": "add", "arguments": {"a": 1')[1][0][2] is False
    quoted = r'<tool_call>{"name": "add", "arguments": "{\"a\": 1'
    assert read("hermes", quoted) == (None, [("add", '{"a": 1', False)])
    assert read("hermes", quoted + '"}</tool_call>') == (None, [("add", '{"a": 1', False)])
    assert read("hermes", quoted + '}"}</tool_call>') == (None, [ADD_1])


def test_newlines_may_be_crlf() -> None:
    text = (
        "<tool_call>\r\n<function=write_file>\r\n<parameter=content>\r\na\r\nb\r\n</parameter>\r\n"
        "</function>\r\n</tool_call>"
    )
    assert read("qwen3_coder", text) == (None, [("write_file", '{"content": "a\\r\\nb"}', True)])


# -- tags -----------------------------------------------------------------------------------------


def qwen(value: str, end: str) -> str:
    return f"<tool_call>\n<function=write_file>\n<parameter=content>\n{value}{end}"


@pytest.mark.parametrize(
    ("end", "complete"),
    [
        ("\n</parameter>\n</function>\n</tool_call>", True),
        ("\n</function>\n</tool_call>", True),
        ("\n</tool_call>", True),
        ("\n</parameter>", True),
        ("\n</parameter>\n</function>", True),
        ("\n</function>", True),
        ("\n</parameter>\n</func", True),
        (f"\n</parameter>\n{CALL}", True),
        (f"\n</function>\n{CALL}", True),
        ("\n</parameter>\n<parameter=pa", False),
    ],
)
def test_chains_that_end_a_value(end: str, complete: bool) -> None:
    calls = read("qwen3_coder", qwen("v", end))[1]
    closed = '{"content": "v"}' if complete else '{"content": "v"'
    assert calls[0] == ("write_file", closed, complete)
    assert calls[1:] == ([ADD_1] if CALL in end else [])


def test_a_closer_cut_off_in_a_value_is_text() -> None:
    assert read("qwen3_coder", qwen("v", "\n</param"))[1] == [
        ("write_file", '{"content": "v\\n</param', False)
    ]


def test_a_value_that_was_cut_off_looks_like_what_it_was_becoming() -> None:
    declared = [tool("f", n={"type": "integer"}, o={"type": "object"}, b={"type": "boolean"})]
    for key, text, shown in (
        ("n", "12", "12"),
        ("o", '{"x": [1', '{"x": [1'),
        ("b", "tr", "tr"),
        ("n", "abc", '"abc'),
    ):
        call = f"<tool_call>\n<function=f>\n<parameter={key}>\n{text}"
        assert read("qwen3_coder", call, declared)[1] == [("f", f'{{"{key}": {shown}', False)]


def test_string_attribute() -> None:
    """DeepSeek V3.2 says whether a value is text or JSON. That wins over the schema, but for a number
    that is said to be text."""
    text = (
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="add">\n'
        '<｜DSML｜parameter name="a" string="true">1</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="b" string="false">[1, {}]</｜DSML｜parameter>\n'
        '<｜DSML｜parameter name="c" string="true">1</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>"
    )
    arguments = '{"a": 1, "b": [1, {}], "c": "1"}'
    assert read("deepseek_v3_2", text) == (None, [("add", arguments, True)])
    odd = text.replace(">1<", ">one<", 1)
    assert read("deepseek_v3_2", odd) == (None, [("add", arguments.replace("1", '"one"', 1), True)])


# -- names and ids --------------------------------------------------------------------------------


def test_ids_that_the_model_wrote() -> None:
    text = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:3"
        "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>"
    )
    assert events_of("kimi_k2", [text])[0] == CallStart(0, "get_weather", "functions.get_weather:3")
    text = "[TOOL_CALLS]add[CALL_ID]abc123def[ARGS]{}"
    assert events_of("mistral", [text])[0] == CallStart(0, "add", "abc123def")
    text = "<|tool_call:begin|>abc123defg<|tool_call:name|>add<|tool_call:args|>{}<|tool_call:end|>"
    assert events_of("solar_open", [text])[0] == CallStart(0, "add", "abc123defg")
    text = '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "add", "parameters": {}}]'
    assert events_of("cohere", [text])[0] == CallStart(0, "add", None)


def test_section_markers_alone_are_prose() -> None:
    text = "<｜tool▁calls▁begin｜>nonsense<｜tool▁calls▁end｜>"
    for format in ("deepseek_v3", "deepseek_v3_1"):
        assert read(format, text) == (text, [])


# -- bare JSON ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('{"name": "add", "arguments": {"a": 1}}', None),
        ('[{"name": "add", "arguments": {"a": 1}}]', None),
        ('{"tool_calls": [{"name": "add", "arguments": {"a": 1}}]}', None),
        ('{"type": "function", "function": {"name": "add", "arguments": {"a": 1}}}', None),
        ('```json\n{"name": "add", "arguments": {"a": 1}}\n```', None),
        ('```\n[{"name": "add", "parameters": {"a": 1}}]\n```\n', None),
        ('Yes:\n{"name": "add", "arguments": {"a": 1}}\nDone.', "Yes:\n\nDone."),
        ('Yes:\n```json\n{"name": "add", "arguments": {"a": 1}}\n```\nDone.', "Yes:\n\nDone."),
        ('  {"name": "add", "arguments": {"a": 1}}', None),
    ],
)
def test_json_mode(text: str, content: str | None) -> None:
    for format in ("json", "llama3_json", "xlam"):
        assert read(format, text) == (content, [ADD_1])


@pytest.mark.parametrize(
    "text",
    [
        'so {"name": "other", "arguments": {"a": 1}}',  # not declared, in the middle of a line
        '{"name": "add"}',  # no arguments
        '{"name": "other", "arguments": {}}',  # not declared
        '{"tool_calls": []}',
        '{"arguments": {}}',
    ],
)
def test_json_that_is_no_call(text: str) -> None:
    assert read("json", text) == (text, [])


def test_behind_the_marker_any_name_is_a_call() -> None:
    text = '{"tool_calls": [{"name": "other"}, {"name": "x", "arguments": {"a": 1}}]}'
    assert read("json", text) == (None, [("other", "{}", True), ("x", '{"a": 1}', True)])


# -- call text ------------------------------------------------------------------------------------

SEARCH = tool("Search", query={"type": "string"}, limit={"type": "integer"})
SEARCHED = ("Search", '{"query": "py", "limit": 10}', True)


@pytest.mark.parametrize(
    "text",
    [
        'Search(query="py", limit=10)',
        "Search(query='py', limit=10)",
        'Search(query = "py",\n       limit = 10)',
        'Search("py", 10)',
        "Search(py, 10)",
        'Search({"query": "py", "limit": 10})',
        'Search({query: "py", limit: 10})',
        'Search(query="py", limit="10")',
        '```\nSearch("py", 10)\n```',
        '```python\nSearch("py", 10)\n```\n',
        'Search("py", 10)\nSearch(limit=10, query="py")',
        'Search("py", 10) Search({"limit": 1e1, "query": "p\\u0079"})',
    ],
)
def test_call_text(text: str) -> None:
    assert read("call_text", text, [SEARCH]) == (None, [SEARCHED])


@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [
        ('I do.\nSearch("py", 10)\nDone.', "I do.\n\nDone.", [SEARCHED]),
        ('Then I call Search("py", 10), see?', "Then I call , see?", [SEARCHED]),
        ("Use `Search(1)` or ``Search(`2)`` or print(Search)", None, []),
        ("Mid-sentence Search(a, b) is prose", None, []),
        ("Search (1)", None, []),
        ("ReSearch(1) x.Search(1) 9Search(1)", None, []),
        ("```\nx = Search(1)\nSearch(2)\n```\nno", None, []),
        ("Search(", None, []),
        ("Search(query", None, [("Search", '{"query": "query', False)]),
        ("it`s Search(query=1)\n", None, []),
        ('```\nSearch("py", 10)\n# why\n```\nyes', "# why\n\nyes", [SEARCHED]),
        ('Search(query="a', None, [("Search", '{"query": "a', False)]),
        ("Search(query=02134)", None, [("Search", '{"query": "02134"}', True)]),
        ("Search(x=[1, {'a': None}], y=3.5, z=true, w=two words)", None,
         [("Search", '{"x": [1, {"a": null}], "y": 3.5, "z": true, "w": "two words"}', True)]),
        ("Search()", None, [("Search", "{}", True)]),
    ],
)  # fmt: skip
def test_call_text_in_prose(text: str, content: str | None, calls: Calls) -> None:
    expected = content if content is not None or calls else text
    assert read("call_text", text, [SEARCH]) == (expected, calls)


def test_call_text_without_tools() -> None:
    """Every name is a call then, and positional values are strings."""
    expected = [("Find", '{"arg0": "python", "arg1": "10"}', True)]
    assert read("call_text", "Find(python, 10)", None) == (None, expected)
    assert read("call_text", "f(1) g(1)", None)[1][1] == ("g", '{"arg0": "1"}', True)


@pytest.mark.slow
def test_a_repeat_among_many_calls() -> None:
    calls = [f'get_weather(city="c{i}", unit="{u}")' for i in range(20) for u in "CF"]
    text = "\n".join([*calls, *reversed(calls), 'get_weather(unit="C", city="c7")'])
    found = [arguments for _, arguments, _ in read("call_text", text)[1]]
    assert found == [f'{{"city": "c{i}", "unit": "{u}"}}' for i in range(20) for u in "CF"]


def test_members_of_two_earlier_calls_make_no_repeat() -> None:
    cities = [("Oslo", "C"), ("Rome", "F"), ("Oslo", "F"), ("Rome", "F")]
    text = "\n".join(f'get_weather(city="{city}", unit="{unit}")' for city, unit in cities)
    assert [arguments for _, arguments, _ in read("call_text", text)[1]] == [
        f'{{"city": "{city}", "unit": "{unit}"}}' for city, unit in cities[:3]
    ]


def test_more_than_a_text_as_a_value_is_compared_as_it_is() -> None:
    text = 'f(a="x" y)\nf(a="x" y)\nf(a="x")\nf(a="x" z)'
    found = [arguments for _, arguments, _ in read("call_text", text, None)[1]]
    assert found == ['{"a": "x" y}', '{"a": "x"}', '{"a": "x" z}']


def test_a_call_streams_as_soon_as_it_can_be_no_repeat() -> None:
    parser = Parser("call_text", [SEARCH])
    parser.feed('Search(query="abc", limit=1)\n')
    assert parser.feed('Search(query="ab') == []
    assert parser.feed("x") == [CallStart(1, "Search"), Arguments(1, '{"query": "abx')]
    parser = Parser("call_text", [SEARCH])
    parser.feed('Search(query="abc", limit=1)\n')
    assert parser.feed('Search(limit=1, query="abc"') == []
    assert parser.feed(")") + parser.finish() == []


# -- pythonic and bare keys -----------------------------------------------------------------------


def test_pythonic_types() -> None:
    declared = [tool("f", s={"type": "string"}, n={"type": "integer"})]
    assert read("pythonic", "[f(s=5, n='5')]", declared) == (
        None,
        [("f", '{"s": "5", "n": "5"}', True)],
    )
    assert read("pythonic", "[add(1, b=2)]", [ADD])[1] == [("add", '{"a": 1, "b": 2}', True)]


def test_bare_keys() -> None:
    text = '<|tool_call>call:f{s:<|"|>a "b", {c}<|"|>,n:02,o:{k:[1,true]},"q":null}<tool_call|>'
    declared = [tool("f", n={"type": "string"})]
    assert read("gemma4", text, declared) == (
        None,
        [("f", '{"s": "a \\"b\\", {c}", "n": "02", "o": {"k": [1, true]}, "q": null}', True)],
    )


# -- spellings that a format has beside the one its writer uses --------------------------------------


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("functionary", '>>>add\n{"a": 1}'),
        ("granite", '<tool_call> [{"name": "add", "arguments": {"a": 1}}]'),
        ("gigachat3", '<|function_call|>{"name": "add", "arguments": {"a": 1}}'),
        ("internlm", '<|action_start|> <|plugin|>\n{"name": "add", "parameters": {"a": 1}}'),
        ("xlam", '[TOOL_CALLS][{"name": "add", "arguments": {"a": 1}}]'),
        ("xlam", '<tool_call>[{"name": "add", "arguments": {"a": 1}}]</tool_call>'),
        ("llama3_json", '<|python_tag|>{"name": "add", "parameters": {"a": 1}}'),
        ("llama4_pythonic", "[add(a=1)]"),
        ("mistral", '[TOOL_CALLS] [{"name": "add", "arguments": {"a": 1}}]'),
        ("special_token", '<|tool_call|>{"name": "add", "arguments": {"a": 1}}<|end_tool_call|>'),
        ("labeled", '<tool_call>\narguments: {"a": 1}\nname: add\n</tool_call>'),
        ("labeled", '<tool_call>\nname: "add"\nparameters: {"a": 1}\nid: x\n</tool_call>'),
        ("labeled", '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'),
        ("qwen3_coder", '<tool_call>\n<function=add>\n{"a": 1}\n</function>\n</tool_call>'),
        ("deepseek_v3", '<｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n{"a": 1}<｜tool▁call▁end｜>'),
        ("kimi_k2", '<|tool_call_begin|>add:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|>'),
        ("hy3", "<tool_call>add<tool_sep><arg_key>a</arg_key><arg_value>1</arg_value></tool_call>"),
        ("gemma4", '<|tool_call>{"name": "add", "arguments": {"a": 1}}<tool_call|>'),
    ],
)  # fmt: skip
def test_other_spellings(format: str, text: str) -> None:
    assert read(format, text) == (None, [ADD_1])


@pytest.mark.parametrize("format", [f for f in list_formats() if not get_format(f).channels])
def test_prose_about_the_format(format: str) -> None:
    """Rule 7: a delimiter that stands in a sentence is part of the sentence."""
    for mark in delimiters(get_format(format)):
        for text in (
            f"Write {mark} to call a tool.",
            f"Write {mark}",
            f"Like `{mark}`, then {mark}.",
        ):
            assert summary(check_all_splits(format, text, pairs_under=0)) == (text, [])


@pytest.mark.parametrize("format", [f for f in list_formats() if not get_format(f).channels])
def test_cut_before_the_commit_point(format: str) -> None:
    """Rule 2: as long as there is no call, all of the text is content."""
    text = "Yes.\n" + WRITERS[format]([("add", {"a": 1, "b": 2})])
    for i in range(len(text)):
        content, calls = summary(events_of(format, [text[:i]]))
        if not calls:
            assert content == (text[:i] or None)


@pytest.mark.parametrize("format", [name for name in list_formats() if get_format(name).bare])
@pytest.mark.parametrize("indent", ["  ", "\t", "\r\n "])
def test_a_bare_call_on_an_indented_line(format: str, indent: str) -> None:
    """… behind another one, or behind prose: a line begins there, however the text is cut."""
    bare = {
        "pythonic": "[add(a=1)]",
        "qwen3_coder": "<function=add>\n<parameter=a>\n1\n</parameter>\n</function>",
    }
    call = bare.get(format) or WRITERS[format]([("add", {"a": 1})])
    content, calls = read(format, f"{call}\n{indent}{call}\nSo:\n{indent}{call}")
    assert (content, calls) == ("So:", [ADD_1] * 3)


# -- closers behind a name in the open ------------------------------------------------------------

IN_THE_OPEN: dict[str, tuple[Shape, str, str]] = {
    "labels": (Labels(), "name: NAME", 'name: add\narguments: {"a": 1}'),
    "labels with an id": (Labels(), "name: NAME\nid: 7", 'id: 7\nname: add\narguments: {"a": 1}'),
    "names and JSON": (NamedJson(), "NAME", 'add\n{"a": 1}'),
    "tags": (
        Tags(call=None, parameter=Tag(("<k=",)), parameter_close=("</k>",)),
        "NAME",
        "add<k=a>1</k>",
    ),
}


@pytest.mark.parametrize("kind", IN_THE_OPEN)
@pytest.mark.parametrize("close", ["[/CALL]", "</call>", "｜終｜", "@@done", "END", "#", "\\end"])
def test_any_closer_ends_a_name_in_the_open(kind: str, close: str) -> None:
    shape, alone, whole = IN_THE_OPEN[kind]
    spec = Format("mine", shape, (Wrapper(("<open>",), (close,)),))
    for space in ("", " ", "\n"):
        if close == "END" and not space:
            continue  # inside a word it is a part of that
        one = f"<open>{alone.replace('NAME', 'noargs')}{space}{close}"
        two = f"<open>{whole}{space}{close}"
        found = summary(check_all_splits(spec, f"{one}{two} So.", pairs_under=0))
        assert found == ("So.", [("noargs", "{}", True), ADD_1]), (one, two)


def test_a_closer_inside_a_word_is_a_part_of_it() -> None:
    spec = Format("mine", Labels(), (Wrapper(("<open>",), ("END",)),))
    text = '<open>name: sEND_mail\narguments: {"a": 1}\nEND'
    assert summary(check_all_splits(spec, text, None))[1] == [("sEND_mail", '{"a": 1}', True)]


#: Calls without the wrappers that should be around them.
UNWRAPPED = {
    "qwen3_coder": "<function=add><parameter=a>1</parameter></function>",
    "minimax_m2": '<invoke name="add"><parameter name="a">1</parameter></invoke>',
    "step3": '<steptml:invoke name="add"><steptml:parameter name="a">1</steptml:parameter>'
    "</steptml:invoke>",
    "minimax_m3": ']<]minimax[>[<invoke name="add">]<]minimax[>[<a>1]<]minimax[>[</a>'
    "]<]minimax[>[</invoke>",
    "cohere_command5": '<cofl:tool_call id="0" name="add"><cofl:value name="a" type="json">1'
    "</cofl:value></cofl:tool_call>",
}


@pytest.mark.parametrize("format", UNWRAPPED)
@pytest.mark.parametrize("space", ["", " ", "\n"])
def test_calls_follow_one_another_without_their_wrapper(format: str, space: str) -> None:
    """A call's own closer ends the call, not the row. Without a marker only declared tools count."""
    call = UNWRAPPED[format]
    assert read(format, f"{call}{space}{call}") == (None, [ADD_1, ADD_1])
    other = call.replace("add", "unknown")
    assert read(format, f"{call}{space}{other}")[1] == [ADD_1]
