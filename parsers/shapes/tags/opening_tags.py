"""Opening tags, with a name in them.

    <function=NAME>        <invoke name="NAME">        <parameter name="NAME" string="true">
    <arg_key>NAME</arg_key><arg_value>
    <arg_key>NAME</arg_key><arg_type>integer</arg_type><arg_value>

What stands in a tag is found by its first and last characters and looked through once: whatever a
model writes there, it costs no more than its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from ...core.literals import Literals, pattern_of
from ...core.window import Matches, Window
from .tag import Tag

#: `search` of a pattern, in a text from one place on and up to another
Search: TypeAlias = Callable[[str, int, int], "re.Match[str] | None"]

_LONGEST_TAG: Final = 600
_QUOTES: Final = ("'", '"')
#: a fast path: what nearly all tags have in them
_USUAL: Final = r"""["']?([\w.-]+)["']?(?: {}="([^"]*)")?"""
_PLAIN_NAME: Final = re.compile(r"""[^"'<>\n]*""").match
_ESCAPED_NAME: Final = re.compile('\\s*"([^"]*)"').match
_ATTRIBUTE: Final = re.compile(r"""\s+([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""").match
_UNFINISHED: Final = re.compile(r"[^<>\n]*").fullmatch


class Opening:
    """What an opening tag says: a name; the word for a value's type, if it has one; and whether it is
    all there is (`<invoke name="NAME"/>`, or a key without a value)."""

    __slots__ = ("closed", "length", "name", "type")

    def __init__(self, name: str, type: str) -> None:
        self.name = name
        self.type = type
        self.closed = False
        self.length = 0  # of the whole tag


class NoTag:
    """There is none, though its first `length` characters may be there."""

    __slots__ = ("length",)

    def __init__(self, length: int) -> None:
        self.length = length


_NO_TAG: Final = NoTag(0)


class OpeningTag:
    """Reads an opening tag."""

    __slots__ = (
        "_end",
        "_end_begun",
        "_escaped",
        "_inner",
        "_key",
        "_may_close",
        "_says_string",
        "_type_attribute",
        "_unfinished",
        "_usual",
        "begin",
    )

    def __init__(self, tag: Tag, may_close: bool = False) -> None:
        """`may_close`: it may be closed in itself."""
        self.begin: Literals = Literals(tag.begin)
        self._end: re.Pattern[str] = re.compile(pattern_of(tag.end))
        self._end_begun: Literals = Literals([tag.end])
        self._key: _KeyTags | None = _KeyTags(tag) if tag.key_close else None
        self._may_close: bool = may_close
        self._escaped: bool = tag.escaped
        self._type_attribute: str = tag.type_attribute
        self._usual: Matches = re.compile(_USUAL.format(re.escape(tag.type_attribute))).fullmatch
        inner = re.compile(tag.inner)
        self._inner: Matches | None = inner.fullmatch if tag.inner else None
        self._says_string: bool = "string" in inner.groupindex
        self._unfinished: Matches | None = None
        if tag.unfinished:
            self._unfinished = re.compile(tag.unfinished).fullmatch

    @property
    def has_key_tags(self) -> bool:
        """Whether the name stands in tags of its own."""
        return self._key is not None

    def here(self, w: Window, offset: int = 0) -> Opening | NoTag | None:
        """The tag that stands at the reading position, or further ahead. Reads nothing."""
        begin = self.begin.here(w, offset)
        if not begin:
            return None if begin is None else _NO_TAG
        text, start = w.text, w.pos + offset
        inside = start + len(begin)
        limit = inside + _LONGEST_TAG + self._end_begun.longest
        end = self._end.search(text, inside, limit)
        if end is None and not w.eof and len(text) < limit:
            return None
        found = self._opening(text[inside : end.start()], w.fast_paths) if end else None
        if found is None or end is None:
            return NoTag(len(begin))
        found.length = end.end() - start
        return found

    def key_alone(self, w: Window, ends: Search) -> Opening | None:
        """The key that stands here without a value, where the name has tags of its own: one of `ends`
        follows it. Reads nothing."""
        begin = self.begin.here(w) if self._key is not None else None
        if self._key is None or not begin:
            return None
        inside = w.pos + len(begin)
        end = ends(w.text, inside, inside + _LONGEST_TAG)
        found = self._key.opening(w.text[inside : end.start()]) if end else None
        if found is not None and end is not None:
            found.closed = True
            found.length = end.start() - w.pos
        return found

    def _opening(self, inside: str, fast: bool) -> Opening | None:
        if self._inner is not None:
            return self._own(inside)
        if self._key is not None:
            return self._key.opening(inside)
        usual = self._usual(inside) if fast else None
        if usual:
            return Opening(usual[1], usual[2] or "")
        inside = inside.strip()
        if not self._may_close or not inside.endswith("/"):
            return self._name_and_attributes(inside)
        found = self._name_and_attributes(inside[:-1].rstrip())
        if found is not None:
            found.closed = True
        return found

    def _own(self, inside: str) -> Opening | None:
        """As the format's own pattern has it."""
        assert self._inner is not None
        found = self._inner(inside)
        if found is None:
            return None
        string = (found["string"] or "") if self._says_string else ""
        return Opening((found["name"] or "").strip(), string)

    def _name_and_attributes(self, text: str) -> Opening | None:
        """`NAME`, `"NAME" string="true"`, `NAME other="x"`; whitespace at the ends is gone already."""
        if self._escaped:
            return self._escaped_name(text)
        if text.startswith(_QUOTES):
            text = text[1:]
        end = _PLAIN_NAME(text).end()  # type: ignore[union-attr]  # always matches
        inside = _attribute_start(text[:end])
        for stop in (inside, end):  # a name without quotes, and its first attribute, look like one
            name = text[:stop].strip()
            behind = stop + 1 if stop == end and text.startswith(_QUOTES, end) else stop
            said = _attribute(text, behind, self._type_attribute) if name else None
            if said is not None:
                return Opening(name, said)
        return None

    def _escaped_name(self, text: str) -> Opening | None:
        found = _ESCAPED_NAME(text)
        said = _attribute(text, found.end(), self._type_attribute) if found else None
        if found is None or said is None:
            return None
        return Opening(found[1].replace("&quot;", '"').replace("&amp;", "&"), said)

    def may_go_on(self, rest: str) -> bool:
        """Whether `rest`, behind the tag's beginning, may be cut off from the rest of a tag."""
        if self._unfinished is not None:
            return self._unfinished(rest) is not None
        if self._key is not None:
            return self._key.may_go_on(rest)
        if self._escaped:
            return self._end.search(rest) is None
        starts = range(max(0, len(rest) - self._end_begun.longest), len(rest))
        cut = next((i for i in starts if self._end_begun.begun(rest[i:])), len(rest))
        return _UNFINISHED(rest[:cut]) is not None


class _KeyTags:
    """What stands between the beginning of a key and its value where the key has tags of its own, and
    perhaps the word for the value's type."""

    __slots__ = (
        "_end",
        "_key_close",
        "_key_closes",
        "_type",
        "_type_begin",
        "_type_end",
        "_type_ends",
    )

    def __init__(self, tag: Tag) -> None:
        begin, end = pattern_of(tag.type_begin), pattern_of(tag.type_end)
        self._key_close: re.Pattern[str] = re.compile(pattern_of(tag.key_close))
        self._key_closes: Literals = Literals([tag.key_close])
        self._type: Matches = re.compile(f"{begin}([^<]*){end}").fullmatch
        self._type_begin: Literals = Literals([tag.type_begin] if tag.type_begin else [])
        self._type_end: re.Pattern[str] = re.compile(end)
        self._type_ends: Literals = Literals([tag.type_end] if tag.type_end else [])
        self._end: Literals = Literals([tag.end])

    def opening(self, inside: str) -> Opening | None:
        """`inside`: what stands before the tag's end."""
        close = self._key_close.search(inside)
        name = inside[: close.start()].strip() if close else ""
        if close is None or not name or "<" in name:
            return None
        behind = inside[close.end() :].strip()
        if not behind:
            return Opening(name, "")
        type = self._type(behind) if self._type_begin else None
        return Opening(name, type[1].strip()) if type else None

    def may_go_on(self, rest: str) -> bool:
        close = self._key_close.search(rest)
        if close is None:
            return _word_cut_off(rest, self._key_closes)
        if "<" in rest[: close.start()]:
            return False
        behind = rest[close.end() :].lstrip()
        begin = self._type_begin.at(behind, 0)
        if begin:
            behind = behind[len(begin) :]
            close = self._type_end.search(behind)
            if close is None:
                return _word_cut_off(behind, self._type_ends)
            behind = behind[close.end() :].lstrip()
        elif self._type_begin.begun(behind):
            return True
        return not behind or self._end.begun(behind)


def _word_cut_off(text: str, closer: Literals) -> bool:
    """Whether this is a word, or the beginning of one, and perhaps the beginning of its closer."""
    odd = text.find("<")
    begun = range(max(0, len(text) - closer.longest), odd + 1)
    return odd < 0 or any(closer.begun(text[i:]) for i in begun)


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


def _attribute(text: str, start: int, name: str) -> str | None:
    """What the attributes from `start` to the end say under `name`; None if there is other text."""
    said = ""
    while start < len(text):
        found = _ATTRIBUTE(text, start)
        if found is None:
            return None if text[start:].strip() else said
        if found[1] == name:
            said = found[2] or found[3] or ""
        start = found.end()
    return said
