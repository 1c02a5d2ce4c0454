"""A call's block in the stream of the Messages API that was begun and did not end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..openai.open_calls import ObjectStart
from ..openai.repair import Coercion
from ..openai.sizes import Pieces

Json = dict[str, Any]


@dataclass(slots=True)
class HeldBlock:
    """What has come of it, and what was sent."""

    start: Json  # the event
    block: Json
    pieces: Pieces = field(default_factory=Pieces)
    ended: bool = False
    sent: bool = False  # its beginning was sent (live)
    flows: bool = False  # the input begins as an object, so it is sent as it comes (live)
    begins: ObjectStart = field(default_factory=ObjectStart)
    coercion: Coercion | None = None  # what the input goes through on its way out (live)
    held: int = 0

    def given(self) -> Any:
        """The input: put together from its pieces or, where none came, as it stood at the start."""
        return self.pieces.text() if self.pieces.size else self.block.get("input")
