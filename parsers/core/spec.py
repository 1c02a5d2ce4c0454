"""A wire format, as data: which delimiters stand around calls, and in what shape a call is written.

Everything here is frozen. A variant of a format is `dataclasses.replace(OTHER, …)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from .literals import KEEP, MOST_REPEATS, Literals, beginning, cut_off, first_characters
from .marks import Marks
from .reader import Matches
from .shapes import Shape, check_spellings

if TYPE_CHECKING:
    from .reading.base import ShapeReader

#: what may stand between a line's start and a bare call
INDENT = " \t\r"


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Delimiters around one or more calls; each may have several spellings."""

    open: tuple[str, ...]
    close: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_spellings(self)


@dataclass(frozen=True, slots=True)
class Triggers:
    """What may begin a call in prose. Patterns are written as `first_of` says, for speed.

    A match of `anywhere` has its kind in `kinds`, at its `lastindex`: an opener, a closer, a bare call
    at the start of a line, or the beginning of any of these that the end of the text cuts off. A bare
    call begins where its match ends. `line_start` is for a place where a line has begun already: its
    first group is a bare call, the second a beginning.
    """

    anywhere: re.Pattern[str]
    kinds: tuple[str, ...]
    line_start: re.Pattern[str]


@dataclass(frozen=True)
class Format:
    """A wire format. Wrappers are given outermost first; `bare` calls need none of them."""

    name: str
    shape: Shape
    wrappers: tuple[Wrapper, ...] = ()
    bare: bool = False
    aliases: tuple[str, ...] = ()
    models: str = ""
    example: str = ""

    @cached_property
    def marks(self) -> Marks:
        return Marks(
            opens=[spelling for wrapper in self.wrappers for spelling in wrapper.open],
            levels=[*(wrapper.close for wrapper in self.wrappers), self.shape.closers],
            heads=self.shape.heads,
        )

    @cached_property
    def reading(self) -> ShapeReader:
        """What reads its calls."""
        from .reading import reader_of  # it knows the formats

        return reader_of(self.shape)

    @cached_property
    def triggers(self) -> Triggers:
        """What prose is searched for."""
        marks = self.marks
        spellings = Literals([*marks.opens.spellings, *marks.closes.spellings]).spellings
        branches = [
            ("open" if spelling in marks.opens.spellings else "close", re.escape(spelling))
            for spelling in spellings
        ]
        branches += [("cut", rf"{beginning(s)}\Z") for s in spellings if len(s) > 1]
        bare, cut = self.shape.bare_start, "|".join(self._cut_bare_starts)
        if self.bare:
            branches.append(("bare", rf"\n[{INDENT}]*(?={bare})"))
            branches += [("cutbare", rf"\n[{INDENT}]*(?={cut})")] if cut else []
        return Triggers(
            anywhere=re.compile("|".join(f"{branch}()" for _, branch in branches) or "(?!)"),
            kinds=("", *(kind for kind, _ in branches)),
            line_start=re.compile(rf"[{INDENT}]*(?:(?={bare})()|(?={cut or '(?!)'})())"),
        )

    @cached_property
    def plain_prose(self) -> Matches:
        """Matches text in which no call can begin, but perhaps at its very start: whether a line
        begins there is not known here."""
        marks, heads = self.marks, self.shape.heads
        first = first_characters([*marks.opens.spellings, *marks.closes.spellings, *heads])
        if heads or not self.bare:
            return re.compile(f"[^{first}]+{KEEP}").fullmatch
        line, starts = (
            rf"[^{first}\n]*{KEEP}",
            "|".join([self.shape.bare_start, *self._cut_bare_starts]),
        )
        next_line = rf"\n(?![{INDENT}]*(?:{starts})){line}"
        return re.compile(f"{line}(?:{next_line}){{0,{MOST_REPEATS}}}{KEEP}").fullmatch

    @property
    def _cut_bare_starts(self) -> list[str]:
        """Patterns for the beginning of a bare call that the end of the text cuts off."""
        cut = [r"`{1,2}\Z"] if "`" in self.shape.bare_start else []
        return cut + ([cut_off(self.shape.heads)] if self.shape.heads else [])

    @cached_property
    def level_of(self) -> dict[str, int]:
        """Which wrapper an opener belongs to, 0 being the outermost."""
        levels = reversed(list(enumerate(self.wrappers)))
        return {opener: i for i, wrapper in levels for opener in wrapper.open}
