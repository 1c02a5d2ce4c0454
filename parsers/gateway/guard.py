"""uvicorn's HTTP, with a limit for how long a request may take to come, and for connections.

uvicorn waits for ever for the rest of a request's head or body. Which of the two a connection waits for
is what h11 says about the client: `IDLE` until the head is there, `SEND_BODY` until the body is. It is
always h11 that reads: it bounds the length of a head too.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from .exchange import failure
from .settings import Limits
from .sse import dump

#: How long a connection that was refused may stay, so that the client can read why.
_LINGER = 1.0


class GuardedProtocol(H11Protocol):
    """For uvicorn's `http`, which makes one for each connection."""

    _timer: asyncio.TimerHandle | None = None
    _waits_for: Any = None  # the state of the client that the timer is about
    _refused = False

    def __init__(self, limits: Limits, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.limits = limits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.limits.max_connections:
            most = self.limits.max_connections
            self._refuse(503, f"The gateway has {most} connections, and takes no more: try again")
        else:
            self._watch()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._set_timer(None, 0)
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Starts the clock when the client begins to send something, stops it when it has ended."""
        state = self.conn.their_state
        if self._refused or state is self._waits_for:
            return
        seconds = {h11.IDLE: self.limits.header_timeout, h11.SEND_BODY: self.limits.body_timeout}
        self._set_timer(state, seconds.get(state, 0))

    def _set_timer(self, state: Any, seconds: float) -> None:
        self._waits_for = state
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if seconds:
            self._timer = self.loop.call_later(seconds, self._too_slow)

    def _too_slow(self) -> None:
        what, seconds = "head", self.limits.header_timeout
        if self._waits_for is h11.SEND_BODY:
            what, seconds = "body", self.limits.body_timeout
        begun = self.cycle is not None and self.cycle.response_started
        if begun and what == "body":  # an answer is on its way: there is no room for another one
            self.transport.abort()
        else:
            self._refuse(408, f"The {what} of the request did not come within {seconds:g} seconds")

    def _refuse(self, status: int, message: str) -> None:
        """Says why, and closes. The client may still be sending: closing at once could cost it the
        answer, so the connection is open for a moment, and what comes is not read."""
        self._refused = True
        body = dump(
            failure(message, "request_timeout" if status == 408 else "too_many_connections")
        )
        phrase = "Request Timeout" if status == 408 else "Service Unavailable"
        head = (
            f"HTTP/1.1 {status} {phrase}\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\nretry-after: 1\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._set_timer(None, 0)
        self._timer = self.loop.call_later(_LINGER, self.transport.abort)
