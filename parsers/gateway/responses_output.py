"""What the stream of the Responses API repeats at its end: items and output, as they were sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .responses import Json, is_call, is_text
from .responses_text import AnswerText

#: Texts that were read, by their item's place in the upstream's output and their own in the item.
Texts = Mapping[tuple[Any, Any], AnswerText]


def with_texts(item: Json, index: Any, texts: Texts) -> Json:
    """An item with its texts as they were sent."""
    parts = item.get("content")
    if not isinstance(parts, list):
        return item
    new = []
    for i, part in enumerate(parts):
        text = texts.get((index, i))
        new.append(part | {"text": text.so_far()} if text and is_text(part) else part)
    return item if new == parts else item | {"content": new}


def output_as_sent(
    upstream: list[Any], sent: Mapping[int, Json], places: Mapping[Any, int], texts: Texts
) -> list[Any]:
    """The output as it was sent: calls and text as they went out, everything at its place."""
    placed: dict[int, Any] = dict(sent)
    unplaced = []
    for index, item in enumerate(upstream):
        if is_call(item):
            continue
        new = with_texts(item, index, texts) if isinstance(item, dict) else item
        if index in places:
            placed[places[index]] = new
        else:
            unplaced.append(new)
    return [placed[place] for place in sorted(placed)] + unplaced


class Numbers:
    """Sequence numbers that go on without a gap, whatever was held or added."""

    def __init__(self) -> None:
        self._numbered = False
        self._next = 0

    def give(self, event: Json) -> Json:
        """The event with its number, where the upstream numbers its events."""
        if "sequence_number" in event:
            self._numbered = True
        if not self._numbered:
            return event
        number, self._next = self._next, self._next + 1
        return (
            event if event.get("sequence_number") == number else event | {"sequence_number": number}
        )
