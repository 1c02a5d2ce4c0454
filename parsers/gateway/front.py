"""What every request of the standalone gateway passes first: it gets an id, is looked at, and is logged.

A request whose end two servers could see in different places (`Content-Length` with `Transfer-Encoding`)
is refused, and its connection closed: what follows in it may be a request that nobody sent.
"""

from __future__ import annotations

import re
import time
import uuid
from typing import Any

from ..openai.problems import failure
from . import metrics
from .asgi import App, Message, Receive, Scope, Send, send_json
from .logs import ACCESS, REQUEST_ID
from .middleware import OTHER_ROUTES
from .paths import is_plain, raw_path, with_v1

#: The header that has the id, in a request, to the upstream, and in the answer.
ID_HEADER = b"x-request-id"
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_CLOSE = [(b"connection", b"close")]
_TWO_ENDS = "A request has a Content-Length or a Transfer-Encoding, not both"


class Front:
    """Around everything else."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = _Logged(scope, send)
        token = REQUEST_ID.set(request.id.decode())
        try:
            if refusal := _refusal(scope):
                metrics.REQUESTS.labels(OTHER_ROUTES, refusal[0]).inc()
                await send_json(request.send, *refusal)
            else:
                headers = [pair for pair in scope["headers"] if pair[0].lower() != ID_HEADER]
                headers.append((ID_HEADER, request.id))
                inner = dict(with_v1(scope)) | {"headers": headers}
                await self._app(inner, receive, request.send)
        finally:
            request.log()
            REQUEST_ID.reset(token)


def _refusal(scope: Scope) -> tuple[int, Any, list[tuple[bytes, bytes]]] | None:
    """Status, body and headers of the answer to a request that is not even looked into."""
    names = {name.lower() for name, _ in scope["headers"]}
    if {b"content-length", b"transfer-encoding"} <= names:
        return 400, failure(_TWO_ENDS, "invalid_request_error"), _CLOSE
    if not is_plain(raw_path(scope)):
        return 404, failure("There is no such path", "not_found"), _CLOSE
    return None


class _Logged:
    """One request: its id, and what the log says of it. No query, header or body is in that."""

    def __init__(self, scope: Scope, send: Send) -> None:
        given = [value for name, value in scope["headers"] if name.lower() == ID_HEADER]
        known = len(given) == 1 and _ID.fullmatch(given[0])
        self.id = given[0] if known else uuid.uuid4().hex.encode()
        self._scope = scope
        self._send = send
        self._started = time.perf_counter()
        self._status = 0
        self._sent = 0

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            self._sent += len(message.get("body", b""))
        elif message["type"] == "http.response.start":
            self._status = message["status"]
            kept = [pair for pair in message.get("headers", ()) if pair[0].lower() != ID_HEADER]
            message = dict(message) | {"headers": [*kept, (ID_HEADER, self.id)]}
        await self._send(message)

    def log(self) -> None:
        path = raw_path(self._scope)[:200].decode("ascii", "backslashreplace")
        client = (self._scope.get("client") or ("-",))[0]
        facts = {
            "client": client,
            "method": self._scope["method"],
            "path": path,
            "status": self._status,  # 0: the client left before there was an answer
            "seconds": round(time.perf_counter() - self._started, 4),
            "bytes": self._sent,
        }
        text = "%(client)s %(method)s %(path)s %(status)s %(seconds)ss %(bytes)s bytes"
        ACCESS.info(text, facts, extra={"facts": facts})
