"""How much is held: for one exchange, for all together, and what happens where it is too much."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from toolwire.gateway import Settings, ToolCallMiddleware
from toolwire.gateway.budget import Budget, OverBudget

from .conftest import PATIENCE, Server
from .scripted_answers import item, message, more, start
from .scripted_upstream import chat_events, event_bytes, response_events
from .support_gateway import FLAT_TOOLS, TOOLS, ask, events
from .test_abuse import memory
from .test_middleware import call_app

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
KIB = 1024


def test_accounts() -> None:
    budget = Budget(100)
    with budget.account(80) as one, budget.account() as other:
        one.hold(70)
        with pytest.raises(OverBudget, match="80 bytes that the gateway holds for one"):
            one.hold(81)
        other.hold(30)
        with pytest.raises(OverBudget, match=r"All requests together .* 100 bytes"):
            one.hold(71)
        assert budget.held == 100
        one.hold(10)
        other.hold(90)
        other.count(200)
        assert budget.held == 210
    assert budget.held == 0


def chat(*deltas: Any) -> list[bytes]:
    """Events of a stream that has not ended."""
    return chat_events({"deltas": deltas, "reason": None})[:-3]


def responses(*output: Any, repeat: int = 1) -> list[bytes]:
    given = [e for e in response_events(list(output)) if not e["type"].endswith("done")]
    longer = [e | {"delta": e["delta"] * repeat} if "delta" in e else e for e in given]
    return [event_bytes(event) for event in longer[:-1]]


def argument(index: int = 0) -> Any:
    """The beginning of a call, with 4 KiB of arguments."""
    return start(index, f"c{index}", "add", arguments="x" * 4 * KIB)


UNDECIDED = '<tool_call>{"name": "add", "x": "'

#: Everything that an answer may make the gateway hold, more than 64 KiB of it.
HELD: dict[str, tuple[str, list[bytes]]] = {
    "arguments": (CHAT, chat(argument(), *(more(0, "x" * KIB) for _ in range(80)))),
    "small arguments": (CHAT, chat(argument(), *(more(0, "xy") for _ in range(35_000)))),
    "open calls": (CHAT, chat(*(argument(i) for i in range(30)))),
    "calls without arguments": (CHAT, chat(*(start(i, f"c{i}", "add") for i in range(120)))),
    "fields of a call": (CHAT, chat({"tool_calls": [{"index": 0, "x": [[]] * 3000}]})),
    "ids": (CHAT, chat(*(start(i, f"{i}", "f", arguments="{}") for i in range(700)))),
    "text": (CHAT, chat({"content": UNDECIDED}, *({"content": "word " * 99} for _ in range(200)))),
    "small text": (CHAT, chat({"content": UNDECIDED}, *({"content": "ab"} for _ in range(1500)))),
    "items": (RESPONSES, responses(*(item(f"c{i}", "add", "") for i in range(80)))),
    "arguments of items": (RESPONSES, responses(item("c1", "add", "x"), repeat=70_000)),
    "texts": (RESPONSES, responses(message("x"), repeat=70_000)),
    "calls that were sent": (
        RESPONSES,
        [event_bytes(e) for e in response_events([item(f"c{i}", "f", "{}") for i in range(100)])],
    ),
}


def app_with(
    pieces: list[bytes], media: str = "text/event-stream", **settings: Any
) -> ToolCallMiddleware:
    async def answer(_: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            for piece in pieces:
                yield piece

        return StreamingResponse(body(), media_type=media)

    routes = [Route(path, answer, methods=["POST"]) for path in (CHAT, RESPONSES)]
    made = {"format": "hermes", "max_exchange": 64 * KIB, **settings}
    return ToolCallMiddleware(Starlette(routes=routes), Settings(**made))


def request(path: str) -> dict[str, Any]:
    if path == CHAT:
        return ask("m", stream=True)
    return {"model": "m", "input": "?", "stream": True, "tools": FLAT_TOOLS}


@pytest.mark.parametrize("mode", ["verified", "live"])
@pytest.mark.parametrize("kind", HELD)
def test_a_stream_that_would_hold_too_much_ends_with_an_error(kind: str, mode: str) -> None:
    path, pieces = HELD[kind]
    app = app_with(pieces, mode=mode)
    answer = call_app(app, "POST", path, json=request(path))
    last = events(answer.text)[-1]
    assert last["error"]["type"] == "over_budget"
    assert "needs more than the 65536 bytes" in last["error"]["message"]
    assert answer.text.rpartition("event: ")[2].startswith("error\n")
    assert "[DONE]" not in answer.text
    assert app.budget.held == 0


@pytest.mark.parametrize("kind", HELD)
def test_all_of_them_together_may_not_hold_too_much(kind: str) -> None:
    path, pieces = HELD[kind]
    app = app_with(pieces, max_exchange=2**30, max_held=64 * KIB)
    last = events(call_app(app, "POST", path, json=request(path)).text)[-1]
    assert "All requests together" in last["error"]["message"]
    assert app.budget.held == 0


@pytest.mark.parametrize("path", [CHAT, RESPONSES])
def test_a_whole_answer_that_is_too_large_is_an_error(path: str) -> None:
    app = app_with([b'{"x": "', *[b"x" * KIB] * 100, b'"}'], "application/json")
    answer = call_app(app, "POST", path, json=request(path))
    assert answer.status_code == 502
    assert answer.json()["error"]["type"] == "over_budget"
    assert app.budget.held == 0


def test_requests_count_too() -> None:
    app = app_with([b"{}"], "application/json", max_held=10 * KIB)
    large = ask("x" * 5 * KIB)
    assert call_app(app, "POST", CHAT, json=large).status_code == 200
    with app.budget.account() as other:
        other.hold(6 * KIB)
        answer = call_app(app, "POST", CHAT, json=large)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"
    assert "try again later" in answer.json()["error"]["message"]
    assert app.budget.held == 0
    assert call_app(app, "POST", CHAT, json=large).status_code == 200


def test_tools_that_take_too_much_memory_are_refused() -> None:
    tool = {"name": "f", "parameters": {"enum": [[] for _ in range(1000)]}}
    body = ask("m", tools=[*TOOLS, {"type": "function", "function": tool}])
    assert len(json.dumps(body)) < 30_000
    answer = call_app(app_with([]), "POST", CHAT, json=body)
    assert answer.status_code == 413
    assert answer.json()["error"]["type"] == "request_too_large"


def test_what_is_held_is_given_back_when_the_client_leaves_or_the_upstream_dies() -> None:
    async def dies(_: Any, receive: Any, send: Any) -> None:
        await receive()
        head = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": chat(argument())[-1], "more_body": True})
        assert app.budget.held > 4 * KIB
        raise OSError

    app = ToolCallMiddleware(dies, Settings())
    with pytest.raises(OSError):  # noqa: PT011
        call_app(app, "POST", CHAT, json=request(CHAT))
    assert app.budget.held == 0


@pytest.mark.slow
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("mode", ["verified", "live"])
def test_an_endless_answer(shared_gateway: Callable[..., Server], mode: str, stream: bool) -> None:
    """400 MB would come: the upstream is left long before, and the memory stays small."""
    server = shared_gateway("--max-exchange-mib", "2", "--mode", mode)
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        client.post(CHAT, json=ask("plain", stream=stream))
        before = memory(server)
        answer = client.post(CHAT, json=ask("plain+endless", stream=stream))
        error = events(answer.text)[-1]["error"] if stream else answer.json()["error"]
        assert error["type"] == "over_budget"
        assert "--max-exchange-mib" in error["message"]
        assert memory(server) - before < 40_000_000
        told = client.get("/v1/seen").json()["seen"]
        assert "endless to the end" not in told


def test_a_large_answer_waits_for_a_client_that_does_not_read() -> None:
    """The server gets slices: it would keep what it is given in one go, and nobody counts there."""
    sizes: list[int] = []
    held: list[int] = []
    whole = json.dumps({"x": "y" * 1_000_000}).encode()

    async def watch(scope: Any, receive: Any, send: Any) -> None:
        async def count(sent: Any) -> None:
            sizes.append(len(sent.get("body", b"")))
            held.append(app.budget.held)
            await send(sent)

        await app(scope, receive, count)

    app = app_with([whole], "application/json", max_exchange=2**30)
    assert call_app(watch, "POST", CHAT, json=request(CHAT)).content == whole
    assert sum(sizes) == len(whole)
    assert max(sizes) <= 64 * KIB
    assert min(held[1:]) >= len(whole)
