"""`EventParser`: chunks of text in, events out."""

from __future__ import annotations

from typing import Any

from ..errors import ToolwireError
from .driver import Run
from .events import Event
from .reading.call_text import TextRun
from .shapes import CallText
from .spec import Format
from .tools import read_tools


class EventParser:
    """Reads one message in one format. Any way to cut the text gives the same events."""

    __slots__ = ("_finished", "_reader", "_steps", "format")

    def __init__(self, format: Format, tools: Any = None) -> None:
        self.format = format
        run_class = TextRun if isinstance(format.shape, CallText) else Run
        run = run_class(format, read_tools(tools))
        self._reader = run.r
        self._steps = run.main()
        self._finished = False
        next(self._steps)  # to the first place where it waits for text

    def feed(self, chunk: str) -> list[Event]:
        """Take the next chunk of the model's text; returns what it decides."""
        reader = self._reader
        if chunk and reader.shortcut is not None:
            events = reader.shortcut(chunk)
            if events is not None:
                return events
        if self._finished:
            raise ToolwireError("feed() after finish(): make a new Parser for the next message.")
        reader.shortcut = None
        reader.push(chunk)
        next(self._steps)
        return reader.take_events()

    def finish(self) -> list[Event]:
        """The message is over; returns what was still undecided. A second call returns nothing."""
        if self._finished:
            return []
        self._finished = True
        self._reader.eof = True
        self._reader.shortcut = None
        next(self._steps, None)
        return self._reader.take_events()
