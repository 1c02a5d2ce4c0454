"""Telling whether a call repeats an earlier one, while it is being written.

A repeat has the same name and arguments that are equal as JSON. A call of a name that came before is
kept back as long as it may still become a repeat: until one of its members differs from every earlier
call, or it ends.
"""

from __future__ import annotations

import json

from .reader import Reader
from .schema import encode


def canonical(text: str) -> str:
    """A spelling that is the same for equal JSON; the text itself where it is no JSON."""
    try:
        return json.dumps(json.loads(text, parse_float=_number), sort_keys=True)
    except (ValueError, RecursionError):
        return text


def _number(text: str) -> float | int:
    number = float(text)
    return int(number) if number.is_integer() else number


class Repeats:
    """The calls of one message."""

    def __init__(self) -> None:
        self._calls: dict[str, list[dict[str, str]]] = {}

    def begin(self, r: Reader, name: str) -> WatchedCall:
        return WatchedCall(r, name, self._calls.setdefault(name, []))


class WatchedCall:
    """One call on its way out, kept back as long as it may be a repeat."""

    def __init__(self, r: Reader, name: str, earlier: list[dict[str, str]]) -> None:
        self._r = r
        self._name = name
        self._earlier = earlier
        self._candidates = list(earlier)
        self._waiting: list[str] | None = []
        self._members: dict[str, str] = {}
        self._key: str | None = None
        self._value = bytearray()  # what the member at hand says so far, in little memory
        self._begun = False
        self._rivals: list[tuple[dict[str, str], str]] = []  # earlier calls, their same member
        self._compared = 0  # how much of the value the rivals agree with
        if not earlier:
            self._go()

    def _go(self) -> None:
        """It can be no repeat any more: let out what was kept back."""
        waiting, self._waiting = self._waiting, None
        self._r.start_call(self._name)
        if waiting:
            self._r.arguments("".join(waiting))

    def write(self, text: str) -> None:
        value = self._value_text(text)
        if value:
            self._value += value.encode("utf-8", "surrogatepass")
        if self._waiting is None:
            self._r.arguments(text)
            return
        self._waiting.append(text)
        if value:
            self._compare(value)

    def _value_text(self, text: str) -> str:
        """What of `text` belongs to the member's value: not the colon before it."""
        if self._key is None:
            return ""
        if not self._begun:
            text = text.lstrip(": \t\r\n")
            self._begun = bool(text)
        return text

    def on_key(self, key: str) -> None:
        self._key = key
        self._value = bytearray()
        self._begun = False
        self._compared = 0
        self._rivals = []
        if self._waiting is not None:
            self._rivals = [(c, _spelling(c.get(key, ""))) for c in self._candidates]

    def _compare(self, piece: str) -> None:
        """Drop the earlier calls that an unfinished string already differs from."""
        another_type = self._compared == 0 and piece[0] != '"'
        if another_type or "\\u" in piece or "\\/" in piece:
            self._rivals = []  # in another spelling it may still be equal: its end will tell
        if self._rivals:
            self._rivals = [x for x in self._rivals if x[1].startswith(piece, self._compared)]
            self._compared += len(piece)
            self._keep([candidate for candidate, _ in self._rivals])

    def on_value(self) -> None:
        if self._key is None:
            return
        value = canonical(self._value.decode("utf-8", "surrogatepass"))
        self._members[self._key] = value
        self._keep([c for c in self._candidates if c.get(self._key) == value])
        self._key = None

    def _keep(self, candidates: list[dict[str, str]]) -> None:
        self._candidates = candidates
        if not candidates and self._waiting is not None:
            self._go()

    def end(self, complete: bool) -> None:
        self._keep([c for c in self._candidates if complete and len(c) == len(self._members)])
        if self._waiting is not None:
            self._r.forget_repeat()
            return
        self._r.end_call(complete)
        if complete:
            self._earlier.append(self._members)


def _spelling(value: str) -> str:
    """How an earlier value would be written here."""
    return encode(json.loads(value)) if value.startswith('"') else value
