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

from ..openai.normalize import Finding
from . import metrics
from .capture import Json, Recorder, as_texts, exchange_of

_LIST, _BYTES = "{toolwire}:captures", "{toolwire}:captures:bytes"
_SECONDS = 24 * 60 * 60  # after this time without a new one, all are forgotten
_TIMEOUT = 5.0

# Adds one, and drops the oldest while there are too many, or too much. As one step: others do it, too.
_ADD = """
redis.call('LPUSH', KEYS[1], ARGV[1])
local held = redis.call('INCRBY', KEYS[2], #ARGV[1])
while redis.call('LLEN', KEYS[1]) > tonumber(ARGV[2]) or held > tonumber(ARGV[3]) do
  local old = redis.call('RPOP', KEYS[1])
  if not old then break end
  held = redis.call('DECRBY', KEYS[2], #old)
end
redis.call('EXPIRE', KEYS[1], ARGV[4])
redis.call('EXPIRE', KEYS[2], ARGV[4])
"""

_log = logging.getLogger("toolwire.gateway")


class SharedCapture:
    """A ring of exchanges that many processes add to."""

    whose = "of every gateway that keeps them there"

    def __init__(self, url: str, max_items: int, max_bytes: int) -> None:
        self._redis: Any = Redis.from_url(
            url, socket_timeout=_TIMEOUT, socket_connect_timeout=_TIMEOUT
        )
        self._add = self._redis.register_script(_ADD)
        self._limits = (max_items, max_bytes, _SECONDS)
        self._max_waiting = max_bytes
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._task: asyncio.Task[None] | None = None
        self._told = -_SECONDS * 1.0

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
                await self._add([_LIST, _BYTES], [item, *self._limits])
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
            kept = await self._redis.lrange(_LIST, 0, limit - 1) if limit else []
        except RedisError as error:
            raise OSError(type(error).__name__) from None
        return [json.loads(item) for item in kept]

    async def clear(self) -> None:
        try:
            await self._redis.delete(_LIST, _BYTES)
        except RedisError as error:
            raise OSError(type(error).__name__) from None

    async def close(self) -> None:
        """Sends what waits, and hangs up."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=_TIMEOUT)
        await self._redis.aclose()
