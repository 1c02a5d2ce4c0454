"""Never silent: a client that waits hears something, and gets the same answer as one that need not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import openai
import pytest

from .conftest import PATIENCE, Server, gateway_server
from .scripted_upstream import event_bytes, response_events
from .support_gateway import FLAT_TOOLS, ask_for, call_event, chat_event, events

Start = Callable[..., Server]

CHAT = "/v1/chat/completions"
COMMENT = b": keep-alive\n\n"
DONE = b"data: [DONE]\n\n"
END = chat_event({}, "tool_calls")


@pytest.fixture(scope="module")
def restless(upstream: Server) -> Iterator[Server]:
    """A gateway that says something ten times a second."""
    options = ("--keep-alive", "0.1", "--attempts", "1", "--breaker-failures", "1000")
    server = gateway_server(upstream, "--format", "hermes", *options).start()
    yield server
    server.kill()


def post(server: Server, asked: Any, route: str = CHAT) -> httpx2.Response:
    return httpx2.post(f"{server.url}{route}", json=asked, timeout=PATIENCE)


@pytest.mark.parametrize(
    ("head", "first", "held"),
    [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
    ids=["before the first byte", "before the first event", "while a call is held"],
)
def test_comments_come_while_nothing_else_does(
    restless: Server, head: int, first: int, held: int
) -> None:
    given = [first, call_event('{"a": '), held, call_event("1}", None), END, DONE]
    answer = post(restless, ask_for(*given, head=head, stream=True))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.content.startswith(COMMENT)
    (entry,) = events(answer.text)[0]["choices"][0]["delta"]["tool_calls"]
    assert entry["function"] == {"name": "add", "arguments": '{"a": 1}'}
    assert answer.content.endswith(DONE)


def test_comments_never_stand_inside_an_event(restless: Server) -> None:
    """Not in one that the upstream sends slowly, nor in one that is too long to be held."""
    text = chat_event({"content": "Hm."})
    long = b"data: " + b"x" * 9_000_000
    given = [text[:20], 0.5, text[20:], long, 0.5, b"y\n\n", chat_event({}, "stop"), DONE]
    answer = post(restless, ask_for(*given, stream=True))
    assert COMMENT in answer.content
    parts = [part for part in answer.content.split(b"\n\n") if not part.startswith(b":")]
    assert parts == [text[:-2], long + b"y", chat_event({}, "stop")[:-2], DONE[:-2], b""]


@pytest.mark.parametrize("route", [CHAT, "/v1/responses"])
@pytest.mark.parametrize("status", [200, 400, 503])
def test_a_refusal_that_comes_late_is_an_error_event(
    restless: Server, status: int, route: str
) -> None:
    body = json.dumps({"error": {"message": "no room", "type": "t"}}).encode()
    asked = ask_for(body, head=0.5, status=status, type="application/json", stream=True)
    asked |= {"input": "?", "tools": None}
    answer = post(restless, asked, route)
    assert answer.status_code == 200
    (error,) = events(answer.text)
    assert error["error"]["message"] == "no room"
    assert "event: error\n" in answer.text
    if route == CHAT:
        assert (error["error"]["type"], error["error"]["code"]) == ("t", status)
    else:
        assert (error["type"], error["message"]) == ("error", "no room")


def test_an_upstream_that_dies_late(restless: Server, start_gateway: Start) -> None:
    asked = ask_for(b"plain text", head=0.5, type="text/plain", stream=True)
    (error,) = events(post(restless, asked).text)
    assert error["error"]["message"] == "The upstream answered 200, and no stream"
    nobody = start_gateway("--keep-alive", "0.1", "--read-timeout", "1")
    (error,) = events(post(nobody, ask_for(b"", head=600, stream=True)).text)
    assert error["error"]["code"] == 504


def test_the_sdk_raises_for_a_refusal_that_comes_late(restless: Server) -> None:
    sdk = openai.OpenAI(base_url=f"{restless.url}/v1", api_key="k", max_retries=0, timeout=PATIENCE)
    body = json.dumps({"error": {"message": "no room"}}).encode()
    asked = ask_for(body, head=0.5, status=400, type="application/json")
    with pytest.raises(openai.APIError, match="no room"):
        for _ in sdk.chat.completions.create(
            model="given",
            messages=asked["messages"],
            stream=True,
            extra_body={"x_given": asked["x_given"]},
        ):
            pass


def test_whole_answers_have_no_comments(restless: Server) -> None:
    body = json.dumps({"choices": []}).encode()
    answer = post(restless, ask_for(body, head=0.5, type="application/json"))
    assert answer.content == body


def test_it_can_be_turned_off(start_gateway: Start) -> None:
    server = start_gateway("--keep-alive", "0")
    given = [chat_event({"content": "x"}, "stop"), DONE]
    answer = post(server, ask_for(0.3, *given, head=0.3, stream=True))
    assert answer.content == b"".join(given)


@pytest.mark.slow
def test_a_client_that_gives_up_after_a_while_of_silence(restless: Server) -> None:
    """Calls that take longer than that: they drip, or stop in the middle, or the answer comes late.

    benchmarks/gateway_load.py does it with a call of 60 seconds, 20 of patience and the default.
    """
    gateway, patience, seconds = restless, 10, 12
    drip: list[Any] = [part for digit in range(1, 7) for part in (2, call_event(str(digit), None))]
    whole = '{"a": 123456}'
    dripping = [call_event('{"a": '), *drip, call_event("}", None), END, DONE]
    stopping = [call_event('{"a": '), seconds, call_event("1}", None), END, DONE]
    timeout = httpx2.Timeout(patience, connect=PATIENCE)

    def arguments(asked: Any) -> str:
        with httpx2.stream("POST", f"{gateway.url}{CHAT}", json=asked, timeout=timeout) as answer:
            text = "".join(answer.iter_text())
        entries = [
            entry
            for event in events(text)
            for choice in event["choices"]
            for entry in choice["delta"].get("tool_calls", ())
        ]
        (entry,) = entries
        return str(entry["function"]["arguments"])

    output = [
        {"type": "function_call", "id": "f", "call_id": "c", "name": "add", "arguments": "{}"}
    ]
    *given, last = [event_bytes(event) for event in response_events(output)]

    def responses() -> str:
        asked = ask_for(*given, seconds, last, stream=True, input="?", tools=FLAT_TOOLS)
        url = f"{gateway.url}/v1/responses"
        with httpx2.stream("POST", url, json=asked, timeout=timeout) as answer:
            return "".join(answer.iter_text())

    def with_the_sdk() -> str:
        patient = openai.Timeout(patience)
        sdk = openai.OpenAI(
            base_url=f"{gateway.url}/v1", api_key="k", max_retries=0, timeout=patient
        )
        asked = ask_for(*stopping)
        stream: Any = sdk.chat.completions.create(
            model="given",
            messages=asked["messages"],
            tools=asked["tools"],
            stream=True,
            extra_body={"x_given": asked["x_given"]},
        )
        found = [c for chunk in stream for ch in chunk.choices for c in ch.delta.tool_calls or ()]
        return "".join(call.function.arguments for call in found)

    with ThreadPoolExecutor(5) as at_once:
        dripped = at_once.submit(arguments, ask_for(*dripping, stream=True))
        stopped = at_once.submit(arguments, ask_for(*stopping, stream=True))
        late = at_once.submit(
            arguments, ask_for(*stopping[:1], *stopping[2:], head=seconds, stream=True)
        )
        other = at_once.submit(responses)
        official = at_once.submit(with_the_sdk)
        assert dripped.result() == whole
        assert stopped.result() == late.result() == official.result() == '{"a": 1}'
        assert '"type":"response.output_item.done"' in other.result()
