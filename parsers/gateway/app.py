"""The standalone gateway: the middleware in front of a proxy to one upstream."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import httpx2
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .asgi import (
    App,
    ClientGone,
    Receive,
    Refused,
    Scope,
    Send,
    UpstreamDied,
    read_body,
    send_json,
)
from .breaker import Unavailable
from .budget import Budget
from .exchange import failure
from .middleware import MARK, ToolCallMiddleware
from .settings import Settings, UpstreamSettings
from .sse import DONE, frame
from .upstream import Upstream

#: Headers that are about one connection (RFC 9110, 7.6.1), or that each side makes for itself.
HOP_BY_HOP = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
_NOT_TO_UPSTREAM = HOP_BY_HOP | {b"host", b"content-length", b"expect", b"x-admin-key"}
_NOT_TO_CLIENT = HOP_BY_HOP | {b"date", b"server"}

_BROKE_OFF = "The upstream broke off in the middle of its answer"


def create_app(upstream: UpstreamSettings, settings: Settings | None = None) -> App:
    """The gateway as an ASGI application."""
    settings = settings or Settings.from_environment()
    budget = Budget(settings.max_held)
    proxy = _Proxy(Upstream(upstream), settings, budget)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await proxy.upstream.close()

    inner = Starlette(
        routes=[
            Route("/metrics", _metrics),
            Route("/healthz", _healthz),
            Route("/proxy/chat/completions", proxy, methods=["POST"]),
            Route("/proxy/responses", proxy, methods=["POST"]),
            Route("/proxy/messages", proxy, methods=["POST"]),
            Route("/v1/{path:path}", proxy),
        ],
        lifespan=lifespan,
    )
    return ToolCallMiddleware(inner, settings, budget)


async def _metrics(_: Request) -> Response:
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


async def _healthz(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


class _Proxy:
    """Passes a request on to the upstream, and its answer back, chunk by chunk."""

    def __init__(self, upstream: Upstream, settings: Settings, budget: Budget) -> None:
        self.upstream = upstream
        self._settings = settings
        self._budget = budget

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = _upstream_path(scope)
        if path is None:
            await send_json(send, 404, failure("There is no such path", "not_found"))
            return
        with self._budget.account() as account:
            counted = None if scope.get(MARK) else account  # the middleware counts what it hands on
            try:
                body = await read_body(scope, receive, self._settings.max_body, counted)
            except Refused as refused:
                await send_json(send, refused.status, refused.body, refused.headers)
                return
            except ClientGone:
                return
            await self._run(_Exchange(self.upstream, scope, path, body, send), receive)

    async def _run(self, exchange: _Exchange, receive: Receive) -> None:
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                """An upstream that says nothing must not keep a client's request that is gone."""
                while (await receive())["type"] != "http.disconnect":
                    continue
                group.cancel_scope.cancel()

            group.start_soon(watch)
            await exchange.run()
            group.cancel_scope.cancel()
        if exchange.died:
            await exchange.report_death()


class _Exchange:
    """One request to the upstream and its answer."""

    def __init__(
        self, upstream: Upstream, scope: Scope, path: bytes, body: bytes, send: Send
    ) -> None:
        self.died = False
        self._upstream = upstream
        self._scope = scope
        self._path = path
        self._body = body
        self._send = send
        self._is_stream = False
        self._tail = b""

    async def run(self) -> None:
        url = self._upstream.url(self._path, self._scope.get("query_string", b""))
        headers = end_to_end(self._scope["headers"], _NOT_TO_UPSTREAM)
        method = self._scope["method"]
        try:
            async with self._upstream.send(method, url, headers, self._body) as response:
                await self._pass(response)
        except Unavailable as error:
            after = [(b"retry-after", str(error.retry_after).encode())] if error.retry_after else []
            await send_json(self._send, error.status, failure(str(error)), after)

    async def _pass(self, response: httpx2.Response) -> None:
        headers = end_to_end(response.headers.raw, _NOT_TO_CLIENT)
        kind = response.headers.get("content-type", "")
        self._is_stream = kind.startswith("text/event-stream")
        status = response.status_code
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        try:
            async for chunk in response.aiter_raw():
                self._tail = chunk[-16:]
                await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
        except httpx2.TransportError as error:
            self.died = True
            self._upstream.broke_off(error)
            return
        self._upstream.ended(response)
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def report_death(self) -> None:
        """The middleware knows how to end an answer that it treats; others end here."""
        if self._scope.get(MARK) or not self._is_stream:
            raise UpstreamDied(_BROKE_OFF)
        ended = DONE in self._tail  # it had said everything, and only failed to hang up properly
        error = b"" if ended else frame(failure(_BROKE_OFF), "error")
        await self._send({"type": "http.response.body", "body": error, "more_body": False})


def end_to_end(
    headers: list[tuple[bytes, bytes]], dropped: frozenset[bytes]
) -> list[tuple[bytes, bytes]]:
    """The headers that go on: not those about a connection, nor those that `Connection` names."""
    named = {
        name.strip().lower()
        for key, value in headers
        if key.lower() == b"connection"
        for name in value.split(b",")
    }
    return [(n, v) for n, v in headers if n.lower() not in dropped and n.lower() not in named]


def _upstream_path(scope: Scope) -> bytes | None:
    """The path under the upstream's base, or None for one that plays tricks."""
    path = str(scope["path"])
    inside = path.replace("%2e", ".").replace("%2E", ".").replace("%2F", "/").replace("%2f", "/")
    segments = inside.split("/")[1:]
    if "\\" in inside or any(segment in ("", ".", "..") for segment in segments[:-1]):
        return None
    if segments[-1] in (".", "..") or not inside.isprintable():
        return None
    raw: bytes = scope.get("raw_path") or path.encode()
    raw = raw.partition(b"?")[0]
    for prefix in (b"/v1/", b"/proxy/"):
        if raw.startswith(prefix):
            return raw[len(prefix) - 1 :]
    return None
