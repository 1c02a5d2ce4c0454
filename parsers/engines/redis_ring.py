"""Captured exchanges in Redis or Valkey: a ring that the processes of gateways and engines add to.

`ADD` is how one is added, for all of them; so the debug page of a gateway that keeps its exchanges there
shows those of engines, too. `Ring` is an engine's way to it.

Nothing waits for it. What is to be kept stands in a queue that a thread empties: an engine's parsers run
in the loop that serves all requests. Where the server is gone or slow, exchanges are lost, and that is
said; answers go on.
"""

from __future__ import annotations

import atexit
import itertools
import json
import logging
import os
import queue
import threading
import time
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

#: The list, and how many bytes it holds.
KEYS = ["{toolwire}:captures", "{toolwire}:captures:bytes"]
#: After this time without a new one, all are forgotten.
FORGOTTEN_SECONDS = 24 * 60 * 60
TIMEOUT_SECONDS = 5.0

# Adds one, and drops the oldest while there are too many, or too much. As one step: others do it, too.
ADD = """
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
_ENGINES = "engine_"  # what the ids of theirs begin with
_MOST_WAITING = 64
_SAY_AGAIN_SECONDS = 60.0

_log = logging.getLogger("toolwire")

Json = dict[str, Any]


class Ring:
    """The newest exchanges, so many and so many bytes at most, of all processes together."""

    def __init__(self, url: str, items: int, size: int) -> None:
        self._redis: Any = Redis.from_url(
            url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
        )
        self._limits = (items, size, FORGOTTEN_SECONDS)
        self._waiting: queue.Queue[bytes] = queue.Queue(_MOST_WAITING)
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None
        self._said = -_SAY_AGAIN_SECONDS

    def keep(self, exchange: Json) -> None:
        name = f"{_ENGINES}{time.time_ns():020}_{os.getpid()}_{next(self._numbers)}"
        try:
            self._waiting.put_nowait(json.dumps(exchange | {"id": name}).encode())
        except queue.Full:
            self._lost("there are more than can be sent")
        if self._thread is None:  # not before the first: by then no process is forked any more
            self._thread = threading.Thread(
                target=self._send, name="toolwire captures", daemon=True
            )
            self._thread.start()
            atexit.register(self.flush)

    def newest(self) -> list[Json]:
        """What engines have kept, the newest first; an OSError where the server does not answer."""
        try:
            kept = [json.loads(item) for item in self._redis.lrange(KEYS[0], 0, -1)]
        except RedisError as error:
            raise OSError(str(error)) from error
        return [exchange for exchange in kept if str(exchange.get("id")).startswith(_ENGINES)]

    def flush(self) -> None:
        """Waits for what is on its way, but not for long."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        with self._waiting.all_tasks_done:
            while self._waiting.unfinished_tasks and (left := deadline - time.monotonic()) > 0:
                self._waiting.all_tasks_done.wait(left)

    def _send(self) -> None:
        add = self._redis.register_script(ADD)
        while True:
            item = self._waiting.get()
            try:
                add(KEYS, [item, *self._limits])
            except (RedisError, OSError) as error:
                self._lost(type(error).__name__)
            finally:
                self._waiting.task_done()

    def _lost(self, why: str) -> None:
        if time.monotonic() - self._said > _SAY_AGAIN_SECONDS:
            self._said = time.monotonic()
            _log.warning("TOOLWIRE_CAPTURE: messages can't be kept: %s", why)
