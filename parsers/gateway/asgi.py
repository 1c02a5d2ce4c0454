"""What the gateway's parts share of ASGI: requests that are read, and answers that are sent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import anyio

from ..openai.problems import failure
from .budget import Account, OverBudget
from .sse import dump, load_object

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


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


async def ask_app(app: App, scope: Scope, path: str, limit: int) -> dict[str, Any] | None:
    """What the app answers to a GET of another path, for the same client; None where that is no JSON
    object. Nothing of it goes to the client."""
    dropped = (b"content-length", b"content-type", b"transfer-encoding", b"accept-encoding")
    headers = [(name, value) for name, value in scope["headers"] if name.lower() not in dropped]
    told = {"method": "GET", "path": path, "raw_path": path.encode(), "query_string": b""}
    body = bytearray()
    status = 0
    asked = False

    async def receive() -> Message:
        nonlocal asked
        if asked:
            await anyio.sleep_forever()
        asked = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status
        status = message.get("status", status)
        if len(body) <= limit:
            body.extend(message.get("body", b""))

    try:
        await app(dict(scope) | told | {"headers": headers}, receive, send)
    except UpstreamDied:
        return None
    return load_object(bytes(body)) if status == 200 and len(body) <= limit else None
