"""The way to the upstream: one pool of connections, retries, and a circuit breaker.

A request is sent again only while the client has got nothing: on connection errors, and on 429, 502,
503 and 504. Each try passes the breaker.
"""

from __future__ import annotations

import email.utils
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx2
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from . import metrics
from .breaker import CONNECTION_ERRORS, Breaker, Unavailable
from .settings import UpstreamSettings

_TRY_AGAIN = frozenset({429, 502, 503, 504})
_FAILED = frozenset({502, 503, 504})


class _TryAgain(Exception):
    """This try failed, and another one may do better."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class Upstream:
    """One upstream server."""

    def __init__(self, settings: UpstreamSettings) -> None:
        self.settings = settings
        self._base = httpx2.URL(settings.upstream)
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(
                settings.read_timeout,
                connect=settings.connect_timeout,
                pool=settings.connect_timeout,
            ),
            limits=httpx2.Limits(
                max_connections=settings.connections,
                max_keepalive_connections=settings.connections,
                keepalive_expiry=30,
            ),
            # One client's cookies must not reach another's requests, nor this machine's own
            # credentials and proxies (netrc, environment) anybody's.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            trust_env=False,
        )
        self._breaker = Breaker(
            f"{self._base.host}:{self._base.port or self._base.scheme}",
            settings.breaker_failures,
            settings.breaker_seconds,
        )

    async def close(self) -> None:
        await self._client.aclose()

    def url(self, path: bytes, query: bytes) -> httpx2.URL:
        """A path of the client's under the upstream's own: it can't leave that host."""
        raw = self._base.raw_path.rstrip(b"/") + path + (b"?" + query if query else b"")
        return self._base.copy_with(raw_path=raw)

    @asynccontextmanager
    async def send(
        self, method: str, url: httpx2.URL, headers: list[tuple[bytes, bytes]], body: bytes
    ) -> AsyncIterator[httpx2.Response]:
        """The upstream's answer, its body still to be read. Raises `Unavailable`."""
        response = await self._send(method, url, headers, body)
        try:
            yield response
        finally:
            await response.aclose()

    async def _send(
        self, method: str, url: httpx2.URL, headers: list[tuple[bytes, bytes]], body: bytes
    ) -> httpx2.Response:
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.settings.attempts),
            wait=self._wait,
            retry=retry_if_exception_type(_TryAgain),
            reraise=True,
        )
        try:
            async for attempt in retrying:
                with attempt:
                    number = attempt.retry_state.attempt_number
                    request = self._client.build_request(
                        method, url, headers=headers, content=body or None
                    )
                    return await self._try(request, last=number >= self.settings.attempts)
        except _TryAgain as error:
            raise Unavailable(502, f"The upstream can't be reached: {error}") from None
        raise AssertionError("tenacity ends with a result or an error")

    def _wait(self, state: RetryCallState) -> float:
        """As long as the upstream asked for, else a random time that grows."""
        error = state.outcome.exception() if state.outcome is not None else None
        metrics.RETRIES.labels(str(error)).inc()
        if isinstance(error, _TryAgain) and error.wait is not None:
            return error.wait
        growing = wait_random_exponential(self.settings.backoff, self.settings.max_wait)
        return growing(state)

    async def _try(self, request: httpx2.Request, last: bool) -> httpx2.Response:
        """One try. An answer that is an error is given back if there is no other try."""
        try:
            with self._breaker.guard():
                response = await self._client.send(request, stream=True)
                if response.status_code in _FAILED:
                    metrics.UPSTREAM_FAILURES.labels("status").inc()
                    self._breaker.failed()
                else:
                    self._breaker.answered()
        except CONNECTION_ERRORS as error:
            metrics.UPSTREAM_FAILURES.labels("connection").inc()
            raise _TryAgain(_plain(error)) from None
        except httpx2.TimeoutException:
            metrics.UPSTREAM_FAILURES.labels("timeout").inc()
            raise Unavailable(504, "The upstream took too long to answer") from None
        if response.status_code not in _TRY_AGAIN or last:
            return response
        wait = retry_after(response.headers.get("retry-after"))
        if wait is not None and wait > self.settings.max_wait:
            return response
        await response.aclose()
        raise _TryAgain(f"status {response.status_code}", wait)

    def ended(self, response: httpx2.Response) -> None:
        """An answer came to its end."""
        if response.status_code not in _FAILED:
            self._breaker.ended()

    def broke_off(self, error: Exception) -> None:
        """An answer broke off after it had begun: that is a failure too, unless it only stalled."""
        metrics.UPSTREAM_FAILURES.labels("broke_off").inc()
        if isinstance(error, CONNECTION_ERRORS):
            self._breaker.broke_off()


def _plain(error: Exception) -> str:
    """What happened, without addresses: this goes to the client and into a metric."""
    if isinstance(error, httpx2.ConnectTimeout):
        return "no connection in time"
    return "no connection" if isinstance(error, httpx2.ConnectError) else "the connection broke"


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
