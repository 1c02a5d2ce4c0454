"""Building a call's arguments as `{"k": v, "k2": v2}` where the model did not write JSON.

`ObjectBuilder` puts the object together; a `Value` is one parameter's value on its way there. A value
that can only be a string goes out as it comes; any other waits for its end, since only then its type
is known.
"""

from __future__ import annotations

from .reader import Sink
from .schema import Kind, encode


class ObjectBuilder:
    """Writes the members of an object to a sink, one after the other."""

    __slots__ = ("_sink", "keys")

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.keys: list[str] = []

    def key(self, key: str) -> None:
        self._sink(f"{', ' if self.keys else '{'}{encode(key)}: ")
        self.keys.append(key)

    def close(self) -> None:
        self._sink("}" if self.keys else "{}")


class TextValue:
    """A value that is a string whatever it says."""

    __slots__ = ("_sink",)

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        sink('"')

    def add(self, piece: str) -> None:
        if piece:
            self._sink(encode(piece)[1:-1])

    def close(self) -> None:
        self._sink('"')

    def cut(self) -> None:
        """The message ended inside the value: the string stays open."""


class TypedValue:
    """A value whose type depends on all of its text."""

    __slots__ = ("_kind", "_pieces", "_sink")

    def __init__(self, sink: Sink, kind: Kind) -> None:
        self._sink = sink
        self._kind = kind
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        self._pieces.append(piece)

    def close(self) -> None:
        text = "".join(self._pieces)
        value = self._kind.json_of(text)
        self._sink(encode(text) if value is None else value)

    def cut(self) -> None:
        """The message ended inside the value: what there is of it, as what it seems to become."""
        text = "".join(self._pieces)
        if self._kind.may_begin(text):
            self._sink(text.lstrip())
        elif text:
            self._sink(encode(text)[:-1])


def value_of(kind: Kind, sink: Sink) -> TextValue | TypedValue:
    return TextValue(sink) if kind.text_only else TypedValue(sink, kind)
