"""Finding delimiters in text that may end in the middle of one.

`Literals` is a set of spellings; `here` asks whether one stands exactly at the reading position. The
pattern of `first_of` finds the first of them, or, at the very end of the text, the beginning of one:
that part must wait for the next chunk.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Final

from .reader import Reader, Step

#: `re` remembers each repeat of a group while it matches: this many at a time are enough.
MOST_REPEATS: Final = 100
#: Behind a repeat: never give back what it took. It decides nothing here and saves the search for
#: another way to match where there is none. (Before Python 3.11, `re` had no such thing.)
KEEP: Final = "+" if sys.version_info >= (3, 11) else ""


def beginning(literal: str) -> str:
    """A pattern for every proper, non-empty beginning of `literal`, longest first."""
    pattern = ""
    for character in reversed(literal[:-1]):
        pattern = f"(?:{re.escape(character)}{pattern})?"
    return pattern[:-1]  # the first character itself is not optional


def cut_off(literals: Iterable[str]) -> str:
    """A pattern for the beginning of any of `literals` at the end of the text."""
    patterns = [p for p in map(beginning, literals) if p]
    return rf"(?:{'|'.join(patterns)})\Z" if patterns else ""


def any_of(literals: Iterable[str]) -> str:
    """A pattern for any of `literals`, the longest that fits."""
    ordered = sorted(set(literals), key=lambda literal: (-len(literal), literal))
    return "|".join(map(re.escape, ordered))


def first_characters(literals: Iterable[str], characters: str = "") -> str:
    """What any of these begins with, to stand in a pattern's brackets."""
    return "".join(map(re.escape, sorted({*characters, *[literal[0] for literal in literals]})))


def first_of(literals: Iterable[str], characters: str = "") -> re.Pattern[str]:
    """Finds the first of `literals`, or the beginning of one at the end of the text, or a character.

    `lastindex` of a match tells them apart: None is one of `characters`. Literals come first: one may
    begin with a character that means something by itself.

    The groups are empty and stand at the ends, so that every branch begins with a plain character.
    Only then does `re` know which characters a match can begin with, and pass over all others at
    once. This is most of the speed of long texts.
    """
    spellings = Literals(literals).spellings
    branches = [f"{re.escape(spelling)}()" for spelling in spellings]
    branches += [rf"{beginning(spelling)}\Z()" for spelling in spellings if len(spelling) > 1]
    branches += map(re.escape, characters)
    return re.compile("|".join(branches) or r"(?!)")


class Literals:
    """A set of spellings that can be looked for."""

    __slots__ = ("_initials", "_longest", "spellings")

    def __init__(self, spellings: Iterable[str]) -> None:
        self.spellings: Final = tuple(sorted(set(spellings), key=lambda s: (-len(s), s)))
        self._longest: Final = max(map(len, self.spellings), default=0)
        self._initials: Final = frozenset(spelling[0] for spelling in self.spellings)

    def __bool__(self) -> bool:
        return bool(self.spellings)

    def may_start(self, character: str) -> bool:
        return character in self._initials

    def here(self, r: Reader) -> Step[str]:
        """The longest spelling that stands at the reading position, or "". Reads nothing."""
        while (found := self.seen(r)) is None:
            yield
        return found

    def seen(self, r: Reader) -> str | None:
        """The same for places where time counts; None as long as the text does not tell yet."""
        text, pos = r.text, r.pos
        left = len(text) - pos
        if left and text[pos] not in self._initials:
            return ""
        if left < self._longest and not r.eof:
            rest = text[pos:]
            if not rest or self.begun(rest):
                return None if self.spellings else ""
        return self.at(text, pos)

    def at(self, text: str, pos: int) -> str:
        """The longest spelling that stands at `pos`, as far as `text` tells, or ""."""
        for spelling in self.spellings:  # longest first
            if text.startswith(spelling, pos):
                return spelling
        return ""

    def begun(self, text: str) -> bool:
        """Whether `text` is the beginning of a spelling, not all of it."""
        return bool(text) and any(len(s) > len(text) and s.startswith(text) for s in self.spellings)
