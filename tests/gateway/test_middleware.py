"""The middleware inside a server: the routes it treats, and those that it leaves alone."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import threading
from typing import Any

import anyio
import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from toolwire import ToolwireError
from toolwire.gateway import Settings, ToolCallMiddleware, middleware

from .conftest import PATIENCE
from .scripted_upstream import stream_bytes, whole_answer
from .support_gateway import EXPECTED, TOOLS, ask, events
from .support_messages import ASKED, EXPECTED_MESSAGE, accumulated, parts

KEY = "k1"


async def chat(request: Request) -> Response:
    body = await request.json()
    path = request.url.path
    if body["model"] == "plain text":
        return PlainTextResponse('{"choices": 5}')
    if body["model"] == "encoded":
        return JSONResponse({"choices": 5}, headers={"content-encoding": "x-none"})
    if body["model"] == "length":
        return JSONResponse({"length": len(await request.body()), "h": dict(request.headers)})
    if body.get("stream"):

        async def pieces() -> Any:
            for piece in stream_bytes(body["model"], path):
                yield piece

        return StreamingResponse(pieces(), media_type="text/event-stream")
    return JSONResponse(whole_answer(body["model"], path))


SERVER = Starlette(
    routes=[
        Route("/v1/chat/completions", chat, methods=["POST"]),
        Route("/v1/responses", chat, methods=["POST"]),
        Route("/v1/other", chat, methods=["POST"]),
    ]
)


def call(method: str, path: str, settings: Settings | None = None, **more: Any) -> httpx2.Response:
    app = ToolCallMiddleware(SERVER, settings or Settings(format="hermes"))
    return call_app(app, method, path, **more)


def call_app(app: Any, method: str, path: str, **more: Any) -> httpx2.Response:

    async def run() -> httpx2.Response:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://server") as client:
            return await client.request(method, path, **more)

    return anyio.run(run)


@pytest.mark.parametrize("name", EXPECTED)
def test_whole_answers(name: str) -> None:
    answer = call("POST", "/v1/chat/completions", json=ask(name))
    text, calls, reason = EXPECTED[name]
    choice = answer.json()["choices"][0]
    found = choice["message"].get("tool_calls", [])
    assert choice["message"]["content"] == text
    assert [(c["function"]["name"], c["function"]["arguments"]) for c in found] == calls
    assert choice["finish_reason"] == reason
    assert answer.headers["content-length"] == str(len(answer.content))


@pytest.mark.parametrize("name", EXPECTED)
def test_the_format_need_not_be_known(name: str) -> None:
    path = "/v1/chat/completions"
    whole, known = (
        call("POST", path, Settings(format=format), json=ask(name)).json()["choices"][0]
        for format in ("any", "hermes")
    )
    for message in (whole["message"], known["message"]):
        for each in message.get("tool_calls", []):
            del each["id"]
    assert whole == known


def test_streams() -> None:
    answer = call("POST", "/v1/chat/completions", json=ask("malformed", stream=True))
    (entry,) = [e for c in events(answer.text) for e in _entries(c)]
    assert json.loads(entry["function"]["arguments"]) == {"input": '{"a": oops'}
    assert answer.text.startswith(": keep-alive\n\n")
    assert answer.text.endswith("data: [DONE]\n\n")


def _entries(chunk: Any) -> list[Any]:
    return [e for choice in chunk["choices"] for e in choice["delta"].get("tool_calls", ())]


def test_an_answer_that_needs_no_change_keeps_its_bytes() -> None:
    path = "/v1/chat/completions"
    for name in ("simple", "plain"):
        direct = call_app(SERVER, "POST", path, json=ask(name))
        assert call("POST", path, json=ask(name)).content == direct.content
    streamed = call("POST", "/v1/chat/completions", json=ask("plain", stream=True, tools=None))
    assert streamed.content == b"".join(stream_bytes("plain", "/v1/chat/completions"))


def test_responses_are_treated_too() -> None:
    answer = call("POST", "/v1/responses", json={"model": "missing", "input": "?"})
    assert [item["type"] for item in answer.json()["output"]] == ["message"]


def test_messages_are_translated_where_the_server_has_no_such_route() -> None:
    asked = {"model": "text", **ASKED}
    answer = call("POST", "/v1/messages", json=asked)
    assert answer.headers["content-length"] == str(len(answer.content))
    assert parts(answer.json()["content"]) == EXPECTED_MESSAGE["text"][:3]
    streamed = call("POST", "/v1/messages?beta=true", json=asked | {"stream": True})
    assert parts(accumulated(events(streamed.text))["content"]) == EXPECTED_MESSAGE["text"][:3]
    native = call("POST", "/v1/messages", Settings(messages="native"), json=asked)
    assert native.status_code == 404


def test_messages_that_are_refused_say_so_in_their_own_way() -> None:
    large = call("POST", "/v1/messages", Settings(max_body=10), json=ASKED)
    assert (large.status_code, large.json()["error"]["type"]) == (413, "request_too_large")
    refused = call("POST", "/v1/messages", content=b"[]")
    assert (refused.status_code, refused.json()["type"]) == (400, "error")
    assert "JSON object" in refused.json()["error"]["message"]


def test_what_is_left_alone() -> None:
    path = "/v1/chat/completions"
    assert call("POST", "/v1/other", json={"model": "missing", "tools": 5}).status_code == 200
    assert call("POST", path, json=ask("plain text")).text == '{"choices": 5}'
    assert call("POST", path, json=ask("encoded")).json() == {"choices": 5}
    assert call("GET", path).status_code == 405
    assert call("GET", "/nothing").status_code == 404
    assert call("GET", "/proxy/debug").status_code == 404


def test_requests_are_checked_and_translated() -> None:
    path = "/v1/chat/completions"
    refused = call("POST", path, json=ask("plain", tool_choice="sometimes"))
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "tool_choice"
    assert call("POST", path, Settings(max_body=10), json=ask("plain")).status_code == 413
    old = {"model": "length", "messages": ask("x")["messages"]}
    old["functions"] = [TOOLS[0]["function"]]
    seen = call("POST", path, json=old).json()
    assert seen["h"]["content-length"] == str(seen["length"])


def test_the_debug_routes() -> None:
    settings = Settings(admin_key=KEY)
    page = call("GET", "/proxy/debug", settings)
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    shown = call("GET", "/proxy/debug/tool-calls", settings, headers={"x-admin-key": KEY})
    told = shown.json()
    assert (told["items"], told["count"]) == ([], 0)
    assert told["whose"].startswith(f"of process {os.getpid()} on ")
    assert call("GET", "/proxy/debug/tool-calls", settings).status_code == 401
    assert KEY not in repr(settings)


def test_the_key_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def compare(given: bytes, key: bytes) -> bool:
        seen.append((given, key))
        return given == key

    monkeypatch.setattr(hmac, "compare_digest", compare)
    path, settings = "/proxy/debug/tool-calls", Settings(admin_key=KEY)
    assert call("GET", path, settings, headers={"x-admin-key": KEY}).status_code == 200
    assert call("GET", path, settings, headers={"x-admin-key": "x"}).status_code == 401
    assert seen == [(b"k1", b"k1"), (b"x", b"k1")]


def test_no_header_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    secret = {"authorization": "Bearer very-secret", "x-admin-key": "very-secret"}
    for name in ("missing", "malformed"):
        for stream in (False, True):
            body = ask(name, stream=stream)
            call("POST", "/v1/chat/completions", Settings(admin_key=KEY), json=body, headers=secret)
    assert "the call of 'add' has no arguments" in caplog.text
    assert "very-secret" not in caplog.text


def test_a_log_is_not_flooded(caplog: pytest.LogCaptureFixture) -> None:
    async def answer(_: Request) -> Response:
        message = {"tool_calls": [5] * 10_000}
        return JSONResponse({"choices": [{"message": message, "finish_reason": "stop"}]})

    server = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    call_app(ToolCallMiddleware(server, Settings()), "POST", "/v1/chat/completions", json=ask("m"))
    told = [record for record in caplog.records if record.name == "toolwire.gateway"]
    assert len(told) == 21


@pytest.mark.parametrize("depth", [400, 600, 900, 980, 995])
def test_an_answer_of_any_depth(depth: int) -> None:
    """What can be read can also be written; what is deeper passes as it is."""
    deep = "[" * depth + "]" * depth
    half = '{"tool_calls": [{"function": {"name": "f", "arguments": {}}}]}'
    text = f'{{"choices": [{{"message": {half}, "finish_reason": "stop"}}], "deep": {deep}}}'

    async def answer(_: Request) -> Response:
        return Response(text, media_type="application/json")

    server = Starlette(routes=[Route("/v1/chat/completions", answer, methods=["POST"])])
    app = ToolCallMiddleware(server, Settings())
    got = call_app(app, "POST", "/v1/chat/completions", json=ask("m"))
    assert got.status_code == 200
    assert (got.text == text) == (depth > 500)


def test_settings_come_from_the_environment() -> None:
    made = Settings.from_environment(
        {
            "TOOLWIRE_FORMAT": "hermes",
            "TOOLWIRE_MODE": "live",
            "TOOLWIRE_IDS": "sequential",
            "TOOLWIRE_EMIT": "complete",
            "TOOLWIRE_REQUESTS": "repair",
            "TOOLWIRE_NAMES": "mangle",
            "TOOLWIRE_KEEP_ALIVE": "2.5",
            "TOOLWIRE_REPAIR": "coerce,names",
            "TOOLWIRE_MAX_BODY": "99",
            "TOOLWIRE_MAX_EXCHANGE": "98",
            "TOOLWIRE_MAX_HELD": "97",
            "APISIX_ADMIN_KEY": "x",
            "TOOL_CALL_DEBUG_MAX": "7",
        }
    )
    assert (made.format, made.mode, made.ids) == ("hermes", "live", "sequential")
    assert made.repair == "coerce,names"
    assert (made.max_body, made.admin_key, made.debug_max) == (99, "x", 7)
    assert (made.max_exchange, made.max_held) == (98, 97)
    assert (made.emit, made.requests, made.names) == ("complete", "repair", "mangle")
    assert made.keep_alive == 2.5
    assert Settings.from_environment({}) == Settings()
    odd = [("FORMAT", "x"), ("MODE", "x"), ("IDS", "x"), ("MAX_BODY", "-1"), ("EMIT", "x")]
    odd += [("REQUESTS", "x"), ("NAMES", "x"), ("KEEP_ALIVE", "x"), ("KEEP_ALIVE", "-1")]
    for name, value in [*odd, ("KEEP_ALIVE", "nan"), ("KEEP_ALIVE", "inf"), ("REPAIR", "x")]:
        with pytest.raises(ToolwireError):
            Settings.from_environment({f"TOOLWIRE_{name}": value})


@pytest.mark.slow
def test_nobody_waits_while_a_large_request_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, served = threading.Event(), threading.Event()
    check = middleware.plan

    def slow(path: str, api: str, raw: bytes, *more: Any) -> Any:
        if len(raw) > 1_000_000:
            begun.set()
            assert served.wait(PATIENCE), "the other request waited for this one"
        return check(path, api, raw, *more)

    monkeypatch.setattr(middleware, "plan", slow)
    app = ToolCallMiddleware(SERVER, Settings())
    large = ask("plain") | {"messages": [1] * 1_000_000}

    async def run() -> list[int]:
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://x") as client:
            refused = asyncio.create_task(client.post("/v1/chat/completions", json=large))
            while not begun.is_set():
                await asyncio.sleep(0.01)
            small = await client.post("/v1/chat/completions", json=ask("plain"))
            served.set()
            return [small.status_code, (await refused).status_code]

    assert asyncio.run(run()) == [200, 400]
