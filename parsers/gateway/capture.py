"""The newest tool-call exchanges, for whoever has to find out what went wrong.

Only answers are kept, and of requests only the names and schemas of functions: never a header, a
key, or anything else that a client sent. Count and bytes are bounded; what is kept is kept as bytes,
because text may take four times as much.
"""

from __future__ import annotations

import itertools
import os
import socket
import time
import uuid
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ..errors import ToolwireError
from ..openai.normalize import Finding
from ..openai.request import Request
from ..openai.sizes import size_of
from .logs import NO_REQUEST, REQUEST_ID

Json = dict[str, Any]

#: `--capture` for what is kept in this process.
MEMORY = "memory"
#: Which process this is, among all that may be asked.
PROCESS = f"process {os.getpid()} on {socket.gethostname()}"
#: Of one exchange; what comes later is cut.
MAX_EXCHANGE = 1024 * 1024
CUT = "… (cut here: the exchange is too long to keep)"
_CHUNK = 64  # the bytes that a chunk takes by itself


@dataclass(slots=True)
class Recorder:
    """Collects one exchange while it happens."""

    route: str
    stage: str
    format: str | None
    tools: list[Json]
    raw: list[bytes] = field(default_factory=list)
    emitted: list[bytes] = field(default_factory=list)
    times: list[float] = field(default_factory=list)  # when each of `raw` came
    size: int = 0

    def __post_init__(self) -> None:
        self.size = size_of(self.tools)
        if self.size > MAX_EXCHANGE:
            self.tools, self.size = [], 0

    def came(self, chunk: bytes) -> None:
        if self._add(self.raw, chunk):
            self.times.append(time.monotonic())

    def went(self, chunk: bytes) -> None:
        self._add(self.emitted, chunk)

    def milliseconds(self) -> list[float]:
        """When each chunk came, counted from the first."""
        return [round(1000 * (time - self.times[0]), 1) for time in self.times]

    def _add(self, chunks: list[bytes], chunk: bytes) -> bool:
        """Whether there was room for it."""
        room = MAX_EXCHANGE - self.size - _CHUNK
        if room < 0:
            return False
        kept = chunk if len(chunk) <= room else chunk[:room] + CUT.encode()
        chunks.append(kept)
        self.size += len(kept) + _CHUNK
        return True


class Captures(Protocol):
    """Where exchanges are kept."""

    @property
    def whose(self) -> str:
        """Whose exchanges these are, for people."""

    def keep(self, recorder: Recorder, findings: list[Finding]) -> None: ...
    async def newest(self, limit: int) -> list[Json]: ...
    async def clear(self) -> None: ...
    async def close(self) -> None: ...


def exchange_of(recorder: Recorder, findings: list[Finding]) -> Json:
    """A finished exchange, its chunks as bytes."""
    request = REQUEST_ID.get()
    return {
        "id": f"exchange_{uuid.uuid4().hex[:16]}",
        "time": time.time(),
        "request_id": None if request == NO_REQUEST else request,
        "process": PROCESS,
        "route": recorder.route,
        "stage": recorder.stage,
        "reason": _first((f.reason for f in findings), "ok"),
        "action": _first((f.action for f in findings), "passed"),
        "findings": [
            {"reason": f.reason, "action": f.action, "detail": f.detail} for f in findings
        ],
        "format": recorder.format,
        "tools": recorder.tools,
        "times": recorder.milliseconds(),
        "raw": recorder.raw,
        "emitted": recorder.emitted,
    }


class Capture:
    """A ring of exchanges in the memory of this process, newest last."""

    whose = f"of {PROCESS}"

    def __init__(self, max_items: int, max_bytes: int) -> None:
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._items: deque[tuple[int, Json]] = deque()
        self._bytes = 0

    def keep(self, recorder: Recorder, findings: list[Finding]) -> None:
        """Add a finished exchange; the oldest ones make room for it."""
        item = exchange_of(recorder, findings)
        size = recorder.size + size_of(item["findings"])
        self._items.append((size, item))
        self._bytes += size
        while self._items and (len(self._items) > self._max_items or self._bytes > self._max_bytes):
            self._bytes -= self._items.popleft()[0]

    async def newest(self, limit: int) -> list[Json]:
        return [as_texts(item) for _, item in itertools.islice(reversed(self._items), limit)]

    async def clear(self) -> None:
        self._items.clear()
        self._bytes = 0

    async def close(self) -> None:
        return


def captures(where: str, max_items: int, max_bytes: int) -> Captures:
    """In memory, or where a URL says."""
    if where == MEMORY:
        return Capture(max_items, max_bytes)
    try:
        from .shared_capture import SharedCapture
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        said = (
            f'Captures in {where.partition(":")[0]} need {package}: pip install "toolwire[redis]"'
        )
        raise ToolwireError(said) from error
    return SharedCapture(where, max_items, max_bytes)


def as_texts(item: Json) -> Json:
    return item | {key: _texts(item[key]) for key in ("raw", "emitted")}


def _texts(chunks: list[bytes]) -> list[str]:
    return [chunk.decode(errors="replace") for chunk in chunks]


def _first(values: Iterable[str | None], otherwise: str) -> str:
    return next((value for value in values if value is not None), otherwise)


def known_tools(request: Request) -> list[Json]:
    """What the request declares, name and schema only: other tools may hold credentials."""
    return [replace(function, strict=False).to_dict() for function in request.functions]
