"""Whole answers: every shape that servers send, in the one shape that clients expect."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessage
from toolwire import Message, ToolCall, ToolwireError
from toolwire.openai import Finding, normalize_tool_calls, unify
from toolwire.openai.normalize import normalize_response

from ..support import TOOLS, policy_for, tool

ID = re.compile(r"call_[0-9a-f]{24}")
MARKED = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'


def call(arguments: Any, name: Any = "add", id: Any = "c1") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def normal(*calls: Any, finish_reason: str | None = None) -> tuple[list[Any], list[Any]]:
    findings: list[Finding] = []
    out = normalize_tool_calls(list(calls), finish_reason=finish_reason, findings=findings)
    return out, [(finding.reason, finding.action) for finding in findings]


def answer(message: Any, finish_reason: str | None = "stop", **policy: Any) -> tuple[Any, Any, Any]:
    choice = {"index": 0, "message": {"role": "assistant"} | message, "logprobs": {"x": [1]}}
    body = {"id": "r", "choices": [choice | {"finish_reason": finish_reason}], "usage": {"t": 1}}
    out, findings, _ = normalize_response(body, policy_for(**policy))
    assert (out["id"], out["usage"]) == ("r", {"t": 1})
    assert out["choices"][0]["logprobs"] == {"x": [1]}
    found = [(finding.reason, finding.action) for finding in findings]
    return out["choices"][0]["message"], out["choices"][0]["finish_reason"], found


@pytest.mark.parametrize(
    "arguments",
    ['{"a":1,  "n": 1.0}', "{}", "[1]", "null", '"x"', '{"é": "\\u00e9"}', ' {"a":1}\n'],
)
def test_valid_json_stays_byte_for_byte(arguments: str) -> None:
    told = [] if arguments.strip()[0] == "{" else [("not_an_object", None)]
    assert normal(call(arguments)) == ([call(arguments)], told)


def test_only_empty_arguments_become_an_empty_object() -> None:
    assert normal(call("")) == ([call("{}")], [])
    missing = {"id": "c2", "type": "function", "function": {"name": "add"}}
    assert normal(call(None), missing) == ([], [("missing_arguments", "dropped")] * 2)


@pytest.mark.parametrize("arguments", ['{"a": ', "add 1 to 2", "{'a': 1}", " ", "NaN", '"\ud800'])
def test_invalid_json_is_wrapped(arguments: str) -> None:
    (out,), findings = normal(call(arguments))
    assert json.loads(out["function"]["arguments"]) == {"input": arguments}
    assert findings == [("invalid_json", "wrapped")]


@pytest.mark.parametrize(
    "bad",
    [5, "add", None, [], {}, call("{}", name=""), call("{}", name=5), {"function": 5}, call(7)],
)
def test_bad_structure_is_dropped_alone(bad: Any) -> None:
    assert normal(bad, call("{}")) == ([call("{}")], [("bad_structure", "dropped")])


def test_kilos_shapes_in_one_list() -> None:
    flat = {"id": "c2", "name": "add", "arguments": {"a": 1, "s": "é"}}
    out, findings = normal(call({"a": 1}), flat, {"id": "c3", "name": "noargs", "arguments": "{}"})
    assert out == [
        call('{"a": 1}'),
        call('{"a": 1, "s": "é"}', id="c2"),
        call("{}", "noargs", "c3"),
    ]
    assert findings == []


def test_ids() -> None:
    out, findings = normal(call("{}", id=None), call("{}"), call("{}"), call("{}", id=""))
    ids = [c["id"] for c in out]
    assert len(set(ids)) == 4
    assert ids[1] == "c1"
    assert all(ID.fullmatch(id) for id in (ids[0], ids[2], ids[3]))
    assert findings == [(None, "id_made"), ("duplicate_id", "id_made"), (None, "id_made")]


def test_unknown_fields_index_and_free_text_calls_are_kept() -> None:
    given = call("{}") | {"index": 0, "extra_content": {"signature": "x"}}
    custom = {"id": "c9", "type": "custom", "custom": {"name": "shell", "input": "ls"}}
    assert normal(given, custom) == ([given, custom], [])


def test_a_call_that_was_cut_off_is_neither_wrapped_nor_sent() -> None:
    for arguments in ('{"a": ', "", None):
        out, findings = normal(call("{"), call(arguments, id="c2"), finish_reason="length")
        assert [c["id"] for c in out] == ["c1"]
        assert findings == [("invalid_json", "wrapped"), ("truncated", "dropped")]
    assert normal(call("{}"), finish_reason="length") == ([call("{}")], [])


def test_half_a_call_in_an_answer_that_does_not_say_how_it_ended() -> None:
    message, reason, found = answer({"tool_calls": [call("{}"), call('{"a": ', id="c2")]}, None)
    assert [c["id"] for c in message["tool_calls"]] == ["c1"]
    assert (reason, found) == ("length", [("truncated", "dropped")])
    message, reason, found = answer({"tool_calls": [call("{}")]}, None)
    assert (message["tool_calls"], reason, found) == ([call("{}")], None, [])
    half = {"content": MARKED[:-15]}
    message, reason, found = answer(half, None, format="hermes", tools=TOOLS)
    assert (message.get("tool_calls"), reason) == (None, "length")
    assert found == [("truncated", "dropped")]


def test_an_answer_full_of_rubbish_is_a_bounded_number_of_findings() -> None:
    calls = [*[5] * 10_000, call("{}", name="n" * 2000), call("", name="m" * 1000)]
    findings: list[Finding] = []
    (kept,) = normalize_tool_calls(calls, findings=findings)
    assert kept["function"]["name"] == "m" * 1000
    assert len(findings) == 101
    assert sum(finding.count for finding in findings) == 10_001
    choice = {"message": {"content": MARKED}, "finish_reason": "stop"}
    policy = policy_for(format="hermes", tools=TOOLS)
    _, _, count = normalize_response({"choices": [choice] * 1000}, policy)
    assert count == 128


def test_what_is_no_list() -> None:
    assert normalize_tool_calls(None) == []
    assert normalize_tool_calls(call("{}")) == [call("{}")]
    findings: list[Finding] = []
    assert normalize_tool_calls("add()", findings=findings) == []
    assert [f.reason for f in findings] == ["bad_structure"]


def test_findings_are_logged_where_nobody_takes_them(caplog: pytest.LogCaptureFixture) -> None:
    normalize_tool_calls([call(None)])
    assert "the call of 'add' has no arguments (dropped)" in caplog.text


# Answers


def test_a_good_answer_is_the_same_object() -> None:
    message = {"role": "assistant", "content": None, "tool_calls": [call("{}")]}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    assert normalize_response(body, policy_for())[0] is body
    text = {"choices": [{"message": {"content": "hi", "tool_calls": []}, "finish_reason": "stop"}]}
    assert normalize_response(text, policy_for())[0] is text
    for odd in ({"error": {}}, {"choices": [5]}, {"choices": [{"message": None}]}):
        assert normalize_response(odd, policy_for())[0] is odd


@pytest.mark.parametrize("content", ["", None, " \n"])
def test_content_is_null_where_there_is_nothing(content: Any) -> None:
    message, reason, _ = answer({"content": content, "tool_calls": [call("{}")]})
    assert (message["content"], reason) == (None, "tool_calls")


def test_the_finish_reason_says_what_goes_out() -> None:
    assert answer({"content": "x", "tool_calls": [call(None)]}, "tool_calls")[:2] == (
        {"role": "assistant", "content": "x"},
        "stop",
    )
    message, reason, found = answer({"tool_calls": [call("{"), call("{", id="c2")]}, "length")
    assert reason == "length"
    assert len(message["tool_calls"]) == 1
    assert found[-1] == ("truncated", "dropped")
    assert answer({"content": "x", "tool_calls": None})[0] == {"role": "assistant", "content": "x"}


def test_calls_in_the_text() -> None:
    policy = {"format": "hermes", "tools": TOOLS}
    message, reason, found = answer({"content": f"Sure. {MARKED}"}, **policy)
    assert message["content"] == "Sure."
    (out,) = message["tool_calls"]
    assert ID.fullmatch(out["id"])
    assert out["function"] == {"name": "add", "arguments": '{"a": 1}'}
    assert (reason, found) == ("tool_calls", [(None, "text_parsed")])


def test_text_is_read_only_where_it_should_be() -> None:
    for policy in (
        {"format": None, "tools": TOOLS},
        {"format": "hermes", "tools": None},
        {"format": "hermes", "tools": TOOLS, "tool_choice": "none"},
    ):
        assert answer({"content": MARKED}, **policy)[0]["content"] == MARKED
    native = {"content": MARKED, "tool_calls": [call("{}")]}
    message, _, _ = answer(native, format="hermes", tools=TOOLS)
    assert (message["content"], message["tool_calls"]) == (MARKED, [call("{}")])


def test_calls_in_the_text_that_are_not_whole() -> None:
    text = MARKED + MARKED[:-15]
    message, reason, found = answer({"content": text}, "length", format="hermes", tools=TOOLS)
    assert len(message["tool_calls"]) == 1
    assert (reason, found[-1]) == ("length", ("truncated", "dropped"))


def test_sequential_ids() -> None:
    tools = [tool("SearchDatabase", q={"type": "string"}), tool("add")]
    text = 'SearchDatabase(q="a")\nadd(a=1)\nSearchDatabase(q="b")'
    policy = {"format": "call_text", "tools": tools, "sequential_ids": True}
    message, _, _ = answer({"content": text}, **policy)
    assert [c["id"] for c in message["tool_calls"]] == [
        "SearchDatabase_0",
        "add_1",
        "SearchDatabase_2",
    ]
    message, _, _ = answer({"content": text}, taken_ids=frozenset({"SearchDatabase_1"}), **policy)
    assert message["tool_calls"][0]["id"] == "SearchDatabase_2"
    kimi = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>"
        "{}<|tool_call_end|><|tool_calls_section_end|>"
    )
    message, _, _ = answer({"content": kimi}, **(policy | {"format": "kimi_k2"}))
    assert message["tool_calls"][0]["id"] == "functions.add:0"


def test_one_call_at_a_time() -> None:
    calls = [call("{}"), call("{}", id="c2")]
    message, _, found = answer({"tool_calls": calls}, one=True)
    assert message["tool_calls"] == calls[:1]
    assert found == [(None, "dropped")]


def test_the_old_style_both_ways() -> None:
    message, reason, _ = answer({"tool_calls": [call('{"a": 1}')]}, legacy=True)
    assert message == {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "add", "arguments": '{"a": 1}'},
    }
    assert reason == "function_call"
    old = {"function_call": {"name": "add", "arguments": {"a": 1}}}
    message, reason, _ = answer(old, "function_call")
    assert message["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a": 1}'}
    assert reason == "tool_calls"


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "function", "name", "arguments", "type"]), inner, max_size=5
        )
    ),
    max_leaves=20,
)


@given(json_values, st.sampled_from(["stop", "length", None]))
def test_whatever_comes_in_what_goes_out_is_well_formed(value: Any, reason: str | None) -> None:
    out, _ = normal(value, value, call("{}"), finish_reason=reason)
    assert len({c["id"] for c in out if c["type"] == "function"}) == len(
        [c for c in out if c["type"] == "function"]
    )
    for item in out:
        if item["type"] == "function":
            assert isinstance(item["function"]["name"], str)
            json.loads(item["function"]["arguments"])
    again, findings = normal(*out, finish_reason=reason)
    assert (again, findings) == (out, [])


# unify


def test_unify_takes_native_calls_first() -> None:
    message = {"content": MARKED, "tool_calls": [call('{"b": 2}')]}
    assert unify(message, format="hermes") == [ToolCall("c1", "add", '{"b": 2}')]


def test_unify_skips_and_reports_broken_calls() -> None:
    findings: list[Finding] = []
    broken = [call("{"), call(None), 5, call("{}", id="c4")]
    assert unify({"tool_calls": broken}, findings=findings) == [ToolCall("c4", "add", "{}")]
    assert [f.reason for f in findings] == ["invalid_json", "missing_arguments", "bad_structure"]
    assert {f.action for f in findings} == {"dropped"}


def test_unify_reads_the_text_second() -> None:
    (found,) = unify({"role": "assistant", "content": MARKED}, format="hermes", tools=TOOLS)
    assert (found.name, found.load()) == ("add", {"a": 1})
    assert unify({"content": MARKED}) == []
    assert unify({"content": None}, format="hermes") == []
    (found,) = unify({"content": MARKED, "tool_calls": [call(None)]}, "hermes", findings=[])
    assert found.name == "add"


def test_unify_numbers_the_ids_that_it_makes() -> None:
    made = [call("{}") | {"id": None}, call("{}"), call("{}") | {"id": ""}]
    found = unify({"tool_calls": made}, sequential_ids=True, findings=[])
    assert [one.id for one in found] == ["add_0", "c1", "add_2"]
    text = MARKED + MARKED.replace("add", "noargs")
    found = unify({"content": text}, "hermes", TOOLS, sequential_ids=True)
    assert [one.id for one in found] == ["add_0", "noargs_1"]
    (one,) = unify({"content": MARKED}, "hermes", TOOLS)
    assert one.id.startswith("call_")


def test_arguments_that_are_no_object_are_reported() -> None:
    findings: list[Finding] = []
    (one,) = unify({"tool_calls": [call("[1]")]}, findings=findings)
    assert one.arguments == "[1]"
    assert [(f.reason, f.action) for f in findings] == [("not_an_object", None)]


def test_unify_takes_any_message() -> None:
    one = ToolCall("c1", "add", "{}")
    assert unify(Message(None, [one])) == [one]
    assert (
        unify({"function_call": {"name": "add", "arguments": "{}"}}, findings=[])[0].name == "add"
    )
    assert unify({"tool_calls": [{"type": "custom", "custom": {"name": "x"}}]}) == []
    with pytest.raises(ToolwireError, match="not int"):
        unify(5)


def test_unify_takes_an_object_of_the_sdk() -> None:
    message = ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": None, "tool_calls": [call("{}")]}
    )
    assert unify(message) == [ToolCall("c1", "add", "{}")]
