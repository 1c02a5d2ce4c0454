"""A text in a stream, read for calls and thoughts; the rest is put together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..events import Arguments, CallEnd, CallStart, Content, Event, Reasoning
from ..openai import ToolCall
from ..openai.sizes import Pieces
from ..openai.text_reader import TextReader

Json = dict[str, Any]

_ABOUT: tuple[str, ...] = ("item_id", "output_index", "content_index")
_CALL = 1000  # the bytes that a call takes by itself


@dataclass(slots=True)
class _Found:
    """A call in the text, as it grows."""

    id: str  # as the model wrote it, or empty
    name: str
    pieces: Pieces = field(default_factory=Pieces)


@dataclass(slots=True)
class AnswerText:
    """One text of the answer, read for calls."""

    reader: TextReader
    pieces: Pieces = field(default_factory=Pieces)
    found: list[_Found] = field(default_factory=list)
    found_size: int = 0
    last: Json = field(default_factory=dict)  # where an event of ours belongs
    told: set[str] = field(default_factory=set)  # the kinds of its end that were sent
    finished: bool = False
    _thoughts: list[str] = field(default_factory=list)  # that were found and not asked for

    @property
    def held(self) -> int:
        return self.reader.held + self.pieces.size + self.found_size

    def feed(self, event: Json) -> list[Json]:
        about = {key: event[key] for key in _ABOUT if key in event}
        self.last = about | {"type": event["type"], "logprobs": []}
        text = self._take(self.reader.feed(str(event.get("delta") or "")))
        if event.get("delta") == text:
            return [event]
        return [event | {"delta": text}] if text else []

    def finish(self) -> list[Json]:
        """What was held back of the text."""
        if self.finished:
            return []
        self.finished = True
        text = self._take(self.reader.finish())
        return [self.last | {"delta": text}] if text else []

    def _take(self, events: list[Event]) -> str:
        """What is really text; the calls are taken in."""
        for event in events:
            if isinstance(event, CallStart):
                self.found.append(_Found(event.id or "", event.name))
                self.found_size += _CALL + len(event.name)
            elif isinstance(event, Arguments):
                pieces = self.found[event.index].pieces
                self.found_size -= pieces.size
                pieces.add(event.text)
                self.found_size += pieces.size
            elif isinstance(event, CallEnd) and event.id and not self.found[event.index].id:
                self.found[event.index].id = event.id
                self.found_size += len(event.id)
        self._thoughts += [event.text for event in events if isinstance(event, Reasoning)]
        text = "".join(event.text for event in events if isinstance(event, Content))
        self.pieces.add(text)
        return text

    def take_thoughts(self) -> str:
        """The thoughts that were found since the last time."""
        thoughts, self._thoughts = "".join(self._thoughts), []
        return thoughts

    def drop_calls(self) -> None:
        self.found, self.found_size = [], 0

    def so_far(self) -> str:
        return self.pieces.text()

    def calls(self) -> list[ToolCall]:
        return [ToolCall(found.id, found.name, found.pieces.text()) for found in self.found]
