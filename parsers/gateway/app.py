"""The standalone gateway: the middleware in front of a proxy to the upstream."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from . import metrics
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
from .front import Front
from .middleware import MARK, MAY_PROMPT, MODEL, ToolCallMiddleware
from .paths import upstream_path
from .settings import ServerSettings, Settings, UpstreamSettings
from .sse import DONE, frame
from .transport import Response as UpstreamResponse
from .transport import TransportError
from .upstream import Call, Reply
from .upstreams import Upstreams

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
#: The upstream's own addresses stay here.
_NOT_TO_CLIENT = HOP_BY_HOP | {b"date", b"server", b"location", b"content-location"}

_log = logging.getLogger("toolwire.gateway")

_REDIRECTED = "The upstream answers with a redirect, and with nothing else"
_BROKE_OFF = "The upstream broke off in the middle of its answer"


def create_app(
    upstream: UpstreamSettings,
    settings: Settings | None = None,
    server: ServerSettings | None = None,
) -> App:
    """The gateway as an ASGI application."""
    settings = settings or Settings.from_environment()
    budget = Budget(settings.max_held)
    upstreams = Upstreams(upstream)
    proxy = _Proxy(upstreams, settings, budget)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await upstreams.close()
        await watched.close()

    async def readyz(_: Request) -> Response:
        answering = await upstreams.answering()
        said = {"upstreams": len(upstreams), "answering": answering}
        status = "ok" if answering else "no upstream answers"
        return JSONResponse({"status": status, **said}, 200 if answering else 503)

    inner = Starlette(
        routes=[
            Route("/metrics", _metrics),
            Route("/healthz", _healthz),
            Route("/readyz", readyz),
            Route("/proxy/chat/completions", proxy, methods=["POST"]),
            Route("/proxy/responses", proxy, methods=["POST"]),
            Route("/proxy/messages", proxy, methods=["POST"]),
        ],
        lifespan=lifespan,
    )

    async def routed(scope: Scope, receive: Receive, send: Send) -> None:
        """What is passed on needs no router: each part of an answer would pass all of its layers."""
        passed_on = scope["type"] == "http" and scope["path"].startswith("/v1/")
        await (proxy if passed_on else inner)(scope, receive, send)

    watched = ToolCallMiddleware(routed, settings, budget)
    return Front(_with_cors(watched, server))


def _with_cors(app: App, server: ServerSettings | None) -> App:
    """Lets pages of other origins ask, where somebody wants that."""
    if server is None or not server.cors:
        return app
    return CORSMiddleware(
        app,
        allow_origins=server.cors,
        allow_methods=["GET", "POST"],
        allow_headers=["*"],
        expose_headers=["x-request-id", "retry-after"],
    )


async def _metrics(_: Request) -> Response:
    return Response(metrics.scrape(), media_type=CONTENT_TYPE_LATEST)


async def _healthz(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


class _Proxy:
    """Passes a request on to the upstream, and its answer back, chunk by chunk."""

    def __init__(self, upstreams: Upstreams, settings: Settings, budget: Budget) -> None:
        self._upstreams = upstreams
        self._settings = settings
        self._budget = budget

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = upstream_path(scope)
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
            call = Call(
                scope["method"],
                path,
                scope.get("query_string", b""),
                end_to_end(scope["headers"], _NOT_TO_UPSTREAM),
                body,
                scope.get(MODEL, ""),
                scope.get(MAY_PROMPT, False),
            )
            await self._run(_Exchange(self._upstreams, call, send, bool(scope.get(MARK))), receive)

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

    def __init__(self, upstreams: Upstreams, call: Call, send: Send, watched: bool) -> None:
        self.died = False
        self._upstreams = upstreams
        self._call = call
        self._send = send
        self._watched = watched
        self._is_stream = False
        self._tail = b""

    async def run(self) -> None:
        try:
            async with self._upstreams.send(self._call) as reply:
                if _is_redirect(reply.response):
                    _log.warning("the upstream answers with a redirect: is its address right?")
                    await send_json(self._send, 502, failure(_REDIRECTED))
                else:
                    await self._pass(reply)
        except Unavailable as error:
            after = [(b"retry-after", str(error.retry_after).encode())] if error.retry_after else []
            await send_json(self._send, error.status, failure(str(error)), after)

    async def _pass(self, reply: Reply) -> None:
        response = reply.response
        headers = end_to_end(response.headers, _NOT_TO_CLIENT)
        self._is_stream = (response.header(b"content-type") or "").startswith("text/event-stream")
        status = response.status
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        try:
            async for chunk in response.body():
                self._tail = chunk[-16:]
                await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
        except TransportError as error:
            self.died = True
            reply.broke_off(error)
            return
        reply.ended()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def report_death(self) -> None:
        """The middleware knows how to end an answer that it treats; others end here."""
        if self._watched or not self._is_stream:
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


def _is_redirect(response: UpstreamResponse) -> bool:
    """Where to, would be an address that only the gateway should know; to follow it, anybody's."""
    return response.status in range(300, 400) and response.status != 304
