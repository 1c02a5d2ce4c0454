"""Captured exchanges in Redis or Valkey: whichever worker or gateway is asked shows those of all.

Nothing waits for it. What is to be kept stands in a queue that one task empties; where the server is
gone or slow, exchanges are lost, counted and told, and answers go on.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import deque
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError

from ..engines.redis_ring import ADD, FORGOTTEN_SECONDS, KEYS, TIMEOUT_SECONDS
from ..openai.normalize import Finding
from . import metrics
from .capture import Json, Recorder, as_texts, exchange_of

_log = logging.getLogger("toolwire.gateway")


class SharedCapture:
    """A ring of exchanges that many processes add to."""

    whose = "of every gateway that keeps them there"

    def __init__(self, url: str, max_items: int, max_bytes: int) -> None:
        self._redis: Any = Redis.from_url(
            url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
        )
        self._add = self._redis.register_script(ADD)
        self._limits = (max_items, max_bytes, FORGOTTEN_SECONDS)
        self._max_waiting = max_bytes
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._task: asyncio.Task[None] | None = None
        self._told = -FORGOTTEN_SECONDS * 1.0

    def keep(self, recorder: Recorder, findings: list[Finding]) -> None:
        """Puts a finished exchange into the queue."""
        item = json.dumps(as_texts(exchange_of(recorder, findings))).encode()
        if self._bytes + len(item) > self._max_waiting:
            self._lost("there are more than can be sent")
            return
        self._waiting.append(item)
        self._bytes += len(item)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._send())

    async def _send(self) -> None:
        while self._waiting:
            item = self._waiting[0]
            try:
                await self._add(KEYS, [item, *self._limits])
            except (RedisError, OSError) as error:
                self._lost(type(error).__name__)
            self._waiting.popleft()
            self._bytes -= len(item)

    def _lost(self, why: str) -> None:
        metrics.LOST_CAPTURES.inc()
        if time.monotonic() - self._told > 60:
            self._told = time.monotonic()
            _log.warning("exchanges can't be kept for the debug page: %s", why)

    async def newest(self, limit: int) -> list[Json]:
        """Raises an OSError where the server does not answer."""
        try:
            kept = await self._redis.lrange(KEYS[0], 0, limit - 1) if limit else []
        except RedisError as error:
            raise OSError(type(error).__name__) from None
        return [json.loads(item) for item in kept]

    async def clear(self) -> None:
        try:
            await self._redis.delete(*KEYS)
        except RedisError as error:
            raise OSError(type(error).__name__) from None

    async def close(self) -> None:
        """Sends what waits, and hangs up."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=TIMEOUT_SECONDS)
        await self._redis.aclose()
