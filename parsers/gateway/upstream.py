"""One upstream server: its connections, what is asked of it, and what its answers say about it."""

from __future__ import annotations

import email.utils
import time
from dataclasses import dataclass
from functools import lru_cache

import httpx2
from yarl import URL

from . import metrics
from .breaker import CONNECTION_ERRORS, Breaker, Breakers, Unavailable
from .props import NO_TOOLS, Props
from .settings import UpstreamSettings, read_key
from .transport import (
    Connections,
    Headers,
    NotConnected,
    Request,
    Response,
    TookTooLong,
    TransportError,
    address,
)

_FAILED = frozenset({502, 503, 504})
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_KEYS = (b"authorization", b"x-api-key")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to the upstream, whichever it is."""

    method: str
    path: bytes  # under the upstream's base
    query: bytes
    headers: Headers
    body: bytes
    model: str = ""
    may_prompt: bool = False  # it has tools, which could go into the prompt

    @property
    def is_safe(self) -> bool:
        """Whether it does no harm to ask twice."""
        return self.method in _SAFE_METHODS


class TryAgain(Exception):
    """This try failed, and another one may do better: nothing of the request can have been done."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class Upstream:
    """One server."""

    def __init__(self, url: str, settings: UpstreamSettings) -> None:
        self._base = httpx2.URL(url)
        self._urls = lru_cache(maxsize=64)(self._url)  # nearly all requests go to one or two
        self._settings = settings
        self._connections = Connections(
            settings.connections, settings.connect_timeout, settings.read_timeout
        )
        name = f"{self._base.host}:{self._base.port or self._base.scheme}"
        self._breakers = Breakers(name, settings.breaker_failures, settings.breaker_seconds)
        self._key = read_key(settings.upstream_key_file) if settings.upstream_key_file else None
        self._props = Props(self._base, self._connections.ask, settings.connect_timeout)
        self._avoided_until = 0.0
        self.busy = 0  # requests that it is at

    async def close(self) -> None:
        await self._connections.close()

    def admits(self, model: str) -> bool:
        """Whether it may be asked, as far as is known."""
        return self._breakers.of(model).admits

    @property
    def is_avoided(self) -> bool:
        """Whether it could not be reached a moment ago. Asked only where there is no other."""
        return time.monotonic() < self._avoided_until

    async def attempt(self, call: Call, last: bool) -> Reply:
        """One try. An answer that is an error is given back if there is no other try."""
        breaker = self._breakers.of(call.model)
        if call.may_prompt and breaker.admits and await self._hides_tools(call):
            raise Unavailable(400, NO_TOOLS)
        request = self._request(call)
        try:
            with breaker.guard():
                response = await self._connections.ask(request)
                if response.status in _FAILED:
                    metrics.UPSTREAM_FAILURES.labels("status").inc()
                    breaker.failed()
                else:
                    breaker.answered()
        except CONNECTION_ERRORS as error:
            metrics.UPSTREAM_FAILURES.labels("connection").inc()
            self._avoided_until = time.monotonic() + self._settings.breaker_seconds
            if call.is_safe or isinstance(error, NotConnected):
                raise TryAgain(str(error)) from None
            raise Unavailable(502, f"The upstream can't be reached: {error}") from None
        except TookTooLong:
            metrics.UPSTREAM_FAILURES.labels("timeout").inc()
            raise Unavailable(504, "The upstream took too long to answer") from None
        self._avoided_until = 0.0
        wait = retry_after(response.header(b"retry-after"))
        if last or not _may_repeat(call, response.status, wait):
            return Reply(response, breaker)
        if wait is not None and wait > self._settings.max_wait:
            return Reply(response, breaker)
        response.close()
        raise TryAgain(f"status {response.status}", wait)

    async def _hides_tools(self, call: Call) -> bool:
        key = [(n, v) for n, v in self._with_key(call.headers) if n.lower() in _KEYS]
        return await self._props.hide_tools(call.model, key)

    def _request(self, call: Call) -> Request:
        url = self._urls(call.path, call.query)
        headers = [(b"host", self._base.netloc), *self._with_key(call.headers)]
        return Request(call.method, url, headers, call.body)

    def _url(self, path: bytes, query: bytes) -> URL:
        """A path of the client's under the upstream's own: it can't leave that host."""
        raw = self._base.raw_path.rstrip(b"/") + path + (b"?" + query if query else b"")
        return address(self._base, raw)

    def _with_key(self, headers: Headers) -> Headers:
        """With the upstream's own key, said in the ways that the client said its own."""
        if self._key is None:
            return headers
        names = {name.lower() for name, _ in headers}
        kept = [(name, value) for name, value in headers if name.lower() not in _KEYS]
        kept.append((b"authorization", b"Bearer " + self._key.encode()))
        if b"x-api-key" in names:
            kept.append((b"x-api-key", self._key.encode()))
        return kept

    async def answers(self) -> bool:
        """Whether it answers at all, be it that it wants a key."""
        call = Call("GET", b"/models", b"", [], b"")
        try:
            response = await self._connections.ask(self._request(call))
        except TransportError:
            return False
        response.close()
        return response.status < 500


class Reply:
    """An answer that has begun. Its connection is free once it is closed."""

    def __init__(self, response: Response, breaker: Breaker) -> None:
        self.response = response
        self._breaker = breaker

    def ended(self) -> None:
        """It came to its end."""
        if self.response.status not in _FAILED:
            self._breaker.ended()

    def broke_off(self, error: Exception) -> None:
        """It broke off after it had begun: that is a failure too, unless it only stalled."""
        metrics.UPSTREAM_FAILURES.labels("broke_off").inc()
        if isinstance(error, CONNECTION_ERRORS):
            self._breaker.broke_off()


def _may_repeat(call: Call, status: int, wait: float | None) -> bool:
    """Whether the upstream says that it did nothing, and may do better another time."""
    if status == 429 or (status == 503 and wait is not None):
        return True
    return call.is_safe and status in _FAILED


def retry_after(value: str | None) -> float | None:
    """Seconds from now, from a number or a date; None where there is neither."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        then = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):  # no date, or one that is out of this world
        return None
    return max(0.0, then - time.time())
