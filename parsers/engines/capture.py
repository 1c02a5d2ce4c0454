"""Messages in which something was off, kept as files: `TOOLWIRE_CAPTURE=folder`; or in Redis or Valkey,
for all servers together: `TOOLWIRE_CAPTURE=redis://127.0.0.1/0` (`redis_ring`).

A file is an exchange as the gateway's debug page has them: `toolwire replay` runs it again, `toolwire
capture FOLDER` lists them. It holds what the model wrote, piece by piece, and the names and schemas of
the request's functions; nothing else of the request, and no header. Off by default: a model's text may
be private.

The folder, or Redis, holds so many and so many bytes at most, of all processes together; the oldest make
room.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import ToolwireError
from ..events import Event
from ..openai.repair import Repair
from ..openai.request import Request
from .metrics import count
from .tally import Tally

if TYPE_CHECKING:
    from .redis_ring import Ring

VARIABLE = "TOOLWIRE_CAPTURE"
MOST_FILES = 200
MOST_BYTES = 64 * 1024 * 1024
#: Of one message; what comes later is not kept.
MOST_CHARACTERS = 1024 * 1024
ROUTE = "/v1/chat/completions"

_log = logging.getLogger("toolwire")
_numbers = itertools.count()

Json = dict[str, Any]


class Store(Protocol):
    """Where exchanges are kept."""

    def keep(self, exchange: Json) -> None: ...


class Folder:
    """Files in a folder, the newest ones."""

    def __init__(self, path: Path, files: int = MOST_FILES, size: int = MOST_BYTES) -> None:
        self._path = path
        self._files = files
        self._size = size
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ToolwireError(f"{VARIABLE}: {path} can't be made: {error.strerror}") from error

    def keep(self, exchange: Json) -> None:
        name = f"{time.time_ns():020}-{os.getpid()}-{next(_numbers)}"
        unfinished = self._path / f"{name}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(unfinished, flags, 0o600), "w", encoding="utf-8") as file:
            json.dump(exchange | {"id": name}, file)
        unfinished.rename(self._path / f"{name}.json")
        self._make_room()

    def _make_room(self) -> None:
        size = 0
        for place, path in enumerate(sorted(self._path.glob("*.json"), reverse=True)):
            try:
                size += path.stat().st_size
                if place >= self._files or size > self._size:
                    path.unlink()
            except FileNotFoundError:  # another process has made room
                continue


@cache
def open_store(place: str) -> Store | None:
    """What `TOOLWIRE_CAPTURE` names; None where it names nothing. What is no folder has a scheme."""
    if not place:
        return None
    return open_ring(place) if "://" in place else Folder(Path(place))


def open_ring(url: str) -> Ring:
    """The captures of all servers that keep them in this Redis."""
    scheme = url.partition(":")[0]
    if scheme not in ("redis", "rediss", "unix"):
        raise ToolwireError(
            f"{VARIABLE}: messages can't be kept in {scheme}: name a folder, or redis://HOST/0."
        )
    try:
        from .redis_ring import Ring
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        raise ToolwireError(
            f'{VARIABLE}: captures in {scheme} need {package}: pip install "toolwire[redis]"'
        ) from error
    try:
        return Ring(url, MOST_FILES, MOST_BYTES)
    except ValueError as error:
        raise ToolwireError(f"{VARIABLE}: {url} is no address of Redis: {error}") from error


def capture_store() -> Store | None:
    """Where this process keeps messages. What is wrong with it is said once, and costs no answer."""
    try:
        return open_store(os.environ.get(VARIABLE, ""))
    except ToolwireError as error:
        _say_once(str(error))
        return None


@cache
def _say_once(sentence: str) -> None:
    _log.error("%s", sentence)


class Reader(Protocol):
    """What reads a message."""

    @property
    def drift(self) -> Sequence[str]:
        """What of it was not spelled as its format has it, when it is over."""
        ...


class Record:
    """One message: its pieces, while they come, and what it came to."""

    def __init__(self, format: str, request: Request, repair: Repair, reader: Reader) -> None:
        self._tally = Tally(format, request.names)
        self._request = request
        self._repair = repair
        self._reader = reader
        self._store = capture_store()
        self._pieces: list[str] = []
        self._size = 0
        self.see = self._tally.see

    def around(self, stream: Any) -> Any:
        """The stream, or one that notes the pieces on their way: only where messages are kept."""
        return stream if self._store is None else Recorded(stream, self)

    def whole(self, text: str, events: list[Event]) -> None:
        """A message that came in one go."""
        self.came(text)
        self.see(events)
        self.done()

    def came(self, text: str) -> None:
        if text and self._store is not None and self._size < MOST_CHARACTERS:
            self._pieces.append(text)
            self._size += len(text)

    def done(self) -> None:
        """The message is over: it is counted, and kept if something was off."""
        self._tally.repaired = sum(self._repair.counts.values())
        self._tally.drift = self._reader.drift
        count(self._tally)
        if self._store is None or not (off := self._tally.off()):
            return
        try:
            self._store.keep(self._exchange(off))
        except OSError as error:
            _say_once(f"{VARIABLE}: a message could not be kept: {error}")

    def _exchange(self, off: list[str]) -> Json:
        return {
            "time": time.time(),
            "route": ROUTE,
            "stage": "stream",
            "reason": off[0],
            "action": "passed",
            "findings": [{"reason": name, "action": "passed", "detail": ""} for name in off],
            "format": self._tally.format,
            "tools": [replace(one, strict=False).to_dict() for one in self._request.functions],
            "raw": as_stream(self._pieces),
            "emitted": [],
        }


class Recorded:
    """In an engine's stream's place, where messages are kept: the pieces are noted on their way."""

    def __init__(self, stream: Any, record: Record) -> None:
        self._stream = stream
        self._came = record.came
        self.finish: Callable[..., Any] = stream.finish

    def feed(self, text: str) -> Any:
        self._came(text)
        return self._stream.feed(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def as_stream(pieces: Iterable[str]) -> list[str]:
    """A streamed answer of Chat Completions that has this text in it, event by event."""
    texts = [_chunk({"content": piece}, None) for piece in pieces]
    return [*texts, _chunk({}, "stop"), "data: [DONE]\n\n"]


def _chunk(delta: Json, reason: str | None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    chunk = {"object": "chat.completion.chunk", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n"
