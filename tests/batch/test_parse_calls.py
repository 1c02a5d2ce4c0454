"""`ParseCalls`: a row, columns, and tables, as those who call it hand them over."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import ToolwireError, list_formats, parse, write
from toolwire.batch import Counts, Outcome, ParseCalls
from toolwire.batch.outcome import COLUMNS, KINDS
from toolwire.batch.tables import counts_in

from ..support import TOOLS

CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'


def hermes(name: str, arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def kinds(outcome: Outcome) -> list[str]:
    return [problem.kind for problem in outcome.problems]


# -- one row --------------------------------------------------------------------------------------


def test_a_row_keeps_its_columns() -> None:
    found = ParseCalls("hermes", TOOLS)({"id": 7, "text": f"So: {CALL}"})
    assert list(found) == ["id", "text", *COLUMNS]
    assert (found["id"], found["content"], found["reasoning"]) == (7, "So:", None)
    assert found["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a": 1}'}
    assert (found["complete"], found["problems"]) == (True, [])


@pytest.mark.parametrize("name", list_formats())
def test_a_row_has_the_calls_that_parse_finds(name: str) -> None:
    text = write(name, [{"name": "get_weather", "arguments": {"city": "Oslo"}}], TOOLS)
    outcome = ParseCalls(name, TOOLS).outcome({"text": text})
    message = parse(name, text, TOOLS)
    assert outcome.content == message.content
    assert [(c.name, c.arguments) for c in outcome.tool_calls] == [
        (c.name, c.arguments) for c in message.tool_calls
    ]
    assert len(outcome.tool_calls) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CALL, []),
        (hermes("add", {"a": 1})[:-20], ["incomplete"]),
        (hermes("no_such_tool", {}), ["unknown_tool"]),
        (hermes("add", [1]), ["arguments"]),
        (hermes("add", {"a": "one"}), ["schema"]),
        (hermes("add", {"a": "one"}) + hermes("other", {}) + CALL, ["schema", "unknown_tool"]),
    ],
)
def test_problems(text: str, expected: list[str]) -> None:
    outcome = ParseCalls("hermes", TOOLS, validate=True).outcome({"text": text})
    assert kinds(outcome) == expected
    assert outcome.to_dict()["complete"] is ("incomplete" not in expected)


def test_without_tools_none_is_unknown_and_without_validate_no_schema_counts() -> None:
    text = hermes("other", {}) + hermes("add", {"a": "one"})
    assert kinds(ParseCalls("hermes").outcome({"text": text})) == []
    assert kinds(ParseCalls("hermes", TOOLS).outcome({"text": text})) == ["unknown_tool"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {"a": {"$ref": "http://localhost:1/elsewhere.json"}}},
        {"type": "no such type"},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}},
    ],
)
def test_a_schema_that_cannot_be_followed_costs_no_row(parameters: dict[str, Any]) -> None:
    tools = [{"type": "function", "function": {"name": "add", "parameters": parameters}}]
    found = ParseCalls("hermes", tools, validate=True).outcome({"text": hermes("add", {"a": "x"})})
    assert kinds(found) == ["schema"]
    assert "the tool's own schema" in str(found.problems[0])
    assert len(found.tool_calls) == 1


def test_tools_and_format_of_the_row() -> None:
    parse_calls = ParseCalls("hermes", tools_column="tools", format_column="format", validate=True)
    integer = {"type": "object", "properties": {"days": {"type": "integer"}}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": integer}}]
    text = "<tool_call><function=f><parameter=days>3</parameter></function></tool_call>"
    for shape in (tools, json.dumps(tools)):
        found = parse_calls.outcome({"text": text, "tools": shape, "format": "qwen3_coder"})
        assert found.tool_calls[0].load() == {"days": 3}
        assert found.problems == ()
    found = parse_calls.outcome({"text": CALL, "tools": tools, "format": ""})
    assert kinds(found) == ["unknown_tool"]
    assert kinds(parse_calls.outcome({"text": CALL, "tools": None})) == []


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"text": None},
        {"text": 3},
        {"text": CALL, "format": "no_such_format"},
        {"text": CALL, "format": 3},
        {"text": CALL, "tools": "not JSON"},
        {"text": CALL, "tools": '{"a": 1}'},
        {"text": CALL, "tools": {1, 2}},
        {"text": CALL, "tools": [{"type": "function", "function": {"name": ""}}]},
    ],
)
def test_a_bad_row_is_an_outcome(row: dict[str, Any]) -> None:
    found = ParseCalls("hermes", tools_column="tools", format_column="format").outcome(row)
    assert kinds(found) == ["row"]
    assert (found.content, found.tool_calls) == (None, ())
    assert found.to_dict()["complete"] is False


def test_thoughts() -> None:
    text = f"<think>hm</think>{CALL}"
    found = ParseCalls("hermes", reasoning=True).outcome({"text": text})
    assert (found.reasoning, found.content, len(found.tool_calls)) == ("hm", None, 1)
    inside = ParseCalls("hermes", reasoning=True, in_reasoning=True)
    assert inside.outcome({"text": f"hm</think>{CALL}"}).reasoning == "hm"


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"format": "no_such_format"}, "no_such_format"),
        ({"format": "hermes", "tools": [3]}, "tools[0]"),
        ({"format": "hermes", "reasoning": "no_such_style"}, "no_such_style"),
        ({"format": "hermes", "in_reasoning": True}, "in_reasoning"),
    ],
)
def test_wrong_use_is_said_before_any_row(how: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ToolwireError) as caught:
        ParseCalls(**how)
    assert sentence in str(caught.value)


# -- many rows ------------------------------------------------------------------------------------

BATCH = {"id": [1, 2, 3], "text": ["no call", f"a {CALL}", None]}


def test_columns_of_lists() -> None:
    found = ParseCalls("hermes")(dict(BATCH))
    assert found["id"] == [1, 2, 3]
    assert found["content"] == ["no call", "a", None]
    assert [len(calls) for calls in found["tool_calls"]] == [0, 1, 0]
    assert found["complete"] == [True, True, False]


def test_columns_of_arrays() -> None:
    np = pytest.importorskip("numpy")
    batch = {"id": np.array([1, 2]), "text": np.array(["x", CALL], dtype=object)}
    tools = np.array([[{"type": "function", "function": {"name": "add"}}]] * 2, dtype=object)
    found = ParseCalls("hermes", tools_column="tools")({**batch, "tools": tools})
    assert [len(calls) for calls in found["tool_calls"]] == [0, 1]
    assert found["problems"] == [[], []]


def test_tables_have_the_same_types_whatever_is_in_them() -> None:
    parse_calls = ParseCalls("hermes")
    tables = [parse_calls(pa.table({"text": pa.array(texts, pa.string())}))
              for texts in (["none"], [CALL], [None], [])]  # fmt: skip
    assert len({table.schema for table in tables}) == 1
    together = pa.concat_tables(tables)
    assert together["tool_calls"].to_pylist()[1][0]["function"]["name"] == "add"
    assert counts_in("", together) == Counts.total(
        [Counts.of([parse_calls.outcome(row)]) for row in ({"text": "none"}, {"text": CALL}, {})]
    )


def test_a_table_keeps_its_columns_and_what_is_known_of_them() -> None:
    about = pa.field("id", pa.int8(), metadata={"unit": "none"})
    table = pa.table({"id": [1], "text": [CALL]}, pa.schema([about, ("text", pa.large_string())]))
    found = ParseCalls("hermes", prefix="p_")(table.replace_schema_metadata({"by": "me"}))
    assert found.schema.field("id").equals(about, check_metadata=True)
    assert found.schema.metadata == {b"by": b"me"}
    assert found.column_names == ["id", "text", *(f"p_{name}" for name in COLUMNS)]


def test_half_a_character_costs_no_table() -> None:
    text = CALL.replace("1", '"\\ud800"')
    rows = pa.table({"text": [f"{text}"]})
    assert ParseCalls("pythonic")(pa.table({"text": ["[f(a='\\ud800')]"]})).num_rows == 1
    assert ParseCalls("hermes")(rows)["complete"].to_pylist() == [True]


@pytest.mark.parametrize("batch", [{"other": ["x"]}, pa.table({"other": ["x"]})])
def test_a_missing_column_is_wrong_use(batch: Any) -> None:
    with pytest.raises(ToolwireError, match="There is no column 'text'"):
        ParseCalls("hermes")(batch)


@pytest.mark.parametrize("kind", [dict, pa.table])
def test_a_column_that_is_there_is_not_written_over(kind: Any) -> None:
    batch = {"text": ["x"], "content": ["mine"]}
    with pytest.raises(ToolwireError, match="There is a column 'content' already: choose a prefix"):
        ParseCalls("hermes")(kind(batch))
    assert ParseCalls("hermes", prefix="parsed_")(kind(batch))["content"][0] is not None


def test_it_can_be_sent_to_others() -> None:
    class Mine(ParseCalls):
        pass

    sent = pickle.loads(pickle.dumps(ParseCalls("hermes", TOOLS, validate=True, prefix="p_")))
    assert sent.columns[0] == "p_content"
    assert kinds(sent.outcome({"text": hermes("add", {"a": "x"})})) == ["schema"]
    remake, arguments = Mine("hermes").__reduce__()
    assert type(remake(*arguments)) is Mine


@given(st.lists(st.sampled_from(["none", CALL, CALL[:-30], hermes("zz", {}), None]), max_size=8))
def test_counts_are_those_of_the_rows(texts: list[str | None]) -> None:
    parse_calls = ParseCalls("hermes", TOOLS)
    outcomes = [parse_calls.outcome({"text": text}) for text in texts]
    counts = Counts.of(outcomes)
    assert counts == Counts.total(Counts.of([one]) for one in outcomes)
    assert counts == Counts.from_dict(counts.to_dict())
    assert counts.rows == len(texts)
    assert set(counts.problems) <= set(KINDS)
    table = parse_calls(pa.table({"text": pa.array(texts, pa.string())}))
    assert counts_in("", table) == counts
