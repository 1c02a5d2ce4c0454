"""Calls in an answer's text, for the gateway's streams: a parser that knows what it holds."""

from __future__ import annotations

from ..events import Arguments, Content, Event
from ..formats.parser import Parser
from .normalize import Policy

#: What a parser takes by itself, and each piece of text that it waits with.
_PARSER, _PIECE = 8192, 64


class TextReader:
    """Reads one text of an answer. `held` is about how many bytes of it are held back."""

    __slots__ = ("_parser", "_pieces", "_undecided")

    def __init__(self, policy: Policy) -> None:
        self._parser = Parser(policy.format or "", policy.request.tools)
        self._undecided = 0  # bytes that went in and did not come out: markup, and what is held
        self._pieces = 0  # since something came out

    @property
    def held(self) -> int:
        return _PARSER + self._undecided + _PIECE * self._pieces

    def feed(self, text: str) -> list[Event]:
        events = self._parser.feed(text)
        given = sum(_length(e.text) for e in events if isinstance(e, (Content, Arguments)))
        self._undecided = max(0, self._undecided + _length(text) - given)
        self._pieces = 0 if events else self._pieces + 1
        return events

    def finish(self) -> list[Event]:
        self._undecided = self._pieces = 0
        return self._parser.finish()


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
