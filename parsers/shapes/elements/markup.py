"""Which tag stands here: an element's, the call's, a wrapper's, or none.

    NS<city>   NS</city>   </city>                    the element is called like the parameter
    <value name="city" type="raw">   </value>         the name is an attribute

`Markup.here` is the leaf that all of reading goes by. It reads nothing, and a tag is looked through
once: whatever a model writes there, it costs no more than its length.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, TypeAlias

from ...core.delimiters import Delimiters
from ...core.literals import Literals
from ...core.window import Matches, Window

if TYPE_CHECKING:
    from . import Elements

#: Longer tags are none. It bounds what waits while a tag is being written.
LONGEST: Final = 600

#: What stands at a place.
What: TypeAlias = int
TEXT: Final = 0  # no tag
OPENING: Final = 1  # an element begins
CLOSING: Final = 2  # an element ends
CALL_ENDS: Final = 3  # a closer of the call or of a wrapper
CALL_BEGINS: Final = 4  # another call, or what is around it
END: Final = 5  # nothing more, or the beginning of a closer
CUT_OPENING: Final = 6  # the beginning of an opening tag, and nothing more

_NAME: Final = re.compile(r"""[^\s<>/"'=]{1,256}""").fullmatch
_ATTRIBUTE: Final = re.compile(
    r"""\s+([\w:.-]+)\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))"""
).match
#: what a tag that goes on may have in it so far: a name, or attributes
_NAME_BEGUN: Final = re.compile(r"""[^\s<>/"'=]{0,256}\s*""").fullmatch
_ATTRIBUTES_BEGUN: Final = re.compile(r"(?:\s[^<>]*)?").fullmatch


class Mark:
    """What stands at a place, and how long it is."""

    __slots__ = ("length", "marked", "name", "type", "what")

    def __init__(
        self, what: What, length: int = 0, name: str = "", type: str = "", marked: bool = True
    ) -> None:
        self.what = what
        self.length = length
        self.name = name  # of an element: what it is called, in its attribute or by itself
        self.type = type  # what its attribute says about its value
        self.marked = marked  # whether it has the format's marker before it, where there is one


_TEXT: Final = Mark(TEXT)
_END: Final = Mark(END)
_CUT_OPENING: Final = Mark(CUT_OPENING)


class Markup:
    """Knows the tags of one format."""

    __slots__ = ("_begin", "_call", "_close", "_element", "_tags", "_type_attribute", "marker")

    def __init__(self, shape: Elements) -> None:
        self.marker: Final = shape.marker
        self._element: Final = shape.element
        #: (not `_attribute`: as C, that is a word of the compiler's)
        self._type_attribute: Final = shape.types.attribute if shape.types else ""
        self._begin: Final = f"{shape.marker}<{shape.element}"
        end = f"{shape.element}>" if shape.element else ""
        self._close: Final = f"{shape.marker}</{end}"
        self._tags: Final = Literals(shape.inner_delimiters)
        self._call: Final = Literals([f"{shape.marker}<{shape.call}"])

    @property
    def spellings(self) -> tuple[str, ...]:
        """What an element's tags begin with."""
        return self._tags.spellings

    def here(self, w: Window, delimiters: Delimiters) -> Mark | None:
        """The tag that stands at the reading position."""
        text, pos = w.text, w.pos
        if pos == len(text):
            return _END if w.eof else None
        for literals, what in (
            (delimiters.starts, CALL_BEGINS),
            (delimiters.closes, CALL_ENDS),
        ):
            found = literals.here(w)
            if found is None:
                return None
            if found:
                marked = what == CALL_BEGINS or found.startswith(self.marker)
                return Mark(what, len(found), found, marked=marked)
        begin = self._tags.here(w)
        if begin is None:
            return None
        if w.eof and self._begun(text[pos:], delimiters):
            return _END
        if not begin:
            return _TEXT
        if begin == self._begin:
            return self._opening(w)
        return self._closing(w, begin)

    def _begun(self, rest: str, delimiters: Delimiters) -> bool:
        """Whether the message ends in the middle of something that is no text."""
        return (
            self._tags.begun(rest) or delimiters.closes.begun(rest) or delimiters.starts.begun(rest)
        )

    def call(self, w: Window) -> Mark | None:
        """The opening tag of a call, with its name; or no tag, though its beginning may be there."""
        begin = self._call.here(w)
        if not begin:
            return None if begin is None else _TEXT
        inside = self._inside(w, len(begin), _ATTRIBUTES_BEGUN)
        if inside is None:
            return None
        found = attributes(inside[:-1]) if inside else None
        name = found.get("name", "") if found else ""
        return Mark(OPENING, len(begin) + len(inside), name) if name else Mark(TEXT, len(begin))

    def _inside(self, w: Window, length: int, begun: Matches) -> str | None:
        """What stands between the beginning of a tag and its end, which is `>`; "" if none comes."""
        start = w.pos + length
        end = w.text.find(">", start, start + LONGEST)
        if end >= 0:
            return w.text[start : end + 1]
        rest = w.text[start : start + LONGEST]
        return None if not w.eof and len(rest) < LONGEST and begun(rest) else ""

    def _cut(self, w: Window, length: int, begun: Matches, mark: Mark) -> Mark:
        """Where a tag has no end: `mark` if the message is over, and else there is no tag."""
        rest = w.text[w.pos + length : w.pos + length + LONGEST]
        return mark if w.eof and len(rest) < LONGEST and begun(rest) else _TEXT

    def _opening(self, w: Window) -> Mark | None:
        length = len(self._begin)
        begun = _ATTRIBUTES_BEGUN if self._element else _NAME_BEGUN
        inside = self._inside(w, length, begun)
        if not inside:
            return None if inside is None else self._cut(w, length, begun, _CUT_OPENING)
        length += len(inside)
        if not self._element:
            name = inside[:-1].rstrip()
            return Mark(OPENING, length, name) if _NAME(name) else _TEXT
        found = attributes(inside[:-1])
        if found is None:
            return _TEXT
        return Mark(OPENING, length, found.get("name", ""), found.get(self._type_attribute, ""))

    def _closing(self, w: Window, begin: str) -> Mark | None:
        length, marked = len(begin), begin == self._close
        if self._element:
            return Mark(CLOSING, length, marked=marked)
        inside = self._inside(w, length, _NAME_BEGUN)
        if not inside:
            return None if inside is None else self._cut(w, length, _NAME_BEGUN, _END)
        name = inside[:-1].rstrip()
        return Mark(CLOSING, length + len(inside), name, marked=marked) if _NAME(name) else _TEXT


def attributes(text: str) -> dict[str, str] | None:
    """What stands in a tag behind its name, quotes or none; None where that is something else."""
    found: dict[str, str] = {}
    place = 0
    while place < len(text):
        one = _ATTRIBUTE(text, place)
        if one is None:
            return None if text[place:].strip() else found
        found[one[1]] = one[2] or one[3] or one[4] or ""
        place = one.end()
    return found
