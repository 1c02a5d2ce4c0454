"""Server-sent events: bytes in, whole events out, wherever the bytes were cut.

An event keeps its own bytes, so that one that needs no change goes on exactly as it came. An event
that is longer than the limit is not collected: its bytes pass, in pieces, as they come. What an
upstream writes is read as far as it can be: behind a byte order mark, with bytes that are no UTF-8, and
with numbers that stay as they were written.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..openai import exact_json
from ..schema.json_schema import too_deep

_END = re.compile(rb"\r\n\r\n|\n\n|\n\r\n|\r\r(?!\n)")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_LONGEST_END = 4
_NAMED_ERROR = re.compile(rb"(?:^|[\r\n])event:[ \t]*error[ \t]*(?:[\r\n]|$)")

DONE = b"[DONE]"

#: Brackets inside each other. Python can read and write about a thousand.
MAX_DEPTH = 500


class ServerEvent(NamedTuple):
    """One event. `data` is None for comments, keep-alives, and pieces of one that is too long.

    There is one for nearly every token, and a frozen dataclass takes longer to make.
    """

    raw: bytes
    data: bytes | None
    too_long: bool = False

    @property
    def done(self) -> bool:
        """Whether this is the end of a stream of Chat Completions."""
        return self.data is not None and self.data.strip() == DONE

    @property
    def named_error(self) -> bool:
        return _NAMED_ERROR.search(self.raw) is not None

    def load(self) -> dict[str, Any] | None:
        """The data as a JSON object, or None where it is none."""
        return load_object(self.data) if self.data is not None else None


def load_object(text: bytes) -> dict[str, Any] | None:
    """A JSON object from bytes, or None where they are not one (or one that can't be held)."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # not JSON, not UTF-8, too deep, or an endless number
        return None
    return _held(text, value)


def load_answer(text: bytes) -> tuple[dict[str, Any] | None, bool]:
    """A JSON object of an upstream's, and whether its bytes are fit to be passed on.

    Its numbers are those of `exact_json`. Bytes that are no UTF-8 are replaced: an SDK would fail.
    """
    fit = True
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        decoded, fit = text.decode(errors="replace"), False
    try:
        value = exact_json.loads(decoded.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None, fit
    return _held(text, value), fit


def _held(text: bytes, value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    # Nested more deeply, it might not be possible to write it again. Most texts can't be: that is quick.
    may_be_deep = text.count(b"[") + text.count(b"{") > MAX_DEPTH
    return None if may_be_deep and too_deep(value, MAX_DEPTH) else value


def dump(value: Any) -> bytes:
    """JSON as bytes, unescaped where that is possible: half a surrogate pair has no UTF-8."""
    try:
        return exact_json.dumps(value, compact=True).encode()
    except UnicodeEncodeError:
        return exact_json.dumps(value, compact=True, ascii=True).encode()


def frame(value: Any, name: str | None = None) -> bytes:
    """An event as bytes."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + dump(value) + b"\n\n"


class EventSplitter:
    """Cuts a stream of bytes into events."""

    def __init__(self, max_event: int) -> None:
        self._limit = max_event
        self._buffer = bytearray()
        self._searched = 0  # up to here there is no end of an event
        self._passing = False  # in the middle of an event that is too long
        self._begun = False  # the first event may have a byte order mark in front

    @property
    def passing(self) -> bool:
        """Whether what was given last is the middle of an event: nothing may be put behind it."""
        return self._passing

    @property
    def held(self) -> int:
        return len(self._buffer)

    @property
    def between_events(self) -> bool:
        """Whether what comes next begins an event."""
        return not self._buffer and not self._passing

    def feed(self, data: bytes) -> list[ServerEvent]:
        """The events that `data` completes."""
        buffer = self._buffer
        if self.between_events and _is_whole(data):
            return [self._event(part + b"\n\n") for part in data[:-2].split(b"\n\n")]
        buffer += data
        events: list[ServerEvent] = []
        start = 0
        while True:
            end = _END.search(buffer, max(start, self._searched))
            if end is None:
                break
            events.append(self._event(bytes(buffer[start : end.end()])))
            start = self._searched = end.end()
        if start:
            del buffer[:start]
        self._searched = max(0, len(buffer) - _LONGEST_END + 1)
        if len(buffer) > self._limit or (self._passing and self._searched):
            self._begun = True
            events.append(ServerEvent(bytes(buffer[: self._searched]), None, too_long=True))
            del buffer[: self._searched]
            self._searched = 0
            self._passing = True
        return events

    def finish(self) -> list[ServerEvent]:
        """What came after the last end of an event."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        self._searched = 0
        return [self._event(rest)] if rest else []

    def _event(self, raw: bytes) -> ServerEvent:
        if self._passing:
            self._passing = False
            return ServerEvent(raw, None, too_long=True)
        begun, self._begun = self._begun, True
        return ServerEvent(raw, data_of(raw if begun else raw.removeprefix(BOM_UTF8)))


def _is_whole(data: bytes) -> bool:
    """Whether these are whole events with plain ends of lines, as nearly always."""
    return data.endswith(b"\n\n") and not data.endswith(b"\n\n\n") and b"\r" not in data


def data_of(raw: bytes) -> bytes | None:
    """What the lines of an event say."""
    if raw.startswith(b"data: ") and raw.find(b"\n") == len(raw) - 2 and b"\r" not in raw:
        return raw[6:-2]  # one line, as nearly always
    lines = []
    for line in _LINE_END.split(raw):
        if line.startswith(b"data:"):
            lines.append(line[6:] if line.startswith(b"data: ") else line[5:])
    return b"\n".join(lines) if lines else None


def stream_objects(sent: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of a whole stream."""
    splitter = EventSplitter(len(sent) + 1)
    for event in [*splitter.feed(sent), *splitter.finish()]:
        chunk = event.load()
        if chunk is not None:
            yield chunk
