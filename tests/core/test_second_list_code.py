"""The rows T about calls as Python writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import parse

from ..support import ADD, INTEGER, STRING, check_all_splits, events_of, summary, tool
from .rows import Calls
from .second_list import KNOWN, LITERALS, OTHER_JSON, OTHER_SUM, SUM, SUM_JSON, Row

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


@pytest.mark.parametrize(
    ("format", "text", "content", "calls"),
    [r[1:] for r in LISTS],
    ids=[f"{r[0]} {r[1]}" for r in LISTS],
)
def test_a_row(format: str, text: str, content: str | None, calls: Calls) -> None:
    assert summary(check_all_splits(format, text, KNOWN, pairs_under=50)) == (content, calls)


@pytest.mark.parametrize(("format", "text", "content", "calls"), [row[1:] for row in CODE])
def test_a_row_without_tools(format: str, text: str, content: str | None, calls: Calls) -> None:
    assert summary(check_all_splits(format, text, None)) == (content, calls)


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
