"""The official Python SDK as the client."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import openai
import pytest

from .conftest import PATIENCE, Server
from .support_gateway import (
    ASK,
    EXPECTED,
    EXPECTED_OUTPUT,
    FLAT_TOOLS,
    TOOLS,
    metric,
)


def sdk(server: Server) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0, timeout=PATIENCE)


@pytest.mark.parametrize("name", EXPECTED)
def test_chat_whole(gateway: Server, name: str) -> None:
    answer = sdk(gateway).chat.completions.create(model=name, messages=ASK, tools=TOOLS)  # type: ignore[call-overload]
    text, calls, reason = EXPECTED[name]
    (choice,) = answer.choices
    found = choice.message.tool_calls or []
    assert choice.message.content == text
    assert [(c.function.name, c.function.arguments) for c in found] == calls
    assert len({c.id for c in found}) == len(found)
    assert choice.finish_reason == reason
    assert answer.usage.total_tokens == 3
    assert answer.model_extra == {"x_unknown": [1]}


@pytest.mark.parametrize("fault", ["", "+bytes", "+crlf"])
@pytest.mark.parametrize("name", EXPECTED)
def test_chat_streamed(gateway: Server, name: str, fault: str) -> None:
    request: Any = {"model": name + fault, "messages": ASK, "tools": TOOLS}
    request["stream_options"] = {"include_usage": True}
    text, calls, reason = EXPECTED[name]
    with sdk(gateway).chat.completions.stream(**request) as stream:
        for _ in stream:
            pass
        answer = stream.current_completion_snapshot
    (choice,) = answer.choices
    found = choice.message.tool_calls or []
    assert (choice.message.content or None) == text
    assert [(c.function.name, c.function.arguments) for c in found] == calls
    assert len({c.id for c in found}) == len(found)
    assert choice.finish_reason == reason
    assert answer.usage is not None
    assert answer.usage.total_tokens == 3


@pytest.mark.parametrize("name", [n for n in EXPECTED if n not in ("malformed", "cut", "missing")])
def test_chat_streamed_live(live_gateway: Server, name: str) -> None:
    request: Any = {"model": name, "messages": ASK, "tools": TOOLS}
    with sdk(live_gateway).chat.completions.stream(**request) as stream:
        for _ in stream:
            pass
        (choice,) = stream.get_final_completion().choices
    text, calls, reason = EXPECTED[name]
    assert (choice.message.content or None) == text
    found = choice.message.tool_calls or []
    assert [(c.function.name, c.function.arguments) for c in found] == calls
    assert choice.finish_reason == reason


@pytest.mark.parametrize("name", EXPECTED_OUTPUT)
def test_responses_whole(gateway: Server, name: str) -> None:
    answer = sdk(gateway).responses.create(model=name, input="1+1?", tools=FLAT_TOOLS)  # type: ignore[call-overload]
    text, calls = EXPECTED_OUTPUT[name]
    found = [item for item in answer.output if item.type == "function_call"]
    assert answer.output_text == text
    assert [(c.name, c.arguments) for c in found] == calls
    assert len({c.call_id for c in found}) == len(found)


@pytest.mark.parametrize(
    ("server", "name"),
    [
        *(("gateway", name) for name in EXPECTED_OUTPUT),
        # What can't be repaired once it was sent is not for this test.
        *(("live_gateway", n) for n in EXPECTED_OUTPUT if n not in ("malformed", "missing")),
    ],
)
def test_responses_streamed(name: str, server: str, request: pytest.FixtureRequest) -> None:
    asked: Any = {"model": name, "input": "1+1?", "tools": FLAT_TOOLS}
    deltas: dict[int, str] = {}
    with sdk(request.getfixturevalue(server)).responses.stream(**asked) as stream:
        numbers = []
        for event in stream:
            numbers.append(event.sequence_number)
            if event.type == "response.function_call_arguments.delta":
                deltas[event.output_index] = deltas.get(event.output_index, "") + event.delta
        answer = stream.get_final_response()
    text, calls = EXPECTED_OUTPUT[name]
    found = [item for item in answer.output if item.type == "function_call"]
    assert answer.output_text == text
    assert [(c.name, c.arguments) for c in found] == calls
    assert list(deltas.values()) == [arguments for _, arguments in calls]
    assert len({c.call_id for c in found}) == len(found)
    assert sorted(set(numbers)) == sorted(numbers)


@pytest.mark.parametrize("stream", [False, True])
def test_legacy_functions(gateway: Server, stream: bool) -> None:
    functions: Any = [tool["function"] for tool in TOOLS]
    made: Any = sdk(gateway).chat.completions.create(
        model="parallel",
        messages=ASK,  # type: ignore[arg-type]
        functions=functions,
        function_call={"name": "add"},
        stream=stream,
    )
    wanted = EXPECTED["parallel"][1][0]
    if not stream:
        call = made.choices[0].message.function_call
        assert (call.name, call.arguments) == wanted
        assert made.choices[0].message.tool_calls is None
        assert made.choices[0].finish_reason == "function_call"
        return
    name, arguments, reason = "", "", None
    for chunk in made:
        for choice in chunk.choices:
            assert choice.delta.tool_calls is None
            if choice.delta.function_call is not None:
                name += choice.delta.function_call.name or ""
                arguments += choice.delta.function_call.arguments or ""
            reason = choice.finish_reason or reason
    assert (name, arguments) == wanted
    assert reason == "function_call"


def test_what_the_upstream_gets_of_legacy_functions(gateway: Server) -> None:
    functions: Any = [TOOLS[0]["function"]]
    answer = sdk(gateway).chat.completions.create(
        model="echo",
        messages=ASK,
        functions=functions,
        function_call="auto",  # type: ignore[arg-type]
    )
    seen = json.loads(answer.choices[0].message.content or "")
    assert seen["tools"] == [TOOLS[0]]
    assert seen["tool_choice"] == "auto"
    assert "functions" not in seen
    assert "function_call" not in seen


def test_wrong_requests_are_told_everything(gateway: Server) -> None:
    messages: Any = [
        *ASK,
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{"}}
            ],
        },
        {"role": "user", "content": "?"},
    ]
    with pytest.raises(openai.BadRequestError) as caught:
        sdk(gateway).chat.completions.create(
            model="plain", messages=messages, tool_choice="required"
        )
    error: Any = caught.value.body
    assert error["type"] == "validation_error"
    assert [detail["param"] for detail in error["problems"]] == [
        "tool_choice",
        "messages[1].tool_calls[0].function.arguments",
        "messages[1].tool_calls[0].id",
    ]


def test_a_model_whose_name_has_a_slash(gateway: Server) -> None:
    found = sdk(gateway).models.retrieve("Qwen/Qwen3-8B")
    assert (found.model_extra or {})["target"] == "/v1/models/Qwen%2FQwen3-8B"


def test_metrics_count_what_happened(gateway: Server, client: httpx2.Client) -> None:
    def counted() -> list[float]:
        malformed = "manager_tool_calls_malformed_total"
        fallback = "manager_tool_calls_fallback_total"
        return [
            metric(client, malformed, stage="whole", reason="missing_arguments"),
            metric(client, malformed, stage="stream", reason="invalid_json"),
            metric(client, malformed, stage="whole", reason="truncated"),
            metric(client, malformed, stage="whole", reason="duplicate_id"),
            metric(client, fallback, stage="whole", action="dropped"),
            metric(client, fallback, stage="stream", action="wrapped"),
            metric(client, fallback, stage="whole", action="text_parsed"),
            metric(client, fallback, stage="whole", action="id_made"),
        ]

    before = counted()
    for name in ("missing", "cut", "parallel", "text"):
        test_chat_whole(gateway, name)
    test_chat_streamed(gateway, "malformed", "")
    after = counted()
    assert [b - a for a, b in zip(before, after, strict=True)] == [1, 1, 1, 1, 2, 1, 1, 1]
    assert metric(client, "manager_open_streams") == 0


@pytest.mark.parametrize("stream", [False, True])
def test_sequential_ids(shared_gateway: Callable[..., Server], stream: bool) -> None:
    server = shared_gateway("--format", "hermes", "--ids", "sequential")
    made: Any = sdk(server).chat.completions.create(
        model="text",
        messages=ASK,  # type: ignore[arg-type]
        tools=TOOLS,  # type: ignore[arg-type]
        stream=stream,
    )
    if stream:
        found = [c for chunk in made for ch in chunk.choices for c in ch.delta.tool_calls or ()]
    else:
        found = made.choices[0].message.tool_calls
    assert [call.id for call in found] == ["add_0"]
