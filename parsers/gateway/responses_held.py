"""A call in the stream of the Responses API that is announced, grows and ends, or goes out whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..openai.open_calls import ObjectStart
from ..openai.repair import Coercion
from ..openai.sizes import Pieces, size_of

Json = dict[str, Any]

ARGUMENTS = "response.function_call_arguments"
_ITEM = 1000  # the bytes that an item takes by itself


@dataclass(slots=True)
class HeldItem:
    """A call as it is announced, grows and ends."""

    item: Json
    pieces: Pieces = field(default_factory=Pieces)
    full: Any = None  # the arguments as the upstream repeated them
    ended: bool = False
    place: int | None = None  # its place in our output, once it was announced (live)
    size: int = 0  # of the item and the repeated arguments
    flows: bool = False  # the arguments begin as an object, so they were sent as they came (live)
    start: ObjectStart = field(default_factory=ObjectStart)
    coercion: Coercion | None = None  # what the arguments go through on their way out (live)
    coerced: Pieces = field(default_factory=Pieces)  # … and what they became

    @property
    def held(self) -> int:
        return _ITEM + self.size + self.pieces.size + self.coerced.size

    def replace(self, item: Json) -> None:
        self.item = item
        self.size = size_of(item) + size_of(self.full)

    def add(self, delta: str) -> str:
        """Takes a piece in; what may be sent now. What is no object can still be wrapped at its end."""
        self.pieces.add(delta)
        if self.flows:
            return delta
        self.flows = self.start.look(self.pieces)
        return self.pieces.text() if self.flows else ""

    def sent(self) -> str:
        """The arguments that were sent as they came."""
        if not self.flows:
            return ""
        return (self.pieces if self.coercion is None else self.coerced).text()

    def repeat(self, arguments: Any) -> None:
        self.size += size_of(arguments) - size_of(self.full)
        self.full = arguments

    def settled(self) -> Json:
        """The item with the arguments that count: the repeated ones, else the pieces."""
        arguments = self.full if self.full not in (None, "") else self.item.get("arguments")
        if self.pieces.size and arguments in (None, ""):
            arguments = self.pieces.text()
        rest = {k: v for k, v in self.item.items() if k != "arguments"}
        return rest if arguments is None else rest | {"arguments": arguments}


def call_events(item: Json, place: int) -> list[Json]:
    """All events of one call, one after the other."""
    about = {"item_id": item.get("id"), "output_index": place}
    start = item | {"arguments": "", "status": "in_progress"}
    text = item["arguments"]
    return [
        {"type": "response.output_item.added", "output_index": place, "item": start},
        {"type": f"{ARGUMENTS}.delta", **about, "delta": text},
        {"type": f"{ARGUMENTS}.done", **about, "name": item.get("name"), "arguments": text},
        {"type": "response.output_item.done", "output_index": place, "item": item},
    ]
