"""What `toolwire chat --save` keeps: each answer as it came, for `toolwire replay` and `play`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import ToolwireError

Json = dict[str, Any]


class Saved:
    """A file of exchanges, as the gateway's debug route gives them: the newest is the first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._items: list[Json] = []
        self._write()  # what can't be written is said before anybody has asked anything

    def add(self, request: Json, events: Sequence[str]) -> None:
        """One request, and the data of the events that answered it."""
        exchange = {
            "route": "/v1/chat/completions",
            "stage": "stream",
            "model": request.get("model"),
            "format": None,
            "tools": request.get("tools"),
            "raw": [f"data: {data}\n\n" for data in events],
        }
        self._items.insert(0, exchange)
        self._write()

    def _write(self) -> None:
        text = json.dumps({"items": self._items}, ensure_ascii=False, indent=1)
        try:
            self._path.write_text(text + "\n", encoding="utf-8", errors="replace")
        except OSError as error:
            raise ToolwireError(f"{self._path} can't be written: {error.strerror}") from error
