"""Forced calls where nobody says that they are forced.

Where a format can't express a tool's arguments, a forced call is asked for as JSON. Before 0.5.21 SGLang
does not tell a detector the tool choice, so it has to be seen by the text: no other answer begins like
that JSON. Until enough of the text is there, all of it waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.format import Format
from ...core.parser import EventParser
from ...events import Event
from ...formats import get_format
from ...openai.constrain import FALLBACK

_LAYOUT = get_format(FALLBACK).layout
assert _LAYOUT is not None
#: How forced calls begin in JSON, to the character: the grammar sees to that.
OPENER = _LAYOUT.section_begin


def is_forced_json(text: str) -> bool:
    return text.startswith(OPENER)


class EitherParser:
    """In a parser's place: reads a message in its format or, where it begins like one, as a forced call
    in JSON."""

    def __init__(
        self, make: Callable[[Format, Any], EventParser], format: Format, tools: Any
    ) -> None:
        self._make = make
        self._format = format
        self._tools = tools
        self._held = ""  # the beginning of the message, while it may be either
        self._parser: EventParser | None = None

    @property
    def drift(self) -> list[str]:
        return self._parser.drift if self._parser is not None else []

    def feed(self, text: str) -> list[Event]:
        if self._parser is not None:
            return self._parser.feed(text)
        self._held += text
        if OPENER.startswith(self._held) and len(self._held) < len(OPENER):
            return []
        return self._decide()

    def finish(self) -> list[Event]:
        events = self._decide() if self._parser is None else []
        return [*events, *(self._parser.finish() if self._parser is not None else ())]

    def _decide(self) -> list[Event]:
        format = get_format(FALLBACK) if is_forced_json(self._held) else self._format
        self._parser = self._make(format, self._tools)
        return self._parser.feed(self._held)
