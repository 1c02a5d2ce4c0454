"""`Parser`: a format by its name, the caller's tools, and the text as it comes."""

from __future__ import annotations

from typing import Any

from .core.events import Event
from .core.parser import EventParser
from .core.spec import Format
from .errors import ToolwireError
from .formats import get_format


class Parser:
    """Reads one message of a model in one format.

    parser = Parser("hermes", tools=tools)
    for chunk in stream:
        for event in parser.feed(chunk): ...
    for event in parser.finish(): ...
    """

    __slots__ = ("_parser", "format")

    def __init__(self, format: str | Format, tools: Any = None) -> None:
        self.format = format if isinstance(format, Format) else get_format(format)
        self._parser = EventParser(self.format, tools)

    def feed(self, chunk: str) -> list[Event]:
        """Take the next chunk of the model's text; returns what it decides."""
        if not isinstance(chunk, str):
            raise ToolwireError(
                f"feed() takes a str, not {type(chunk).__name__}: decode the model's output first."
            )
        return self._parser.feed(chunk)

    def finish(self) -> list[Event]:
        """The message is over; returns what was still undecided. A second call returns nothing."""
        return self._parser.finish()
