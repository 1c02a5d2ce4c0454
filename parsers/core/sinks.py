"""Where the text of a value goes, piece by piece, while it is being read."""

from __future__ import annotations

from ..events import Event
from .literals import Plain
from .window import FastPath


class Sink:
    """Takes pieces of text. This one throws them away."""

    __slots__ = ()

    def write(self, text: str) -> None:
        """Take the next piece."""

    def on_key(self, key: str) -> None:
        """What follows is the member `key` of a call's arguments."""

    def on_value(self) -> None:
        """That member is over."""

    def fast_path(self, plain: Plain) -> FastPath:
        """For chunks that are `plain`: all of them goes here. (Those who make events of what they
        take have one of their own.)"""

        def fast_path(chunk: str) -> list[Event] | None:
            if not plain.takes(chunk):
                return None
            self.write(chunk)
            return []

        return fast_path


class Pieces(Sink):
    """Keeps them."""

    __slots__ = ("_pieces",)

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def write(self, text: str) -> None:
        self._pieces.append(text)

    def take(self) -> str:
        """All of it; there is nothing left."""
        text = "".join(self._pieces)
        self._pieces.clear()
        return text
