"""What is cut is cut, and nothing raw slips through: odd streams through a real gateway."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import openai
import pytest

from .conftest import PATIENCE, Server
from .scripted_upstream import event_bytes, response, response_events
from .support_gateway import FLAT_TOOLS, ask_for, call_event, chat_event, events, metric

DONE = b"data: [DONE]\n\n"
END = chat_event({}, "tool_calls")
BROKEN = b'data: {"error": {"message": "out of memory"}}\n\n'
CHAT = "/v1/chat/completions"


def streamed(server: Server, *body: bytes | float, **more: Any) -> str:
    asked = ask_for(*body, stream=True, **more)
    answer = httpx2.post(f"{server.url}{CHAT}", json=asked, timeout=PATIENCE)
    assert answer.status_code == 200
    return answer.text


def calls(text: str) -> list[tuple[str, str]]:
    """Names and arguments as a client puts them together."""
    built: dict[int, list[str]] = {}
    for event in events(text):
        for choice in event.get("choices", ()):
            for entry in choice["delta"].get("tool_calls", ()):
                call = built.setdefault(entry["index"], ["", ""])
                call[0] += entry["function"].get("name", "")
                call[1] += entry["function"].get("arguments", "")
    return [(name, arguments) for name, arguments in built.values()]


def reasons(text: str) -> list[str]:
    choices = [choice for event in events(text) for choice in event.get("choices", ())]
    return [choice["finish_reason"] for choice in choices if choice["finish_reason"]]


@pytest.mark.parametrize(
    "ends",
    [
        [],
        [DONE],
        [BROKEN],
        [BROKEN, DONE],
        [BROKEN, END, DONE],
        [b"event: error\ndata: boom\n\n", END, DONE],
        [b'event: error\ndata: {"message": "boom"}\n\n', END, DONE],
    ],
)
def test_a_call_without_a_proper_end_is_not_sent(
    gateway: Server, client: httpx2.Client, ends: list[bytes]
) -> None:
    counted = {"stage": "stream", "reason": "truncated"}
    before = metric(client, "manager_tool_calls_malformed_total", **counted)
    text = streamed(gateway, chat_event({"content": "Hm."}), call_event('{"a": 1}'), *ends)
    assert "tool_calls" not in text
    assert "Hm." in text
    last = text.rstrip("\n").rpartition("\n\n")[2]
    assert json.loads(last.rpartition("data: ")[2])["error"]["message"]
    assert "[DONE]" not in text
    after = metric(client, "manager_tool_calls_malformed_total", **counted)
    assert after - before == 1


def test_the_sdk_raises_where_a_call_was_cut(gateway: Server, live_gateway: Server) -> None:
    for server in (gateway, live_gateway):
        sdk = openai.OpenAI(
            base_url=f"{server.url}/v1", api_key="k", max_retries=0, timeout=PATIENCE
        )
        asked = ask_for(call_event('{"a": 1}'), DONE)
        with pytest.raises(openai.APIError, match="without a finish reason"):
            for _ in sdk.chat.completions.create(
                model="given",
                messages=asked["messages"],
                tools=asked["tools"],
                stream=True,
                extra_body={"x_given": asked["x_given"]},
            ):
                pass


@pytest.mark.parametrize("how", ["error", "response.failed", "nothing"])
def test_the_same_for_responses(gateway: Server, how: str) -> None:
    output = [
        {"type": "function_call", "id": "f", "call_id": "c", "name": "add", "arguments": "{}"}
    ]
    given = [event_bytes(event) for event in response_events(output)[:-1]]
    if how == "error":
        given.append(event_bytes({"type": "error", "message": "boom", "code": None}))
    if how == "response.failed":
        given.append(event_bytes({"type": how, "response": response(output, "failed")}))
    asked = ask_for(*given, stream=True, input="?", tools=FLAT_TOOLS)
    answer = httpx2.post(f"{gateway.url}/v1/responses", json=asked, timeout=PATIENCE)
    assert "function_call" not in answer.text
    assert events(answer.text)[-1]["type"] == (how if how == "response.failed" else "error")


@pytest.mark.parametrize("server", ["gateway", "live_gateway"])
@pytest.mark.parametrize("id", [None, "", "same"])
def test_calls_that_are_all_numbered_0(
    server: str, id: Any, request: pytest.FixtureRequest
) -> None:
    given = [
        call_event('{"a": 1}', "add", id),
        call_event('{"a": ', "add", id),
        call_event("2}", None),
        call_event("{}", "noargs", id),
        END,
        DONE,
    ]
    text = streamed(request.getfixturevalue(server), *given)
    assert calls(text) == [("add", '{"a": 1}'), ("add", '{"a": 2}'), ("noargs", "{}")]
    entries = [
        entry
        for event in events(text)
        for choice in event["choices"]
        for entry in choice["delta"].get("tool_calls", ())
    ]
    ids = [entry["id"] for entry in entries if "id" in entry]
    assert len(set(ids)) == 3
    assert all(ids)


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (b"", b"data: [DONE] \n\n"),
        (b"", b"data:   [DONE]\t\r\n\r\n"),
        (b"\xef\xbb\xbf", DONE),
        (b"\xef\xbb\xbf: hello\n\n", DONE),
    ],
)
def test_an_end_with_spaces_and_a_byte_order_mark(
    gateway: Server, first: bytes, last: bytes
) -> None:
    text = streamed(gateway, first + call_event('{"a": oops'), END, last)
    assert calls(text) == [("add", '{"input": "{\\"a\\": oops"}')]
    assert reasons(text) == ["tool_calls"]
    assert text.endswith("data: [DONE]\n\n")


def test_bytes_that_are_no_utf_8(gateway: Server, live_gateway: Server) -> None:
    call = call_event('{"a": "X"}').replace(b"X", b"\xff\xc3")
    for server in (gateway, live_gateway):
        text = streamed(
            server, chat_event({"content": "X"}).replace(b"X", b"\xe9"), call, END, DONE
        )
        assert calls(text) == [("add", '{"a": "\ufffd\ufffd"}')]
        assert reasons(text) == ["tool_calls"]
        assert '"content":"\ufffd"' in text
    whole = b'{"choices": [{"message": {"tool_calls": [{"id": "c", "function": {"name": "add", '
    whole += b'"arguments": "{\\"a\\": \\"\xff\\"}"}}]}, "finish_reason": "stop"}]}'
    asked = ask_for(whole, type="application/json")
    answer = httpx2.post(f"{gateway.url}{CHAT}", json=asked, timeout=PATIENCE).json()
    (choice,) = answer["choices"]
    assert choice["message"]["tool_calls"][0]["function"]["arguments"] == '{"a": "\ufffd"}'
    assert choice["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("padding", ["arguments", "before", "behind"])
def test_a_call_in_an_event_that_is_too_long(gateway: Server, padding: str) -> None:
    long = b"x" * 9_000_000
    call = call_event('{"a": "PLACE"}') if padding == "arguments" else call_event("{}")
    if padding == "before":
        call = call.replace(b'{"id"', b'{"pad": "PLACE", "id"', 1)
    if padding == "behind":
        call = call[:-3] + b', "pad": "PLACE"}\n\n'
    text = streamed(gateway, call.replace(b"PLACE", long), END, DONE)
    assert "can't be read" in events("data: " + text.rpartition("data: ")[2])[0]["error"]["message"]
    assert reasons(text.rpartition("event: error")[2]) == []
    assert "[DONE]" not in text
    assert "tool_calls" not in text


def test_a_call_that_is_nested_too_deeply(gateway: Server) -> None:
    deep = "[" * 600 + "]" * 600
    call = call_event("{}").replace(b'"index": 0, "function"', b'"x": DEEP, "index": 0, "function"')
    text = streamed(gateway, call.replace(b"DEEP", deep.encode()), END, DONE)
    assert "tool_calls" not in text
    assert events(text)[-1]["error"]["type"] == "upstream_error"


def test_usage_is_kept_whole(gateway: Server) -> None:
    usage = {"prompt_tokens": 1, "x_cost": 1}
    beside = call_event("{}").replace(b'"model": "m"', b'"model": "m", "usage": {"x": 1e400}')
    text = streamed(gateway, beside, END.replace(b"}\n\n", b', "usage": {"x": 1.50}}\n\n'), DONE)
    assert '"usage":{"x":1e400}' in text
    assert '"x": 1.50' in text or '"x":1.50' in text
    last = b"data: " + json.dumps({"id": "c", "choices": [], "usage": usage}).encode() + b"\n\n"
    assert last.decode() in streamed(gateway, chat_event({"content": "x"}, "stop"), last, DONE)


def test_numbers_stay_as_they_were_written(gateway: Server) -> None:
    text = '{"a": 1e400, "b": [-0, {"c": 1.10}]}'
    call = call_event("ARGUMENTS").replace(b'"ARGUMENTS"', text.encode())
    end = chat_event({}, "stop", x_time=0).replace(b'"x_time": 0', b'"x_time": 1E400')
    got = streamed(gateway, call, end, DONE)
    assert calls(got) == [("add", text)]
    assert '"x_time":1E400' in got
    message = {"tool_calls": [{"id": "c", "function": {"name": "add", "arguments": "HERE"}}]}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "n": "HERE"}
    whole = json.dumps(body).replace('"HERE"', text).encode()
    asked = ask_for(whole, type="application/json")
    answer = httpx2.post(f"{gateway.url}{CHAT}", json=asked, timeout=PATIENCE)
    assert '"n":{"a":1e400,"b":[-0,{"c":1.10}]}' in answer.text
    (call_sent,) = answer.json()["choices"][0]["message"]["tool_calls"]
    assert call_sent["function"]["arguments"] == text


@pytest.mark.parametrize(("more", "content"), [({"tools": None}, ""), ({}, None)])
def test_an_empty_text_stays_where_no_call_was_asked_for(
    gateway: Server, more: Any, content: Any
) -> None:
    body = {"choices": [{"message": {"role": "assistant", "content": ""}, "finish_reason": "stop"}]}
    asked = ask_for(json.dumps(body).encode(), type="application/json", **more)
    answer = httpx2.post(f"{gateway.url}{CHAT}", json=asked, timeout=PATIENCE)
    assert answer.json()["choices"][0]["message"]["content"] == content
