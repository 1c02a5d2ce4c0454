"""The rows T about tags, keys without quotes, and the values in them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.core.python_literals import python_literal

from ..support import check_all_splits, summary
from .rows import Calls
from .second_list import KNOWN, LITERALS, SUM, Row

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


@pytest.mark.parametrize(
    ("format", "text", "content", "calls"),
    [r[1:] for r in KEYS],
    ids=[f"{r[0]} {r[1]}" for r in KEYS],
)
def test_a_row(format: str, text: str, content: str | None, calls: Calls) -> None:
    assert summary(check_all_splits(format, text, KNOWN, pairs_under=50)) == (content, calls)


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


@given(value=st.lists(LITERALS) | st.dictionaries(st.text(), LITERALS))
def test_t4_what_python_writes_is_read(value: Any) -> None:
    found = python_literal(repr(value), frozenset({"array", "object"}))
    assert found is not None
    assert json.loads(found) == json.loads(json.dumps(value))
