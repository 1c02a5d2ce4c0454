"""A format's delimiters, ready to be looked for: where a call may begin and where it ends.

Also here: the one rule about delimiters that stand where they should not count, inside a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from .literals import KEEP, MOST_REPEATS, Literals, first_characters, first_of
from .reader import Reader, Sink, Step


class Marks:
    """Compiled once for each format. `levels` are the closers of each wrapper, outermost first."""

    def __init__(
        self, opens: Iterable[str], levels: Sequence[Iterable[str]], heads: Iterable[str] = ()
    ) -> None:
        self.opens: Final = Literals(opens)
        self.starts: Final = Literals([*self.opens.spellings, *heads])
        self.levels: Final = tuple(Literals(level) for level in levels)
        self.closes: Final = Literals([c for level in self.levels for c in level.spellings])
        #: which wrapper a closer closes, 0 being the outermost
        self.level_of: Final = {
            closer: i
            for i, level in reversed(list(enumerate(self.levels)))
            for closer in level.spellings
        }
        stops = [*self.starts.spellings, *self.closes.spellings]
        #: what to stop at between JSON tokens
        self.between: Final = first_of(stops, '"{}[]')
        #: what to stop at inside a JSON string
        self.inside: Final = first_of(self.closes.spellings, '"\\')
        #: text between strings, and inside one, that nothing has to be looked at in
        first = first_characters(stops, '"{}[]')
        plain = f"[^{first}]"
        self.plain_between: Final = re.compile(f"{plain}+{KEEP}")
        first = first_characters(self.closes.spellings, '"\\')
        string = rf"[^{first}]*{KEEP}(?:\\.[^{first}]*{KEEP}){{0,{MOST_REPEATS}}}{KEEP}"
        self.plain_inside: Final = re.compile(string, re.DOTALL)
        #: both in turn; its group is there if that ends inside a string, with the text
        strings = rf'(?:"{string}(?:"{plain}*{KEEP}|\Z())){{0,{MOST_REPEATS}}}'
        self._flat: Final = re.compile(f"{plain}*{KEEP}{strings}", re.DOTALL).match
        #: characters that mean something between strings and that no delimiter begins with
        self.structure: Final = frozenset('"{}[]') - {stop[0] for stop in stops}
        #: what to stop at inside a key or a name
        self.name: Final = first_of(stops, '"\\')
        #: a whole key or name that nothing has to be looked at in; and a key with its colon
        first = first_characters(stops, '"\\')
        self.whole_name: Final = re.compile(f'"([^{first}]*)"')
        self.whole_key: Final = re.compile(rf'"([^{first}]*)"\s*:\s*(?=\S)')

    def pass_flat(self, text: str, start: int) -> tuple[int, bool]:
        """Where text without brackets ends that begins between strings; and whether in a string."""
        found = self._flat(text, start)
        assert found
        return found.end(), found.lastindex is not None


def closer_in_string(r: Reader, marks: Marks, sink: Sink) -> Step[bool]:
    """At a closer inside an open string: does it count?

    It does if the message ends behind it, or if whitespace with a newline and then an opener follows:
    then the model lost a quote. Otherwise it is text of the string. A row of closers, inner before
    outer, is taken as one. What counts is left to be read by whoever reads closers.
    """
    pieces: list[str] = []
    counts = False
    while not counts:
        closer = yield from marks.closes.here(r)
        if not closer:
            counts = "\n" in pieces[-1] and bool((yield from marks.starts.here(r)))
            break
        pieces.append(r.take(r.pos + len(closer)))
        counts = yield from r.ended()
        pieces.append((yield from r.skip_space()))
    text = "".join(pieces)
    if counts:
        r.unread(text)
    else:
        sink(text)
    return counts
