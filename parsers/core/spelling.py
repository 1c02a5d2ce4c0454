"""Whether calls are spelled as their format has it: what is not is *drift*, for those who count it.

Reading takes many spellings for a call; a format's own is the one that its layout writes. So all that
was read of a call before its arguments, and what closed it, is held against the layout, but for white
space. That is done once for each call, in one place for all shapes: no reader has to know which of the
spellings that it takes is the format's own. How values are written is not looked at.

Formats without a layout have no spelling of their own, and in those with channels models word a header
in several ways: of them only a marker that no call follows is noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from .delimiters import Delimiters
from .layout import Layout
from .literals import GAP, Literals, pattern_of, without_optional
from .shape import Shape

#: A marker of calls that no call follows: text that was nearly one.
NEARLY: Final = "marker_without_call"
#: A call without the marker that the format has before it.
NO_MARKER: Final = "no_marker"
#: A call in a fenced block of code.
FENCED: Final = "code_fence"
#: What stands before a call's arguments is written otherwise, in another shape, say.
OPENING: Final = "opening"
#: What closes a call is another closer, or is missing where the message goes on.
CLOSING: Final = "closing"

#: Of so many names it is known what their calls begin with.
_MOST_NAMES: Final = 256
#: In the place of a call's id, which is another one in each.
_ID: Final = "\x02"
_LONGEST_ID: Final = 200
_LONGEST_USUAL: Final = 500


class _Dialect:
    """A layout, without white space."""

    def __init__(self, layout: Layout, shape: Shape, delimiters: Delimiters, gaps: _Gaps) -> None:
        closes = delimiters.closes
        self._layout: Final = layout
        self._shape: Final = shape
        self._gaps: Final = gaps
        self._section: Final = gaps.dense(layout.section_begin)
        self._separator: Final = gaps.dense(layout.separator)
        first = gaps.dense(shape.write({"K": "V"}, layout))[:1]
        #: what arguments begin with, as far as it is always the same
        self._begins: Final = gaps.dense(layout.key_begin) or ("" if first.isalnum() else first)
        call_ends = layout.after_arguments()
        #: what closes a call that another one follows, and the last one
        self.between: Final = gaps.closers(closes, call_ends + layout.separator)
        self.last: Final = gaps.closers(closes, call_ends + layout.section_end)
        self.marked: Final = bool(
            delimiters.opens.at(layout.section_begin + layout.before_name(), 0)
        )
        self._heads: Final[dict[str, list[tuple[str, str | None]]]] = {}

    def opens(self, head: str, name: str, first: bool, prompted: bool) -> bool:
        """Whether a call may begin with this; `prompted`: behind what the prompt has written of it."""
        heads = self._heads_of(name)
        befores = [self._section] if first else ["", self._separator, self._section]
        if prompted:
            befores, heads = [""], [(left[left.find(name) :], right) for left, right in heads]
        return any(
            head.startswith(before) and self._begins_with(head[len(before) :], left, right)
            for before in befores
            for left, right in heads
        )

    def _begins_with(self, head: str, left: str, right: str | None) -> bool:
        """Whether it begins with `left`, an id and `right`, and then with arguments. Without an id,
        `right` is None."""
        if not head.startswith(left):
            return False
        end = len(left)
        if right is not None:
            found = head.find(right, end, end + _LONGEST_ID + len(right))
            if found < 0:
                return False
            end = found + len(right)
        rest = head[end:]
        return rest.startswith(self._begins) or self._begins.startswith(rest)

    def _heads_of(self, name: str) -> list[tuple[str, str | None]]:
        """What stands before the arguments of a call; and where it may have an id, before and behind
        that."""
        known = self._heads.get(name)
        if known is not None:
            return known
        layout, written = self._layout, self._shape.write_name(name)
        heads: list[tuple[str, str | None]] = []
        for id in (_ID,) if layout.id is not None and layout.id.first is not None else ("", _ID):
            own = layout.before_name(id, name) + written + layout.before_arguments(id)
            left, found, right = self._gaps.dense(own).partition(_ID)
            if bool(found) == bool(id):
                heads.append((left, right if found else None))
        if len(self._heads) >= _MOST_NAMES:
            self._heads.clear()
        self._heads[name] = heads
        return heads


class OwnSpelling:
    """How a format's models write calls. Made once for each format."""

    def __init__(
        self,
        layouts: Iterable[Layout],
        shape: Shape,
        delimiters: Delimiters,
        prompt_opens: bool,
    ) -> None:
        """`layouts`: the format's own, and those of its dialects."""
        starts, closes = delimiters.starts.spellings, delimiters.closes.spellings
        self._gaps: Final = _Gaps([*starts, *closes, *shape.inner_delimiters])
        self._dialects: Final = [
            _Dialect(layout, shape, delimiters, self._gaps) for layout in layouts
        ]
        self._prompt_opens: Final = prompt_opens
        #: what calls have begun with, those behind others and the first: nearly all begin like these
        self._usual: Final[tuple[set[str], set[str]]] = set(), set()
        #: whether calls have a marker before them
        self.marked: Final = any(dialect.marked for dialect in self._dialects)

    def opens(self, head: str, name: str, first: bool) -> bool:
        """Whether a call may begin with this: all before its arguments, and their first character."""
        usual = self._usual[first]
        if head in usual:
            return True
        dense = self._gaps.dense(head)
        prompted = first and self._prompt_opens and dense.startswith(name)
        fits = any(dialect.opens(dense, name, first, prompted) for dialect in self._dialects)
        if fits and len(head) <= _LONGEST_USUAL and len(usual) < _MOST_NAMES:
            usual.add(head)
        return fits

    def closes(self, closers: Sequence[str], over: bool, cut: bool) -> bool:
        """Whether a call may be closed by these. `over`: it is the last one; `cut`: the message ends
        behind it, perhaps too early."""
        found = list(map(self._gaps.dense, closers))
        for dialect in self._dialects:
            if found == (dialect.last[: len(found)] if cut else dialect.last):
                return True
            if not over and found == dialect.between:
                return True
        return False


class _Gaps:
    """Leaves out of texts what may differ: white space, and what stands in the gaps of delimiters."""

    def __init__(self, spellings: Iterable[str]) -> None:
        self._with_gaps: Final = [
            (re.compile(pattern_of(spelling)), without_optional(spelling))
            for spelling in spellings
            if GAP in spelling
        ]

    def dense(self, text: str) -> str:
        for pattern, plain in self._with_gaps:
            text = pattern.sub(plain, text)
        return "".join(text.split())

    def closers(self, closes: Literals, text: str) -> list[str]:
        """The closers that stand in a text."""
        found: list[str] = []
        place = 0
        while place < len(text):
            closer = closes.at(text, place)
            if closer:
                found.append(self.dense(closer))
            place += len(closer) or 1
        return found


class Spelling:
    """What is spelled otherwise in one message. `own` is None where nothing is held against anything."""

    __slots__ = ("_called", "_closers", "_own", "drift")

    def __init__(self, own: OwnSpelling | None) -> None:
        self._own = own
        self._called = False
        self._closers: list[str] = []
        self.drift: set[str] = set()

    @property
    def looks(self) -> bool:
        """Whether it looks at calls at all."""
        return self._own is not None

    def apart(self) -> Spelling:
        """The same so far, for what may not count after all."""
        other = Spelling(self._own)
        other._called, other._closers = self._called, [*self._closers]
        other.drift = {*self.drift}
        return other

    def nearly(self) -> None:
        """A marker led to no call."""
        self.drift.add(NEARLY)

    def call(self, head: str, name: str, bare: bool, fenced: bool) -> None:
        """A call begins. `head`: all of it before its arguments, and their first character; `bare`: it
        has no wrapper, `fenced`: it stands in a code fence."""
        own = self._own
        if own is None:
            return
        if self._called and not own.closes(self._closers, over=False, cut=False):
            self.drift.add(CLOSING)
        if not own.opens(head, name, not self._called):
            what = FENCED if fenced else NO_MARKER if bare and own.marked else OPENING
            self.drift.add(what)
        self._called = True
        self._closers.clear()

    def closed(self, closer: str) -> None:
        """A closer was read behind a call."""
        if self._own is not None:
            self._closers.append(closer)

    def over(self, goes_on: bool) -> None:
        """The message is over. `goes_on`: something was said behind its last call."""
        own = self._own
        if own is None or not self._called:
            return
        if not own.closes(self._closers, over=True, cut=not goes_on):
            self.drift.add(CLOSING)
