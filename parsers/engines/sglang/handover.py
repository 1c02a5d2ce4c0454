"""What a reasoning detector has read, on its way to the tool call detector.

SGLang gives text from one to the other and nothing else. But thoughts and calls are read by one machine,
and that is the first one's. So what it has read goes over as text: one line of JSON for each event,
behind a mark that no model can write, because it is another one in each process. A last line may
say what was not spelled as the format has it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Sequence
from typing import Any

from ...events import Arguments, CallEnd, CallStart, Content, Event

_MARK = f"\x02toolwire {secrets.token_hex(16)} "
_KINDS: dict[str, type[Content] | type[CallStart] | type[Arguments] | type[CallEnd]] = {
    kind.__name__: kind for kind in (Content, CallStart, Arguments, CallEnd)
}
_DRIFT = "Drift"


def is_handed_over(text: str) -> bool:
    return text.startswith(_MARK)


def hand_over(events: Iterable[Event]) -> str:
    """The text for some events. Texts may be put together to one."""
    return "".join([_line(event) for event in events])


def hand_over_drift(drift: Sequence[str]) -> str:
    """The text for what was not spelled as the format has it."""
    return _written(_DRIFT, drift) if drift else ""


def _line(event: Event) -> str:
    return _written(type(event).__name__, event.__reduce__()[1])


def _written(kind: str, fields: Iterable[Any]) -> str:
    return f"{_MARK}{json.dumps([kind, *fields])}\n"


class HandedOver:
    """In a parser's place: reads what was handed over."""

    def __init__(self) -> None:
        self.drift: list[str] = []

    def feed(self, text: str) -> list[Event]:
        events: list[Event] = []
        for line in text.splitlines():
            kind, *fields = json.loads(line.removeprefix(_MARK))
            if kind == _DRIFT:
                self.drift = fields
            else:
                events.append(_KINDS[kind](*fields))
        return events

    def finish(self) -> list[Event]:
        return []
