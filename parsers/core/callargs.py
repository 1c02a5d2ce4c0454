"""The arguments of `Name(…)`: keywords, positional values, or one object.

    (k="v", n=10)        ("v", 10)        ({"k": "v", "n": 10})

Shared by the pythonic formats and by call text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from ..schema.kinds import Kind, encode
from ..schema.tools import Tool
from .delimiters import Delimiters
from .dialects import Dialect
from .loose import LooseReader
from .names import IN_NAME, LETTERS, LONGEST, word_ahead
from .object_builder import ObjectBuilder
from .sinks import Pieces, Sink
from .window import Step, Window
from .words import LITERAL_WORDS, is_prefix, is_raw, literal, unfinished

#: a keyword; its equals sign, if there is one, or two, which are no sign of a keyword; or a colon, if it
#: looks like one
_KEYWORD: Final = re.compile(
    rf"([A-Za-z_{LETTERS}]{IN_NAME}{{0,{LONGEST}}})[ \t]{{0,{LONGEST}}}"
    r"""(:(?=[\s"'\[{(0-9+-]|\Z)|={0,2})"""
).match
_IN_NAME: Final = re.compile(f"{IN_NAME}*").match
#: a keyword that the message ends in
_CUT_OFF_KEYWORD: Final = re.compile(rf"(?!\d){IN_NAME}+\s*\Z").match
#: a key in quotes, and its colon; the beginning of one at the end of the text
_QUOTED_KEY: Final = re.compile(
    rf"""(?:"({IN_NAME}{{1,64}})"|'({IN_NAME}{{1,64}})')\s{{0,16}}:"""
).match
_QUOTED_KEY_BEGUN: Final = re.compile(rf"""["']({IN_NAME}{{0,64}})(?:["']\s{{0,16}})?\Z""").match
#: the first key of an object, and its colon; the beginning of one
_FIRST_KEY: Final = re.compile(
    r"""\{\s{0,64}(?:"([^"\\\n]{1,64})"|'([^'\\\n]{1,64})')\s{0,16}:"""
).match
_FIRST_KEY_BEGUN: Final = re.compile(
    r"""\{\s{0,64}(?:"[^"\\\n]{0,64}(?:"\s{0,16})?|'[^'\\\n]{0,64}(?:'\s{0,16})?)?\Z"""
).match
#: what stands behind an argument
_ENDS: Final = (",", ")")
_STRING_START: Final = frozenset("\"'rbufRBUF")
_LITERAL_START: Final = frozenset("\"'-+.0123456789[{(")


def keyword_ahead(w: Window) -> tuple[str, int] | None:
    """The keyword that stands here and how long it is with its `=`; ("", 0) if there is none, and
    ("", -1) if that can't be told because it is too long."""
    found = _KEYWORD(w.text, w.pos)
    end = found.end() if found else w.pos
    if end == len(w.text) and not w.eof:
        return None
    if found is None:
        return "", 0
    if found[2] == "=" or found[2] == ":":
        return found[1], end - w.pos
    return "", (-1 if len(found[1]) > LONGEST else 0)


def arguments_begin(w: Window, bare_words: bool) -> Step[bool]:
    """Behind the parenthesis: do arguments begin here, or end at once? Reads nothing.

    `bare_words`: whether a word without quotes may be a value.
    """
    while (keyword := keyword_ahead(w)) is None:
        yield
    offset = length = max(keyword[1], 0)
    while (c := w.peek(offset)) is None:
        yield
    while length and c.isspace() and offset < length + LONGEST:
        offset += 1
        while (c := w.peek(offset)) is None:
            yield
    if not c or c in ",)" or c in _LITERAL_START:
        return bool(c) and (c in _LITERAL_START or (c == ")" and not offset))
    while (word := word_ahead(w, offset)) is None:
        yield
    if is_prefix(word):
        while (c := w.peek(offset + len(word))) is None:
            yield
        if c and c in "\"'":
            return True
    return bare_words or word in LITERAL_WORDS


class CallArguments:
    """Reads the arguments of one call and writes them as a JSON object."""

    def __init__(
        self,
        window: Window,
        delimiters: Delimiters,
        dialect: Dialect,
        name: str,
        tool: Tool,
        tools: Mapping[str, Tool] | None,
        sink: Sink,
        *,
        text_like: bool,
    ) -> None:
        """`text_like`: call text, where a declared type wins over quotes, and positional values of a
        tool that is not declared are strings."""
        self.window = window
        self.loose = LooseReader(window, delimiters, dialect)
        self.tool = tool
        self.tools: Mapping[str, Tool] = tools or {}
        self.declared = name in self.tools
        self.text_like = text_like
        self.sink = sink
        self.object = ObjectBuilder(sink)
        self.position = 0
        self.keyworded = False  # there was a keyword: only others may follow
        #: what may end the arguments without a parenthesis
        self.special = self.loose.initials

    def read(self) -> Step[bool]:
        """Behind the parenthesis: read up to the closing one. Returns whether it came.

        Where it is missing, the call ends with its line, or before a call to a declared tool that
        begins a later one."""
        w, special = self.window, self.special
        while True:
            while (space := w.space()) is None:
                yield
            c = w.text[w.pos : w.pos + 1]  # it is there, or the message is over
            if c == "#":
                space += yield from self._comments()
                c = w.text[w.pos : w.pos + 1]
            if c in special:
                while (cut_off := self.loose.at_delimiter()) is None:
                    yield
                if cut_off or not c or c in "]}":
                    return False
            if c == ")":
                w.take(w.pos + 1)
                self.object.close()
                return True
            if c == ",":
                w.take(w.pos + 1)
            elif "\n" in space and self.object.keys and (yield from self._call_begins()):
                w.unread(space)
                return False
            elif c == "{" and not self.object.keys:
                if not (yield from self._object_first()):
                    return False
            elif not (yield from self._argument()):
                return False

    def _blank(self) -> Step[str]:
        """Read whitespace and comments, up to a character that is none, or the end of the message."""
        w = self.window
        while (space := w.space()) is None:
            yield
        while (c := w.peek()) is None:
            yield
        return space + (yield from self._comments()) if c == "#" else space

    def _comments(self) -> Step[str]:
        """At a comment: read it, and all whitespace and comments behind it."""
        w = self.window
        pieces: list[str] = []
        c: str | None = "#"
        while c == "#":
            pieces.append((yield from self.loose.comment()))
            while (space := w.space()) is None:
                yield
            pieces.append(space)
            while (c := w.peek()) is None:
                yield
        return "".join(pieces)

    def _call_begins(self) -> Step[bool]:
        """Whether a call to a declared tool begins here."""
        w = self.window
        while (name := word_ahead(w)) is None:
            yield
        if name not in self.tools:
            return False
        while (c := w.peek(len(name))) is None:
            yield
        return c == "("

    # -- an object first ----------------------------------------------------------------------

    def _object_first(self) -> Step[bool]:
        """At a brace, before any argument: an object that stands alone is all arguments, if its first
        key is a parameter."""
        w, parameters = self.window, self.tool.parameters
        while (key := _first_key(w)) is None:
            yield
        if parameters and key in parameters:
            return (yield from self._members(self.loose))
        if parameters and key:
            return (yield from self._argument())
        return (yield from self._any_object())

    def _members(self, loose: LooseReader) -> Step[bool]:
        """Read an object, which is not empty, as all arguments. Others may follow: whoever ends them
        ends it, too."""
        self.object.keys.add("")  # there are some
        self.position = 1
        return (yield from loose.container(self.sink, members=True, open_end=True))

    def _any_object(self) -> Step[bool]:
        """What it is shows behind it. It is kept until then."""
        w, pieces = self.window, Pieces()
        finished = yield from self.loose.container(pieces)
        text = pieces.take()
        if not finished:
            self.sink.write(text)
            return False
        while (space := w.space()) is None:
            yield
        while (c := w.peek()) is None:
            yield
        if space:
            w.unread(space)
        if c == "," or not text.startswith("{"):
            self._begin_positional()
            self.sink.write(text)
            self.sink.on_value()
        elif text[1:-1].strip():
            again = Window()
            again.push(text)
            again.finish()
            yield from self._members(LooseReader(again, self.loose.delimiters, self.loose.dialect))
        return True

    # -- one argument -------------------------------------------------------------------------

    def _argument(self) -> Step[bool]:
        w = self.window
        while (keyword := keyword_ahead(w)) is None:
            yield
        key, length = keyword
        as_text = False
        if length > 0:
            w.take(w.pos + length)
        elif length < 0:
            key = yield from self._long_keyword()
        elif w.text[w.pos] in "\"'":
            key = yield from self._quoted_key()
        elif w.eof and self.keyworded and _CUT_OFF_KEYWORD(w.text, w.pos):
            w.take(len(w.text))
            return False
        if key:
            while w.space() is None:
                yield
            self.keyworded = True
            self.object.key(key)
            self.sink.on_key(key)
        else:
            as_text = self.text_like and not self.declared
            key = self._begin_positional()
        kind = Kind(frozenset({"string"})) if as_text else self.tool.kind(key)
        if not (yield from self._value(kind)):
            return False
        self.sink.on_value()
        return True

    def _begin_positional(self) -> str:
        """A value without a name has that of the next parameter which has none yet."""
        names = self.tool.parameters
        while self.position < len(names) and names[self.position] in self.object.keys:
            self.position += 1
        known = self.position < len(names)
        key = names[self.position] if known else f"arg{self.position}"
        self.position += 1
        self.object.key(key)
        self.sink.on_key(key)
        return key

    def _long_keyword(self) -> Step[str]:
        """Read a keyword that is longer than the window should hold, and its `=`; "" if it is none."""
        w = self.window
        pieces: list[str] = []
        while True:
            end = _IN_NAME(w.text, w.pos).end()  # type: ignore[union-attr]  # always matches
            pieces.append(w.take(end))
            if end < len(w.text) or w.eof:
                break
            yield
        while (space := w.space()) is None:
            yield
        while w.has(2) is None:
            yield
        if w.text.startswith("=", w.pos) and not w.text.startswith("==", w.pos):
            w.take(w.pos + 1)
            return "".join(pieces)
        w.unread("".join([*pieces, space]))
        return ""

    def _quoted_key(self) -> Step[str]:
        """At a quote: read a key in quotes and its colon; "" if it is none."""
        w, names = self.window, self.tool.parameters
        while True:
            found = _QUOTED_KEY(w.text, w.pos)
            if found is not None:
                key = found[1] or found[2]
                if names and key not in names:
                    return ""
                w.take(found.end())
                return key
            begun = None if w.eof else _QUOTED_KEY_BEGUN(w.text, w.pos)
            if begun is None or (names and not any(name.startswith(begun[1]) for name in names)):
                return ""
            yield

    def _value(self, kind: Kind) -> Step[bool]:
        w, sink = self.window, self.sink
        first = w.text[w.pos : w.pos + 1]  # whoever read what stands before it has waited for it
        string = ("", "")
        if first in _STRING_START:
            while (ahead := self.loose.string_ahead()) is None:
                yield
            string = ahead
        if string[1]:
            finished = yield from self._quoted(string, kind)
        elif first in ("[", "{", "("):
            finished = yield from self._bracketed(kind)
        else:
            finished = yield from self._word(kind)
        if not finished:
            return False
        if w.text.startswith(_ENDS, w.pos):
            return True
        space = yield from self._blank()
        if (c := w.peek()) and c in ",)":
            return True
        if c and (c in "]}" or "\n" in space):
            w.unread(space)
            return False
        rest, finished = yield from self.loose.word(",)", in_line=True)
        if rest:  # something behind the value: as it is written
            sink.write(f" {rest}")
        return finished

    def _word(self, kind: Kind) -> Step[bool]:
        word, finished = yield from self.loose.word(",)", in_line=True)
        self.sink.write(literal(word, kind) if finished else unfinished(word))
        return finished

    def _quoted(self, string: tuple[str, str], kind: Kind) -> Step[bool]:
        """Read a string, and those that follow it with nothing but whitespace and comments between."""
        w, loose = self.window, self.loose
        pieces: Pieces | None = None
        if self.text_like and kind.types and "string" not in kind.types:
            pieces = Pieces()
        sink = pieces or self.sink
        sink.write('"')
        prefix, quote = string
        while True:
            if prefix:
                w.take(w.pos + len(prefix))
            closed = yield from loose.string(quote, sink, bool(prefix) and is_raw(prefix))
            if not closed or w.text.startswith(_ENDS, w.pos):
                break
            space = yield from self._blank()
            while (ahead := loose.string_ahead()) is None:
                yield
            prefix, quote = ahead
            if not quote:
                if space:
                    w.unread(space)
                break
        if closed:
            sink.write('"')
        if pieces is not None:
            text = pieces.take()
            self.sink.write((kind.json_of(_decoded(text)) if closed else None) or text)
        return closed

    def _bracketed(self, kind: Kind) -> Step[bool]:
        if not (kind.types and kind.text_only):
            return (yield from self.loose.container(self.sink))
        pieces = Pieces()  # a declared string: the value is text
        finished = yield from self.loose.container(pieces)
        text = pieces.take()
        if not text.startswith('"'):
            text = encode(text) if finished else encode(text)[:-1]
        self.sink.write(text)
        return finished


def _first_key(w: Window) -> str | None:
    """The first key of the object that stands here; "" if it has none, or none that can be told."""
    found = _FIRST_KEY(w.text, w.pos)
    if found is not None:
        return found[1] or found[2]
    return "" if w.eof or not _FIRST_KEY_BEGUN(w.text, w.pos) else None


def _decoded(text: str) -> str:
    """The text of a JSON string that was written here."""
    value = json.loads(text, strict=False)
    assert isinstance(value, str)
    return value
