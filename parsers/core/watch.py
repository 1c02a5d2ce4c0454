"""Looking on while a message is read: how much of its text is undecided, and why.

This is for people who want to see a parser at work. It changes nothing and decides nothing: it looks at
what the parser itself keeps back.
"""

from __future__ import annotations

from typing import Final

from ..events import Event
from .parser import EventParser

#: Why text waits: each is a key of `REASONS`.
DECIDED: Final = ""
CALL: Final = "call"
TRIAL: Final = "trial"
MARKER: Final = "marker"
END: Final = "end"

REASONS: Final = {
    CALL: "It may be a call: that is decided when its name is whole and its arguments have begun.",
    TRIAL: "It is a call inside thoughts: it counts only if nothing but calls comes up to the end.",
    MARKER: "It may be the beginning of a marker, a name or a value: the next characters decide.",
    END: "It may be the token that ends the turn: that is markup only at the very end.",
}


class Watch:
    """Looks on at one parser. `look` is called after each `feed`."""

    def __init__(self, parser: EventParser) -> None:
        self._parser = parser
        self._held: list[str] | None = None  # what was held when we looked last, and since where
        self._held_from = 0
        self._recording: list[str] | None = None
        self._recorded_from = 0
        self._kept = ""
        self._kept_from = 0

    def look(self, fed: int) -> tuple[int, str]:
        """Of `fed` characters: where the undecided ones begin, and why they are undecided."""
        window = self._parser._window
        kept = self._kept_back(fed)
        read = fed - kept - (len(window.text) - window.pos) - len(window._beyond)
        start, why = read, MARKER if read < fed - kept else END if kept else DECIDED
        held = window._held
        if held:
            if held is not self._held:
                self._held_from = read - sum(map(len, held))
            start, why = min(start, self._held_from), CALL
        self._held = held or None
        recording = window._record
        if recording is not None:
            if recording is not self._recording:
                read_since = sum(map(len, recording)) + window.pos
                self._recorded_from = read - read_since
            start, why = min(start, self._recorded_from), TRIAL
        self._recording = recording
        return max(0, start), why

    def _kept_back(self, fed: int) -> int:
        """How many characters may be the token that ends the turn, with white space behind it."""
        tail = self._parser._tail
        if not tail.kept:
            self._kept = ""
            return 0
        if tail.kept != self._kept:
            self._kept = tail.kept
            self._kept_from = fed - len(tail.kept) - sum(map(len, tail._space))
        return fed - self._kept_from

    def pass_on(self, chunk: str) -> list[Event] | None:
        """Feeds a chunk that decides nothing and is passed on as it is; any other is not read (None)."""
        fast_path = self._parser._window.fast_path
        return fast_path(chunk) if chunk and fast_path is not None else None
