"""How a text is cut for a parser that is looked at: into as few pieces as show where each event is from.

What the events are is known already, from a parser that has read the same text before. Places where
none of them can come are read in one go.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence

from ..events import Arguments, CallStart, Content, Event, Reasoning

_TEXTS = (Content, Reasoning, Arguments)
_WORD = re.compile(r"\w{1,64}").match
_LONGEST = 256


class Due:
    """The events of the steps so far that have not come yet. They tell how much may be read in one go:
    what is the next one's own text, all up to the name of a call that is the next one, and all that is
    behind the last one."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._said = 0  # of the first one's text
        self._sought = False  # the name of the call that is the next one

    def come(self, events: Sequence[Event]) -> None:
        self._events.extend(events)

    def came(self, events: Sequence[Event]) -> None:
        for event in events:
            if isinstance(event, _TEXTS):
                self._text_came(len(event.text))
                continue
            while self._events:
                if type(self._next()) is type(event):
                    break

    def piece(self, text: str, place: int, stop: int) -> int:
        """Where the next piece ends: a word, or one character, where nothing more is known."""
        if not self._events:
            return stop
        first = self._events[0]
        if isinstance(first, _TEXTS):
            own = first.text[self._said : self._said + _LONGEST]
            if text.startswith(own, place) and place + len(own) <= stop:
                return place + len(own)
        elif isinstance(first, CallStart) and not self._sought:
            self._sought = True  # once: it may be written in another way
            found = text.find(first.name, place, stop)
            if found > place:
                return found
        word = _WORD(text, place, stop)
        return place + 1 if word is None else word.end()

    def _text_came(self, length: int) -> None:
        while length and self._events and isinstance(self._events[0], _TEXTS):
            left = len(self._events[0].text) - self._said
            if left > length:
                self._said += length
                return
            length -= left
            self._next()

    def _next(self) -> Event:
        self._said, self._sought = 0, False
        return self._events.popleft()
