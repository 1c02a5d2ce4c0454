"""Requests through a real gateway: refused, repaired or passed on; and what the client never notices."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import openai
import pytest

from .conftest import PATIENCE, Server, gateway_server
from .scripted_upstream import event_bytes, response_events
from .support_gateway import ASK, TOOLS, ask_for, call_event, chat_event, metric

CHAT = "/v1/chat/completions"
REPAIRED = "manager_requests_repaired_total"
DONE = b"data: [DONE]\n\n"
WHOLE = {"type": "application/json"}


@pytest.fixture(scope="module")
def repairing(upstream: Server) -> Iterator[Server]:
    server = gateway_server(upstream, "--requests", "repair", "--names", "mangle").start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def passing(upstream: Server) -> Iterator[Server]:
    server = gateway_server(upstream, "--requests", "pass").start()
    yield server
    server.kill()


def sdk(server: Server) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0, timeout=PATIENCE)


def call(id: str, arguments: Any) -> Any:
    return {"id": id, "type": "function", "function": {"name": "add", "arguments": arguments}}


#: A conversation with everything in it that can be put right.
WRONG: Any = [
    *ASK,
    {"role": "assistant", "tool_calls": [call("c1", {"a": 1}), call("c2", "")]},
    {"role": "tool", "tool_call_id": "c2", "content": "old"},
    {"role": "user", "content": "and?"},
    {"role": "tool", "tool_call_id": "c2", "content": "new"},
    {"role": "tool", "tool_call_id": "c1", "content": "one"},
    {"role": "assistant", "tool_calls": [call("c1", '{"a": oops'), call("c3", "{}")]},
    {"role": "tool", "tool_call_id": "c1", "content": "two"},
    {"role": "user", "content": "1+1?"},
]
PARAMETERS: Any = {
    "type": "OBJECT",
    "required": None,
    "properties": {
        "a": {"type": "any", "required": True},
        "b": {"type": "object", "properties": None},
    },
}
WRONG_TOOL: Any = {
    "type": "function",
    "function": {"name": "add", "description": "x" * 2000, "parameters": PARAMETERS},
}


def test_strict_refuses_and_says_that_it_could_be_repaired(gateway: Server) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        sdk(gateway).chat.completions.create(model="echo", messages=WRONG, tools=[WRONG_TOOL])
    error: Any = caught.value.body
    assert error["hint"] == "A gateway that is started with --requests repair would put this right"
    assert isinstance(error["details"], str)
    lines = error["details"].split("\n")
    assert len(lines) == len(error["problems"]) > 5
    for line, problem in zip(lines, error["problems"], strict=True):
        assert line == f"{problem['param']}: {problem['message']}"
    assert error["message"] == error["problems"][0]["message"]
    with pytest.raises(openai.BadRequestError) as caught:
        sdk(gateway).chat.completions.create(model="echo", messages=[*WRONG, {"role": "robot"}])
    error = caught.value.body
    assert "hint" not in error


def test_repair_puts_it_right(repairing: Server) -> None:
    with httpx2.Client(base_url=repairing.url, timeout=PATIENCE) as client:

        def counted() -> dict[str, float]:
            kinds = ("arguments", "unanswered_call", "repeated_answer", "message_order")
            kinds += ("repeated_id", "schema", "tool_choice", "description")
            return {kind: metric(client, REPAIRED, what=kind) for kind in kinds}

        before = counted()
        answer = sdk(repairing).chat.completions.create(
            model="echo",
            messages=WRONG,
            tools=[WRONG_TOOL],
            tool_choice="any",  # type: ignore[call-overload]
        )
        grown = {kind: value - before[kind] for kind, value in counted().items()}
    seen = json.loads(answer.choices[0].message.content)
    messages = seen["messages"]
    assert [m["role"] for m in messages] == (
        ["user", "assistant", "tool", "tool", "user", "assistant", "tool", "tool", "user"]
    )
    said = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    made = [c for m in messages for c in m.get("tool_calls", ())]
    assert [said[c["id"]][:8] for c in made] == ["one", "new", "two", "There is"]
    arguments = [json.loads(c["function"]["arguments"]) for c in made]
    assert arguments == [{"a": 1}, {}, {"input": '{"a": oops'}, {}]
    assert seen["tool_choice"] == "required"
    function = seen["tools"][0]["function"]
    assert function["parameters"] == {
        "type": "object",
        "properties": {"a": {}, "b": {"type": "object", "properties": {}}},
        "required": ["a"],
    }
    assert len(function["description"]) == 2000
    assert grown == {
        "arguments": 3,
        "unanswered_call": 1,
        "repeated_answer": 1,
        "message_order": 1,
        "repeated_id": 1,
        "schema": 5,
        "tool_choice": 1,
        "description": 1,
    }


def test_what_is_right_goes_on_byte_for_byte(repairing: Server, passing: Server) -> None:
    body = b'{"model": "simple",  "messages":[{"role":"user","content":"\\u00e9"}],"x":1e400}'
    for server in (repairing, passing):
        headers = {"content-type": "application/json"}
        answer = httpx2.post(f"{server.url}{CHAT}", content=body, headers=headers, timeout=PATIENCE)
        assert answer.status_code == 200


def test_numbers_of_a_repaired_request_stay_as_they_were(repairing: Server) -> None:
    asked = {"model": "echo", "messages": ASK, "tools": TOOLS, "tool_choice": "any", "x": "HERE"}
    body = json.dumps(asked).replace('"HERE"', "1e400").encode()
    answer = httpx2.post(f"{repairing.url}{CHAT}", content=body, timeout=PATIENCE)
    told = answer.json()["choices"][0]["message"]["content"]
    assert '"x": Infinity' in told  # so Python reads 1e400; `Infinity` itself would be no JSON
    assert answer.status_code == 200


def test_what_can_not_be_repaired_is_refused(repairing: Server) -> None:
    for wrong in ([{"role": "robot"}], [*ASK, {"role": "tool", "tool_call_id": "x"}], 5):
        asked = {"model": "echo", "messages": wrong}
        answer = httpx2.post(f"{repairing.url}{CHAT}", json=asked, timeout=PATIENCE)
        assert answer.status_code == 400
        assert "hint" not in answer.json()["error"]


def test_pass_touches_nothing(passing: Server) -> None:
    messages = [*WRONG, {"role": "user", "content": "now"}]
    asked = {"model": "echo", "messages": messages, "tools": [WRONG_TOOL], "tool_choice": "any"}
    answer = httpx2.post(f"{passing.url}{CHAT}", json=asked, timeout=PATIENCE)
    assert json.loads(answer.json()["choices"][0]["message"]["content"]) == asked
    malformed = httpx2.post(
        f"{passing.url}{CHAT}",
        json={"model": "malformed", "messages": [{"role": 5}], "tools": TOOLS, "functions": 5},
        timeout=PATIENCE,
    )
    assert malformed.status_code == 200


@pytest.mark.parametrize("stream", [True, False])
def test_tools_that_the_upstream_refuses_are_left_out(repairing: Server, stream: bool) -> None:
    body: list[Any] = [chat_event({"content": "ok"}, "stop"), DONE]
    how: Any = {"picky": True}
    if not stream:
        body = [json.dumps({"choices": [{"message": {"content": "ok"}}]}).encode()]
        how |= WHOLE
    odd = [*TOOLS, {"type": "web_search"}, {"type": "custom", "custom": {"name": "shell"}}]
    asked = ask_for(*body, stream=stream, **how) | {"tools": odd}
    with httpx2.Client(base_url=repairing.url, timeout=PATIENCE) as client:
        before = metric(client, REPAIRED, what="tools")
        answer = client.post(CHAT, json=asked)
        assert answer.status_code == 200
        assert "ok" in answer.text
        assert metric(client, REPAIRED, what="tools") - before == 1


def test_a_refusal_that_is_about_something_else(repairing: Server, gateway: Server) -> None:
    asked = ask_for(b'{"error": {"message": "too long"}}', status=400, **WHOLE)
    asked["tools"] = [*TOOLS, {"type": "web_search"}]
    for server in (repairing, gateway):
        answer = httpx2.post(f"{server.url}{CHAT}", json=asked, timeout=PATIENCE)
        assert answer.status_code == 400
        assert answer.json()["error"]["message"] == "too long"


# What the gateway handed out


def test_arguments_that_live_passed_on_are_not_refused(live_gateway: Server) -> None:
    asked = ask_for(call_event('{"a": oops'), chat_event({}, "tool_calls"), DONE)
    client = sdk(live_gateway)
    made: Any = client.chat.completions.create(
        model="given",
        messages=ASK,  # type: ignore[arg-type]
        tools=TOOLS,  # type: ignore[arg-type]
        stream=True,
        extra_body={"x_given": asked["x_given"]},
    )
    (found,) = [c for chunk in made for ch in chunk.choices for c in ch.delta.tool_calls or ()]
    assert found.function.arguments == '{"a": oops'
    messages: Any = [
        *ASK,
        {"role": "assistant", "tool_calls": [call(found.id, found.function.arguments)]},
        {"role": "tool", "tool_call_id": found.id, "content": "1"},
    ]
    answer = client.chat.completions.create(model="echo", messages=messages, tools=TOOLS)  # type: ignore[arg-type]
    seen = json.loads(answer.choices[0].message.content or "")
    sent = seen["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"input": '{"a": oops'}
    item = {"type": "function_call", "call_id": "c", "name": "add", "arguments": '{"a": oops'}
    output = {"type": "function_call_output", "call_id": "c", "output": "1"}
    told = sdk(live_gateway).responses.create(model="plain", input=[item, output])  # type: ignore[arg-type]
    assert told.output_text == "Grüße, 世界!"
    messages[1]["tool_calls"][0]["function"]["arguments"] = {"a": 1}  # this was the client itself
    with pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="echo", messages=messages)


@pytest.mark.parametrize("server", ["gateway", "live_gateway"])
@pytest.mark.parametrize("stream", [True, False])
def test_an_id_that_the_upstream_gives_every_time(
    server: str, stream: bool, request: pytest.FixtureRequest
) -> None:
    """It calls every first call `c1`; the client has a conversation of four turns all the same."""
    client = sdk(request.getfixturevalue(server))
    messages: Any = list(ASK)
    for _ in range(4):
        made: Any = client.chat.completions.create(
            model="simple",
            messages=messages,
            tools=TOOLS,  # type: ignore[arg-type]
            stream=stream,
        )
        if stream:
            found = [c for chunk in made for ch in chunk.choices for c in ch.delta.tool_calls or ()]
        else:
            found = made.choices[0].message.tool_calls
        (one,) = found
        messages.append({"role": "assistant", "tool_calls": [call(one.id, one.function.arguments)]})
        messages.append({"role": "tool", "tool_call_id": one.id, "content": "1"})
    assert len({m["tool_call_id"] for m in messages if m["role"] == "tool"}) == 4


# Names


@pytest.mark.parametrize("mode", ["verified", "live"])
@pytest.mark.parametrize("stream", [True, False])
def test_names_are_mangled_for_the_upstream(
    shared_gateway: Callable[..., Server], mode: str, stream: bool
) -> None:
    server = shared_gateway("--names", "mangle", "--mode", mode)
    names = ["fs.read", "fs_read", "mcp/a:" + "x" * 80]
    tools: Any = [{"type": "function", "function": {"name": name}} for name in names]
    sent = ["fs_read_2", "fs_read", "mcp_a_" + "x" * 58]
    echoed = sdk(server).chat.completions.create(model="echo", messages=ASK, tools=tools)  # type: ignore[arg-type]
    seen = json.loads(echoed.choices[0].message.content or "")
    assert [tool["function"]["name"] for tool in seen["tools"]] == sent
    body: list[Any] = [call_event("{}", name, f"c{i}", i) for i, name in enumerate(sent)]
    body += [chat_event({}, "tool_calls"), DONE]
    how: Any = {}
    if not stream:
        calls = [call(f"c{i}", "{}") for i in range(3)]
        for one, name in zip(calls, sent, strict=True):
            one["function"]["name"] = name
        choice = {"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}
        body, how = [json.dumps({"choices": [choice]}).encode()], WHOLE
    made: Any = sdk(server).chat.completions.create(
        model="given",
        messages=ASK,  # type: ignore[arg-type]
        tools=tools,
        stream=stream,
        extra_body={"x_given": ask_for(*body, **how)["x_given"]},
    )
    if stream:
        found = [c for chunk in made for ch in chunk.choices for c in ch.delta.tool_calls or ()]
    else:
        found = made.choices[0].message.tool_calls
    assert [c.function.name for c in found if c.function.name] == names
    output = [
        {"type": "function_call", "id": f"f{i}", "call_id": f"c{i}", "name": name}
        | {"arguments": "{}", "status": "completed"}
        for i, name in enumerate(sent)
    ]
    flat: Any = [{"type": "function", "name": name, "parameters": {}} for name in names]
    given = ask_for(*(event_bytes(event) for event in response_events(output)))["x_given"]
    with sdk(server).responses.stream(
        model="given", input="?", tools=flat, extra_body={"x_given": given}
    ) as events:
        answer = events.get_final_response()
    assert [item.name for item in answer.output if item.type == "function_call"] == names


def test_names_pass_where_only_some_servers_forbid_them(upstream: Server) -> None:
    server = gateway_server(upstream, "--requests", "repair").start()
    tools = [{"type": "function", "function": {"name": name}} for name in ("a.b", "x" * 100)]
    try:
        with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
            asked = {"model": "echo", "messages": ASK, "tools": tools}
            answer = client.post(CHAT, json=asked).json()
            assert json.loads(answer["choices"][0]["message"]["content"]) == asked
            assert metric(client, REPAIRED, what="name") == 2
            spaced = {"type": "function", "function": {"name": "a b"}}
            assert client.post(CHAT, json=asked | {"tools": [spaced]}).status_code == 400
    finally:
        server.kill()
