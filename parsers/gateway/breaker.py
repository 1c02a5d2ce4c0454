"""The circuit breaker: an upstream that fails is left alone for a while, then one request tests it.

    closed ──failures in a row──▶ open ──seconds──▶ half open ──an answer──▶ closed
                                   ▲                   │ a failure
                                   └───────────────────┘

Only what is wrong with the upstream itself counts: no connection, 502, 503, 504, and an answer that
breaks off. Never an error that a request may provoke (500, any 4xx, an answer that takes too long): one
client's requests must not shut the upstream for the others.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
from purgatory.domain.model import CLOSED, HALF_OPENED, OPENED, Context

from . import metrics

CONNECTION_ERRORS = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.ReadError,
    httpx2.WriteError,
    httpx2.RemoteProtocolError,
)

_STATES = {CLOSED: 0, HALF_OPENED: 1, OPENED: 2}


class Unavailable(Exception):
    """There is no answer from the upstream: the status and the sentence for the client."""

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class Breaker:
    """The states are purgatory's; what counts as a failure, and as an answer, is decided here."""

    def __init__(self, name: str, failures: int, seconds: float) -> None:
        self._context = Context(name, failures, seconds)
        self._seconds = seconds
        self._probing = False  # one request tests the upstream
        self._breaks_off = False  # answers begin, but the last one did not get to its end
        self._gauge = metrics.BREAKER.labels(name)
        self._show()

    @contextmanager
    def guard(self) -> Iterator[None]:
        """One try. Raises `Unavailable` where there must be none; counts a connection that fails."""
        probing = self._enter()
        try:
            yield
        except CONNECTION_ERRORS:
            self.failed()
            raise
        finally:
            self._probing = self._probing and not probing

    def _enter(self) -> bool:
        """Whether this try is the one that tests the upstream."""
        context = self._context
        if context.state == HALF_OPENED and self._probing:
            raise Unavailable(503, "The upstream is failing; one request is testing it", 1)
        if context.state == OPENED and context.opened_at is not None:
            left = context.opened_at + self._seconds - time.time()
            if left >= 0:
                message = "The upstream has failed several times in a row; try again later"
                raise Unavailable(503, message, max(1, math.ceil(left)))
        context.handle_new_request()
        self._probing = context.state == HALF_OPENED
        self._show()
        return self._probing

    def failed(self) -> None:
        """There was no answer, or one that says that there is none."""
        self._context.handle_exception(ConnectionError())
        self._show()

    def answered(self) -> None:
        """An answer began. Failures in a row are over, unless answers are what fails."""
        if not self._breaks_off or self._context.state == HALF_OPENED:
            self._context.handle_end_request()
        self._show()

    def broke_off(self) -> None:
        """An answer began and did not end."""
        self._breaks_off = True
        self.failed()

    def ended(self) -> None:
        """An answer began and ended."""
        self._breaks_off = False
        if self._context.state == CLOSED:
            self._context.handle_end_request()
        self._show()

    def _show(self) -> None:
        self._context.messages.clear()  # for listeners, which there are none of
        self._gauge.set(_STATES[self._context.state])
