"""Requests that are put right: what they mean stays, and the checks find nothing any more."""

from __future__ import annotations

import copy
import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.openai import check_request
from toolwire.openai.name_mangling import mangle_names
from toolwire.openai.request_repair import (
    NO_ANSWER,
    drop_odd_tools,
    has_odd_tools,
    repair_request,
)

from ..support import TOOLS
from .support_steps import assert_linear

USER = {"role": "user", "content": "?"}


def call(id: Any, arguments: Any = "{}", name: str = "add") -> Any:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calls(*made: Any) -> Any:
    return {"role": "assistant", "content": None, "tool_calls": list(made)}


def answer(id: Any, content: str = "1") -> Any:
    return {"role": "tool", "tool_call_id": id, "content": content}


def repaired(*messages: Any, **more: Any) -> tuple[list[Any], dict[str, int]]:
    body = {"messages": copy.deepcopy([USER, *messages])} | more
    counted = repair_request(body)
    assert check_request(body) == []
    assert repair_request(copy.deepcopy(body)) == {}, "what was put right is right"
    return body["messages"][1:], dict(counted)


def test_what_is_right_stays_as_it_is() -> None:
    body = {"messages": [USER, calls(call("c1")), answer("c1"), USER], "tools": TOOLS}
    before = copy.deepcopy(body)
    assert repair_request(body) == {}
    assert body == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a": 1}, {"a": 1}),
        ("", {}),
        (" ", {}),
        (None, {}),
        ('{"a": ', {"input": '{"a": '}),
        ("words", {"input": "words"}),
        ([1], {"input": [1]}),
        (5, {"input": 5}),
    ],
)
def test_arguments(before: Any, after: Any) -> None:
    (turn, _), counted = repaired(calls(call("c1", before)), answer("c1"))
    assert json.loads(turn["tool_calls"][0]["function"]["arguments"]) == after
    assert counted == {"arguments": 1}
    item = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": before}
    output = {"type": "function_call_output", "call_id": "c1", "output": "1"}
    body = {"input": [item, output]}
    assert repair_request(body, "responses") == {"arguments": 1}
    assert check_request(body, "responses") == []
    old = [USER, {"role": "assistant", "function_call": {"name": "add", "arguments": before}}]
    old.append({"role": "function", "name": "add", "content": "1"})
    body = {"messages": old, "functions": [TOOLS[0]["function"]]}
    assert repair_request(body) == {"arguments": 1}
    assert check_request(body) == []


def test_a_call_without_an_answer() -> None:
    first, second = calls(call("c1"), call("c2")), calls(call("c3"))
    messages, counted = repaired(first, answer("c2"), USER, second)
    none = [answer(id, NO_ANSWER) for id in ("c1", "c3")]
    assert messages == [first, answer("c2"), none[0], USER, second, none[1]]
    assert counted == {"unanswered_call": 2}
    messages, counted = repaired(calls(call("c1")), continue_final_message=True)
    assert (len(messages), counted) == (1, {})


def test_the_last_answer_wins() -> None:
    turn = calls(call("c1"), call("c2"))
    messages, counted = repaired(
        turn, answer("c1", "old"), answer("c2"), answer("c1", "new"), USER, answer("c1", "newest")
    )
    assert messages == [turn, answer("c1", "newest"), answer("c2"), USER]
    assert counted == {"repeated_answer": 2}


def test_messages_between_answers_move_behind_them() -> None:
    turn, said = calls(call("c1"), call("c2")), {"role": "assistant", "content": "Hm."}
    messages, counted = repaired(turn, answer("c1"), USER, said, answer("c2"), USER)
    assert messages == [turn, answer("c1"), answer("c2"), USER, said, USER]
    assert counted == {"message_order": 1}
    late = calls(call("c3"))
    messages, counted = repaired(turn, late, answer("c3"), answer("c1"), answer("c2"))
    assert messages == [turn, answer("c1"), answer("c2"), late, answer("c3")]
    assert counted == {"message_order": 2}


def test_ids_that_came_twice_are_renamed_on_both_sides() -> None:
    messages, counted = repaired(
        calls(call("c"), call("c")),
        answer("c", "first"),
        answer("c", "second"),
        USER,
        calls(call("c")),
        answer("c", "third"),
    )
    ids = [c["id"] for message in messages for c in message.get("tool_calls", ())]
    answers = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    assert len(set(ids)) == 3
    assert ids[0] == "c"
    assert [answers[id] for id in ids] == ["first", "second", "third"]
    assert counted == {"repeated_id": 2}


def test_what_can_not_be_repaired_is_left() -> None:
    odd = [
        {"messages": [USER, answer("nobody")]},
        {"messages": [USER, calls(call(None))]},
        {"messages": [5, {"role": "x"}, {"role": "assistant", "tool_calls": [5, {}]}]},
        {"messages": "no"},
        {"messages": [USER], "tools": [5, {"type": "function", "function": {"name": "a b"}}]},
    ]
    for body in odd:
        repair_request(body)
        assert check_request(body, limits=Counter())


def test_the_input_of_responses() -> None:
    def item(id: str) -> Any:
        return {"type": "function_call", "call_id": id, "name": "add", "arguments": "{}"}

    def output(id: str, text: str) -> Any:
        return {"type": "function_call_output", "call_id": id, "output": text}

    body: Any = {
        "input": [item("c"), output("c", "old"), output("c", "new"), item("c"), item("d"), "x"]
    }
    body["input"][-1] = {"role": "user", "content": "?"}
    counted = repair_request(body, "responses")
    assert counted == {"repeated_id": 1, "repeated_answer": 1, "unanswered_call": 2}
    assert check_request(body, "responses") == []
    assert body["input"][:2] == [item("c"), output("c", "new")]
    assert [i["output"] for i in body["input"] if "output" in i][1:] == [NO_ANSWER] * 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"type": "OBJECT", "properties": None}, {"type": "object", "properties": {}}),
        ({"type": "object", "required": None}, {"type": "object"}),
        ({"type": "any"}, {"type": "object"}),
        (
            {"properties": {"a": {"type": "STRING", "required": True}, "b": {"required": False}}},
            {"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]},
        ),
        (
            {"required": ["b"], "properties": {"a": {"required": True}, "b": {"required": True}}},
            {"required": ["b", "a"], "properties": {"a": {}, "b": {}}},
        ),
        (
            {"properties": {"a": {"type": "array", "items": {"type": "Any"}, "enum": None}}},
            {"properties": {"a": {"type": "array", "items": {}}}},
        ),
        (
            {"properties": {"a": {"anyOf": [{"type": "int"}, {"type": ["str", "NULL"]}]}}},
            {"properties": {"a": {"anyOf": [{"type": "integer"}, {"type": ["string", "null"]}]}}},
        ),
        ({"$defs": {"x": {"type": "list"}}}, {"$defs": {"x": {"type": "array"}}}),
    ],
)
def test_schemas(before: Any, after: Any) -> None:
    for tool in (
        {"type": "function", "function": {"name": "f", "parameters": before}},
        {"type": "function", "name": "f", "parameters": before},
    ):
        body = {"messages": [USER], "tools": [copy.deepcopy(tool)]}
        assert check_request(body)
        assert repair_request(body)["schema"] > 0
        assert check_request(body) == []
        (mended,) = body["tools"]
        assert isinstance(mended, dict)
        assert mended.get("function", mended)["parameters"] == after


def test_a_type_that_nobody_knows_is_left() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "thing"}}}
    body = {"messages": [USER], "tools": [tool]}
    assert repair_request(body) == {}
    assert check_request(body)


@pytest.mark.parametrize("choice", ["any", {"type": "any"}])
def test_a_tool_choice(choice: Any) -> None:
    body = {"messages": [USER], "tools": TOOLS, "tool_choice": choice}
    assert repair_request(body) == {"tool_choice": 1}
    assert body["tool_choice"] == "required"


def test_tools_that_are_no_functions() -> None:
    body: Any = {"tools": [*TOOLS, {"type": "web_search"}], "tool_choice": {"type": "web_search"}}
    assert has_odd_tools(body)
    drop_odd_tools(body)
    assert (body["tools"], body["tool_choice"]) == (TOOLS, "auto")
    assert not has_odd_tools(body)
    body = {"tools": [{"type": "custom", "custom": {"name": "x"}}], "tool_choice": "required"}
    drop_odd_tools(body)
    assert body == {}
    assert not has_odd_tools({"tools": 5})


odd_messages = st.recursive(
    st.sampled_from([None, 5, "x", "tool", "assistant", "c1", "c2", "{", "{}", True]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "tool_calls",
                    "tool_call_id",
                    "id",
                    "function",
                    "arguments",
                    "content",
                    "type",
                ]
            ),
            inner,
        )
    ),
)
turns = st.one_of(
    st.just(USER),
    st.builds(answer, st.sampled_from(["c1", "c2", "c3"]), st.text(max_size=2)),
    st.builds(
        lambda made: calls(*made),
        st.lists(st.builds(call, st.sampled_from(["c1", "c2", "c3"])), min_size=1, max_size=3),
    ),
    odd_messages,
)


@given(st.lists(turns, max_size=8), st.sampled_from(["chat", "responses"]), st.booleans())
def test_anything_is_taken(messages: list[Any], api: str, last_is_open: bool) -> None:
    body: Any = {"messages" if api == "chat" else "input": copy.deepcopy(messages)}
    body["continue_final_message"] = last_is_open
    repair_request(body, api)
    again = copy.deepcopy(body)
    assert repair_request(again, api) == {}
    assert again == body


@given(st.lists(turns, max_size=8))
def test_a_conversation_whose_answers_have_calls_is_put_right(messages: list[Any]) -> None:
    known: set[str] = set()
    kept: list[Any] = [USER]
    for message in messages:
        if not isinstance(message, dict) or message.get("role") not in (
            "user",
            "assistant",
            "tool",
        ):
            continue
        if not {"content"} <= set(message) or not isinstance(message["content"], str | None):
            continue
        if message["role"] == "tool" and message["tool_call_id"] not in known:
            continue
        known |= {c["id"] for c in message.get("tool_calls", ())}
        kept.append(copy.deepcopy(message))
    body = {"messages": kept}
    repair_request(body)
    assert check_request(body) == []


def test_repairs_cost_linear_work() -> None:
    def same_ids(count: int) -> Any:
        turn = [calls(call("c")), answer("c")]
        body = {"messages": json.loads(json.dumps(turn * count))}
        return lambda: repair_request(body)

    def late_answers(count: int) -> Any:
        made = calls(*(call(f"c{i}") for i in range(count)))
        body = {"messages": [made, USER, *(answer(f"c{i % 7}") for i in range(count))]}
        return lambda: repair_request(body)

    def names(count: int) -> Any:
        tools = [{"type": "function", "function": {"name": "." * (i + 1)}} for i in range(count)]
        tools += [{"type": "function", "function": {"name": "x" * (70 + i)}} for i in range(count)]
        return lambda: mangle_names({"tools": tools})

    for work in (same_ids, late_answers, names):
        assert_linear(work, 100)


# Names


def test_names_are_written_otherwise_everywhere() -> None:
    def chat(read: str, other: str) -> Any:
        return {
            "tools": [
                {"type": "function", "function": {"name": read}},
                {"type": "custom", "custom": {"name": other}},
                {"type": "function", "function": {"name": "plain"}},
                {"type": "web_search", "name": "a.b"},
            ],
            "tool_choice": {"type": "function", "function": {"name": read}},
            "messages": [USER, calls(call("c1", name=read)), answer("c1") | {"name": read}],
        }

    def responses(read: str, other: str) -> Any:
        allowed = {"type": "allowed_tools", "tools": [{"type": "function", "name": read}]}
        item = {"type": "function_call", "call_id": "c", "name": other, "arguments": "{}"}
        tools = [{"type": "function", "name": read}, {"type": "function", "name": other}]
        return {"tools": tools, "tool_choice": allowed, "input": [item]}

    for make in (chat, responses):
        body = make("fs.read", "mcp/a:b")
        names = mangle_names(body)
        assert body == make("fs_read", "mcp_a_b")
        assert names == {"fs_read": "fs.read", "mcp_a_b": "mcp/a:b"}
    old = {
        "functions": [{"name": "a.b"}],
        "function_call": {"name": "a.b"},
        "messages": [{"role": "assistant", "function_call": {"name": "a.b", "arguments": "{}"}}],
    }
    mangle_names(old)
    assert "a.b" not in json.dumps(old)


def test_names_that_would_become_one_stay_apart() -> None:
    given = ["a_b", "a.b", "a/b", "x" * 64, "x" * 65, "x" * 66, "é", "ü"]
    body = {"tools": [{"type": "function", "function": {"name": name}} for name in given]}
    names = mangle_names(body)
    sent = [tool["function"]["name"] for tool in body["tools"]]
    assert len(set(sent)) == len(given)
    assert all(len(name) <= 64 and name.replace("-", "_").isidentifier() for name in sent)
    assert [names.get(name, name) for name in sent] == given
    assert sent[0] == "a_b"
