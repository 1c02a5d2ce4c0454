"""The rows T about calls as JSON and lists of calls: bare, or in markers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import Parser
from toolwire.openai.message import ToolCall

from ..support import ADD, check_all_splits, events_of, summary, whole_summary
from .rows import Calls
from .second_list import (
    KNOWN,
    NO_CALLS,
    OTHER_JSON,
    OTHER_SUM,
    SUM,
    SUM_JSON,
    Row,
    marked_list,
    marked_lists,
)

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


@pytest.mark.parametrize(
    ("format", "text", "content", "calls"),
    [r[1:] for r in IN_MARKED_JSON],
    ids=[f"{r[0]} {r[1]}" for r in IN_MARKED_JSON],
)
def test_a_row(format: str, text: str, content: str | None, calls: Calls) -> None:
    assert summary(check_all_splits(format, text, KNOWN, pairs_under=50)) == (content, calls)


@pytest.mark.parametrize("format", marked_lists())
@pytest.mark.parametrize("member", NO_CALLS)
def test_t50_a_first_member_that_is_no_object(format: str, member: str) -> None:
    text, opener = marked_list(format, member, SUM_JSON, OTHER_JSON)
    for pieces in ([text], list(text)):
        content, calls = summary(events_of(format, pieces, KNOWN))
        assert calls == [SUM, OTHER_SUM]
        assert content == f"{opener}[{member},"


@pytest.mark.parametrize("format", marked_lists())
def test_t50_no_calls_among_calls(format: str) -> None:
    members = [
        "1",
        SUM_JSON,
        "[{bad}, 2]",
        OTHER_JSON,
        "{}",
        "[[]",
        SUM_JSON,
        "7",
    ]
    text, opener = marked_list(format, *members)
    content, calls = summary(check_all_splits(format, text, KNOWN, pairs_under=0))
    assert calls == [SUM, OTHER_SUM, SUM]
    for said in (f"{opener}[1,", "[{bad}, 2],", "{}", "[[]", "7"):
        assert said in (content or "")


@pytest.mark.parametrize("format", BARE_JSON)
@pytest.mark.parametrize("member", NO_CALLS)
@pytest.mark.parametrize("tools", [None, KNOWN], ids=["no tools", "tools"])
def test_t50_the_same_without_a_marker(format: str, member: str, tools: Any) -> None:
    text = f"[{member}, {SUM_JSON}, {OTHER_JSON}]"
    for pieces in ([text], list(text)):
        assert summary(events_of(format, pieces, tools)) == (f"[{member},", [SUM, OTHER_SUM])


IN_LISTS: list[Row] = [
    ("in a list", "mistral", f"[TOOL_CALLS][[1, {SUM_JSON}], 2]", "[TOOL_CALLS][[1,  2]", [SUM]),
    ("one that lost its end", "mistral", f"[TOOL_CALLS][[, {SUM_JSON}]", "[TOOL_CALLS][[,", [SUM]),
    ("not in a member", "mistral", f'[TOOL_CALLS][1, {{"x": [2, {SUM_JSON}]}}]', None, []),
    ("not in a string", "mistral", '[TOOL_CALLS]["a, {\\"name\\": \\"add\\"}", 1]', None, []),
    (
        "an opener",
        "mistral",
        f"[TOOL_CALLS][1, [TOOL_CALLS][{SUM_JSON}]",
        "[TOOL_CALLS][1,",
        [SUM],
    ),
    (
        "its end",
        "mistral",
        f"[TOOL_CALLS][1], {SUM_JSON}",
        None,
        [],
    ),
    ("the opener's own", "phi4", f"functools[{{bad}}, {SUM_JSON}]", "functools[{bad},", [SUM]),
    (
        "as a member of an object",
        "json",
        f'{{"tool_calls": [1, {SUM_JSON}]}}',
        '{"tool_calls": [1,',
        [SUM],
    ),
    ("in brackets that are none", "json", f"[Note: {SUM_JSON}", "[Note:", [SUM]),
    ("Python's", "pythonic", "[[1], add(a=1, b=2), # add()\n 7]", "[[1], , # add()\n 7]", [SUM]),
    (
        "a part's",
        "inkling",
        f"<|content_invoke_tool_json|>[1, <|end_message|>{SUM_JSON}",
        f"[1, {SUM_JSON}",
        [],
    ),
]


@pytest.mark.parametrize(
    ("format", "text", "content", "calls"),
    [r[1:] for r in IN_LISTS],
    ids=[r[0] for r in IN_LISTS],
)
def test_t50_which_members_count(format: str, text: str, content: str | None, calls: Calls) -> None:
    events = check_all_splits(format, text, KNOWN, pairs_under=50)
    assert summary(events) == (content or text, calls)


IN_THOUGHTS = [
    # what is a thought if it is closed, and what follows it
    ("json", f'<think>[{{"x": 1}}, {SUM_JSON}] so', "</think>", "Done.", []),
    ("hermes", f"<think><tool_call>[1, {SUM_JSON}]", "</think>", "Done.", []),
    ("mistral", "[THINK][TOOL_CALLS][{bad}, ", "[/THINK]", SUM_JSON, []),
    ("mistral", '[THINK][TOOL_CALLS][1, {"name": "a', "[/THINK]", f"So {SUM_JSON}", []),
]


@pytest.mark.parametrize(("format", "begin", "end", "answer", "calls"), IN_THOUGHTS)
def test_t50_a_list_in_thoughts_ends_with_them(
    format: str, begin: str, end: str, answer: str, calls: Calls
) -> None:
    events = check_all_splits(format, begin + end + answer, KNOWN, True, pairs_under=50)
    thought, content, found = whole_summary(events)
    assert begin.endswith((thought or "?", f"{thought} "))
    assert (content, found) == (answer, calls)


@pytest.mark.parametrize("format", ["mistral", "any"])
def test_t50_a_special_opener_ends_thoughts_also_there(format: str) -> None:
    text = f"[THINK]Hm. [TOOL_CALLS][1, {SUM_JSON}] Done."
    events = check_all_splits(format, text, KNOWN, True, pairs_under=0)
    assert whole_summary(events) == ("Hm. [TOOL_CALLS][1,", "Done.", [SUM])


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
    assert isinstance(ToolCall("1", "add", "{" + text, complete=False).preview(), dict)
