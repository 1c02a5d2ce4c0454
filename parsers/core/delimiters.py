"""A format's delimiters, ready to be looked for: where a call may begin and where it ends.

Also here: the one rule about delimiters that stand where they should not count, inside a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from .literals import (
    MOST_REPEATS,
    POSSESSIVE,
    Levels,
    Literals,
    Plain,
    first_characters,
    first_of,
    text_without,
)
from .window import Step, Window

#: What means something between the strings of JSON.
_STRUCTURE: Final = '"{}[]'


class JsonStops:
    """What to stop at in JSON that stands between delimiters."""

    def __init__(
        self, starts: Sequence[str], closes: Sequence[str], turn_ends: Sequence[str]
    ) -> None:
        stops = [*starts, *closes]
        #: what to stop at between JSON tokens
        self.between: Final = first_of(stops, _STRUCTURE)
        #: what to stop at inside a JSON string
        self.inside: Final = first_of(closes, '"\\')
        #: for fast paths: text between strings, and inside one, that nothing has to be looked at in
        first, ends = [*stops, *turn_ends], [*closes, *turn_ends]
        between = f"[^{first_characters(first, _STRUCTURE)}]+{POSSESSIVE}"
        self.plain_between: Final = Plain(first, _STRUCTURE, between)
        text = text_without(ends, '"\\')
        self.plain_inside: Final = Plain(ends, '"\\', _with_escapes(text, turn_ends))
        #: … without any escape
        self.plain_text: Final = Plain(ends, '"\\', text)
        #: both in turn; its group is there if that ends inside a string, with the text
        plain = f"[^{first_characters(stops, _STRUCTURE)}]"
        string = _with_escapes(text_without(closes, '"\\'))
        strings = rf'(?:"{string}(?:"{plain}*{POSSESSIVE}|\Z())){{0,{MOST_REPEATS}}}'
        self._flat: Final = re.compile(f"{plain}*{POSSESSIVE}{strings}", re.DOTALL).match
        #: characters that mean something between strings and that no delimiter begins with
        self.structure: Final = frozenset(_STRUCTURE) - {stop[0] for stop in stops}
        #: what to stop at inside a key or a name
        self.name: Final = first_of(stops, '"\\')
        #: a whole key or name that nothing has to be looked at in; and a key with its colon
        initials = first_characters(stops, '"\\')
        self.whole_name: Final = re.compile(f'"([^{initials}]*)"')
        self.whole_key: Final = re.compile(rf'"([^{initials}]*)"\s*:\s*(?=\S)')

    def pass_flat(self, text: str, start: int) -> tuple[int, bool]:
        """Where text without brackets ends that begins between strings; and whether in a string."""
        found = self._flat(text, start)
        assert found
        return found.end(), found.lastindex is not None


def _with_escapes(text: str, literals: Sequence[str] = ()) -> str:
    """A pattern for text inside a string, with escapes in it. None escapes what one of `literals`
    begins with: to them a backslash means nothing."""
    first = first_characters(literals)
    escape = rf"\\[^{first}]" if first else r"\\."
    return rf"{text}(?:{escape}{text}){{0,{MOST_REPEATS}}}{POSSESSIVE}"


class Delimiters:
    """Compiled once for each format. `levels` are the closers of each wrapper, outermost first.
    `turn_ends` are no delimiters, but no fast path may take them."""

    def __init__(
        self,
        opens: Iterable[str],
        levels: Sequence[Iterable[str]],
        heads: Iterable[str] = (),
        turn_ends: Sequence[str] = (),
    ) -> None:
        self.opens: Final = Literals(opens)
        self.starts: Final = Literals([*self.opens.spellings, *heads])
        self.levels: Final = tuple(Literals(level) for level in levels)
        self.closes: Final = Literals([c for level in self.levels for c in level.spellings])
        #: which wrapper a closer closes, 0 being the outermost
        self.level_of: Final = Levels([level.spellings for level in self.levels])
        begins = first_characters(self.closes.spellings)
        self._closer_begins: Final = re.compile(f"[{begins}]" if begins else "(?!)").search
        self.turn_ends: Final = tuple(turn_ends)
        self._stops: JsonStops | None = None

    @property
    def stops(self) -> JsonStops:
        """What to stop at in JSON. It is compiled when JSON is first read: of many formats none is."""
        if self._stops is None:
            self._stops = JsonStops(self.starts.spellings, self.closes.spellings, self.turn_ends)
        return self._stops

    def closer_in(self, w: Window, end: int, before: str = "") -> int | None:
        """Where the first closer begins that stands before index `end` of the window, and `end` if
        none does; None where the text does not tell yet. `before` is what was read last.

        A closer that begins like a word is none inside one: `done` does not end `undone`.
        """
        place = w.pos
        while (found := self._closer_begins(w.text, place, end)) is not None:
            place = found.start()
            closer = self.closes.here(w, place - w.pos)
            if closer is None:
                return None
            last = w.text[place - 1] if place > w.pos else before[-1:]
            if closer and not (_is_word(closer[0]) and _is_word(last)):
                return place
            place += 1
        return end


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def closer_in_string(w: Window, delimiters: Delimiters) -> Step[str | None]:
    """At a closer inside an open string: None if it counts, else what was read, text of the string.

    It counts if the message ends behind it, or if whitespace with a newline and then an opener follows:
    then the model lost a quote. A row of closers, inner before outer, is taken as one. What counts is
    left to be read by whoever reads closers.
    """
    pieces: list[str] = []
    counts = False
    while not counts:
        while (closer := delimiters.closes.here(w)) is None:
            yield
        if not closer and "\n" in pieces[-1]:
            while (opener := delimiters.starts.here(w)) is None:
                yield
            counts = bool(opener)
        if not closer:
            break
        pieces.append(w.take(w.pos + len(closer)))
        while (following := w.peek()) is None:
            yield
        counts = not following
        while (space := w.space()) is None:
            yield
        pieces.append(space)
    text = "".join(pieces)
    if not counts:
        return text
    w.unread(text)
    return None
