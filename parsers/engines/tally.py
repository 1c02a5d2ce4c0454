"""What one message came to, for those who count and keep: metrics and capture.

It is fed with the events of those steps in which something was decided. A step that only passes on the
next piece of a string or of a text is none of them, and nearly every token is such a step: what a token
costs does not change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..events import CallEnd, CallStart, Event

#: What becomes of a call.
COMPLETE, INCOMPLETE, UNKNOWN_TOOL, REPAIRED = "complete", "incomplete", "unknown_tool", "repaired"


class Tally:
    """Counts the calls of one message. `tools` are the names that the request declares, if any."""

    __slots__ = ("_tools", "_unknown", "calls", "drift", "format", "repaired")

    def __init__(self, format: str, tools: Collection[str] = ()) -> None:
        self.format = format
        self._tools = tools
        self._unknown = False
        self.calls = {COMPLETE: 0, INCOMPLETE: 0, UNKNOWN_TOOL: 0}
        self.repaired = 0
        self.drift: Sequence[str] = ()  # what was not spelled as the format has it

    def see(self, events: Iterable[Event]) -> None:
        for event in events:
            if isinstance(event, CallStart):
                self._unknown = bool(self._tools) and event.name not in self._tools
            elif isinstance(event, CallEnd):
                outcome = COMPLETE if event.complete else INCOMPLETE
                self.calls[UNKNOWN_TOOL if self._unknown else outcome] += 1

    @property
    def has_calls(self) -> bool:
        return any(self.calls.values())

    def off(self) -> list[str]:
        """What was off in the message."""
        found = [name for name in (INCOMPLETE, UNKNOWN_TOOL) if self.calls[name]]
        return [*found, *([REPAIRED] if self.repaired else []), *self.drift]
