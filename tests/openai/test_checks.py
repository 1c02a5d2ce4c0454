"""Requests: everything wrong at once, each thing at its place."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.openai import check_messages, check_request, check_tools, error_body
from toolwire.openai.checks import check_tool_choice, translate_legacy

from ..support import ADD, TOOLS, tool
from .support_steps import assert_linear

UNANSWERED = (
    'An assistant message with "tool_calls" must be followed by tool messages responding to each '
    '"tool_call_id"'
)
USER = {"role": "user", "content": "1+1?"}


def call(id: Any = "c1", name: Any = "add", arguments: Any = '{"a": 1}') -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls)}


def answer(id: Any = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "2"}


def places(problems: Any) -> list[str]:
    return [problem.param for problem in problems]


def test_a_good_request_has_no_problems() -> None:
    messages = [USER, asks(call("c1"), call("c2")), answer("c2"), answer("c1"), USER]
    body = {"messages": messages, "tools": TOOLS, "tool_choice": "required"}
    assert check_request(body | {"parallel_tool_calls": False}) == []


# Tools


@pytest.mark.parametrize("name", ["", "a b", "a.b", "ä", "x" * 65, None, 5, "a\n"])
def test_bad_names(name: Any) -> None:
    tools = [ADD, {"type": "function", "function": {"name": name}}]
    assert places(check_tools(tools)) == ["tools[1].function.name"]


def test_good_names_and_the_flat_form() -> None:
    assert check_tools([tool("x" * 64), {"type": "function", "name": "a-B_9"}]) == []
    flat = {"type": "function", "name": "a b", "parameters": []}
    assert places(check_tools([flat])) == ["tools[0].name", "tools[0].parameters"]


def test_descriptions() -> None:
    function = {"name": "f", "description": "x" * 1024}
    assert check_tools([{"type": "function", "function": function}]) == []
    function["description"] += "x"
    (problem,) = check_tools([{"type": "function", "function": function}])
    assert problem.param == "tools[0].function.description"
    assert "at most 1024 characters; this one has 1025" in problem.message


def test_everything_wrong_in_tools_is_reported_at_once() -> None:
    parameters = {
        "type": "object",
        "properties": {"a": {"type": "int"}, "b": 5, "c": {"type": "array", "items": {"enum": 1}}},
        "required": "a",
    }
    function = {"name": "f f", "description": 1, "strict": "yes", "parameters": parameters}
    tools = [5, {"type": "function"}, {"type": 7}, {"type": "function", "function": function}]
    assert places(check_tools(tools)) == [
        "tools[0]",
        "tools[1].function",
        "tools[2].type",
        "tools[3].function.name",
        "tools[3].function.description",
        "tools[3].function.strict",
        "tools[3].function.parameters.required",
        "tools[3].function.parameters.properties.a.type",
        "tools[3].function.parameters.properties.b",
        "tools[3].function.parameters.properties.c.items.enum",
    ]


def test_parameters_must_be_of_type_object() -> None:
    found = check_tools([{"type": "function", "name": "f", "parameters": {"type": "string"}}])
    assert places(found) == ["tools[0].parameters.type"]


def test_strict_holds_at_every_level() -> None:
    inner = {"type": "object", "properties": {"x": {"type": "string"}}}
    parameters = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": inner}, "b": {"anyOf": [inner]}},
        "required": ["a"],
        "additionalProperties": False,
        "$defs": {"D": inner},
    }
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    assert check_tools(tools) == []
    tools[0]["function"]["strict"] = True  # type: ignore[index]
    at = "tools[0].function.parameters"
    assert places(check_tools(tools)) == [
        f"{at}.required",
        f"{at}.properties.a.items.additionalProperties",
        f"{at}.properties.a.items.required",
        f"{at}.properties.b.anyOf[0].additionalProperties",
        f"{at}.properties.b.anyOf[0].required",
        f"{at}.$defs.D.additionalProperties",
        f"{at}.$defs.D.required",
    ]


def test_a_very_deep_schema_does_not_raise() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(50_000):
        schema = {"type": "array", "items": schema}
    found = check_tools([tool("f", a=schema)])
    assert found == []


def test_other_kinds_of_tools_are_the_servers_business() -> None:
    assert check_tools([{"type": "web_search"}, {"type": "custom", "custom": {"name": "x"}}]) == []


# tool_choice


@pytest.mark.parametrize(
    ("choice", "tools", "place"),
    [
        (None, None, None),
        ("none", None, None),
        ("auto", None, None),
        ("auto", TOOLS, None),
        ("required", TOOLS, None),
        ("required", None, "tool_choice"),
        ("required", [], "tool_choice"),
        ("any", TOOLS, "tool_choice"),
        (5, TOOLS, "tool_choice"),
        ({"type": "function", "function": {"name": "add"}}, TOOLS, None),
        ({"type": "function", "name": "add"}, TOOLS, None),
        ({"type": "function", "function": {"name": "sub"}}, TOOLS, "tool_choice.function.name"),
        ({"type": "function", "name": "sub"}, TOOLS, "tool_choice.name"),
        ({"type": "function", "function": 5}, TOOLS, "tool_choice.function.name"),
        ({"type": "function", "function": {"name": "add"}}, None, "tool_choice.function.name"),
        ({"type": "allowed_tools", "tools": []}, TOOLS, None),
    ],
)
def test_tool_choice(choice: Any, tools: Any, place: str | None) -> None:
    assert places(check_tool_choice(choice, tools)) == ([place] if place else [])


def test_parallel_tool_calls() -> None:
    body = {"messages": [USER], "parallel_tool_calls": "no"}
    assert places(check_request(body)) == ["parallel_tool_calls"]


# Conversations


def test_unanswered_calls() -> None:
    (problem,) = check_messages([USER, asks(call()), USER])
    assert (problem.param, problem.message) == ("messages[1].tool_calls[0].id", UNANSWERED)
    assert places(check_messages([asks(call("a"), call("b")), answer("b")])) == [
        "messages[0].tool_calls[0].id"
    ]
    assert check_messages([asks(call())], last_is_open=True) == []
    body = {"messages": [asks(call())], "continue_final_message": True}
    assert check_request(body) == []


def test_orphans_and_duplicates() -> None:
    messages = [answer("x"), asks(call()), answer("c1"), answer("c1"), USER, answer("c1")]
    assert places(check_messages(messages)) == [
        "messages[0].tool_call_id",
        "messages[3].tool_call_id",
        "messages[5].tool_call_id",
    ]


def test_ids_are_unique_in_the_whole_conversation() -> None:
    messages = [asks(call(), call()), answer(), USER, asks(call())]
    assert places(check_messages(messages)) == [
        "messages[0].tool_calls[1].id",
        "messages[3].tool_calls[0].id",
    ]


def test_everything_wrong_in_a_conversation_is_reported_at_once() -> None:
    messages = [
        {"role": "robot"},
        "hello",
        {"role": "user", "content": 5},
        asks(call(None, ""), call("c1", arguments="{"), call("c2", arguments={"a": 1}), 5),
        {"role": "assistant", "tool_calls": {}},
        {"role": "tool", "content": "2"},
    ]
    assert places(check_messages(messages)) == [
        "messages[0].role",
        "messages[1]",
        "messages[2].content",
        "messages[3].tool_calls[0].function.name",
        "messages[3].tool_calls[0].id",
        "messages[3].tool_calls[1].function.arguments",
        "messages[3].tool_calls[2].function.arguments",
        "messages[3].tool_calls[3]",
        "messages[3].tool_calls[1].id",
        "messages[3].tool_calls[2].id",
        "messages[4].tool_calls",
        "messages[5].tool_call_id",
    ]


@pytest.mark.parametrize("messages", [None, [], "hi", {}])
def test_there_must_be_messages(messages: Any) -> None:
    assert places(check_messages(messages)) == ["messages"]


def test_the_error_body() -> None:
    body = {"messages": [USER, asks(call()), USER], "tools": [{"type": "function"}]}
    problems = check_request(body)
    error = error_body(problems)["error"]
    assert error["type"] == "validation_error"
    assert error["param"] == error["problems"][0]["param"] == "tools[0].function"
    assert error["message"] == error["problems"][0]["message"]
    assert error["problems"][1] == {"param": "messages[1].tool_calls[0].id", "message": UNANSWERED}
    assert error["details"].split("\n")[1] == f"messages[1].tool_calls[0].id: {UNANSWERED}"
    assert "hint" not in error
    assert error_body(problems, "Do this")["error"]["hint"] == "Do this"
    alone = error_body(check_request([]))["error"]
    assert (alone["problems"][0]["param"], alone["details"]) == ("", alone["message"])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "tool_calls", "id", "function", "name", "type"])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(json_values, json_values, json_values)
def test_no_request_raises(messages: Any, tools: Any, choice: Any) -> None:
    body = {"messages": messages, "tools": tools, "tool_choice": choice, "input": messages}
    for api in ("chat", "responses"):
        problems = check_request(body, api)
        assert all(isinstance(p.message, str) and p.message for p in problems)
    check_request(body | {"functions": tools, "function_call": choice})


# The old style


def test_legacy_requests_are_translated() -> None:
    function = ADD["function"]
    body = {
        "model": "m",
        "functions": [function],
        "function_call": {"name": "add"},
        "messages": [
            USER,
            {"role": "assistant", "function_call": {"name": "add", "arguments": "{}"}},
            {"role": "function", "name": "add", "content": "2"},
        ],
    }
    assert check_request(body) == []
    assert translate_legacy(body) == {
        "model": "m",
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": "add"}},
        "parallel_tool_calls": False,
        "messages": [
            USER,
            {"role": "assistant", "tool_calls": [call("call_function_1", arguments="{}")]},
            {"role": "tool", "tool_call_id": "call_function_1", "content": "2"},
        ],
    }
    modern = {"messages": [USER], "tools": TOOLS}
    assert translate_legacy(modern) is modern


def test_legacy_places() -> None:
    body = {
        "functions": [{"name": "a b"}],
        "tools": TOOLS,
        "function_call": {"name": "sub"},
        "messages": [{"role": "function", "name": "add", "content": "2"}],
    }
    assert places(check_request(body)) == [
        "functions",
        "functions[0].name",
        "function_call.name",
        "messages[0].name",
    ]
    body = {"functions": 5, "messages": [USER]}
    assert places(check_request(body)) == ["functions"]


# Responses


def test_the_input_of_responses() -> None:
    item = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "2"}
    assert check_request({"input": "hi"}, "responses") == []
    assert check_request({"input": [item, output]}, "responses") == []
    bad = [item | {"arguments": "{"}, item, output, output, item | {"call_id": "c2"}, 5]
    assert places(check_request({"input": bad}, "responses")) == [
        "input[0].arguments",
        "input[1].call_id",
        "input[3].call_id",
        "input[5]",
        "input[4].call_id",
    ]
    later = {"input": [output], "previous_response_id": "resp_1"}
    assert check_request(later, "responses") == []
    assert places(check_request({"input": [output]}, "responses")) == ["input[0].call_id"]


# Too much of everything

LONG = "n" * 1_000_000


def strict(parameters: Any) -> Any:
    function = {"name": "f", "strict": True, "parameters": parameters}
    return [{"type": "function", "function": function}]


def deep(count: int, step: Any) -> Any:
    schema: Any = 5
    for _ in range(count):
        schema = step(schema)
    return schema


def properties(names: Any, part: Any = 5) -> Any:
    return {"type": "object", "properties": dict.fromkeys(names, part)}


#: Requests with `n` of something wrong.
WRONG: dict[str, Any] = {
    "messages": lambda n: {"messages": [1] * n},
    "roles": lambda n: {"messages": [{"role": LONG}] * n},
    "orphans": lambda n: {"messages": [answer(LONG)] * n},
    "unanswered": lambda n: {"messages": [asks(*(call(f"c{i}") for i in range(n)))]},
    "repeated": lambda n: {"messages": [asks(*(call(LONG) for _ in range(n)))]},
    "calls": lambda n: {"messages": [asks(*[5] * n)]},
    "turns": lambda n: {"messages": [asks(call(f"c{i}")) for i in range(n)]},
    "tools": lambda n: {"messages": [USER], "tools": [5] * n},
    "functions": lambda n: {"messages": [USER], "functions": [{"name": LONG}] * n},
    "properties": lambda n: {"tools": [tool("f", **{f"p{i}": 5 for i in range(n)})]},
    "long properties": lambda n: {
        "tools": strict(properties([LONG], properties(map(str, range(n)))))
    },
    "missing": lambda n: {
        "tools": strict(properties([f"{i}{LONG}" for i in range(3)] + ["x"] * n))
    },
    "not required": lambda n: {
        "tools": strict(properties(map(str, range(n))) | {"required": [f"r{i}" for i in range(n)]})
    },
    "deep": lambda n: {"tools": strict(deep(n, lambda inner: properties(["p"], inner)))},
    "choice": lambda n: {"messages": [USER], "tools": TOOLS * n, "tool_choice": {"name": LONG}},
    "input": lambda n: {"input": [5] * n},
    "outputs": lambda n: {"input": [{"type": "function_call_output", "call_id": LONG}] * n},
    "call_ids": lambda n: {
        "input": [{"type": "function_call", "call_id": f"{i}{LONG[:1000]}"} for i in range(n)]
    },
}


def check(body: Any) -> list[Any]:
    return check_request(body, "responses" if "input" in body else "chat")


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_told_is_bounded(kind: str) -> None:
    problems = check(WRONG[kind](1000))
    assert 1 <= len(problems) <= 21
    assert len(str(error_body(problems))) < 20_000
    if kind not in ("choice", "missing"):
        assert problems[-1].param == ""
        count = int(problems[-1].message.removeprefix("There are ").removesuffix(" more problems"))
        assert count >= 979


def test_how_many_more_there_are() -> None:
    assert len(check_messages([1] * 20)) == 20
    problems = check_messages([1] * 50_000)
    assert places(problems) == [*(f"messages[{i}]" for i in range(20)), ""]
    assert problems[-1].message == "There are 49980 more problems"


def test_the_first_problems_are_told() -> None:
    """Calls without an answer are found when the turn is over, but stand before its tool messages."""
    messages = [asks(call("c1"), call("c2")), *[answer("x")] * 30, USER]
    told = places(check_messages(messages))
    assert told[:2] == ["messages[0].tool_calls[0].id", "messages[0].tool_calls[1].id"]
    assert told[2:20] == [f"messages[{i}].tool_call_id" for i in range(1, 19)]


def test_long_values_and_places_are_cut() -> None:
    (problem,) = check_messages([{"role": LONG}])
    assert '"' + "n" * 80 + "…" in problem.message
    (problem,) = check_request(WRONG["choice"](1))
    assert "which is not among the tools" in problem.message
    schema = properties([f"p{i}" for i in range(9)], {"type": "string"})
    (problem,) = check_tools(strict(schema | {"additionalProperties": False}))
    assert problem.message.endswith("missing: p0, p1, p2, p3, p4, and 4 more")
    problem = check_tools(strict(deep(100, lambda inner: properties(["p"], inner))))[19]
    assert problem.param.startswith("tools[0].function.parameters")


@pytest.mark.parametrize("kind", WRONG)
def test_checking_costs_linear_work(kind: str) -> None:
    def work(count: int) -> Any:
        body = WRONG[kind](count)
        return lambda: check(body)

    assert_linear(work, 100)


def test_required_names_are_found_in_one_step() -> None:
    """A list of names that is searched once for every property costs the square."""
    compared = 0

    class Name(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    schema = properties([Name(i) for i in range(300)], {"type": "string"})
    check_tools(strict(schema | {"required": [Name(f"r{i}") for i in range(300)]}))
    assert compared < 3000


def test_no_text_grows_with_the_depth_or_the_length_of_a_name() -> None:
    """What the checks hold at most beside the request, whatever it looks like."""
    for kind in WRONG:
        body = WRONG[kind](2000)
        tracemalloc.start()
        check(body)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 4_000_000, kind
