"""A request, read once: the same whichever API it came by, and whatever it holds."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import constrain, list_formats, parse
from toolwire.openai import check_request, check_tools
from toolwire.openai.checks import check_tool_choice, translate_legacy
from toolwire.openai.constrain import constrain_request
from toolwire.openai.request import Choice, Request, read_choice, read_parts, read_request

from ..in_pieces import constrain_in_pieces
from ..support import TOOLS

NAMES = [tool["function"]["name"] for tool in TOOLS]
FLAT = [{"type": "function"} | tool["function"] for tool in TOOLS]
NAMESPACE = {"type": "namespace", "name": "files", "description": "Files.", "tools": FLAT[2:3]}
NESTED_CUSTOM = {"type": "custom", "custom": {"name": "patch", "format": {"type": "text"}}}
FLAT_CUSTOM = {"type": "custom", "name": "patch"}


def as_object(value: Any) -> Any:
    """As an engine hands things over: with attributes. Schemas stay dicts."""
    if isinstance(value, list):
        return [as_object(one) for one in value]
    if not isinstance(value, dict):
        return value
    return SimpleNamespace(
        **{k: v if k == "parameters" else as_object(v) for k, v in value.items()}
    )


def called(request: Request) -> list[str]:
    return [function.name for function in request.allowed]


def chat_list(mode: str, *names: str, kind: str = "function") -> dict[str, Any]:
    listed = [{"type": kind, kind: {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": listed}}


def responses_list(mode: str, *names: str, kind: str = "function") -> dict[str, Any]:
    listed = [{"type": kind, "name": name} for name in names]
    return {"type": "allowed_tools", "mode": mode, "tools": listed}


# The same request in all its shapes

CHOICES: list[tuple[Any, Any, Any]] = [  # Chat Completions, Responses, legacy
    (None, None, None),
    ("none", "none", "none"),
    ("auto", "auto", "auto"),
    (
        {"type": "function", "function": {"name": "add"}},
        {"type": "function", "name": "add"},
        {"name": "add"},
    ),
]


@pytest.mark.parametrize(("chat", "responses", "legacy"), CHOICES)
@pytest.mark.parametrize("shape", [lambda body: body, as_object])
def test_every_shape_says_the_same(chat: Any, responses: Any, legacy: Any, shape: Any) -> None:
    first = read_request(shape({"tools": TOOLS, "tool_choice": chat}))
    flat = shape({"tools": FLAT, "tool_choice": responses})
    assert read_request(flat, "responses") == first
    functions = [tool["function"] for tool in TOOLS]
    old = read_request(shape({"functions": functions, "function_call": legacy}))
    assert old == Request(first.functions, first.choice, parallel=False, legacy=True)


def test_the_old_style_is_read_as_it_is_translated() -> None:
    for _, _, choice in CHOICES:
        body = {"messages": [], "functions": [TOOLS[0]["function"]], "function_call": choice}
        old, new = read_request(body), read_request(translate_legacy(body))
        assert (old.legacy, new.legacy) == (True, False)
        assert (old.functions, old.choice, old.parallel) == (new.functions, new.choice, False)


def test_responses_has_no_functions() -> None:
    body = {"functions": [TOOLS[0]["function"]], "tools": FLAT[1:2]}
    assert called(read_request(body, "responses")) == ["noargs"]


def test_nothing_to_call() -> None:
    for tools in (None, [], ()):
        assert read_parts(tools, "required") == Request()
    hosted = read_parts([{"type": "web_search"}])
    assert (hosted.functions, hosted.tools, hosted.choice.mode) == ((), None, "auto")


def test_strict_and_parallel() -> None:
    strict = {"type": "function", "function": {"name": "f", "strict": True}}
    request = read_request({"tools": [strict, TOOLS[0]], "parallel_tool_calls": False})
    assert [function.strict for function in request.functions] == [True, False]
    assert not request.parallel
    assert read_request({"tools": TOOLS, "parallel_tool_calls": None}).parallel
    assert request.tools is not None
    assert request.tools[0]["function"] == {"name": "f", "strict": True}


def test_a_schema_that_is_too_deep_is_not_read() -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"properties": {"a": deep}}
    tool = {"type": "function", "function": {"name": "f", "parameters": deep}}
    assert read_parts([tool]).functions[0].parameters == {}


# Custom tools and namespaces


@pytest.mark.parametrize("tool", [NESTED_CUSTOM, FLAT_CUSTOM])
@pytest.mark.parametrize("shape", [lambda tool: tool, as_object])
def test_a_custom_tool_is_a_function_with_one_text(tool: Any, shape: Any) -> None:
    (function,) = read_parts([shape(tool)]).functions
    assert function.custom
    assert (function.name, function.parameters) == (
        "patch",
        {
            "type": "object",
            "properties": {"input": {"type": "string"}},
            "required": ["input"],
            "additionalProperties": False,
        },
    )


def test_a_call_of_a_custom_tool_is_read() -> None:
    text = "<function=patch>\n<parameter=input>\n12\n</parameter>\n</function>"
    (call,) = parse("qwen3_coder", text, [FLAT_CUSTOM]).tool_calls
    assert call.load() == {"input": "12"}
    (call,) = parse("call_text", 'patch(input="x")', [NESTED_CUSTOM]).tool_calls
    assert call.load() == {"input": "x"}


def test_a_namespace_is_part_of_the_name() -> None:
    request = read_parts([TOOLS[0], NAMESPACE])
    assert [f.name for f in request.functions] == ["add", "files.write_file"]
    assert [f.own_name for f in request.functions] == ["add", "write_file"]
    assert request.functions[1].namespace == "files"
    text = "[files.write_file(path='a', content='b')]"
    (call,) = parse("pythonic", text, [NAMESPACE]).tool_calls
    assert (call.name, call.load()) == ("files.write_file", {"path": "a", "content": "b"})


@pytest.mark.parametrize(
    "choice",
    [
        {"type": "function", "name": "files.write_file"},
        {"type": "function", "name": "write_file"},
        {"type": "function", "name": "write_file", "namespace": "files"},
        responses_list("auto", "write_file"),
        responses_list("auto", "files.write_file"),
        {
            "type": "allowed_tools",
            "mode": "auto",
            "tools": [{"type": "namespace", "name": "files"}],
        },
    ],
)
def test_what_is_in_a_namespace_can_be_chosen(choice: Any) -> None:
    assert called(read_parts([TOOLS[0], NAMESPACE], choice)) == ["files.write_file"]
    assert check_tool_choice(choice, [TOOLS[0], NAMESPACE]) == []


def test_a_full_name_goes_before_one_in_a_namespace() -> None:
    request = read_parts([NAMESPACE, TOOLS[2]], {"type": "function", "name": "write_file"})
    assert called(request) == ["write_file"]


# The choice


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (None, Choice("auto")),
        ("auto", Choice("auto")),
        ("none", Choice("none")),
        ("required", Choice("required")),
        ("sometimes", Choice("auto")),
        ({"type": "custom", "custom": {"name": "patch"}}, Choice("required", "patch")),
        ({"type": "custom", "name": "patch"}, Choice("required", "patch")),
        ({"type": "web_search_preview"}, Choice("auto")),
        ({"type": "mcp", "server_label": "deepwiki", "name": "ask"}, Choice("auto")),
        ({"type": "allowed_tools", "mode": "required"}, Choice("required")),
        (chat_list("auto", "a"), Choice("auto", names=frozenset({"a"}))),
        (responses_list("required", "a"), Choice("required", names=frozenset({"a"}))),
        (5, Choice("auto")),
        ({}, Choice("auto")),
        ([], Choice("auto")),
    ],
)
@pytest.mark.parametrize("shape", [lambda choice: choice, as_object])
def test_choices(choice: Any, expected: Choice, shape: Any) -> None:
    assert read_choice(shape(choice)) == expected


@given(
    mode=st.sampled_from(["auto", "required"]),
    names=st.lists(st.sampled_from([*NAMES, "unknown"]), max_size=5),
    nested=st.booleans(),
    objects=st.booleans(),
)
def test_only_what_is_listed_is_allowed(
    mode: str, names: list[str], nested: bool, objects: bool
) -> None:
    choice = (chat_list if nested else responses_list)(mode, *names)
    request = read_parts(TOOLS, as_object(choice) if objects else choice)
    assert request.choice.mode == mode
    assert called(request) == [name for name in NAMES if name in names]
    assert [function.name for function in request.functions] == NAMES


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=3)
    | st.sampled_from(
        ["function", "custom", "namespace", "allowed_tools", "auto", "required", "x"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "function",
                    "custom",
                    "name",
                    "tools",
                    "mode",
                    "allowed_tools",
                    "namespace",
                    "parameters",
                    "strict",
                    "tool_choice",
                    "functions",
                    "function_call",
                    "parallel_tool_calls",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(body=JSON, api=st.sampled_from(["chat", "responses"]))
def test_reading_never_raises_and_finds_only_what_can_be_used(body: Any, api: str) -> None:
    for given_body in (body, as_object(body) if isinstance(body, dict) else body):
        request = read_request(given_body, api)
        assert request.choice.mode in ("none", "auto", "required")
        assert set(called(request)) <= {function.name for function in request.functions}
        parse("hermes", "text", request.tools)  # a parser takes them as they are
        constrain_request("hermes", request)


@given(tools=st.lists(JSON, max_size=3), choice=JSON)
def test_what_passes_the_checks_is_understood(tools: Any, choice: Any) -> None:
    body = {"tools": tools, "tool_choice": choice, "input": "x"}
    if check_request(body, "responses"):
        return
    request = read_request(body, "responses")
    if isinstance(choice, dict) and choice.get("type", "function") in ("function", "custom"):
        assert len(called(request)) == 1
    if isinstance(choice, str) and tools:
        assert request.choice.mode == choice


# What is wrong


@pytest.mark.parametrize(
    ("tool", "place"),
    [
        (NESTED_CUSTOM, None),
        (FLAT_CUSTOM, None),
        ({"type": "custom", "custom": {"name": "a b"}}, "tools[0].custom.name"),
        ({"type": "custom", "custom": 5}, "tools[0].custom"),
        ({"type": "custom"}, "tools[0].name"),
        (NAMESPACE, None),
        (NAMESPACE | {"name": 5}, "tools[0].name"),
        (NAMESPACE | {"tools": 5}, "tools[0].tools"),
        (NAMESPACE | {"tools": [5]}, "tools[0].tools[0]"),
        (NAMESPACE | {"tools": [{"type": "function", "name": ""}]}, "tools[0].tools[0].name"),
    ],
)
def test_tools_of_other_kinds_are_checked(tool: Any, place: str | None) -> None:
    assert [problem.param for problem in check_tools([tool])] == ([place] if place else [])


@pytest.mark.parametrize(
    ("choice", "place"),
    [
        (chat_list("auto", "add"), None),
        (responses_list("required", "add"), None),
        (chat_list("auto", "add", "sub"), "allowed_tools.tools[1].function.name"),
        (responses_list("auto", "sub"), "tools[0].name"),
        (chat_list("always", "add"), "allowed_tools.mode"),
        (responses_list("always", "add"), "mode"),
        ({"type": "allowed_tools", "allowed_tools": 5}, "allowed_tools.tools"),
        ({"type": "allowed_tools", "mode": "auto"}, "tools"),
        ({"type": "allowed_tools", "tools": [5]}, "tools[0]"),
        ({"type": "allowed_tools", "tools": [{"type": "mcp", "server_label": "x"}]}, None),
        ({"type": "custom", "custom": {"name": "patch"}}, "custom.name"),
    ],
)
def test_choices_are_checked(choice: Any, place: str | None) -> None:
    found = [problem.param for problem in check_tool_choice(choice, TOOLS)]
    assert found == ([f"tool_choice.{place}"] if place else [])


# The grammar


@pytest.mark.parametrize("format", list_formats())
@pytest.mark.parametrize("mode", ["auto", "required"])
def test_only_allowed_tools_are_in_the_grammar(format: str, mode: str) -> None:
    listed = [TOOLS[0], TOOLS[2]]
    for choice in (chat_list(mode, "add", "write_file"), responses_list(mode, "write_file", "add")):
        assert constrain(format, TOOLS, choice) == constrain(format, listed, mode)
    assert constrain(format, TOOLS, chat_list(mode)).tag is None


def test_a_listed_tool_may_be_called_twice_and_a_named_one_once() -> None:
    listed = json.dumps(constrain_in_pieces("hermes", TOOLS, chat_list("required", "add")).tag)
    name = {"type": "function", "function": {"name": "add"}}
    named = constrain_in_pieces("hermes", TOOLS, name).tag
    assert '"stop_after_first": false' in listed
    assert '"stop_after_first": true' in json.dumps(named)
