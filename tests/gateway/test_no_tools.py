"""Upstreams that take no tools, as Ollama, vLLM and llama.cpp refuse them: every client, every API."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import openai
import pytest
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from .conftest import PATIENCE, Server
from .scripted_answers import ONE
from .support_gateway import ASK, FLAT_TOOLS, TOOLS, ask, ask_for, events, metric
from .support_messages import ASKED, claude, parts

ADD = json.loads(ONE)
REFUSING = ["ollama", "vllm", "llamacpp"]


def client_of(server: Server) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0, timeout=PATIENCE)


def asked_of(upstream: Server, model: str) -> list[Any]:
    """All requests for a model that reached the upstream."""
    found: list[Any] = httpx2.get(f"{upstream.url}/v1/asked", timeout=PATIENCE).json()[model]
    return found


# -- every client ---------------------------------------------------------------------------------


@pytest.mark.parametrize("server", REFUSING)
def test_chat(gateway: Server, upstream: Server, server: str) -> None:
    """A call, its result and an answer; the second request goes the other way at once."""
    model = f"text>plain+{server}"
    client = client_of(gateway)
    request: Any = {"model": model, "tools": TOOLS}
    first = client.chat.completions.create(messages=ASK, **request).choices[0]
    (call,) = first.message.tool_calls or ()
    assert (call.function.name, call.function.arguments) == ("add", ONE)
    assert (first.message.content, first.finish_reason) == ("Let me look.", "tool_calls")
    result = {"role": "tool", "tool_call_id": call.id, "content": "2"}
    messages: Any = [*ASK, first.message.model_dump(exclude_none=True), result]
    with client.chat.completions.stream(messages=messages, **request) as stream:
        last = stream.get_final_completion().choices[0]
    assert (last.message.content, last.message.tool_calls) == ("Grüße, 世界!", None)
    refused, prompted, answered = asked_of(upstream, model)
    assert refused["tools"]
    assert "tools" not in prompted
    assert "# Tools" in prompted["messages"][0]["content"]
    assert [message["role"] for message in answered["messages"]] == [
        *("system", "user", "assistant", "user")
    ]
    assert answered["messages"][3]["content"] == "<tool_response>\n2\n</tool_response>"


def test_responses(gateway: Server, upstream: Server) -> None:
    client = client_of(gateway)
    for stream in (False, True):
        model = f"text+ollama+{stream}"
        request: Any = {"model": model, "input": "1+1?", "tools": FLAT_TOOLS}
        if stream:
            with client.responses.stream(**request) as streamed:
                answer = streamed.get_final_response()
        else:
            answer = client.responses.create(**request)
        calls = [item for item in answer.output if item.type == "function_call"]
        assert [(call.name, call.arguments) for call in calls] == [("add", ONE)]
        assert answer.output_text == "Let me look."
        refused, prompted = asked_of(upstream, model)
        assert refused["tools"]
        assert prompted["instructions"].startswith("# Tools")
        assert "tools" not in prompted


@pytest.mark.parametrize("way", ["native", "translated"])
def test_messages(
    gateway: Server, chat_gateway: Server, upstream: Server, chat_upstream: Server, way: str
) -> None:
    """Translated, whether the upstream has the route or not."""
    server, behind = (gateway, upstream) if way == "native" else (chat_gateway, chat_upstream)
    for stream in (False, True):
        model = f"text+ollama+messages+{stream}"
        if stream:
            with claude(server).messages.stream(model=model, **ASKED) as streamed:
                answer = streamed.get_final_message()
        else:
            answer = claude(server).messages.create(model=model, **ASKED)
        assert parts(answer.content) == ("", "Let me look.", [("add", ADD)])
        assert answer.stop_reason == "tool_use"
        last = asked_of(behind, model)[-1]
        assert "# Tools" in last["messages"][0]["content"]
        assert "tools" not in last


def test_langchain(gateway: Server) -> None:
    """Its loop: a call is run, its result goes back, and an answer comes; streamed and whole."""
    for streaming in (False, True):
        model = ChatOpenAI(
            model=f"text>plain+ollama+langchain{streaming}",
            base_url=f"{gateway.url}/v1",
            api_key="k",  # type: ignore[arg-type]
            streaming=streaming,
            max_retries=0,
            timeout=PATIENCE,
        ).bind_tools(TOOLS)
        messages: list[BaseMessage] = [HumanMessage("1+1?")]
        asked = model.invoke(messages)
        (call,) = asked.tool_calls
        assert (call["name"], call["args"]) == ("add", ADD)
        answer = model.invoke([*messages, asked, ToolMessage("2", tool_call_id=call["id"])])
        assert (answer.content, answer.tool_calls) == ("Grüße, 世界!", [])


# -- the ways there are ---------------------------------------------------------------------------


def test_tools_that_are_refused_for_another_reason_stay_refused(
    gateway: Server, upstream: Server
) -> None:
    body = b'{"error": {"message": "tools[0] is no good"}}'
    request = ask_for(body, status=400, type="application/json", model="given+once")
    answer = httpx2.post(f"{gateway.url}/v1/chat/completions", json=request, timeout=PATIENCE)
    assert (answer.status_code, answer.content) == (400, body)
    assert len(asked_of(upstream, "given+once")) == 1


def test_without_a_format_a_refusal_is_the_answer(
    shared_gateway: Callable[..., Server], upstream: Server
) -> None:
    plain = shared_gateway()
    with pytest.raises(openai.BadRequestError, match="does not support tools"):
        client_of(plain).chat.completions.create(
            messages=ASK, model="text+ollama+none", tools=TOOLS
        )


def test_prompt_native_and_none(start_gateway: Callable[..., Server], upstream: Server) -> None:
    """`prompt` never shows tools to the upstream, `native` always, `none` with the choice none."""
    for way in ("prompt", "native", "none"):
        server = start_gateway("--format", "hermes", "--tools", way)
        model = f"text+way{way}"
        request: Any = {"model": model, "tools": TOOLS, "tool_choice": "required"}
        answer = client_of(server).chat.completions.create(messages=ASK, **request)
        assert [c.function.name for c in answer.choices[0].message.tool_calls or ()] == ["add"]
        (asked,) = asked_of(upstream, model)
        assert ("tools" in asked) is (way != "prompt")
        assert asked.get("tool_choice") == {"native": "required", "none": "none"}.get(way)
        if way == "native":
            request["model"] = "text+ollama+native"
            with pytest.raises(openai.BadRequestError, match="does not support tools"):
                client_of(server).chat.completions.create(messages=ASK, **request)
        if way == "none":
            claude(server).messages.create(model=f"{model}+messages", **ASKED)
            (asked,) = asked_of(upstream, f"{model}+messages")
            assert (bool(asked["tools"]), asked["tool_choice"]) == (True, {"type": "none"})


# -- a call that must come ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def insisting(upstream: Server) -> Any:
    from .conftest import gateway_server

    server = gateway_server(upstream, "--format", "hermes", "--retry-required", "1").start()
    yield server
    server.kill()


@pytest.mark.parametrize("stream", [False, True])
def test_a_required_call_is_asked_for_once_more(
    insisting: Server, upstream: Server, stream: bool
) -> None:
    """The upstream answers in plain text, and writes the call when it is asked again."""
    model = f"reminded+{stream}"
    with httpx2.Client(base_url=insisting.url, timeout=PATIENCE) as http:
        labels = {"stage": "stream" if stream else "whole", "reason": "disobeyed"}
        counted = "manager_tool_calls_malformed_total"
        before = metric(http, counted, **labels)
        client = client_of(insisting)
        request: Any = {"model": model, "tools": TOOLS, "tool_choice": "required"}
        if stream:
            with client.chat.completions.stream(messages=ASK, **request) as streamed:
                answer = streamed.get_final_completion()
        else:
            answer = client.chat.completions.create(messages=ASK, **request)
        message = answer.choices[0].message
        assert [c.function.name for c in message.tool_calls or ()] == ["add"]
        assert message.content == "Let me look."  # nothing of the first answer
        assert metric(http, counted, **labels) == before + 1
    first, second = asked_of(upstream, model)
    assert first["messages"] == ASK
    assert second["messages"][0]["content"].startswith("1+1?\n\nYou have not called a tool.")


@pytest.mark.parametrize("stream", [False, True])
def test_the_same_for_responses_and_messages(
    insisting: Server, upstream: Server, stream: bool
) -> None:
    model = f"reminded+responses+{stream}"
    request: Any = {"model": model, "input": "1+1?", "tools": FLAT_TOOLS, "tool_choice": "required"}
    client = client_of(insisting)
    if stream:
        with client.responses.stream(**request) as streamed:
            answer = streamed.get_final_response()
    else:
        answer = client.responses.create(**request)
    assert [item.name for item in answer.output if item.type == "function_call"] == ["add"]
    assert answer.output_text == "Let me look."
    assert len(asked_of(upstream, model)) == 2
    model = f"reminded+messages+{stream}"
    asked: Any = {"model": model, "tool_choice": {"type": "any"}, **ASKED}
    if stream:
        with claude(insisting).messages.stream(**asked) as spoken:
            message = spoken.get_final_message()
    else:
        message = claude(insisting).messages.create(**asked)
    assert parts(message.content) == ("", "Let me look.", [("add", ADD)])
    assert len(asked_of(upstream, model)) == 2


@pytest.mark.parametrize("stream", [False, True])
def test_who_does_not_obey_twice_is_passed_on(insisting: Server, stream: bool) -> None:
    request = ask("plain", tool_choice="required", stream=stream)
    answer = httpx2.post(f"{insisting.url}/v1/chat/completions", json=request, timeout=PATIENCE)
    assert answer.status_code == 200
    chunks = events(answer.text) if stream else [answer.json()]
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    said = [c.get("delta") or c.get("message") or {} for c in choices]
    assert "".join(one.get("content") or "" for one in said) == "Grüße, 世界!"
    assert choices[-1]["finish_reason"] == "stop"


def test_without_being_told_so_nobody_asks_again(gateway: Server, upstream: Server) -> None:
    request = ask("plain+obey", tool_choice="required")
    with httpx2.Client(base_url=gateway.url, timeout=PATIENCE) as http:
        labels = {"stage": "whole", "reason": "disobeyed"}
        before = metric(http, "manager_tool_calls_malformed_total", **labels)
        assert http.post("/v1/chat/completions", json=request).status_code == 200
        assert metric(http, "manager_tool_calls_malformed_total", **labels) == before + 1
    assert len(asked_of(upstream, "plain+obey")) == 1
