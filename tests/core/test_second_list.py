"""What toolwire itself got wrong once, a row for each class, cut in every way.

The rows are named T, as the rows H, X and O of `test_failures` are. Each failed before it was put here.
Where a row makes sense in other formats of its kind, it runs there, too.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import Parser, parse
from toolwire.core.python_literals import python_literal

from ..support import ADD, INTEGER, STRING, TOOLS, check_all_splits, events_of, summary, tool

Calls = list[tuple[str, str, bool]]

BOOK = tool(
    "book",
    guests={"type": "object"},
    town=STRING,
    nights=INTEGER,
    tags={"type": "array"},
    rate={"type": "number"},
)
SEARCH = tool("search", pattern=STRING, flags=STRING)
KNOWN = [*TOOLS, BOOK, SEARCH]
SUM = ("add", '{"a": 1, "b": 2}', True)
OTHER_SUM = ("add", '{"a": 3, "b": 4}', True)
SUM_JSON = '{"name": "add", "arguments": {"a": 1, "b": 2}}'
OTHER_JSON = '{"name": "add", "arguments": {"a": 3, "b": 4}}'

Row = tuple[str, str, str, str | None, Calls]

# -- bare JSON -------------------------------------------------------------------------------------

BARE_JSON = ("json", "llama3_json", "xlam")
IN_BARE_JSON: list[tuple[str, str, str | None, Calls]] = [
    (
        "T20 in the middle of a line",
        f"The sum: {SUM_JSON} Anything else?",
        "The sum:  Anything else?",
        [SUM],
    ),
    ("T20 in a list there", f"The sum: [{SUM_JSON}] More?", "The sum:  More?", [SUM]),
    ("T20 behind a closer of thoughts", f"so I add.</think>{SUM_JSON}", "so I add.</think>", [SUM]),
    ("T20 inline code is prose", f"Write `{SUM_JSON}` for it.", f"Write `{SUM_JSON}` for it.", []),
    (
        "T20 not declared",
        'Like {"name": "zz", "arguments": {}}.',
        'Like {"name": "zz", "arguments": {}}.',
        [],
    ),
    (
        "T50 a stranger first",
        f'[{{"name": "zz", "arguments": {{"s": "]"}}}}, {SUM_JSON}]',
        '[{"name": "zz", "arguments": {"s": "]"}},',
        [SUM],
    ),
    (
        "T50 a stranger between",
        f'[{SUM_JSON}, {{"name": "zz", "arguments": {{}}}}, {OTHER_JSON}]',
        ', {"name": "zz", "arguments": {}},',
        [SUM, OTHER_SUM],
    ),
    (
        "T50 something else between",
        f'[{SUM_JSON}, {{"x": [1, {{}}]}}, {OTHER_JSON}]',
        ', {"x": [1, {}]},',
        [SUM, OTHER_SUM],
    ),
    ("T51 the last brace is missing", SUM_JSON[:-1] + f"\n{OTHER_JSON}", None, [SUM, OTHER_SUM]),
    ("T55 nothing comes twice", f'{{"tool_calls": [{{"k": 1}}, {SUM_JSON}]}}', '{"k": 1}', [SUM]),
    ("T55 the end of a block of code", f"```\nx = 1\n```\n{SUM_JSON}", "```\nx = 1\n```", [SUM]),
    (
        "T55 words behind a fence",
        f"```json and here it is: {SUM_JSON}\n```",
        "```json and here it is: \n```",
        [SUM],
    ),
    ("T55 a fence around two", f"```json\n{SUM_JSON}\n{OTHER_JSON}\n```", None, [SUM, OTHER_SUM]),
    (
        "T55 text in a fence of calls",
        f"```json\n{SUM_JSON}\nso\n```\n{OTHER_JSON}",
        "so\n```",
        [SUM, OTHER_SUM],
    ),
]


@pytest.mark.parametrize("format", BARE_JSON)
@pytest.mark.parametrize(
    ("text", "content", "calls"),
    [row[1:] for row in IN_BARE_JSON],
    ids=[r[0] for r in IN_BARE_JSON],
)
def test_bare_json(format: str, text: str, content: str | None, calls: Calls) -> None:
    assert summary(check_all_splits(format, text, KNOWN)) == (content, calls)


@pytest.mark.parametrize("format", BARE_JSON)
def test_t20_without_tools_only_at_the_start_of_a_line(format: str) -> None:
    text = f"The sum: {SUM_JSON}"
    assert summary(check_all_splits(format, text, None)) == (text, [])
    assert summary(check_all_splits(format, f"The sum:\n{SUM_JSON}", None)) == ("The sum:", [SUM])


@pytest.mark.parametrize("format", BARE_JSON)
def test_t50_in_a_list_without_tools(format: str) -> None:
    text = f'[{{"answer": "a, {{\\""}}, {SUM_JSON}, 7, {OTHER_JSON}]'
    content, calls = summary(check_all_splits(format, text, None))
    assert calls == [SUM, OTHER_SUM]
    assert content == '[{"answer": "a, {\\""}, , 7,'


@pytest.mark.parametrize("format", BARE_JSON)
def test_a_list_that_is_an_answer_goes_out_as_it_comes(format: str) -> None:
    parser = Parser(format, KNOWN)
    text = '[{"answer": 1}, {"answer": "two'
    said = summary([event for c in text for event in parser.feed(c)])[0]
    assert said == text


IN_MARKED_JSON: list[Row] = [
    (
        "T50",
        "mistral",
        f'[TOOL_CALLS][{{"nam": "x"}}]\n[TOOL_CALLS][{SUM_JSON}]',
        '[TOOL_CALLS][{"nam": "x"}]',
        [SUM],
    ),
    (
        "T50 broken JSON",
        "mistral",
        f"[TOOL_CALLS][{{nam: 1}}, {SUM_JSON}]",
        "[TOOL_CALLS][{nam: 1},",
        [SUM],
    ),
    (
        "T50 broken JSON",
        "hermes",
        f"<tool_call>[{{nam: 1}}, {SUM_JSON}]</tool_call>",
        "<tool_call>[{nam: 1},",
        [SUM],
    ),
    (
        "T50 broken JSON",
        "jamba",
        f"<tool_calls>[{SUM_JSON}, {{nam: 1}}, {OTHER_JSON}]</tool_calls>",
        "{nam: 1},",
        [SUM, OTHER_SUM],
    ),
    (
        "T50 as Python",
        "sarashina",
        "[{'name': 'zz', 'arguments': {'s': ']'}}, {'name': 'add', 'arguments': {'a': 1, 'b': 2}}]",
        "[{'name': 'zz', 'arguments': {'s': ']'}},",
        [SUM],
    ),
    *[
        (
            f"T56 {what}",
            "hermes",
            f"<tool_call>{{{body}}}</tool_call>",
            f"<tool_call>{{{body}}}</tool_call>",
            [],
        )
        for what, body in [
            ("as text", '"name": "add", "args": "{\\"a\\": 1}"'),
            ("as an object", '"name": "add", "input": {"a": 1}'),
            ("as a list", '"args": [1, 2], "name": "add"'),
            ("as members", '"name": "add", "a": 1, "b": 2'),
        ]
    ],
    (
        "T56 an id is no argument",
        "hermes",
        '<tool_call>{"name": "noargs", "id": "x"}</tool_call>',
        None,
        [("noargs", "{}", True)],
    ),
    (
        "T58",
        "labeled",
        '<tool_call>\nname: add\narguments:\n```json\n{"a": 1, "b": 2}\n```\n</tool_call>',
        None,
        [SUM],
    ),
    (
        "T58 before the name",
        "labeled",
        '<tool_call>\narguments: ```\n{"a": 1, "b": 2}\n```\nname: add\n</tool_call>',
        None,
        [SUM],
    ),
    ("T24", "functionary", 'add\n{"a": 1, "b": 2}', None, [SUM]),
    ("T24 text", "functionary", "all\nHi.", "Hi.", []),
    ("T24 text and a call", "functionary", 'all\nHi.\n>>>add\n{"a": 1, "b": 2}', "Hi.", [SUM]),
    ("T24 not the first", "functionary", '>>>all\nHi.>>>add\n{"a": 1, "b": 2}', "Hi.", [SUM]),
    ("T24 just a word", "functionary", "Sure\n{}", "Sure\n{}", []),
    (
        "T25",
        "gigachat3",
        f"Hi.<|message_sep|>\n\nfunction call<|role_sep|>\n{SUM_JSON}",
        "Hi.",
        [SUM],
    ),
    (
        "T25 without lines",
        "gigachat3",
        f"Hi.<|message_sep|>function call<|role_sep|>{SUM_JSON}",
        "Hi.",
        [SUM],
    ),
    *[
        (
            f"T28 {what}",
            "kimi_k2",
            f"<|tool_calls_section_begin|><|tool_call_begin|>{header}<|tool_call_argument_begin|>{arguments}<|tool_call_end|><|tool_calls_section_end|>",
            None,
            [(name, arguments, True)],
        )
        for what, header, arguments, name in [
            ("just one fits", "call00007", '{"a": 1, "b": 2}', "add"),
            ("none fits", "call00007", '{"q": 1}', "call00007"),
            ("two fit", "call00007", "{}", "call00007"),
            ("a name is a name", "functions.zz:0", '{"a": 1}', "zz"),
        ]
    ],
]


# -- as Python writes them -------------------------------------------------------------------------

#: Arguments of a call, and what they are, wherever calls are written as code.
PYTHON_ARGUMENTS: list[tuple[str, str, str, str]] = [
    ("T8 a set", "book", 'tags={"a", "b"}', '{"tags": ["a", "b"]}'),
    ("T8 a set of one", "book", "tags={7}", '{"tags": [7]}'),
    ("T8 a set in an object", "book", "guests={'k': {1, 'x'}}", '{"guests": {"k": [1, "x"]}}'),
    ("T8 an object is none", "book", "guests={}", '{"guests": {}}'),
    (
        "T10 an object and more",
        "book",
        '{"adults": 1}, "Oslo"',
        '{"guests": {"adults": 1}, "town": "Oslo"}',
    ),
    ("T10 … by name", "book", '{"adults": 1}, nights=2', '{"guests": {"adults": 1}, "nights": 2}'),
    (
        "T10 an object alone",
        "book",
        '{"town": "Oslo", "nights": 2}',
        '{"town": "Oslo", "nights": 2}',
    ),
    ("T10 alone, but no parameter", "book", '{"adults": 1}', '{"guests": {"adults": 1}}'),
    (
        "T53 raw",
        "search",
        r'pattern=r"\w+\"", flags="\t"',
        r'{"pattern": "\\w+\\\"", "flags": "\t"}',
    ),
    ("T53 prefixes", "search", "pattern=u'x', flags=b\"y\"", '{"pattern": "x", "flags": "y"}'),
    (
        "T53 in a row",
        "search",
        'pattern="one, "\n   \'two)\' r"\\d"',
        '{"pattern": "one, two)\\\\d"}',
    ),
    (
        "T53 in parentheses",
        "search",
        'pattern=("one\\n"\n  "two"), flags="g"',
        '{"pattern": "one\\ntwo", "flags": "g"}',
    ),
    ("T53 in a row, in a list", "book", 'tags=["a" "b", "c"\n "d"]', '{"tags": ["ab", "cd"]}'),
    (
        "T53 a number in parentheses",
        "book",
        "nights=(42), rate=((.5))",
        '{"nights": 42, "rate": 0.5}',
    ),
    ("T53 numbers", "book", "rate=.5, nights=+1", '{"rate": 0.5, "nights": 1}'),
    ("T53 tuples", "book", "tags=(1,), guests={'k': ()}", '{"tags": [1], "guests": {"k": []}}'),
    ("T53 a comment", "book", "nights=1, # two, or three)\n rate=2", '{"nights": 1, "rate": 2}'),
    (
        "T53 behind a value",
        "book",
        'nights=1 # one\n, town="x" # a town\n',
        '{"nights": 1, "town": "x"}',
    ),
    ("T53 in a list", "book", "tags=[1, # one, first]\n 2 # two\n]", '{"tags": [1, \n 2\n]}'),
    ("T53 keys", "book", "guests={u'x': 1, r'\\y': 2}", '{"guests": {"x": 1, "\\\\y": 2}}'),
    (
        "T53 a tuple as key",
        "book",
        "guests={(1, 2): 3, 'b': 4, (5, 6): 7}",
        '{"guests": {"(1, 2)": 3, "b": 4, "(5, 6)": 7}}',
    ),
    ("T57 colons", "search", 'pattern: "x", flags: "y"', '{"pattern": "x", "flags": "y"}'),
    (
        "T57 keys in quotes",
        "search",
        '"pattern": "x", \'flags\': "y"',
        '{"pattern": "x", "flags": "y"}',
    ),
    (
        "T57 a value is no key",
        "search",
        '"pattern", "pat: x"',
        '{"pattern": "pattern", "flags": "pat: x"}',
    ),
    (
        "T59 a long keyword",
        "book",
        f"nights=1, {'k' * 300}=2",
        f'{{"nights": 1, "{"k" * 300}": 2}}',
    ),
]
AROUND = {
    "pythonic": "[{}]",
    "llama4_pythonic": "<|python_start|>[{}]<|python_end|>",
    "lfm2": "<|tool_call_start|>[{}]<|tool_call_end|>",
    "olmo3": "<function_calls>\n{}\n</function_calls>",
    "call_text": "{}",
}


@pytest.mark.parametrize("format", AROUND)
@pytest.mark.parametrize(
    ("name", "written", "arguments"),
    [row[1:] for row in PYTHON_ARGUMENTS],
    ids=[row[0] for row in PYTHON_ARGUMENTS],
)
def test_python_arguments(format: str, name: str, written: str, arguments: str) -> None:
    text = AROUND[format].replace("{}", f"{name}({written})")
    events = check_all_splits(format, text, KNOWN, pairs_under=40)
    assert summary(events) == (None, [(name, arguments, True)])
    json.loads(arguments)


@pytest.mark.parametrize("format", AROUND)
@pytest.mark.parametrize(("name", "key"), [("find", "año"), ("नगर", "दूरी"), ("検索", "キー")])
def test_t9_letters_of_any_script(format: str, name: str, key: str) -> None:
    tools = [tool(name, first=STRING, **{key: INTEGER})]
    text = AROUND[format].replace("{}", f'{name}(first="é", {key}=2024)')
    events = check_all_splits(format, text, tools, pairs_under=40)
    assert summary(events) == (None, [(name, f'{{"first": "é", "{key}": 2024}}', True)])


def test_t9_a_name_behind_letters_of_another_script() -> None:
    events = check_all_splits("call_text", "我会调用add(a=1, b=2)。", KNOWN)
    assert summary(events) == ("我会调用。", [SUM])


CODE: list[Row] = [
    (
        "T10 nothing is declared",
        "call_text",
        'pay({"sum": 1}, "EUR")',
        None,
        [("pay", '{"arg0": {"sum": 1}, "arg1": "EUR"}', True)],
    ),
    (
        "T10 nothing is declared",
        "pythonic",
        '[pay({"sum": 1})]',
        None,
        [("pay", '{"sum": 1}', True)],
    ),
]

LISTS: list[Row] = [
    ("T50 a stranger first", "pythonic", "[zz(c=3), add(a=1, b=2)]", "[zz(c=3),", [SUM]),
    (
        "T50 a stranger between",
        "pythonic",
        '[add(a=1, b=2), zz(c="), x"), add(a=3, b=4)]',
        ', zz(c="), x"),',
        [SUM, OTHER_SUM],
    ),
    (
        "T50 a bare word",
        "pythonic",
        "[add(a=1, b=2), add(a=x), add(a=3, b=4)]",
        ", add(a=x),",
        [SUM, OTHER_SUM],
    ),
    (
        "T50 a comment",
        "pythonic",
        "[add(a=1, b=2), # then, add(a=9)\n add(a=3, b=4)]",
        ", # then, add(a=9)",
        [SUM, OTHER_SUM],
    ),
    (
        "T50 a bare word",
        "lfm2",
        "<|tool_call_start|>[add(a=x), add(a=1, b=2), zz, add(a=3, b=4)]<|tool_call_end|>",
        "add(a=x)zz",
        [SUM, OTHER_SUM],
    ),
    (
        "T50 a comment",
        "olmo3",
        "<function_calls>\nadd(a=1, b=2) # one\nadd(a=3, b=4)\n</function_calls>",
        "# one",
        [SUM, OTHER_SUM],
    ),
    (
        "T50 prose is prose",
        "pythonic",
        "[1] See [docs](url), [2].",
        "[1] See [docs](url), [2].",
        [],
    ),
    ("T22", "lfm2", f"<|tool_call_start|>[{SUM_JSON}]<|tool_call_end|>", None, [SUM]),
    (
        "T22",
        "olmo3",
        f"<function_calls>\n{SUM_JSON}\n{OTHER_JSON}\n</function_calls>",
        None,
        [SUM, OTHER_SUM],
    ),
    ("T23", "pythonic", "<|python_start|>[add(a=1, b=2)]<|python_end|>", None, [SUM]),
    ("T54", "pythonic", "```python\n[add(a=1, b=2)]\n```", None, [SUM]),
    ("T54 with text", "pythonic", "Now:\n```\n[add(a=1, b=2)]\n```\nDone.", "Now:\n\nDone.", [SUM]),
    (
        "T54 a block of code before",
        "pythonic",
        "```\ncode\n```\n[add(a=1, b=2)]",
        "```\ncode\n```",
        [SUM],
    ),
    (
        "T52 the line ends",
        "call_text",
        "add(a=1, b=2\nIt is 3.",
        "It is 3.",
        [("add", '{"a": 1, "b": 2', False)],
    ),
    (
        "T52 another call",
        "call_text",
        "add(a=1,\nadd(a=3, b=4)",
        None,
        [("add", '{"a": 1', False), OTHER_SUM],
    ),
    (
        "T52 behind a text",
        "call_text",
        'write_file(path="x"\nadd(a=3, b=4)',
        None,
        [("write_file", '{"path": "x"', False), OTHER_SUM],
    ),
    ("T52 it may go on", "call_text", "add(a=1,\n    b=2\n)", None, [SUM]),
    (
        "T52 in a list",
        "pythonic",
        "[add(a=1, b=2]\n[add(a=3, b=4)]",
        None,
        [("add", '{"a": 1, "b": 2', False), OTHER_SUM],
    ),
    ("T59 a long name", "pythonic", f"[{'n' * 300}(a=1)]", f"[{'n' * 300}(a=1)]", []),
]

# -- tags and bare keys ----------------------------------------------------------------------------

KEYS: list[Row] = [
    *[
        (
            f"T7 {what}",
            "gemma4",
            f"<|tool_call>call:get_weather{{{body}}}<tool_call|>",
            None,
            [("get_weather", arguments, True)],
        )
        for what, body, arguments in [
            (
                "JSON's quotes",
                r'city:"a \"b\" c",unit:"x\ny"',
                r'{"city": "a \"b\" c", "unit": "x\ny"}',
            ),
            ("Python's quotes", "city:'it\\'s'", '{"city": "it\'s"}'),
            ("commas", "city:a, b and c,unit:f", '{"city": "a, b and c", "unit": "f"}'),
            ("a lost quote", 'city:Oslo<|"|>,unit:<|"|>c<|"|>', '{"city": "Oslo", "unit": "c"}'),
            ("nothing", "city:,unit:", '{"city": "", "unit": ""}'),
        ]
    ],
    *[
        (f"T30 {what}", "gemma4", text, None, [SUM])
        for what, text in [
            ("no word", "<|tool_call>:add{a:1,b:2}<tool_call|>"),
            ("no prefix", "<|tool_call>add{a:1,b:2}<tool_call|>"),
            ("parentheses", "<|tool_call>call:add(a:1,b:2)<tool_call|>"),
            ("keys in quotes", '<|tool_call>call:add{"a":1,<|"|>b<|"|>:2}<tool_call|>'),
            ("another closer", "<|tool_call>call:add{a:1,b:2}</tool_call>"),
        ]
    ],
    ("T30", "functiongemma", "<start_function_call>add{a:1,b:2}<end_function_call>", None, [SUM]),
    (
        "T11",
        "minicpm5",
        '<function name="write_file"><param name="path"><![CDATA[a</param>]]></param>'
        '<param name="content">b</param></function>',
        None,
        [("write_file", '{"path": "a</param>", "content": "b"}', True)],
    ),
    (
        "T11 in two parts",
        "minicpm5",
        '<function name="write_file"><param name="path"><![CDATA[a]]]]><![CDATA[>]]></param></function>',
        None,
        [("write_file", '{"path": "a]]>"}', True)],
    ),
    (
        "T11 cut off",
        "minicpm5",
        '<function name="write_file"><param name="path"><![CDATA[a]',
        None,
        [("write_file", '{"path": "a]', False)],
    ),
    (
        "T11 no blanks",
        "minicpm5",
        '<functionname="get_weather"><paramname="city">Oslo</param></function>',
        None,
        [("get_weather", '{"city": "Oslo"}', True)],
    ),
]

ROWS = [*IN_MARKED_JSON, *LISTS, *KEYS]


@pytest.mark.parametrize(
    ("format", "text", "content", "calls"),
    [r[1:] for r in ROWS],
    ids=[f"{r[0]} {r[1]}" for r in ROWS],
)
def test_a_row(format: str, text: str, content: str | None, calls: Calls) -> None:
    assert summary(check_all_splits(format, text, KNOWN, pairs_under=50)) == (content, calls)


@pytest.mark.parametrize(("format", "text", "content", "calls"), [row[1:] for row in CODE])
def test_a_row_without_tools(format: str, text: str, content: str | None, calls: Calls) -> None:
    assert summary(check_all_splits(format, text, None)) == (content, calls)


KEY_VALUE = {
    "glm45": ("<tool_call>", "", "</tool_call>"),
    "glm47": ("<tool_call>", "", "</tool_call>"),
    "iquest_q1": ("<iquest_tool_call>", "", "</iquest_tool_call>"),
    "hy4": ("<tool_calls><tool_call>", "<tool_sep>", "</tool_call></tool_calls>"),
}


@pytest.mark.parametrize("format", KEY_VALUE)
def test_t26_key_and_value(format: str) -> None:
    begin, separator, end = KEY_VALUE[format]
    values = "<arg_key>city</arg_key><arg_value>Oslo<arg_key>unit</arg_key><arg_value>c</arg_value>"
    text = f"{begin}get_weather{separator}{values}{end}"
    weather = ("get_weather", '{"city": "Oslo", "unit": "c"}', True)
    assert summary(check_all_splits(format, text, KNOWN)) == (None, [weather])
    for between in ("\n", ">", f"{separator}\n"):
        text = f'{begin}add{between}{{"a": 1, "b": 2}}{end}'
        assert summary(check_all_splits(format, text, KNOWN)) == (None, [SUM])


TAGGED = {
    "qwen3_coder": "<tool_call>\n<function=book>\n<parameter={}>\n{}\n</parameter>\n</function>\n"
    "</tool_call>",
    "seed_oss": "<seed:tool_call>\n<function=book>\n<parameter={}>{}</parameter>\n</function>\n"
    "</seed:tool_call>",
    "minicpm5": '<function name="book"><param name="{}">{}</param></function>',
    "glm45": "<tool_call>book\n<arg_key>{}</arg_key>\n<arg_value>{}</arg_value>\n</tool_call>",
}


@pytest.mark.parametrize("format", TAGGED)
@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        ("tags", "['a', None]", '["a", null]'),
        ("tags", "('a', 1.50,)", '["a", 1.50]'),
        ("guests", "{'a': True, 'b': [\"it's\"]}", '{"a": true, "b": ["it\'s"]}'),
        ("guests", "{1: 2}", '{"1": 2}'),
        ("tags", "[a, b]", '"[a, b]"'),
        ("tags", "{'a': 1}", "\"{'a': 1}\""),
        ("tags", "['a'", "\"['a'\""),
        ("tags", "['a'] and more", "\"['a'] and more\""),
        ("town", "['a']", "\"['a']\""),
    ],
)
def test_t4_python_literals(format: str, key: str, written: str, value: str) -> None:
    text = TAGGED[format].replace("{}", key, 1).replace("{}", written, 1)
    calls = [("book", f'{{"{key}": {value}}}', True)]
    assert summary(check_all_splits(format, text, KNOWN, pairs_under=0)) == (None, calls)


LITERALS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(value=st.lists(LITERALS) | st.dictionaries(st.text(), LITERALS))
def test_t4_what_python_writes_is_read(value: Any) -> None:
    found = python_literal(repr(value), frozenset({"array", "object"}))
    assert found is not None
    assert json.loads(found) == json.loads(json.dumps(value))


@given(value=LITERALS, format=st.sampled_from(sorted(AROUND)))
def test_t53_what_python_writes_is_read(value: Any, format: str) -> None:
    text = AROUND[format].replace("{}", f"f(x={value!r})")
    (call,) = parse(format, text).tool_calls
    assert json.loads(call.arguments) == {"x": json.loads(json.dumps(value))}
    assert call.complete


@given(
    text=st.lists(
        st.sampled_from([*"[](){}:,#=\n \"'", "add(a=1", "zz(", "a=", "'x'", "r'", "None", "1"])
    ).map("".join),
    format=st.sampled_from(sorted(AROUND)),
)
def test_odd_code_is_the_same_however_it_is_cut(text: str, format: str) -> None:
    whole = AROUND[format].replace("{}", text)
    assert events_of(format, whole, [ADD]) == events_of(format, [whole], [ADD])


@given(
    text=st.lists(
        st.sampled_from(
            [*'[]{}:, \n"`', "```", "```json", '{"name": "add", "arguments": {}}', '"x"']
        )
    ).map("".join),
    format=st.sampled_from(BARE_JSON),
    tools=st.sampled_from([None, [ADD]]),
)
def test_odd_json_is_the_same_however_it_is_cut(text: str, format: str, tools: Any) -> None:
    assert events_of(format, text, tools) == events_of(format, [text], tools)


@given(text=st.text(alphabet='{}[]:,"a1-.etrunl\\ '))
def test_t61_a_preview_never_raises(text: str) -> None:
    from toolwire.openai.message import ToolCall

    assert isinstance(ToolCall("1", "add", "{" + text, complete=False).preview(), dict)
