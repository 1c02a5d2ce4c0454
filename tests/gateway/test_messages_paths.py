"""Messages on the paths that all APIs share: comments, late errors, cuts, repairs, when calls go out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from toolwire.gateway import Settings, ToolCallMiddleware
from toolwire.gateway.messages_native_stream import MessagesStream
from toolwire.gateway.messages_stream import TranslatedStream
from toolwire.openai.policy import Policy

from ..support import policy_for
from .scripted_messages import message_events, text, use, whole_message
from .scripted_upstream import answer_with, event_bytes
from .support_gateway import TOOLS, call_event, chat_event, events
from .support_messages import ASKED, USE_TOOLS, USER, accumulated, parts, result_of, use_of
from .test_middleware import call_app

Json = dict[str, Any]
Answer = Callable[[Json], Response]

ROUTE = "/v1/messages"
COMMENT = ": keep-alive\n\n"
END = chat_event({}, "tool_calls")
DONE = b"data: [DONE]\n\n"
CALL = message_events([text("Hm."), use("c1", "add", {"a": 1})], "tool_use")
WAYS = ("native", "translate")


class Upstream:
    """A server whose routes answer as they are told, after a while."""

    def __init__(self, chat: Answer, messages: Answer | None = None, wait: float = 0) -> None:
        self._answers = {"/v1/chat/completions": chat} | ({ROUTE: messages} if messages else {})
        self._wait = wait
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        body = await request.body()
        self.bodies.append(body)
        await anyio.sleep(self._wait)
        answer = self._answers.get(scope["path"])
        made = answer(json.loads(body)) if answer else JSONResponse({"detail": "no"}, 404)
        await made(scope, receive, send)


def streaming(*given: bytes | float) -> Answer:
    async def body() -> Any:
        for part in given:
            if isinstance(part, bytes):
                yield part
            else:
                await anyio.sleep(part)

    return lambda _: StreamingResponse(body(), media_type="text/event-stream")


def saying(body: Any, status: int = 200) -> Answer:
    return lambda _: JSONResponse(body, status)


def post(upstream: Any, settings: Settings, content: bytes | None = None, **more: Any) -> Any:
    asked = {"model": "m", "stream": True, **ASKED} | more
    app = ToolCallMiddleware(upstream, settings)
    written = json.dumps(asked).encode() if content is None else content
    return call_app(app, "POST", ROUTE, content=written)


def both(*given: Json) -> list[bytes]:
    return [event_bytes(event) for event in given]


# Never silent


@pytest.mark.parametrize("way", WAYS)
def test_comments_come_while_a_call_is_held(way: str) -> None:
    chat = streaming(call_event('{"a": '), 0.3, call_event("1}", None), END, DONE)
    native = streaming(*both(*CALL[:-2]), 0.3, *both(*CALL[-2:]))
    answer = post(Upstream(chat, native), Settings(messages=way, keep_alive=0.1))
    assert COMMENT in answer.text
    made = accumulated(events(answer.text))
    assert parts(made["content"])[2] == [("add", {"a": 1})]


def test_comments_come_while_it_is_found_out_how_to_ask() -> None:
    chat = streaming(call_event('{"a": 1}'), END, DONE)
    answer = post(Upstream(chat, wait=0.3), Settings(keep_alive=0.1))
    assert answer.status_code == 200
    assert answer.text.startswith(COMMENT)
    assert parts(accumulated(events(answer.text))["content"])[2] == [("add", {"a": 1})]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("status", "kind"), [(429, "rate_limit_error"), (400, "invalid_request_error")]
)
def test_a_refusal_that_comes_late_is_an_error_event(way: str, status: int, kind: str) -> None:
    refusal = saying({"error": {"message": "no room", "type": "t"}}, status)
    upstream = Upstream(refusal, refusal, wait=0.3)
    answer = post(upstream, Settings(messages=way, keep_alive=0.1))
    assert answer.status_code == 200
    assert "event: error\n" in answer.text
    error = {"type": kind, "message": "no room"}
    assert events(answer.text) == [{"type": "error", "error": error}]


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_that_is_no_stream_and_comes_late(way: str) -> None:
    whole = saying(answer_with({"content": "x"}))
    answer = post(Upstream(whole, whole, wait=0.3), Settings(messages=way, keep_alive=0.1))
    message = "The upstream answered 200, and no stream"
    assert events(answer.text) == [
        {"type": "error", "error": {"type": "api_error", "message": message}}
    ]


@pytest.mark.parametrize("keep_alive", [0, 0.1])
def test_what_cant_be_translated_is_told_once_that_is_the_only_way(keep_alive: float) -> None:
    tools = [{"type": "bash_20250124", "name": "bash"}]
    upstream = Upstream(saying({}), wait=0.3)
    answer = post(upstream, Settings(keep_alive=keep_alive), tools=tools)
    assert answer.status_code == (200 if keep_alive else 400)
    told = events(answer.text)[0] if keep_alive else answer.json()
    assert told["error"]["message"].startswith("tools.0.type: ")
    assert len(upstream.bodies) == 1


# What is cut is cut


@pytest.mark.parametrize(
    "last",
    [
        [],
        [b'event: error\ndata: {"type": "error", "error": {"type": "t", "message": "boom"}}\n\n'],
        [b'data: {"error": {"message": "boom"}}\n\n', *both(*CALL[-2:])],
        [b"event: error\ndata: boom\n\n", *both(*CALL[-2:])],
        [*both(CALL[-1])],
    ],
)
def test_a_native_call_without_a_proper_end_is_not_sent(last: list[bytes]) -> None:
    upstream = Upstream(saying({}), streaming(*both(*CALL[:-2]), *last))
    answer = post(upstream, Settings(messages="native"))
    assert "tool_use" not in answer.text
    assert "Hm." in "".join(event.get("delta", {}).get("text", "") for event in _read(answer.text))
    assert _read(answer.text)[-1]["type"] == "error"


def _read(text: str) -> list[Json]:
    """The events that are JSON."""
    return events(text.replace("data: boom", ": boom"))


@pytest.mark.parametrize(
    "last",
    [
        [],
        [DONE],
        [b'data: {"error": {"message": "boom"}}\n\n', END, DONE],
        [b"event: error\ndata: boom\n\n", END, DONE],
        [b'event: error\ndata: {"message": "boom"}\n\n', END, DONE],
        [call_event("{}")[:-9] + b"\n\n", END, DONE],
        [b"data: " + b"x" * 9_000_000, b"\n\n", END, DONE],
    ],
)
def test_nor_is_a_translated_one(last: list[bytes]) -> None:
    given = [chat_event({"content": "Hm."}), call_event('{"a": 1}'), *last]
    answer = post(Upstream(streaming(*given)), Settings(messages="translate"))
    sent = events(answer.text)
    assert "tool_use" not in answer.text
    assert [event["type"] for event in sent].count("error") == 1
    assert (sent[-1]["type"], sent[-1]["error"]["type"]) == ("error", "api_error")
    assert "[DONE]" not in answer.text


def test_a_native_call_in_an_event_that_cant_be_read() -> None:
    cut = [event if b"tool_use" not in event else event[:-9] + b"\n\n" for event in both(*CALL)]
    answer = post(Upstream(saying({}), streaming(*cut)), Settings(messages="native"))
    assert "can't be read" in events(answer.text)[-1]["error"]["message"]


# When calls go out


@pytest.mark.parametrize(
    ("mode", "emit", "early"),
    [("verified", "finish", 0), ("verified", "complete", 1), ("live", "finish", 2)],
)
@pytest.mark.parametrize("way", WAYS)
def test_when_calls_go_out(way: str, mode: str, emit: str, early: int) -> None:
    """Two calls, and then how it ended: before that is told, so many of them were sent."""
    policy = policy_for(tools=TOOLS)
    if way == "native":
        given = message_events([use("c1", "add", {"a": 1}), use("c2", "add", {"a": 2})], "tool_use")
        early = early if early != 1 else 2  # a block has an end of its own
        stream: Any = MessagesStream(policy, mode, emit)
    else:
        made = [call_event('{"a": 1}'), call_event('{"a": 2}', "add", "c2", 1), END]
        given = [json.loads(event[6:]) for event in made]
        stream = TranslatedStream(policy, mode, emit)
    last = 2 if way == "native" else 1
    before = [event for one in given[:-last] for event in stream.feed(one)]
    behind = [event for one in given[-last:] for event in stream.feed(one)] + stream.finish()
    assert sum(event["type"] == "content_block_start" for event in before) == early
    made_of = accumulated([*before, *behind])
    assert parts(made_of["content"])[2] == [("add", {"a": 1}), ("add", {"a": 2})]


def test_a_native_text_behind_a_call_need_not_wait() -> None:
    stream = MessagesStream(policy_for(tools=TOOLS))
    *given, end, stop = message_events([use("c1", "add", {"a": 1}), text("So.")], "tool_use")
    sent = [event for one in given for event in stream.feed(one)]
    assert "".join(event.get("delta", {}).get("text", "") for event in sent) == "So."
    made = accumulated(sent + stream.feed(end) + stream.feed(stop) + stream.finish())
    assert [block["type"] for block in made["content"]] == ["text", "tool_use"]
    assert stream.held == 0


# Calls that are repaired


REPAIRS = Policy(request=policy_for(tools=TOOLS).request, repair=frozenset({"coerce", "names"}))
WRITTEN = '{"a": "5", "b": 1.10}'


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_repaired_calls(mode: str) -> None:
    whole_call = [call_event(WRITTEN, "Add"), END]
    chat = [json.loads(event[6:]) for event in whole_call]
    native = message_events([use("c1", "Add", WRITTEN)], "tool_use")
    for stream, given in ((TranslatedStream, chat), (MessagesStream, native)):
        made = stream(REPAIRS, mode)
        sent = [event for one in given for event in made.feed(one)] + made.finish()
        ((name, read),) = parts(accumulated(sent)["content"])[2]
        assert name == "add"
        assert read["b"] == 1.10
        actions = [finding.action for finding in made.findings]
        assert "renamed" in actions
        assert ("coerced" in actions) == (read["a"] == 5)


def test_a_native_list_in_live_is_put_into_an_object() -> None:
    stream = MessagesStream(policy_for(tools=TOOLS), "live")
    given = message_events([use("c1", "add", " [1, 2]")], "tool_use")
    made = accumulated([event for one in given for event in stream.feed(one)])
    assert parts(made["content"])[2] == [("add", {"input": [1, 2]})]
    assert [(f.reason, f.action) for f in stream.findings] == [
        ("not_an_object", None),
        (None, "wrapped"),
    ]


# Requests

WRONG: Any = [
    *USER,
    {"role": "assistant", "content": [use_of("t1", "add", {}), use_of("t2", "add", {"a": 1})]},
    {"role": "user", "content": [result_of("t2", "2"), {"type": "text", "text": "and?"}]},
]


def test_requests_that_are_refused_repaired_or_passed() -> None:
    for requests, status in (("strict", 400), ("repair", 200), ("pass", 200)):
        upstream = Upstream(saying(answer_with({"content": "x"})))
        settings = Settings(messages="translate", requests=requests)
        answer = post(upstream, settings, messages=WRONG, stream=False)
        assert answer.status_code == status
        if status == 400:
            lines = answer.json()["error"]["message"].split("\n")
            assert lines[0].startswith("messages.1: ")
            assert lines[-1].startswith("A gateway that is started with --requests repair")
            continue
        seen = json.loads(upstream.bodies[0])["messages"]
        answered = [m["tool_call_id"] for m in seen if m["role"] == "tool"]
        assert answered == (["t2", "t1"] if requests == "repair" else ["t2"])


def test_places_are_the_clients_also_behind_a_repair() -> None:
    lost = [*WRONG, {"role": "user", "content": [result_of("nobody", "?")]}]
    settings = Settings(messages="translate", requests="repair")
    answer = post(Upstream(saying({})), settings, messages=lost)
    assert answer.json()["error"]["message"].startswith("messages.3: ")


def test_names_that_some_servers_refuse() -> None:
    def answers(body: Json) -> Response:
        function = {"name": body["tools"][0]["function"]["name"], "arguments": "{}"}
        calls = [{"id": "c", "type": "function", "function": function}]
        return JSONResponse(answer_with({"content": None, "tool_calls": calls}, "tool_calls"))

    tools = [USE_TOOLS[0] | {"name": "fs.read"}]
    upstream = Upstream(answers)
    settings = Settings(messages="translate", names="mangle")
    answer = post(upstream, settings, tools=tools, stream=False)
    assert json.loads(upstream.bodies[0])["tools"][0]["function"]["name"] == "fs_read"
    assert [block["name"] for block in answer.json()["content"]] == ["fs.read"]


def test_numbers_stay_as_they_were_written() -> None:
    given = '{"a": 1e400, "b": [-0, {"c": 1.10}]}'
    turn = [*USER, {"role": "assistant", "content": [use_of("t", "add", "HERE")]}]
    turn += [{"role": "user", "content": [result_of("t", "2")]}]
    asked = json.dumps({"model": "m", "temperature": "T", **ASKED, "messages": turn})
    written = asked.replace('"HERE"', given).replace('"T"', "1.0e0").encode()
    calls = [{"id": "c", "function": {"name": "add", "arguments": given}}]
    upstream = Upstream(saying(answer_with({"content": None, "tool_calls": calls})))
    answer = post(upstream, Settings(messages="translate"), written)
    seen = json.loads(upstream.bodies[0])["messages"][1]["tool_calls"][0]["function"]
    assert seen["arguments"] == given
    assert b'"temperature":1.0e0' in upstream.bodies[0]
    assert '"input":{"a":1e400,"b":[-0,{"c":1.10}]}' in answer.text
    native = json.dumps(whole_message([use("", "add", "HERE")], "end_turn"))
    own = Response(native.replace('"HERE"', given), media_type="application/json")
    answer = post(Upstream(saying({}), lambda _: own), Settings(messages="native"))
    assert '"input":{"a":1e400,"b":[-0,{"c":1.10}]}' in answer.text


def test_a_native_request_is_for_the_upstream_to_judge() -> None:
    upstream = Upstream(saying({}), saying(whole_message([text("x")], "end_turn")))
    written = json.dumps({"model": "m", "messages": WRONG, "tools": 5}).encode()
    for requests in ("strict", "repair", "pass"):
        settings = Settings(messages="native", requests=requests, names="mangle")
        assert post(upstream, settings, written).status_code == 200
    assert upstream.bodies == [written] * 3
