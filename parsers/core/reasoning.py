"""How a model marks its thoughts: a *style*, as data.

A message may hold thoughts beside its text and its calls. A style says which markers stand around them.
Where such a block begins and ends, and what a call in it means, is the same for all styles
(`core/thoughts.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..errors import ToolwireError
from .literals import GAP, pattern_of
from .shape import check_spellings

#: A tag that is spelled like any other.
_LIKE_TEXT = re.compile(r"<[a-z:]+>").fullmatch


@dataclass(frozen=True, slots=True)
class ReasoningStyle:
    """The markers around a model's thoughts; each may have several spellings, and gaps in them.

    A style of which only the name is given is the one that is registered under it.
    """

    name: str = field(default="", metadata={"alone": True})
    #: before the thoughts; there are none where only the prompt opens them
    open: tuple[str, ...] = ()
    close: tuple[str, ...] = ()
    #: the openers are special tokens: a model can't just mention them (but for those like `<think>`)
    special: bool = False
    #: what stands around the answer behind the thoughts
    answer_open: tuple[str, ...] = ()
    answer_close: tuple[str, ...] = ()
    #: calls in thoughts are meant, also where the thoughts go on behind them
    calls: bool = False

    def __post_init__(self) -> None:
        check_spellings(self)
        markers = set(self.markers)
        for marker in markers:
            for other in markers:
                if other.startswith(marker) and other[len(marker) :].strip():
                    raise ToolwireError(
                        f"The marker {other!r} begins with another one, {marker!r}: no one could tell "
                        "them apart while they are written."
                    )

    def choice(self, marker: str) -> ReasoningStyle:
        """The style that is meant, where this marker has come."""
        return self

    def is_special(self, opener: str) -> bool:
        """Whether an opener, as it stands in a text, is a token. What fills a gap in a spelling differs
        from model to model: such an opener is one, too."""
        return opener not in self.open or (self.special and _LIKE_TEXT(opener) is None)

    def has(self, marker: str) -> bool:
        """Whether a marker, as it stands in a text, is one of this style."""
        gaps = (spelling for spelling in self.markers if GAP in spelling)
        return marker in self.markers or any(
            re.fullmatch(pattern_of(spelling), marker) for spelling in gaps
        )

    @property
    def markers(self) -> tuple[str, ...]:
        return (*self.open, *self.close, *self.answer_open, *self.answer_close)

    @property
    def is_name(self) -> bool:
        """Whether it only names another one."""
        return not (self.open or self.close)


@dataclass(frozen=True, slots=True)
class StyleChoice(ReasoningStyle):
    """One of several styles, with the markers of all: the first one that comes says which it is."""

    choices: tuple[ReasoningStyle, ...] = ()

    def choice(self, marker: str) -> ReasoningStyle:
        exact = (style for style in self.choices if marker in style.markers)
        return next(exact, None) or next((s for s in self.choices if s.has(marker)), self)
