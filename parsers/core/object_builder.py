"""Building a call's arguments as `{"k": v, "k2": v2}` where the model did not write JSON.

`ObjectBuilder` puts the object together; a `Value` is one parameter's value on its way there. A value
that can only be a string goes out as it comes; any other waits for its end, since only then its type
is known.
"""

from __future__ import annotations

import re
from typing import Final

from ..events import Arguments, Event
from ..schema.kinds import Kind, encode
from .literals import Plain
from .outgoing import Outgoing
from .python_literals import python_literal
from .sinks import Sink
from .window import FastPath

_CONTAINERS: Final = frozenset({"array", "object"})
_QUOTES: Final = re.compile(r'\\.|"', re.DOTALL)


class ObjectBuilder:
    """Writes the members of an object to a sink, one after the other."""

    __slots__ = ("_sink", "keys")

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.keys: set[str] = set()

    def key(self, key: str) -> None:
        self._sink.write(f"{', ' if self.keys else '{'}{encode(key)}: ")
        self.keys.add(key)

    def close(self) -> None:
        self._sink.write("}" if self.keys else "{}")


class Value(Sink):
    """Takes the text of a value."""

    __slots__ = ()

    def close(self) -> None:
        """The value is whole."""

    def cut(self, closer: str) -> None:
        """The message ended inside the value, perhaps behind the beginning of its closer."""


class TextValue(Value):
    """A value that is a string whatever it says."""

    __slots__ = ("_out",)

    def __init__(self, out: Outgoing) -> None:
        self._out = out
        out.write('"')

    def write(self, text: str) -> None:
        if text:
            self._out.write(encode(text)[1:-1])

    def fast_path(self, plain: Plain) -> FastPath:
        index = self._out.index

        def fast_path(chunk: str) -> list[Event] | None:
            return [Arguments(index, encode(chunk)[1:-1])] if plain.takes(chunk) else None

        return fast_path

    def close(self) -> None:
        self._out.write('"')

    def cut(self, closer: str) -> None:
        self.write(closer)


class TypedValue(Value):
    """A value whose type depends on all of its text."""

    __slots__ = ("_kind", "_out", "_pieces")

    def __init__(self, out: Outgoing, kind: Kind) -> None:
        self._out = out
        self._kind = kind
        self._pieces: list[str] = []

    def write(self, text: str) -> None:
        self._pieces.append(text)

    def close(self) -> None:
        text = "".join(self._pieces)
        value = self._kind.json_of(text)
        if value is None and self._kind.types & _CONTAINERS:
            value = python_literal(text, self._kind.types & _CONTAINERS)
        self._out.write(encode(text) if value is None else value)

    def cut(self, closer: str) -> None:
        """What there is of it goes out as what it seems to become."""
        text = "".join(self._pieces)
        if self._kind.may_begin(text):
            self._out.write(unfinished_json(text, closer))
        elif text + closer:
            self._out.write(encode(text + closer)[:-1])


class WholeValue(Value):
    """A value that is looked at as a whole, before it is decided what becomes of it."""

    __slots__ = ("_pieces", "closed", "closer")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self.closed = False
        self.closer = ""  # the beginning of one, at the message's end

    def write(self, text: str) -> None:
        self._pieces.append(text)

    def close(self) -> None:
        self.closed = True

    def cut(self, closer: str) -> None:
        self.closer = closer

    def take(self) -> str:
        return "".join(self._pieces)


def unfinished_json(text: str, closer: str) -> str:
    """JSON that is cut off behind the beginning of a closer, which is text in a string."""
    in_string = _QUOTES.findall(text).count('"') % 2
    return text.lstrip() + closer if in_string else text.strip()


def value_of(kind: Kind, out: Outgoing) -> Value:
    return TextValue(out) if kind.text_only else TypedValue(out, kind)
