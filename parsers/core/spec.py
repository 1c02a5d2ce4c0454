"""A wire format, as data: which delimiters stand around calls, and in what shape a call is written.

Everything here is frozen. A variant of a format is `dataclasses.replace(OTHER, …)`.
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from .literals import any_of, cut_off, first_characters
from .marks import Marks
from .reader import Matches, Step

if TYPE_CHECKING:
    from .driver import Run


#: what may stand between a line's start and a bare call
INDENT = " \t\r"


class Outcome(enum.Enum):
    """What a shape found where a call could stand."""

    CALL = "a call was read"
    OTHER = "something whole that is no call was read; a sibling may follow"
    NOTHING = "no call stands here"


class Shape(Protocol):
    """A way to write calls. The shapes are in `core/shapes/`; each is data and reads itself."""

    @property
    def heads(self) -> tuple[str, ...]:
        """Literals that a call begins with, where it has any of its own (`<function=`)."""
        ...

    @property
    def close(self) -> tuple[str, ...]:
        """Literals that end a call inside its wrappers (`</function>`)."""
        ...

    @property
    def separators(self) -> str:
        """Characters that are markup between a call and its sibling or closer."""
        ...

    @property
    def bare_start(self) -> str:
        """A pattern for what a call without any wrapper begins with, at the start of a line."""
        ...

    def may_start(self, character: str) -> bool:
        """Whether a call can begin with `character`."""
        ...

    def read(self, run: Run) -> Step[Outcome]:
        """Read one call at the reading position."""
        ...


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Delimiters around one or more calls; each may have several spellings."""

    open: tuple[str, ...]
    close: tuple[str, ...] = ()


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
            levels=[*(wrapper.close for wrapper in self.wrappers), self.shape.close],
            heads=self.shape.heads,
        )

    @cached_property
    def triggers(self) -> re.Pattern[str]:
        """What prose is searched for: openers, closers, and where a bare call may begin.

        Each has a named group; so has the beginning of one that the end of the text cuts off.
        """
        marks, shape = self.marks, self.shape
        literals = [*marks.opens.spellings, *marks.closes.spellings]
        patterns = [
            f"(?P<open>{any_of(marks.opens.spellings)})" if marks.opens else "",
            f"(?P<close>{any_of(marks.closes.spellings)})" if marks.closes else "",
            f"(?P<cut>{cut_off(literals)})" if literals else "",
        ]
        if self.bare:
            cut = self._cut_bare_starts
            patterns += [
                rf"^[{INDENT}]*(?P<bare>{shape.bare_start})",
                rf"^[{INDENT}]*(?P<cutbare>{'|'.join(cut)})" if cut else "",
            ]
        return re.compile("|".join(filter(None, patterns)), re.MULTILINE)

    @cached_property
    def plain_prose(self) -> Matches:
        """Matches text in which no call can begin, and which does not end in whitespace."""
        first = first_characters([*self.marks.opens.spellings, *self.marks.closes.spellings])
        if not self.bare:
            return re.compile(rf"[^{first}]*[^{first}\s]").fullmatch
        starts = "|".join([self.shape.bare_start, *self._cut_bare_starts])
        line = rf"[^{first}\n]*"
        return re.compile(rf"{line}(?:\n(?![{INDENT}]*(?:{starts})){line})*(?<!\s)").fullmatch

    @property
    def _cut_bare_starts(self) -> list[str]:
        """Patterns for the beginning of a bare call that the end of the text cuts off."""
        cut = [r"`{1,2}\Z"] if "`" in self.shape.bare_start else []
        return cut + ([cut_off(self.shape.heads)] if self.shape.heads else [])

    def level_of(self, opener: str) -> int:
        """Which wrapper `opener` belongs to, 0 being the outermost."""
        return next(i for i, w in enumerate(self.wrappers) if opener in w.open)
