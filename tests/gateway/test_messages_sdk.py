"""The official Python SDK of the Messages API as the client: to an upstream that speaks it, and to one
that only has Chat Completions."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import httpx2
import pytest

from ..engines.page_blocks import blocks
from .conftest import PATIENCE, Server
from .support_gateway import events, metric
from .support_messages import (
    ASKED,
    EXPECTED_MESSAGE,
    NOT_LIVE,
    PIXEL,
    USE_TOOLS,
    USER,
    agent_conversation,
    agent_tools,
    claude,
    parts,
    result_of,
    use_of,
)

SERVERS = ("gateway", "chat_gateway")  # native, translated


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> Server:
    found: Server = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def chat_client(chat_gateway: Server) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=chat_gateway.url, timeout=PATIENCE) as made:
        yield made


@pytest.mark.parametrize("name", EXPECTED_MESSAGE)
def test_whole(server: Server, name: str) -> None:
    answer = claude(server).messages.create(model=name, **ASKED)
    *wanted, stop = EXPECTED_MESSAGE[name]
    assert parts(answer.content) == tuple(wanted)
    assert answer.stop_reason == stop
    assert (answer.type, answer.role, answer.model) == ("message", "assistant", "m")
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (1, 2)


@pytest.mark.parametrize("fault", ["", "+bytes", "+crlf"])
@pytest.mark.parametrize("name", EXPECTED_MESSAGE)
def test_streamed(server: Server, name: str, fault: str) -> None:
    kinds = []
    with claude(server).messages.stream(model=name + fault, **ASKED) as stream:
        for event in stream:
            kinds.append(event.type)
        answer = stream.get_final_message()
    *wanted, stop = EXPECTED_MESSAGE[name]
    assert parts(answer.content) == tuple(wanted)
    assert answer.stop_reason == stop
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (1, 2)
    assert (kinds[0], kinds[-2:]) == ("message_start", ["message_delta", "message_stop"])
    assert kinds.count("content_block_start") == kinds.count("content_block_stop")


@pytest.mark.parametrize("to", ["upstream", "chat_upstream"])
def test_live(
    start_gateway: Callable[..., Server], to: str, request: pytest.FixtureRequest
) -> None:
    if to == "upstream":
        made: Server = request.getfixturevalue("live_gateway")
    else:
        made = start_gateway("--format", "hermes", "--mode", "live", to=request.getfixturevalue(to))
    for name in (n for n in EXPECTED_MESSAGE if n not in NOT_LIVE):
        with claude(made).messages.stream(model=name, **ASKED) as stream:
            answer = stream.get_final_message()
        *wanted, stop = EXPECTED_MESSAGE[name]
        assert parts(answer.content) == tuple(wanted)
        assert answer.stop_reason == stop


def test_the_sdk_takes_the_thoughts_back(chat_gateway: Server) -> None:
    """A second turn with what the first one answered, as the SDK hands it back."""
    client = claude(chat_gateway)
    first = client.messages.create(model="think", **ASKED)
    (call,) = [block for block in first.content if block.type == "tool_use"]
    turn: Any = [
        *USER,
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [result_of(call.id, "2")]},
    ]
    answer = client.messages.create(model="echo", messages=turn, tools=USE_TOOLS, max_tokens=9)
    (block,) = answer.content
    assert block.type == "text"
    _, said, result = json.loads(block.text)["messages"]
    assert (said["content"], said["reasoning_content"]) == ("So.", "Hm, well.")
    assert said["tool_calls"][0]["id"] == call.id == result["tool_call_id"]


def test_an_agents_turn_as_the_upstream_gets_it(chat_gateway: Server) -> None:
    system: Any = [
        {"type": "text", "text": "You are an agent."},
        {"type": "text", "text": "Be careful.", "cache_control": {"type": "ephemeral"}},
    ]
    with claude(chat_gateway).messages.stream(
        model="request",
        max_tokens=32_000,
        system=system,
        messages=agent_conversation(),  # type: ignore[arg-type]
        tools=agent_tools(),  # type: ignore[arg-type]
        tool_choice={"type": "auto", "disable_parallel_tool_use": True},
        stop_sequences=["STOP"],
        metadata={"user_id": "u"},
        thinking={"type": "adaptive"},
    ) as stream:
        seen = json.loads(stream.get_final_text())
    assert "cache_control" not in json.dumps(seen)
    assert [message["role"] for message in seen["messages"]] == [
        "system", "user", "assistant", "tool", "tool", "tool", "user",
    ]  # fmt: skip
    asked, said, read, failed, nothing, more = seen["messages"][1:]
    assert seen["messages"][0]["content"] == "You are an agent.\n\nBe careful."
    assert asked["content"].endswith("</system-reminder>\n\nWhat is in the screenshot?")
    assert (said["content"], said["reasoning_content"]) == ("I look.", "Two files.")
    assert [json.loads(call["function"]["arguments"]) for call in said["tool_calls"]] == [
        {"file_path": "/tmp/é.png"},
        {"file_path": "ls", "limit": 5.0},
        {},
    ]
    assert read["tool_call_id"] == "toolu_1"
    assert read["content"].startswith("1x1")
    assert failed["content"] == "Error: ls: not found"
    assert nothing["content"] == ""
    label, picture, words = more["content"]
    assert "toolu_1" in label["text"]
    assert picture["image_url"]["url"] == f"data:image/png;base64,{PIXEL}"
    assert words["text"] == "Go on."
    assert len(seen["tools"]) == 20
    assert all(len(tool["function"]["description"]) > 3000 for tool in seen["tools"])
    assert {key: seen[key] for key in seen if key not in ("messages", "tools")} == {
        "model": "request",
        "max_tokens": 32_000,
        "stream": True,
        "stream_options": {"include_usage": True},
        "stop": ["STOP"],
        "tool_choice": "auto",
        "parallel_tool_calls": False,
        "user": "u",
    }


@pytest.mark.parametrize("stream", [False, True])
def test_an_agents_loop(chat_gateway: Server, stream: bool) -> None:
    """Asks, runs what it is told to, and asks again until there is nothing to run."""
    client = claude(chat_gateway)
    turn: list[Any] = list(USER)
    stops = []
    for _ in range(5):
        asked: Any = {"model": "parallel>text>plain", "max_tokens": 100, "messages": turn}
        asked |= {"tools": [*USE_TOOLS, *agent_tools()]}
        if stream:
            with client.messages.stream(**asked) as streamed:
                answer: Any = streamed.get_final_message()
        else:
            answer = client.messages.create(**asked)
        stops.append(answer.stop_reason)
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            break
        turn.append({"role": "assistant", "content": answer.content})
        turn.append({"role": "user", "content": [result_of(c.id, "3") for c in calls]})
    assert stops == ["tool_use", "tool_use", "end_turn"]


@pytest.mark.parametrize(
    ("choice", "wanted"),
    [
        ({"type": "any"}, {"tool_choice": "required"}),
        ({"type": "none"}, {"tool_choice": "none"}),
        (
            {"type": "tool", "name": "add", "disable_parallel_tool_use": True},
            {
                "tool_choice": {"type": "function", "function": {"name": "add"}},
                "parallel_tool_calls": False,
            },
        ),
    ],
)
def test_tool_choice(chat_gateway: Server, choice: Any, wanted: Any) -> None:
    answer = claude(chat_gateway).messages.create(model="echo", tool_choice=choice, **ASKED)
    seen = json.loads(answer.content[0].text)  # type: ignore[union-attr]
    names = ("tool_choice", "parallel_tool_calls")
    assert {key: seen[key] for key in names if key in seen} == wanted


@pytest.mark.parametrize("stream", [False, True])
def test_one_call_at_a_time(server: Server, stream: bool) -> None:
    choice: Any = {"type": "auto", "disable_parallel_tool_use": True}
    client = claude(server)
    if stream:
        with client.messages.stream(model="kilo", tool_choice=choice, **ASKED) as streamed:
            answer: Any = streamed.get_final_message()
    else:
        answer = client.messages.create(model="kilo", tool_choice=choice, **ASKED)
    assert parts(answer.content)[2] == [("add", {"a": 1})]


# Errors


def test_wrong_requests(chat_gateway: Server) -> None:
    turn: Any = [*USER, {"role": "assistant", "content": [use_of("t1", "add", {})]}, *USER]
    with pytest.raises(anthropic.BadRequestError) as caught:
        claude(chat_gateway).messages.create(model="plain", messages=turn, max_tokens=9)
    body: Any = caught.value.body
    assert (body["type"], body["error"]["type"]) == ("error", "invalid_request_error")
    assert body["error"]["message"].startswith("messages.1: ")
    tools: Any = [{"type": "web_search_20250305", "name": "web_search"}]
    with pytest.raises(anthropic.BadRequestError, match=r"tools.0.type: .*web_search_20250305"):
        claude(chat_gateway).messages.create(
            model="plain", messages=USER, tools=tools, max_tokens=9
        )


def test_the_upstreams_errors(server: Server) -> None:
    with pytest.raises(anthropic.RateLimitError) as caught:
        claude(server).messages.create(model="plain+status429", **ASKED)
    assert caught.value.body == {
        "type": "error",
        "error": {"type": "rate_limit_error", "message": "no"},
    }


def test_the_key_goes_to_the_upstream_in_its_own_way(chat_gateway: Server) -> None:
    asked: Any = {"model": "plain+key", **ASKED}
    assert claude(chat_gateway, api_key="right").messages.create(**asked).content
    assert claude(chat_gateway, api_key=None, auth_token="right").messages.create(**asked).content
    with pytest.raises(anthropic.AuthenticationError, match="Wrong key"):
        claude(chat_gateway).messages.create(**asked)


@pytest.mark.parametrize(
    "model", ["plain+die", "simple+cutoff", "plain+error", "plain+cutoff+done"]
)
def test_streams_that_break_off(server: Server, model: str) -> None:
    asked = claude(server).messages.stream(model=model, **ASKED)
    with pytest.raises(anthropic.APIStatusError) as caught, asked as stream:
        stream.until_done()
    body: Any = caught.value.body
    assert body["type"] == "error"
    assert body["error"]["message"]


def test_a_giant_event_is_told(chat_gateway: Server) -> None:
    asked = claude(chat_gateway).messages.stream(model="plain+giant", **ASKED)
    with pytest.raises(anthropic.APIStatusError, match="too long"), asked as stream:
        stream.until_done()


def test_an_upstream_that_is_down(start_gateway: Callable[..., Server]) -> None:
    nobody = Server([], 1)
    made = start_gateway("--attempts", "1", to=nobody)
    with pytest.raises(anthropic.InternalServerError) as caught:
        claude(made).messages.create(model="plain", **ASKED)
    body: Any = caught.value.body
    assert body["error"]["type"] == "api_error"
    assert "can't be reached" in body["error"]["message"]


# The documents


def test_the_pages_block_runs(chat_gateway: Server) -> None:
    (block,) = (one for one in blocks("docs/gateway.md") if "import anthropic" in one.code)
    code = block.code.replace("http://127.0.0.1:8080", chat_gateway.url)
    assert "qwen3" in code
    code = code.replace("qwen3", "weather>plain")
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "get_weather {'city': 'Oslo'}\n"


# Which way


def seen_by(server: Server) -> Any:
    with httpx2.Client(timeout=PATIENCE) as client:
        return client.get(f"{server.url}/v1/files").json()["seen"]


def test_what_the_upstream_has_is_found_out_once(
    start_gateway: Callable[..., Server], chat_upstream: Server
) -> None:
    made = start_gateway(to=chat_upstream)
    before = seen_by(chat_upstream).get("no such route", 0)
    for _ in range(3):
        assert claude(made).messages.create(model="plain", **ASKED).content
    assert seen_by(chat_upstream)["no such route"] == before + 1


def test_translate_and_native(
    start_gateway: Callable[..., Server], upstream: Server, chat_upstream: Server
) -> None:
    asked: Any = {"model": "echo", **ASKED}
    made = start_gateway("--messages", "translate", to=upstream)
    seen = json.loads(claude(made).messages.create(**asked).content[0].text)  # type: ignore[union-attr]
    assert "function" in seen["tools"][0]
    made = start_gateway("--messages", "native", to=chat_upstream)
    with pytest.raises(anthropic.NotFoundError, match="Not Found"):
        claude(made).messages.create(**asked)


def test_a_model_that_is_missing_says_nothing_about_the_route(
    start_gateway: Callable[..., Server], chat_upstream: Server, upstream: Server
) -> None:
    made = start_gateway(to=upstream)
    with pytest.raises(anthropic.NotFoundError):
        claude(made).messages.create(model="plain+status404", **ASKED)
    answer = claude(made).messages.create(model="echo", **ASKED)
    seen = json.loads(answer.content[0].text)  # type: ignore[union-attr]
    assert "input_schema" in seen["tools"][0]


def test_counting_tokens_passes_on(gateway: Server) -> None:
    with httpx2.Client(base_url=gateway.url, timeout=PATIENCE) as client:
        told = client.post("/v1/messages/count_tokens", json={"model": "m"}).json()
    assert (told["method"], told["target"]) == ("POST", "/v1/messages/count_tokens")
    assert json.loads(told["body"]) == {"model": "m"}


def test_what_needs_no_change_passes_byte_by_byte(gateway: Server, upstream: Server) -> None:
    asked = {"model": "think", "messages": USER, "max_tokens": 9}
    with httpx2.Client(timeout=PATIENCE) as client:
        direct, through = (
            client.post(f"{one.url}/v1/messages?beta=true", json=asked).content
            for one in (upstream, gateway)
        )
        assert direct == through
        asked |= {"stream": True, "model": "plain"}
        direct, through = (
            client.post(f"{one.url}/v1/messages", json=asked).content for one in (upstream, gateway)
        )
        assert direct == through


def test_it_is_counted_and_captured(chat_client: httpx2.Client) -> None:
    def counted() -> list[float]:
        return [
            metric(chat_client, "manager_requests_total", route="/v1/messages", status="200"),
            metric(chat_client, "manager_requests_total", route="/v1/messages", status="404"),
            metric(chat_client, "manager_tool_calls_total", stage="stream"),
            metric(
                chat_client,
                "manager_tool_calls_malformed_total",
                stage="stream",
                reason="invalid_json",
            ),
        ]

    before = counted()
    asked = {"model": "malformed", "stream": True, **ASKED}
    sent = events(chat_client.post("/v1/messages", json=asked).text)
    assert sent[-1] == {"type": "message_stop"}
    while counted()[0] == before[0]:
        time.sleep(0.01)  # a request is counted when it is over, and the client knows that before
    assert [b - a for a, b in zip(before, counted(), strict=True)] == [1, 0, 1, 1]
    key = {"X-Admin-Key": "a-key-for-tests"}
    (item,) = chat_client.get("/proxy/debug/tool-calls?limit=1", headers=key).json()["items"]
    assert item["route"] == "/v1/messages, translated"
    assert item["reason"] == "invalid_json"
    assert "chat.completion.chunk" in "".join(item["raw"])
    assert "content_block_start" in "".join(item["emitted"])
