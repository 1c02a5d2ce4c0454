"""The ASGI middleware: looks at tool calls on their way out, and at requests on their way in.

It is plain ASGI, so that a stream passes chunk by chunk: nothing is collected but what has to be.
Everything that is not a tool-call route passes untouched.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Awaitable, Callable, MutableMapping
from importlib import resources
from typing import Any
from urllib.parse import parse_qs

from anyio import to_thread

from . import metrics
from .budget import Account, Budget, OverBudget
from .capture import Capture
from .exchange import Plan, Refusal, StreamSession, answer_error, answer_whole, failure, plan
from .messages_errors import as_messages_error
from .messages_route import MESSAGES, NATIVE, NO_ROUTE, TRANSLATED, MessagesRoute, chat_scope
from .settings import Settings
from .sse import dump

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

ROUTES = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": NATIVE,
    "/proxy/chat/completions": "chat",
    "/proxy/responses": "responses",
    "/proxy/messages": NATIVE,
}
#: What all other paths of the API are counted as: clients must not be able to make up labels.
OTHER_ROUTES = "/v1/*"
DEBUG_ROUTE = "/proxy/debug/tool-calls"
DEBUG_PAGE = "/proxy/debug"
MAX_LIMIT = 10_000

_SLICE = 64 * 1024
_LARGE = 256 * 1024

#: In the scope: the middleware is on this request, and wants to know when the upstream dies.
MARK = "toolwire.watched"


class UpstreamDied(Exception):
    """Raised by the gateway's own proxy when an answer broke off in the middle."""


class ClientGone(Exception):
    """The client went away before its request was complete."""


class Refused(Exception):
    """The request is not taken in: what to answer."""

    def __init__(self, status: int, body: Any, headers: list[tuple[bytes, bytes]] | None = None):
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = headers


class ToolCallMiddleware:
    """Normalises tool calls in the answers of the app that it wraps, and checks requests to it.

    Without `settings`, they come from the environment: a server that is given only the name of this
    class (`--middleware toolwire.gateway.ToolCallMiddleware`) has no other way.
    """

    def __init__(
        self, app: App, settings: Settings | None = None, budget: Budget | None = None
    ) -> None:
        self.app = app
        self.settings = settings or Settings.from_environment()
        self.budget = budget or Budget(self.settings.max_held)
        self.messages = MessagesRoute(self.settings.messages)
        self.capture: Capture | None = None
        if self.settings.admin_key:
            self.capture = Capture(self.settings.debug_max, self.settings.debug_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = str(scope["path"]).removeprefix(scope.get("root_path", ""))
        if path in (DEBUG_ROUTE, DEBUG_PAGE):
            await self._debug(scope, path, send)
        elif scope["method"] == "POST" and path in ROUTES:
            await self._exchange(scope, receive, send, path)
        elif path.startswith("/v1/"):
            await self._pass_counted(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _pass_counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request and its answer on untouched."""
        started = time.perf_counter()
        status: Any = "none"

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                metrics.FIRST_BYTE.labels(OTHER_ROUTES).observe(time.perf_counter() - started)
            await send(message)

        try:
            await self.app(scope, receive, watch)
        finally:
            metrics.REQUESTS.labels(OTHER_ROUTES, status).inc()
            metrics.SECONDS.labels(OTHER_ROUTES).observe(time.perf_counter() - started)

    async def _exchange(self, scope: Scope, receive: Receive, send: Send, path: str) -> None:
        started = time.perf_counter()
        with self.budget.account() as request:
            try:
                raw = await read_body(scope, receive, self.settings.max_body, request)
                planned = await self._plan(path, self.messages.api(ROUTES[path]), raw, request)
                if not await self._ask(planned, scope, receive, send, started):
                    planned = await self._plan(path, TRANSLATED, raw, request)
                    await self._ask(planned, scope, receive, send, started)
            except Refused as refused:
                body = refused.body
                if ROUTES[path] in MESSAGES:
                    body = as_messages_error(body, refused.status)
                await send_json(send, refused.status, body, refused.headers)
                metrics.REQUESTS.labels(path, refused.status).inc()
            except ClientGone:
                return

    async def _ask(
        self, planned: Plan, scope: Scope, receive: Receive, send: Send, started: float
    ) -> bool:
        """Has the app answer. False, and nothing sent, where it does not know the Messages API."""
        scope = chat_scope(scope) if planned.api == TRANSLATED else scope
        inner = dict(scope) | {"headers": _headers_for(scope, planned.body), MARK: True}
        with self.budget.account(self.settings.max_exchange) as account:
            answer = _Answer(planned, self.settings, self.capture, send, account, started)
            answer.may_be_missing = self.messages.may_be_missing(planned.api)
            try:
                await self.app(inner, _Replay(planned.body, receive), answer.take)
            except UpstreamDied as error:
                await answer.die(str(error))
            finally:
                answer.close()
        self.messages.learn(planned.api, answer.status)
        return not answer.is_missing

    async def _plan(self, path: str, api: str, raw: bytes, account: Account) -> Plan:
        asked = (path, api, raw, self.settings)
        # A large request takes a while to check; other clients must not wait for that.
        planned = plan(*asked) if len(raw) < _LARGE else await to_thread.run_sync(plan, *asked)
        if isinstance(planned, Refusal):
            raise Refused(planned.status, planned.body)
        both = len(raw) if planned.body is not raw else 0
        hold(account, len(planned.body) + both + planned.weight)
        return planned

    async def _debug(self, scope: Scope, path: str, send: Send) -> None:
        if self.capture is None or scope["method"] not in ("GET", "HEAD"):
            await send_json(send, 404, failure("There is nothing here", "not_found"))
        elif path == DEBUG_PAGE:
            page = resources.files(__package__).joinpath("page.html").read_bytes()
            await send_bytes(send, 200, page, b"text/html; charset=utf-8", _PAGE_HEADERS)
        elif not self._is_admin(scope):
            await send_json(send, 401, failure("X-Admin-Key is missing or wrong", "unauthorized"))
        else:
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
            limit = query.get("limit", ["50"])[0]
            count = min(int(limit), MAX_LIMIT) if limit.isdecimal() and len(limit) < 9 else 50
            items = self.capture.newest(count)
            if query.get("clear", ["false"])[0].lower() in ("true", "1"):
                self.capture.clear()
            await send_json(send, 200, {"items": items, "count": len(items)})

    def _is_admin(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name.lower() == b"x-admin-key"]
        key = (self.settings.admin_key or "").encode()
        return len(given) == 1 and hmac.compare_digest(given[0], key)


# The page has no data and asks no other host for anything; this keeps it so.
_PAGE_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        b"connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
]


class _Answer:
    """Takes what the app sends, and sends what the client should get."""

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        capture: Capture | None,
        send: Send,
        account: Account,
        started: float,
    ) -> None:
        self._plan = plan
        self._account = account
        self._settings = settings
        self._capture = capture
        self._send = send
        self._started = started
        self._start: Message = {}
        self.status = 0
        self.may_be_missing = False  # a 404 or 405 is no answer yet: there is another way to ask
        self.is_missing = False
        self._how = self._pass  # what is done with the parts of the body
        self._whole = bytearray()
        self._stream: StreamSession | None = None
        self._is_stream = False
        self._begun = False  # whether the client has got anything
        self._ended = False

    async def take(self, message: Message) -> None:
        kind = message["type"]
        if kind == "http.response.start":
            await self._begin(message)
        elif kind == "http.response.body":
            await self._how(message.get("body", b""), bool(message.get("more_body")))
        else:
            await self._send(message)

    async def _begin(self, message: Message) -> None:
        self._start = message
        self.status = message["status"]
        self.is_missing = self.may_be_missing and self.status in NO_ROUTE
        if self.is_missing:
            self._how = self._ignore
            return
        metrics.FIRST_BYTE.labels(self._plan.route).observe(time.perf_counter() - self._started)
        headers = {name.lower(): value for name, value in message.get("headers", ())}
        content = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        encoded = headers.get(b"content-encoding", b"identity").strip().lower() != b"identity"
        is_error = self.status != 200
        if encoded or (is_error and not self._says_errors(content)):
            await self._send_start(message)
        elif content == b"text/event-stream":
            self._stream = StreamSession(self._plan, self._settings, self._capture, self._account)
            self._how = self._pass_stream
            self._is_stream = True
            metrics.OPEN_STREAMS.inc()
            await self._send_start(_with_length(message, None))
        elif content == b"application/json":
            self._how = self._collect
        else:
            await self._send_start(message)

    def _says_errors(self, content: bytes) -> bool:
        """Whether an error has to be said in the client's own way."""
        return self._plan.api in MESSAGES and content == b"application/json"

    async def _send_start(self, message: Message) -> None:
        self._begun = True
        await self._send(message)

    async def _pass(self, body: bytes, more: bool) -> None:
        """Sends in slices: a server takes what it is given, also for a client that does not read."""
        self._ended = not more
        for start in range(0, len(body) - _SLICE, _SLICE):
            part = body[start : start + _SLICE]
            await self._send({"type": "http.response.body", "body": part, "more_body": True})
        rest = body[(len(body) - 1) // _SLICE * _SLICE :] if len(body) > _SLICE else body
        await self._send({"type": "http.response.body", "body": rest, "more_body": more})

    async def _pass_stream(self, body: bytes, more: bool) -> None:
        assert self._stream is not None
        try:
            out = self._stream.feed(body) if body else b""
            if not more:
                out += self._stream.finish()
        except OverBudget as error:
            out, more = self._stream.give_up(str(error)), False
            self._let_go()
        if out or not more:
            held = self._stream.held if self._stream is not None else 0
            self._account.count(held + len(out))
            await self._pass(out, more)
            self._account.count(held)

    async def _collect(self, body: bytes, more: bool) -> None:
        try:
            self._account.hold(len(self._whole) + len(body))
        except OverBudget as error:
            self._let_go()
            await self._answer_error(error.status, str(error), "over_budget")
            return
        self._whole += body
        if not more:
            whole = bytes(self._whole)
            if self.status == 200:
                out = answer_whole(self._plan, whole, self._capture)
            else:
                out = answer_error(self._plan, self.status, whole)
            self._whole.clear()
            self._account.count(len(out))
            await self._send_start(_with_length(self._start, len(out)))
            await self._pass(out, False)

    def _let_go(self) -> None:
        """Nothing is held any more, and what the app still sends is not wanted."""
        self._how = self._ignore
        self._stream = None
        self._whole.clear()
        self._account.count(0)

    async def _ignore(self, body: bytes, more: bool) -> None:
        return

    async def _answer_error(self, status: int, message: str, kind: str = "upstream_error") -> None:
        self.status = status
        self._begun = self._ended = True
        body = failure(message, kind)
        if self._plan.api in MESSAGES:
            body = as_messages_error(body, status)
        await send_json(self._send, status, body)

    async def die(self, why: str) -> None:
        """The upstream broke off in the middle of its answer."""
        if self.is_missing:
            return
        if self._stream is not None:
            await self._pass(self._stream.die(why), False)
        elif not self._begun:
            await self._answer_error(502, why)
        elif not self._ended:
            raise UpstreamDied(why)  # the server cuts the connection: the client must notice

    def close(self) -> None:
        """The exchange is over, however it ended."""
        if self.is_missing:
            return
        if self._stream is not None:
            self._stream.abandon()
        if self._is_stream:
            metrics.OPEN_STREAMS.dec()
        metrics.REQUESTS.labels(self._plan.route, self.status or "none").inc()
        metrics.SECONDS.labels(self._plan.route).observe(time.perf_counter() - self._started)


class _Replay:
    """Hands the app the body once; after that, what the server has to say (the client left)."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def _headers_for(scope: Scope, body: bytes) -> list[tuple[bytes, bytes]]:
    """The request's headers for the app: the right length, and an answer that can be read."""
    dropped = (b"content-length", b"accept-encoding", b"transfer-encoding")
    kept = [(n, v) for n, v in scope["headers"] if n.lower() not in dropped]
    return [*kept, (b"content-length", str(len(body)).encode()), (b"accept-encoding", b"identity")]


def _with_length(start: Message, length: int | None) -> Message:
    headers = [(n, v) for n, v in start.get("headers", ()) if n.lower() != b"content-length"]
    if length is not None:
        headers.append((b"content-length", str(length).encode()))
    return dict(start) | {"headers": headers}


async def read_body(scope: Scope, receive: Receive, limit: int, account: Account | None) -> bytes:
    """The whole body of a request, counted in `account`. Raises `Refused` where it is too large."""
    for name, value in scope["headers"]:
        if name.lower() == b"content-length" and _is_over(value, limit):
            raise _too_large(limit)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        part: bytes = message.get("body", b"")
        if len(body) + len(part) > limit:
            raise _too_large(limit)
        if not body and not message.get("more_body"):
            hold(account, len(part))
            return part  # it came in one piece: no copy
        hold(account, len(body) + len(part))
        body += part
        if not message.get("more_body"):
            return bytes(body)


def _is_over(length: bytes, limit: int) -> bool:
    return length.isdigit() and (len(length) > 18 or int(length) > limit)


# What comes after a request that is refused is not worth reading.
_CLOSE = [(b"connection", b"close")]


def _too_large(limit: int) -> Refused:
    message = f"The request body is larger than {limit} bytes"
    return Refused(413, failure(message, "request_too_large"), _CLOSE)


def hold(account: Account | None, size: int) -> None:
    """So many bytes of a request are held now. Raises `Refused`."""
    try:
        if account is not None:
            account.hold(size)
    except OverBudget as error:
        body = failure(str(error), "over_budget")
        raise Refused(error.status, body, [*_CLOSE, (b"retry-after", b"1")]) from None


async def send_json(
    send: Send, status: int, body: Any, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    await send_bytes(send, status, dump(body), b"application/json", headers or [])


async def send_bytes(
    send: Send, status: int, body: bytes, content: bytes, headers: list[tuple[bytes, bytes]]
) -> None:
    head = [(b"content-type", content), (b"content-length", str(len(body)).encode())]
    if content != b"text/html; charset=utf-8":
        head.append((b"cache-control", b"no-store"))
    await send({"type": "http.response.start", "status": status, "headers": [*head, *headers]})
    await send({"type": "http.response.body", "body": body, "more_body": False})
