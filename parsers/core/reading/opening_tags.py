"""Opening tags, with a name in them.

    <function=NAME>        <invoke name="NAME">        <parameter name="NAME" string="true">
    <arg_key>NAME</arg_key><arg_value>

What stands in a tag is found by its first and last characters and looked through once: whatever a
model writes there, it costs no more than its length.
"""

from __future__ import annotations

import re
from typing import Final

from ..literals import Literals
from ..reader import Matches, Reader, Step
from ..shapes import Tag

_LONGEST_TAG: Final = 600
_QUOTES: Final = ("'", '"')
#: what nearly all tags have in them
_USUAL: Final = re.compile(r"""["']?([\w.-]+)["']?(?: string="(true|false)")?""").fullmatch
_PLAIN_NAME: Final = re.compile(r"""[^"'<>\n]*""").match
_ATTRIBUTE: Final = re.compile(r"""\s+([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""").match
_UNFINISHED: Final = re.compile(r"[^<>\n]*").fullmatch


class Opening:
    """What an opening tag says: a name; and `string="true"` or `string="false"`, if it has that."""

    __slots__ = ("name", "string")

    def __init__(self, name: str, string: str) -> None:
        self.name = name
        self.string = string


class OpeningTag:
    """Reads an opening tag."""

    __slots__ = ("_end", "_inner", "_key_close", "_says_string", "_unfinished", "begin")

    def __init__(self, tag: Tag) -> None:
        self.begin: Literals = Literals(tag.begin)
        self._end: str = tag.end
        self._key_close: str = tag.key_close
        inner = re.compile(tag.inner)
        self._inner: Matches | None = inner.fullmatch if tag.inner else None
        self._says_string: bool = "string" in inner.groupindex
        self._unfinished: Matches | None = None
        if tag.unfinished:
            self._unfinished = re.compile(tag.unfinished).fullmatch

    def at(self, text: str, start: int) -> tuple[Opening | None, int]:
        """The tag at `start`, if all of it is there, and where it ends."""
        begin = self.begin.at(text, start)
        if not begin:
            return None, 0
        inside = start + len(begin)
        end = text.find(self._end, inside, inside + _LONGEST_TAG)
        if end < 0:
            return None, 0
        return self._opening(text[inside:end]), end + len(self._end)

    def read(self, r: Reader) -> Step[Opening | None]:
        """Read a tag; None if there is none here (its beginning may have been read then)."""
        found, end = self.at(r.text, r.pos)
        if found:
            r.take(end)
            return found
        begin = yield from self.begin.here(r)
        if not begin:
            return None
        r.take(r.pos + len(begin))
        searched = 0
        while True:
            start, limit = r.pos + max(0, searched - len(self._end)), r.pos + _LONGEST_TAG
            end = r.text.find(self._end, start, limit + len(self._end))
            if end >= 0 or r.eof or len(r.text) - r.pos > _LONGEST_TAG:
                break
            searched = len(r.text) - r.pos
            yield
        if not 0 <= end - r.pos <= _LONGEST_TAG:
            return None
        found = self._opening(r.text[r.pos : end])
        if found:
            r.take(end + len(self._end))
        return found

    def _opening(self, inside: str) -> Opening | None:
        if self._inner is not None:
            return self._own(inside)
        if self._key_close:
            return self._closed_name(inside)
        usual = _USUAL(inside)
        return Opening(usual[1], usual[2] or "") if usual else _name_and_attributes(inside.strip())

    def _own(self, inside: str) -> Opening | None:
        """As the format's own pattern has it."""
        assert self._inner is not None
        found = self._inner(inside)
        if found is None:
            return None
        string = (found["string"] or "") if self._says_string else ""
        return Opening((found["name"] or "").strip(), string)

    def _closed_name(self, inside: str) -> Opening | None:
        inside = inside.rstrip()
        if not inside.endswith(self._key_close):
            return None
        name = inside[: -len(self._key_close)].strip()
        return Opening(name, "") if name and "<" not in name else None

    def may_go_on(self, rest: str) -> bool:
        """Whether `rest`, behind the tag's beginning, may be cut off from the rest of a tag."""
        if self._unfinished is not None:
            return self._unfinished(rest) is not None
        if not self._key_close:
            return _UNFINISHED(rest) is not None
        name, closer, behind = rest.partition(self._key_close)
        if closer:
            return "<" not in name and self._end.startswith(behind.lstrip())
        odd = rest.find("<")
        begun = range(max(0, len(rest) - len(self._key_close)), odd + 1)
        return odd < 0 or any(self._key_close.startswith(rest[i:]) for i in begun)


def _name_and_attributes(text: str) -> Opening | None:
    """`NAME`, `"NAME" string="true"`, `NAME other="x"`; whitespace at the ends is gone already."""
    if text.startswith(_QUOTES):
        text = text[1:]
    end = _PLAIN_NAME(text).end()  # type: ignore[union-attr]  # always matches
    inside = _attribute_start(text[:end])
    for stop in (inside, end):  # a name without quotes, and its first attribute, look like one
        name = text[:stop].strip()
        behind = stop + 1 if stop == end and text.startswith(_QUOTES, end) else stop
        string = _attributes(text, behind) if name else None
        if string is not None:
            return Opening(name, string)
    return None


def _attribute_start(text: str) -> int:
    """Where an attribute begins that is all there but for its value: `NAME string=`; 0 if none does."""
    before = text.rstrip()
    if not before.endswith("="):
        return 0
    key_end = len(before[:-1].rstrip())
    start = key_end
    while start and (text[start - 1].isalnum() or text[start - 1] in "_:.-"):
        start -= 1
    return len(text[:start].rstrip()) if start < key_end else 0


def _attributes(text: str, start: int) -> str | None:
    """What the attributes from `start` to the end say about `string`; None if there is other text."""
    string = ""
    while start < len(text):
        found = _ATTRIBUTE(text, start)
        if found is None:
            return None if text[start:].strip() else string
        value = found[2] or found[3] or ""
        if found[1] == "string" and value in ("true", "false"):
            string = value
        start = found.end()
    return string
