"""The way to the upstream, or to one of several: the least busy is asked, one that fails is not.

A request is sent again only while the client has got nothing, and where nothing of it can have been
done: there was no connection, or the upstream says so (429, or 503 with `Retry-After`). One that
only asks (GET) is sent again on any connection error, 502, 503 and 504, too. Each try passes a breaker.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception_type,
    stop_after_attempt,
    wait_random_exponential,
)

from . import metrics
from .breaker import Unavailable
from .settings import UpstreamSettings
from .upstream import Call, Reply, TryAgain, Upstream

#: `answering` asks at most this often, and waits at most so long; both in seconds.
_ASKED_EVERY, _ASKED_FOR = 1.0, 5.0


class Upstreams:
    """All of them."""

    def __init__(self, settings: UpstreamSettings) -> None:
        self._settings = settings
        self._servers = [Upstream(url, settings) for url in settings.upstream]
        self._last = 0  # whose turn it was, among equals
        self._asking = asyncio.Lock()
        self._asked = (-_ASKED_EVERY, 0)  # when, and how many answered

    def __len__(self) -> int:
        return len(self._servers)

    async def close(self) -> None:
        for server in self._servers:
            await server.close()

    async def answering(self) -> int:
        """How many of them answer."""
        async with self._asking:
            if time.monotonic() - self._asked[0] >= _ASKED_EVERY:
                seconds = min(self._settings.connect_timeout, _ASKED_FOR)
                asked = [asyncio.wait_for(one.answers(), seconds) for one in self._servers]
                said = await asyncio.gather(*asked, return_exceptions=True)
                self._asked = (time.monotonic(), said.count(True))
            return self._asked[1]

    @asynccontextmanager
    async def send(self, call: Call) -> AsyncIterator[Reply]:
        """The answer, its body still to be read. Raises `Unavailable`."""
        server, reply = await self._send(call)
        try:
            yield reply
        finally:
            server.busy -= 1
            reply.response.close()

    async def _send(self, call: Call) -> tuple[Upstream, Reply]:
        """The server that answered, which counts as busy, and its answer."""
        tried: list[Upstream] = []
        try:
            return await self._ask_one(call, tried)
        except TryAgain as error:
            failed = error
        return await self._send_again(call, tried, failed)

    async def _send_again(
        self, call: Call, tried: list[Upstream], failed: TryAgain
    ) -> tuple[Upstream, Reply]:
        """The same where the first try failed, which it hardly ever does."""

        def wait(state: RetryCallState) -> float:
            return self._wait(state, untried=len(set(tried)) < len(self))

        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._settings.attempts),
            wait=wait,
            retry=retry_if_exception_type(TryAgain),
            reraise=True,
        )
        try:
            async for attempt in retrying:
                with attempt:
                    if attempt.retry_state.attempt_number == 1:
                        raise failed
                    return await self._ask_one(call, tried)
        except TryAgain as error:
            raise Unavailable(502, f"The upstream can't be reached: {error}") from None
        raise AssertionError("tenacity ends with a result or an error")

    async def _ask_one(self, call: Call, tried: list[Upstream]) -> tuple[Upstream, Reply]:
        """One try."""
        server = self._choose(call.model, tried)
        tried.append(server)
        server.busy += 1
        try:
            return server, await server.attempt(call, len(tried) >= self._settings.attempts)
        except BaseException:
            server.busy -= 1
            raise

    def _choose(self, model: str, tried: list[Upstream]) -> Upstream:
        """One that is not known to fail, was not tried yet, and has least to do, in this order."""
        self._last = (self._last + 1) % len(self)
        turn = self._servers[self._last :] + self._servers[: self._last]
        return min(
            turn, key=lambda one: (not one.admits(model), one.is_avoided, one in tried, one.busy)
        )

    def _wait(self, state: RetryCallState, untried: bool) -> float:
        """As long as the upstream asked for, else a random time that grows; none if there is another."""
        error = state.outcome.exception() if state.outcome is not None else None
        metrics.RETRIES.labels(str(error)).inc()
        if untried:
            return 0.0
        if isinstance(error, TryAgain) and error.wait is not None:
            return error.wait
        growing = wait_random_exponential(self._settings.backoff, self._settings.max_wait)
        return growing(state)
