"""Telling whether a call repeats an earlier one, while it is being written.

A repeat has the same name and arguments that are equal as JSON. A call of a name that came before is
kept back as long as it may still become a repeat: until one of its members is like none of the earlier
calls', or it ends. What is looked up are members, not calls, so that a message of many calls costs no
more for each.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right, insort
from typing import Final

from ...core.driver import Run
from ...core.literals import Plain
from ...core.sinks import Sink
from ...core.window import FastPath
from ...events import Arguments, CallEnd, CallStart, Event
from ...schema.kinds import encode

#: JSON that has no other spelling: text without escapes, a whole number.
_ONE_SPELLING: Final = re.compile(r'"[ !#-\[\]-~]*"|-?[1-9][0-9]{0,15}|0').fullmatch

_MOST_PIECES: Final = 1000


def canonical(text: str) -> str:
    """A spelling that is the same for equal JSON; the text itself where it is no JSON."""
    if _ONE_SPELLING(text):
        return text
    try:
        return json.dumps(json.loads(text, parse_float=_number), sort_keys=True)
    except (ValueError, RecursionError):
        return text


def _spelling(value: str) -> str:
    """How a text of an earlier call would be written here."""
    if _ONE_SPELLING(value):
        return value
    try:
        return encode(json.loads(value))
    except ValueError:  # more than a text, which is passed on as it was written
        return value


def _number(text: str) -> float | int:
    number = float(text)
    return int(number) if number.is_integer() else number


class Repeats:
    """The calls of one message."""

    def __init__(self) -> None:
        self._names: dict[str, _Earlier] = {}

    def begin(self, run: Run, name: str) -> WatchedCall:
        earlier = self._names.get(name)
        if earlier is None:
            earlier = self._names[name] = _Earlier()
        return WatchedCall(run, name, earlier)

    def left_out(self, events: list[Event]) -> list[Event]:
        """Whole calls that were read without these in mind: those that repeat one of them are left out,
        and the others are numbered anew."""
        kept: list[Event] = []
        id: str | None = None
        name, index, gone = "", 0, 0
        pieces: list[str] = []
        for event in events:
            if isinstance(event, CallStart):
                name, id, index, pieces = event.name, event.id, event.index, []
            elif isinstance(event, Arguments):
                pieces.append(event.text)
            elif isinstance(event, CallEnd):
                arguments = "".join(pieces)
                if self._has(name, arguments):
                    gone += 1
                    continue
                index -= gone
                kept += [CallStart(index, name, id), Arguments(index, arguments)]
                kept.append(CallEnd(index, event.complete))
        return kept

    def _has(self, name: str, arguments: str) -> bool:
        earlier = self._names.get(name)
        if earlier is None or not earlier.any():
            return False
        try:
            members = json.loads(arguments)
        except (ValueError, RecursionError):
            return False
        if not isinstance(members, dict):
            return False
        return earlier.has({key: canonical(json.dumps(members[key])) for key in members})


class _Earlier:
    """The calls of one name that came before."""

    __slots__ = ("_calls", "_new", "_values", "spellings")

    def __init__(self) -> None:
        self._new: list[dict[str, str]] = []  # those that were not looked at yet
        self._calls: set[frozenset[tuple[str, str]]] = set()
        self._values: dict[str, set[str]] = {}
        #: for each key the texts that it had, as they would be written here, in order
        self.spellings: dict[str, list[str]] = {}

    def add(self, members: dict[str, str]) -> None:
        self._new.append(members)

    def any(self) -> bool:
        """Whether there were any. They are looked at now: most names are called once."""
        for members in self._new:
            self._look_at({key: canonical(value) for key, value in members.items()})
        self._new.clear()
        return bool(self._calls)

    def _look_at(self, members: dict[str, str]) -> None:
        self._calls.add(frozenset(members.items()))
        for key, value in members.items():
            values = self._values.setdefault(key, set())
            if value not in values:
                values.add(value)
                if value.startswith('"'):
                    insort(self.spellings.setdefault(key, []), _spelling(value))

    def had(self, key: str, value: str) -> bool:
        return value in self._values.get(key, ())

    def has(self, members: dict[str, str]) -> bool:
        return frozenset(members.items()) in self._calls


class WatchedCall(Sink):
    """One call on its way out, kept back as long as it may be a repeat."""

    def __init__(self, run: Run, name: str, earlier: _Earlier) -> None:
        self._run = run
        self._out = run.out
        self._name = name
        self._earlier = earlier
        self._waiting: list[str] | None = []
        self._members: dict[
            str, str
        ] = {}  # as they were written; while it waits, as `canonical` has it
        self._key: str | None = None
        self._value: list[str] = []  # what the member at hand says so far, …
        self._before: list[str] = []  # … behind this: many small pieces would take much memory
        self._begun = False
        self._rivals: _Rivals | None = None  # for text: the earlier ones that begin like this one
        if not earlier.any():
            self._go()

    def _go(self) -> None:
        """It can be no repeat any more: let out what was kept back."""
        waiting, self._waiting = self._waiting, None
        self._run.start_call(self._name)
        if waiting:
            self._out.write("".join(waiting))

    def write(self, text: str) -> None:
        value = self._value_text(text)
        if value:
            self._value.append(value)
            if len(self._value) > _MOST_PIECES:
                self._before.append("".join(self._value))
                self._value.clear()
        if self._waiting is None:
            self._out.write(text)
            return
        self._waiting.append(text)
        if value:
            self._compare(value)

    def fast_path(self, plain: Plain) -> FastPath:
        def fast_path(chunk: str) -> list[Event] | None:
            if not plain.takes(chunk):
                return None
            self.write(chunk)
            return self._out.take_events()

        return fast_path

    def _value_text(self, text: str) -> str:
        """What of `text` belongs to the member's value: not the colon before it."""
        if self._key is None:
            return ""
        if not self._begun:
            text = text.lstrip(": \t\r\n")
            self._begun = bool(text)
            if text.startswith('"') and self._waiting is not None:
                self._rivals = _Rivals(self._earlier.spellings.get(self._key, []))
        return text

    def on_key(self, key: str) -> None:
        self._key = key
        self._value.clear()
        self._before.clear()
        self._begun = False
        self._rivals = None

    def _compare(self, piece: str) -> None:
        """Let the call go if an unfinished text already differs from all earlier ones."""
        if "\\u" in piece or "\\/" in piece:
            self._rivals = None  # in another spelling it may still be equal: its end will tell
        if self._rivals is not None and not self._rivals.go_on_with(piece):
            self._go()

    def on_value(self) -> None:
        if self._key is None:
            return
        value = "".join([*self._before, *self._value])
        if self._waiting is not None:
            value = canonical(value)
            if not self._earlier.had(self._key, value):
                self._go()
        self._members[self._key] = value
        self._key = None

    def end(self, complete: bool) -> None:
        if self._waiting is not None:
            if complete and self._earlier.has(self._members):
                self._run.forget_repeat()
                return
            self._go()
        self._out.end_call(complete)
        if complete:
            self._earlier.add(self._members)


class _Rivals:
    """Texts in order, and which of them begin with what has been written."""

    __slots__ = ("_first", "_last", "_length", "_texts")

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self._first, self._last = 0, len(texts)
        self._length = 0

    def go_on_with(self, piece: str) -> bool:
        """Whether any of them goes on like this."""
        start, end = self._length, self._length + len(piece)
        self._length = end
        between = (piece, self._first, self._last)
        self._first = bisect_left(self._texts, *between, key=lambda text: text[start:end])
        self._last = bisect_right(self._texts, *between, key=lambda text: text[start:end])
        return self._first < self._last
