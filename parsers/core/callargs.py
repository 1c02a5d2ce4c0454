"""The arguments of `Name(…)`: keywords, positional values, or one object.

    (k="v", n=10)        ("v", 10)        ({"k": "v", "n": 10})

Shared by the pythonic formats and by call text.
"""

from __future__ import annotations

import json
import re
from typing import Final

from ..schema.kinds import Kind, encode
from ..schema.tools import Tool
from .delimiters import Delimiters
from .loose import Dialect, LooseReader, literal, unfinished
from .names import LONGEST, word_ahead
from .object_builder import ObjectBuilder
from .sinks import Pieces, Sink
from .window import Step, Window

#: a keyword; its equals sign, if there is one, or two, which are no sign of a keyword
_KEYWORD: Final = re.compile(
    rf"([A-Za-z_][A-Za-z0-9_.-]{{0,{LONGEST}}})[ \t]{{0,{LONGEST}}}(={{0,2}})"
).match
_LITERAL_START: Final = frozenset("\"'-0123456789[{(")
_LITERAL_WORDS: Final = frozenset({"true", "false", "null", "True", "False", "None"})


def keyword_ahead(w: Window) -> tuple[str, int] | None:
    """The keyword that stands here and how long it is with its `=`; ("", 0) if there is none."""
    found = _KEYWORD(w.text, w.pos)
    end = found.end() if found else w.pos
    if end == len(w.text) and not w.eof:
        return None
    return (found[1], end - w.pos) if found and found[2] == "=" else ("", 0)


def arguments_begin(w: Window, bare_words: bool) -> Step[bool]:
    """Behind the parenthesis: do arguments begin here, or end at once? Reads nothing.

    `bare_words`: whether a word without quotes may be a value.
    """
    while (keyword := keyword_ahead(w)) is None:
        yield
    offset = length = keyword[1]
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
    return bare_words or word in _LITERAL_WORDS


class CallArguments:
    """Reads the arguments of one call and writes them as a JSON object."""

    def __init__(
        self,
        window: Window,
        delimiters: Delimiters,
        dialect: Dialect,
        tool: Tool,
        sink: Sink,
        *,
        declared: bool,
        text_like: bool,
    ) -> None:
        """`text_like`: call text, where a declared type wins over quotes, and positional values of a
        tool that is not declared are strings."""
        self.window = window
        self.loose = LooseReader(window, delimiters, dialect)
        self.tool = tool
        self.declared = declared
        self.text_like = text_like
        self.sink = sink
        self.object = ObjectBuilder(sink)
        self.position = 0

    def read(self) -> Step[bool]:
        """Behind the parenthesis: read up to the closing one. Returns whether it came."""
        w = self.window
        while True:
            while w.space() is None:
                yield
            while (c := w.peek()) is None:
                yield
            if not c:
                return False
            if self.loose.delimited:
                while (cut_off := self.loose.at_delimiter()) is None:
                    yield
                if cut_off:
                    return False
            if c == ")":
                w.take(w.pos + 1)
                self.object.close()
                return True
            if c == ",":
                w.take(w.pos + 1)
            elif c == "{" and not self.position and not self.object.keys:
                return (yield from self._whole_object())
            elif not (yield from self._argument()):
                return False

    def _whole_object(self) -> Step[bool]:
        """One positional object is the arguments."""
        w = self.window
        finished = yield from self.loose.container(self.sink, members=True)
        if not finished:
            return False
        rest, _ = yield from self.loose.word(")")
        rest = rest.lstrip(",").strip()
        if rest:
            self.sink.write(rest)
        while (c := w.peek()) is None:
            yield
        if c == ")":
            w.take(w.pos + 1)
        return True

    def _argument(self) -> Step[bool]:
        w = self.window
        while (keyword := keyword_ahead(w)) is None:
            yield
        key, length = keyword
        as_text = False
        if length:
            w.take(w.pos + length)
            while w.space() is None:
                yield
        else:
            names = self.tool.parameters
            known = self.position < len(names)
            key = names[self.position] if known else f"arg{self.position}"
            as_text = self.text_like and not self.declared
            self.position += 1
        self.object.key(key)
        self.sink.on_key(key)
        kind = Kind(frozenset({"string"})) if as_text else self.tool.kind(key)
        if not (yield from self._value(kind)):
            return False
        self.sink.on_value()
        return True

    def _value(self, kind: Kind) -> Step[bool]:
        w, sink = self.window, self.sink
        while (quote := self.loose.quote()) is None:
            yield
        if quote:
            finished = yield from self._quoted(quote, kind)
        elif w.peek() in ("[", "{", "("):
            finished = yield from self._bracketed(kind)
        else:
            finished = yield from self._word(kind)
        if not finished:
            return False
        if (following := w.peek()) and following in ",)":
            return True
        rest, finished = yield from self.loose.word(",)")
        if rest:  # something behind the value: as it is written
            sink.write(f" {rest}")
        return finished

    def _word(self, kind: Kind) -> Step[bool]:
        word, finished = yield from self.loose.word(",)")
        if not finished:
            self.sink.write(unfinished(word))
            return False
        while (quote := self.loose.quote()) is None:
            yield
        if quote:  # r"…", f'…'
            return (yield from self._quoted(quote, kind))
        self.sink.write(literal(word, kind))
        return True

    def _quoted(self, quote: str, kind: Kind) -> Step[bool]:
        sink = self.sink
        if self.text_like and kind.types and "string" not in kind.types:
            pieces = Pieces()
            closed = yield from self.loose.string(quote, pieces)
            text = '"' + pieces.take() + '"'
            value = kind.json_of(_decoded(text)) if closed else None
            sink.write(value or (text if closed else text[:-1]))
            return closed
        sink.write('"')
        closed = yield from self.loose.string(quote, sink)
        if closed:
            sink.write('"')
        return closed

    def _bracketed(self, kind: Kind) -> Step[bool]:
        if not (kind.types and kind.text_only):
            return (yield from self.loose.container(self.sink))
        pieces = Pieces()  # a declared string: the value is text
        finished = yield from self.loose.container(pieces)
        text = encode(pieces.take())
        self.sink.write(text if finished else text[:-1])
        return finished


def _decoded(text: str) -> str:
    """The text of a JSON string that was written here."""
    value = json.loads(text, strict=False)
    assert isinstance(value, str)
    return value
