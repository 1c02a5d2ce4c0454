"""What today's servers get wrong with calls as JSON: the rows H, cut in every way.

Where a row makes sense for other formats of its kind, it runs there too (`test_..._everywhere`).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..by_shape import JSON_OBJECTS
from ..support import check_all_splits, cut_at, events_of, summary
from ..writers import WRITERS
from .rows import GOOD, GOOD_CALL, Calls, check


def hermes(body: str) -> str:
    return f"<tool_call>{body}</tool_call>"


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
    text = WRITERS[format]([("add", {"a": 2, "b": 2})])
    name = text.index('"add"')
    start = text.rindex("{", 0, name)
    _, end = json.JSONDecoder().raw_decode(text, start)
    assert end > name
    return text[:start] + body + text[end:]


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


_CALLED = '{"a": 2, "b": 2}'
_SECTION = "<|tool_calls_section_begin|>"


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("mistral", f"[TOOL_CALLS]noargs[ARGS][TOOL_CALLS]add[ARGS]{_CALLED}"),
        ("mistral", f"[TOOL_CALLS]noargs[CALL_ID]abcdefghi[ARGS]\n[TOOL_CALLS]add[ARGS]{_CALLED}"),
        (
            "kimi_k2",
            f"{_SECTION}<|tool_call_begin|>functions.noargs:0<|tool_call_argument_begin|>"
            "<|tool_call_begin|>functions.add:1<|tool_call_argument_begin|>"
            f"{_CALLED}<|tool_call_end|><|tool_calls_section_end|>",
        ),
    ],
)
def test_the_next_opener_ends_a_call_without_arguments(format: str, text: str) -> None:
    check(format, text, None, [("noargs", "{}", True), GOOD_CALL])


def test_an_opener_in_a_code_fence_behind_a_call_is_no_list() -> None:
    call = f"[TOOL_CALLS]add[ARGS]{_CALLED}"
    check("mistral", f"{call}\n```\n{call}", "```", [GOOD_CALL, GOOD_CALL])
