"""Thoughts in a text of the Responses API, as an item of their own before the text."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from ..openai.sizes import Pieces

Json = dict[str, Any]

_DELTA = "response.reasoning_text.delta"
_DONE = "response.reasoning_text.done"


def _part(text: str) -> Json:
    return {"type": "reasoning_text", "text": text}


def thought_item(text: str, id: str | None = None) -> Json:
    """A whole item."""
    made = id or f"rs_{os.urandom(12).hex()}"
    return {
        "type": "reasoning",
        "id": made,
        "summary": [],
        "content": [_part(text)],
        "status": "completed",
    }


@dataclass(slots=True)
class ThoughtItem:
    """An item that is begun, grows and ends."""

    place: int  # in the output
    id: str = field(default_factory=lambda: f"rs_{os.urandom(12).hex()}")
    pieces: Pieces = field(default_factory=Pieces)

    def start(self) -> list[Json]:
        item = thought_item("", self.id) | {"content": [], "status": "in_progress"}
        return [
            {"type": "response.output_item.added", "output_index": self.place, "item": item},
            {"type": "response.content_part.added", **self._about(), "part": _part("")},
        ]

    def feed(self, text: str) -> Json:
        self.pieces.add(text)
        return {"type": _DELTA, **self._about(), "delta": text}

    def finish(self) -> list[Json]:
        text, about = self.pieces.text(), self._about()
        return [
            {"type": _DONE, **about, "text": text},
            {"type": "response.content_part.done", **about, "part": _part(text)},
            {
                "type": "response.output_item.done",
                "output_index": self.place,
                "item": self.item(),
            },
        ]

    def item(self) -> Json:
        return thought_item(self.pieces.text(), self.id)

    def _about(self) -> Json:
        return {"item_id": self.id, "output_index": self.place, "content_index": 0}
