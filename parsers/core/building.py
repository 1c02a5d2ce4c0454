"""Building a call's arguments as `{"k": v, "k2": v2}` where the model did not write JSON.

`ObjectBuilder` puts the object together; a `Value` is one parameter's value on its way there. A value
that can only be a string goes out as it comes; any other waits for its end, since only then its type
is known.
"""

from __future__ import annotations

from .events import Arguments, Event
from .reader import Matches, Reader, Shortcut, Sink
from .schema import Kind, encode


class ObjectBuilder:
    """Writes the members of an object to a sink, one after the other."""

    __slots__ = ("_sink", "keys")

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.keys: set[str] = set()

    def key(self, key: str) -> None:
        self._sink(f"{', ' if self.keys else '{'}{encode(key)}: ")
        self.keys.add(key)

    def close(self) -> None:
        self._sink("}" if self.keys else "{}")


class TextValue:
    """A value that is a string whatever it says."""

    __slots__ = ("_r",)

    def __init__(self, r: Reader) -> None:
        self._r = r
        r.arguments('"')

    def add(self, piece: str) -> None:
        if piece:
            self._r.arguments(encode(piece)[1:-1])

    def passing(self, plain: Matches) -> Shortcut:
        """For chunks that are `plain`: all of them is the value's."""
        index = self._r.index

        def shortcut(chunk: str) -> list[Event] | None:
            return [Arguments(index, encode(chunk)[1:-1])] if plain(chunk) else None

        return shortcut

    def close(self) -> None:
        self._r.arguments('"')

    def cut(self) -> None:
        """The message ended inside the value: the string stays open."""


class TypedValue:
    """A value whose type depends on all of its text."""

    __slots__ = ("_kind", "_pieces", "_r")

    def __init__(self, r: Reader, kind: Kind) -> None:
        self._r = r
        self._kind = kind
        self._pieces: list[str] = []

    def add(self, piece: str) -> None:
        self._pieces.append(piece)

    def passing(self, plain: Matches) -> Shortcut:
        def shortcut(chunk: str) -> list[Event] | None:
            if not plain(chunk):
                return None
            self._pieces.append(chunk)
            return []

        return shortcut

    def close(self) -> None:
        text = "".join(self._pieces)
        value = self._kind.json_of(text)
        self._r.arguments(encode(text) if value is None else value)

    def cut(self) -> None:
        """The message ended inside the value: what there is of it, as what it seems to become."""
        text = "".join(self._pieces)
        if self._kind.may_begin(text):
            self._r.arguments(text.lstrip())
        elif text:
            self._r.arguments(encode(text)[:-1])


def value_of(kind: Kind, r: Reader) -> TextValue | TypedValue:
    return TextValue(r) if kind.text_only else TypedValue(r, kind)
