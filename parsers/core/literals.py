"""Finding delimiters in text that may end in the middle of one.

`Literals` is a set of spellings; `here` tells which one stands exactly at the reading position. The
pattern of `first_of` finds the first of them, or, at the very end of the text, the beginning of one:
that part must wait for the next chunk.

Some families have delimiters that differ from checkpoint to checkpoint, `<call:opensource>` here and
`<call:6124c78e>` there. In a spelling, `…` stands for what differs: a *gap*. What may be missing stands
in braces, with the gap at its end: `<call{:…}>` is `<call>`, `<call:opensource>` and so on.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from .window import Matches, Window

#: `re` remembers each repeat of a group while it matches: this many at a time are enough.
MOST_REPEATS: Final = 100
#: Behind a repeat: never give back what it took. It decides nothing here and saves the search for
#: another way to match where there is none. (Before Python 3.11, `re` had no such thing.)
POSSESSIVE: Final = "+" if sys.version_info >= (3, 11) else ""
#: `<|like_this|>`, `<｜like▁this｜>`, `[LIKE_THIS]`: nobody writes these as plain text.
SPECIAL_TOKEN: Final = re.compile(r"<\|[^\s<>|]+\|>|<｜[^\s<>｜]+｜>|\[[A-Z_]+\]")


def is_special(literal: str) -> bool:
    """Whether a delimiter is spelled like a special token, or has one in it: a model can't just mention
    it."""
    return SPECIAL_TOKEN.search(literal) is not None


#: What may follow each character: literals by what they begin with.
Branches: TypeAlias = dict[str, "Branches"]

#: In a spelling: here stands something that differs.
GAP: Final = "…"
#: What a gap never holds, whatever follows it.
_NOT_IN_GAP: Final = r"\s<>"
_LONGEST_GAP: Final = 100
_OPTIONAL: Final = re.compile(f"{{([^{{}}{GAP}]*){GAP}}}")


class _Part:
    """A part of a spelling: text, perhaps a gap behind it, and perhaps both may be missing."""

    __slots__ = ("gap", "optional", "text")

    def __init__(self, text: str, optional: bool, ends: str | None) -> None:
        """`ends`: what may come behind the gap, if there is one. That character is not in it, so that
        there is one way to read a text."""
        self.text: Final = text
        self.optional: Final = optional
        self.gap: Final = (
            "" if ends is None else f"[^{_NOT_IN_GAP}{re.escape(ends)}]{{1,{_LONGEST_GAP}}}"
        )

    def pattern(self) -> str:
        whole = re.escape(self.text) + self.gap
        return f"(?:{whole})?" if self.optional else whole

    def begun(self, rest: str) -> str:
        """A pattern for every beginning of this part and, behind all of it, `rest`; or nothing."""
        behind = "" if self.optional else rest
        pattern = f"(?:{self.gap}{behind})?" if self.gap else behind
        for character in reversed(self.text):
            pattern = f"(?:{re.escape(character)}{pattern})?"
        return pattern + rest if self.optional else pattern


def _parts(spelling: str) -> list[_Part]:
    parts: list[_Part] = []
    ends = ""  # what the parts behind may begin with
    pieces = _OPTIONAL.split(spelling)  # every second one stood in braces
    for place in reversed(range(len(pieces))):
        if place % 2:
            parts.append(_Part(pieces[place], True, ends))
            ends += pieces[place][:1]
            continue
        *before, last = pieces[place].split(GAP)
        for text, gap in [(last, None), *[(text, GAP) for text in reversed(before)]]:
            if text or gap:
                parts.append(_Part(text, False, ends if gap else None))
                ends = text[:1]
    return parts[::-1]


def is_clear(spelling: str) -> bool:
    """Whether it can be told where each gap begins and ends: there is text on both sides of it, and
    what may be missing does not begin like what comes behind it."""
    parts = _parts(spelling)
    if not parts or not all(part.text for part in parts) or parts[0].optional or parts[-1].gap:
        return False
    return all(
        part.text[0] not in _begins(parts[place + 1 :])
        for place, part in enumerate(parts)
        if part.optional
    )


def _begins(parts: Sequence[_Part]) -> set[str]:
    """What these parts may begin with."""
    found = set()
    for part in parts:
        found.add(part.text[0])
        if not part.optional:
            break
    return found


def without_optional(spelling: str) -> str:
    """A spelling as it is where all is missing that may be."""
    return _OPTIONAL.sub("", spelling)


def before_gap(spelling: str) -> str:
    """What a spelling begins with, whatever stands in its gaps."""
    first = _parts(spelling)[0]
    return "" if first.optional else first.text


def pattern_of(spelling: str) -> str:
    """A pattern for a spelling."""
    return "".join(part.pattern() for part in _parts(spelling))


def beginning(spelling: str) -> str:
    """A pattern for every proper, non-empty beginning of a spelling, longest first; "" if there is
    none."""
    *before, last = _parts(spelling)
    pattern = _Part(last.text[:-1], last.optional, None).begun("")
    for part in reversed(before):
        pattern = part.begun(pattern)
    return pattern[:-1]  # its first character is not optional


def beginnings(literals: Iterable[str]) -> list[str]:
    """Patterns for every proper, non-empty beginning of any of `literals`. What several begin with is
    there once: with many literals, that makes patterns small."""
    spellings = dict.fromkeys(literals)
    shared: Branches = {}
    for literal in spellings:
        node = shared
        for character in "" if GAP in literal else literal[:-1]:
            node = node.setdefault(character, {})
    patterns = [re.escape(character) + _rest(node) for character, node in shared.items()]
    return patterns + [beginning(literal) for literal in spellings if GAP in literal]


def _rest(node: Branches) -> str:
    branches = [re.escape(character) + _rest(more) for character, more in node.items()]
    return f"(?:{'|'.join(branches)})?" if branches else ""


def cut_off(literals: Iterable[str]) -> str:
    """A pattern for the beginning of any of `literals` at the end of the text."""
    patterns = beginnings(literals)
    return rf"(?:{'|'.join(patterns)})\Z" if patterns else ""


def any_of(literals: Iterable[str]) -> str:
    """A pattern for any of `literals`, the longest that fits."""
    ordered = sorted(set(literals), key=lambda literal: (-len(literal), literal))
    return "|".join(map(pattern_of, ordered))


def first_characters(literals: Iterable[str], characters: str = "") -> str:
    """What any of these begins with, to stand in a pattern's brackets."""
    return "".join(map(re.escape, sorted({*characters, *[literal[0] for literal in literals]})))


def text_without(literals: Iterable[str], characters: str = "") -> str:
    """A pattern for text, perhaps none, that has none of `characters` in it, and in which none of
    `literals` begins. What a literal begins with is by itself no reason to stop: the next character
    tells, unless it is yet to come."""
    spellings = list(literals)
    stops = first_characters(spellings, characters)
    rest = f"[^{stops}]*{POSSESSIVE}" if stops else rf"[\s\S]*{POSSESSIVE}"
    passed = []
    for first in sorted({spelling[0] for spelling in spellings} - set(characters)):
        seconds = {before_gap(s)[1:2] for s in spellings if s[0] == first}
        if "" not in seconds:
            passed.append(rf"{re.escape(first)}(?![{first_characters(seconds)}]|\Z)")
    if not passed:
        return rest
    return f"{rest}(?:(?:{'|'.join(passed)}){rest}){{0,{MOST_REPEATS}}}{POSSESSIVE}"


class Plain:
    """Chunks that a fast path takes, because nothing has to be looked at in them.

    Nearly every chunk has not even a character in it that something begins with. So that is asked
    first: a search that finds no place to begin at takes half the time of a match of the whole chunk.
    """

    __slots__ = ("_all", "_sign")

    def __init__(self, literals: Iterable[str], characters: str, text: str) -> None:
        """`text` is the pattern of such a chunk. It fits any that has none of `characters` in it, nor
        what one of `literals` begins with."""
        signs = first_characters(literals, characters)
        self._sign: Final[Matches] = re.compile(f"[{signs}]" if signs else "(?!)").search
        self._all: Final[Matches] = re.compile(text, re.DOTALL).fullmatch

    def takes(self, chunk: str) -> bool:
        return self._sign(chunk) is None or self._all(chunk) is not None


def plain_lines(tags: Sequence[str]) -> Plain:
    """Chunks without the beginning of a tag, and without a newline at the end, which may be a tag's."""
    return Plain(tags, "\r\n", rf"{text_without(tags)}(?<![\r\n])")


def first_of(literals: Iterable[str], characters: str = "") -> re.Pattern[str]:
    """Finds the first of `literals`, or the beginning of one at the end of the text, or a character.

    `lastindex` of a match tells them apart: None is one of `characters`. Literals come first: one may
    begin with a character that means something by itself.

    The groups are empty and stand at the ends, so that every branch begins with a plain character.
    Only then does `re` know which characters a match can begin with, and pass over all others at
    once. This is most of the speed of long texts.
    """
    spellings = Literals(literals).spellings
    branches = [f"{pattern_of(spelling)}()" for spelling in spellings]
    branches += [rf"{begun}\Z()" for begun in beginnings(spellings)]
    branches += map(re.escape, characters)
    return re.compile("|".join(branches) or r"(?!)")


class Literals:
    """A set of spellings that can be looked for."""

    __slots__ = ("_begun", "_initials", "_matches", "_with_gaps", "longest", "spellings")

    def __init__(self, spellings: Iterable[str]) -> None:
        self.spellings: Final = tuple(sorted(set(spellings), key=lambda s: (-len(s), s)))
        self._initials: Final = frozenset(spelling[0] for spelling in self.spellings)
        lengths = [
            sum(len(p.text) + _LONGEST_GAP * bool(p.gap) for p in _parts(spelling))
            for spelling in self.spellings
        ]
        #: how long one of them can be
        self.longest: Final = max(lengths, default=0)
        #: for spellings with gaps, which are patterns; the others are looked for as they are
        self._with_gaps: Final = [
            (s, re.compile(pattern_of(s))) for s in self.spellings if GAP in s
        ]
        self._matches: re.Pattern[str] | None = None  # both are compiled when they are needed
        self._begun: Matches | None = None

    def __bool__(self) -> bool:
        return bool(self.spellings)

    def may_start(self, character: str) -> bool:
        return character in self._initials

    def here(self, window: Window, offset: int = 0) -> str | None:
        """The longest spelling that stands at the reading position, or further ahead, or ""; None as
        long as the text does not tell yet. Reads nothing. (Of one with a gap, the text that stands
        there is returned.)"""
        text, pos = window.text, window.pos + offset
        left = len(text) - pos
        if left > 0 and text[pos] not in self._initials:
            return ""
        if left < self.longest and not window.eof:
            rest = text[pos:]
            if not rest or self.begun(rest):
                return None if self.spellings else ""
        return self.at(text, pos)

    def stands(self, window: Window) -> bool | None:
        """Whether any stands at the reading position; None as long as the text does not tell yet."""
        found = self.here(window)
        return None if found is None else bool(found)

    def at(self, text: str, pos: int) -> str:
        """The longest spelling that stands at `pos`, as far as `text` tells, or ""."""
        if self._with_gaps:
            if self._matches is None:
                self._matches = re.compile(any_of(self.spellings))
            found = self._matches.match(text, pos)
            return found[0] if found else ""
        for spelling in self.spellings:  # longest first
            if text.startswith(spelling, pos):
                return spelling
        return ""

    def begun(self, text: str) -> bool:
        """Whether `text` is the beginning of a spelling, not all of it."""
        if self._with_gaps:
            if self._begun is None:
                self._begun = re.compile("|".join(beginnings(self.spellings))).fullmatch
            return self._begun(text) is not None
        return bool(text) and any(len(s) > len(text) and s.startswith(text) for s in self.spellings)

    def spelling_of(self, found: str) -> str:
        """Which spelling a text is that was found; "" if it is none."""
        if found in self.spellings:
            return found
        return next((s for s, pattern in self._with_gaps if pattern.fullmatch(found)), "")


class Levels:
    """Which of several levels a delimiter belongs to, 0 being the first."""

    __slots__ = ("_levels", "_literals")

    def __init__(self, levels: Sequence[Iterable[str]]) -> None:
        self._levels: Final = {
            spelling: i for i, level in reversed(list(enumerate(levels))) for spelling in level
        }
        self._literals: Final = Literals(self._levels)

    def __getitem__(self, found: str) -> int:
        level = self._levels.get(found)
        return self._levels[self._literals.spelling_of(found)] if level is None else level
