"""Calls in an answer's text, for the gateway's streams: a `DeltaStream` that knows what it holds."""

from __future__ import annotations

from typing import Any

from .deltas import DeltaStream
from .normalize import Json, Policy

#: What a parser takes by itself, and each piece of text that it waits with.
_PARSER, _PIECE = 8192, 64


class TextReader:
    """Reads one text of an answer. `held` is about how many bytes of it are held back."""

    __slots__ = ("_pieces", "_stream", "_undecided")

    def __init__(self, policy: Policy, *, parallel: bool = True) -> None:
        self._stream = DeltaStream(policy.format or "", policy.tools, parallel=parallel)
        self._undecided = 0  # bytes that went in and did not come out: markup, and what is held
        self._pieces = 0  # since something came out

    @property
    def held(self) -> int:
        return _PARSER + self._undecided + _PIECE * self._pieces

    def feed(self, text: str) -> list[Json]:
        deltas = self._stream.feed(text)
        given = sum(_length(piece) for delta in deltas for piece in _texts(delta))
        self._undecided = max(0, self._undecided + _length(text) - given)
        self._pieces = 0 if deltas else self._pieces + 1
        return deltas

    def finish(self) -> list[Json]:
        self._undecided = self._pieces = 0
        return self._stream.finish()


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _texts(delta: Json) -> list[Any]:
    calls = delta.get("tool_calls", ())
    return [delta.get("content", ""), *(call["function"]["arguments"] for call in calls)]
