"""What prose is searched for: where a call may begin, and the markers of thoughts.

Patterns are written as `first_of` says, for speed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from .literals import (
    MOST_REPEATS,
    POSSESSIVE,
    Literals,
    Plain,
    beginnings,
    cut_off,
    pattern_of,
    text_without,
)
from .reasoning import ReasoningStyle

if TYPE_CHECKING:
    from .format import Format

#: what may stand between a line's start and a bare call
INDENT: Final = " \t\r"

#: kinds of markers: they begin thoughts, end them, stand around the answer, or somewhere in it
THINK: Final = "think"
THOUGHT: Final = "thought"
ANSWER: Final = "answer"
NOTE: Final = "note"
#: a bare call in the middle of a line; the next member of a list in which one was no call
INLINE: Final = "inline"
MEMBER: Final = "member"
MARKERS: Final = frozenset({THINK, THOUGHT, ANSWER, NOTE})


class Triggers:
    """What may end prose.

    A match of `anywhere` has its kind in `kinds`, at its `lastindex`: an opener, a closer, a bare call
    at the start of a line, a marker of thoughts, or the beginning of any of these that the end of the
    text cuts off. A bare call begins where its match ends. `line_start` is for a place where a line has
    begun already: its first group is a bare call, the second a beginning. `plain`, for fast paths,
    matches text in which none of these can begin, nor the end of a turn, but perhaps at its very start:
    it does not know whether a line begins there.
    """

    def __init__(
        self, format: Format, inline: bool, markers: Sequence[tuple[str, str]] = ()
    ) -> None:
        """`inline`: whether a bare call may begin in the middle of a line, in formats where it may at
        all. `markers`: kind and spelling of each."""
        delimiters, shape = format.delimiters, format.shape
        starts = (delimiters.starts if format.inline else delimiters.opens).spellings
        spellings = Literals([*starts, *delimiters.closes.spellings]).spellings
        branches = [
            ("open" if spelling in starts else "close", pattern_of(spelling))
            for spelling in spellings
        ]
        ordered = sorted(dict.fromkeys(markers), key=lambda marker: -len(marker[1]))
        branches += [(kind, pattern_of(spelling)) for kind, spelling in ordered]
        branches += [("cut", rf"{begun}\Z") for begun in beginnings(spellings)]
        branches += [("cut", rf"{begun}\Z") for begun in beginnings(each for _, each in ordered)]
        cut_bare = _cut_bare_starts(format)
        bare, cut = f"{_but_markers(ordered)}(?:{shape.bare_start})", "|".join(cut_bare)
        if format.bare:
            branches.append(("bare", rf"\n[{INDENT}]*(?={bare})"))
            branches += [("cutbare", rf"\n[{INDENT}]*(?={cut})")] if cut else []
        starts_inline = shape.inline_starts if inline and format.bare else ""
        branches += [(INLINE, re.escape(character)) for character in starts_inline]
        self.anywhere: Final = re.compile(
            "|".join(f"{branch}()" for _, branch in branches) or "(?!)"
        )
        self.kinds: Final = ("", *[kind for kind, _ in branches])
        self.line_start: Final = re.compile(rf"[{INDENT}]*(?:(?={bare})()|(?={cut or '(?!)'})())")
        stops = [*spellings, *shape.heads, *[spelling for _, spelling in markers]]
        stops += delimiters.turn_ends
        ticks = "`" if markers or shape.in_fences else ""
        self.plain: Final = _plain(format, [*stops, *ticks, *starts_inline], cut_bare)


class ReasoningTriggers:
    """What is searched for in a format with a style of reasoning."""

    def __init__(self, format: Format, style: ReasoningStyle | None, inline: bool) -> None:
        text = format.text_wrapper
        around = [*text.open, *text.close] if text else []
        ends = [*style.close, *around] if style else []
        answer = [*style.answer_open, *style.answer_close] if style else []
        self.in_prose: Final = Triggers(
            format,
            inline,
            [
                *[(THINK, spelling) for spelling in (style.open if style else ())],
                *[(THOUGHT, spelling) for spelling in (style.close if style else ())],
                *[(ANSWER, spelling) for spelling in (*around, *answer)],
                *[(NOTE, spelling) for spelling in format.annotations],
            ],
        )
        self._in_thoughts: Triggers | None = None
        self._of_thoughts: Final = (format, inline, [(THOUGHT, spelling) for spelling in ends])
        #: what ends thoughts; `lastindex` tells a marker (1) from the beginning of one
        self.end: Final = _first_marker(ends)
        #: an opener that comes although the prompt has opened the thoughts
        self.opener: Final = _first_marker(style.open if style else ())
        #: any marker, at a place where one stands
        self.any_marker: Final = _first_marker(
            [*(style.open if style else ()), *ends, *around, *answer, *format.annotations]
        )
        #: whether it matters what is code, also in a message without thoughts
        self.watches_code: Final = format.bare and format.shape.in_fences
        #: what begins annotations
        self.notes: Final = frozenset(format.annotations[::2])
        #: those of the markers around the answer that are never text
        self.always: Final = frozenset(around)
        self._around: Final = tuple(around)
        self._ends: Final[dict[ReasoningStyle, re.Pattern[str]]] = {}

    @property
    def in_thoughts(self) -> Triggers:
        """Compiled with the first thought: most formats' messages have none."""
        if self._in_thoughts is None:
            format, inline, ends = self._of_thoughts
            self._in_thoughts = Triggers(format, inline, ends)
        return self._in_thoughts

    def end_of(self, style: ReasoningStyle) -> re.Pattern[str]:
        """What ends thoughts in one of the styles that this one is made of."""
        found = self._ends.get(style)
        if found is None:
            found = self._ends[style] = _first_marker([*style.close, *self._around])
        return found


def _first_marker(spellings: Iterable[str]) -> re.Pattern[str]:
    """Finds the first of these markers, or the beginning of one at the end of the text."""
    ordered = sorted(set(spellings), key=lambda spelling: -len(spelling))
    whole = "|".join(map(pattern_of, ordered)) or "(?!)"
    begun = cut_off(ordered) or "(?!)"
    return re.compile(f"(?:{whole})()|(?:{begun})()")


def _but_markers(markers: Sequence[tuple[str, str]]) -> str:
    """A pattern for a place where no marker stands, nor begins: `[THINK]` looks like a list at first."""
    spellings = [spelling for _, spelling in markers]
    begun = cut_off(spellings)
    patterns = [*map(pattern_of, spellings), *([begun] if begun else [])]
    return f"(?!{'|'.join(patterns)})" if patterns else ""


def _plain(format: Format, stops: Sequence[str], cut_bare: Sequence[str]) -> Plain:
    if format.shape.heads or not format.bare:
        return Plain(stops, "", text_without(stops))
    line, starts = text_without(stops, "\n"), "|".join([format.shape.bare_start, *cut_bare])
    next_line = rf"\n(?![{INDENT}]*(?:{starts})){line}"
    return Plain(stops, "\n", f"{line}(?:{next_line}){{0,{MOST_REPEATS}}}{POSSESSIVE}")


def _cut_bare_starts(format: Format) -> list[str]:
    """Patterns for the beginning of a bare call that the end of the text cuts off."""
    shape = format.shape
    cut = [r"`{1,2}\Z"] if shape.in_fences else []
    return cut + ([cut_off(shape.heads)] if shape.heads else [])
