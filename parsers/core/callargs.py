"""The arguments of `Name(…)`: keywords, positional values, or one object.

    (k="v", n=10)        ("v", 10)        ({"k": "v", "n": 10})

Shared by the pythonic formats and by call text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Final

from .building import ObjectBuilder
from .loose import Dialect, LooseReader, ignore_key, ignore_value, literal, unfinished
from .marks import Marks
from .names import LONGEST
from .reader import Reader, Sink, Step
from .schema import Kind, encode
from .tools import Tool

_WORD: Final = re.compile("[A-Za-z0-9_.-]*").match
#: a keyword that is there to the last, and what follows it
_KEYWORD: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_.-]{0,100})[ \t]?=(?=[^=])").match
_LITERAL_START: Final = frozenset("\"'-0123456789[{(")
_LITERAL_WORDS: Final = frozenset({"true", "false", "null", "True", "False", "None"})


class Output:
    """Where arguments go: their text, and word of each member as it begins and ends."""

    __slots__ = ("on_key", "on_value", "write")

    def __init__(
        self,
        write: Sink,
        on_key: Callable[[str], None] = ignore_key,
        on_value: Callable[[], None] = ignore_value,
    ) -> None:
        self.write = write
        self.on_key = on_key
        self.on_value = on_value


def word_ahead(r: Reader, offset: int) -> Step[str]:
    """The name that stands `offset` characters ahead, without reading it."""
    end = offset
    while True:
        end = _WORD(r.text, r.pos + end).end() - r.pos  # type: ignore[union-attr]  # always matches
        if r.pos + end < len(r.text) or r.eof or end - offset > LONGEST:
            return r.text[r.pos + offset : r.pos + end]
        yield


def char_ahead(r: Reader, offset: int) -> Step[str]:
    """The character `offset` ahead, or "" at the end of the message."""
    while r.pos + offset >= len(r.text) and not r.eof:
        yield
    return r.text[r.pos + offset : r.pos + offset + 1]


def _whole_keyword(r: Reader) -> tuple[str, int] | None:
    """What `_keyword_ahead` gives, where all of the keyword is there."""
    found = _KEYWORD(r.text, r.pos)
    return (found[1], found.end() - r.pos) if found else None


def _keyword_ahead(r: Reader) -> Step[tuple[str, int]]:
    """The keyword that stands here and how long it is with its `=`; ("", 0) if there is none."""
    word = yield from word_ahead(r, 0)
    if not word or not (word[0].isalpha() or word[0] == "_"):
        return "", 0
    end = len(word)
    while (yield from char_ahead(r, end)) in (" ", "\t") and end < len(word) + LONGEST:
        end += 1
    if (yield from char_ahead(r, end)) != "=" or (yield from char_ahead(r, end + 1)) == "=":
        return "", 0
    return word, end + 1


def arguments_begin(r: Reader, bare_words: bool) -> Step[bool]:
    """Behind the parenthesis: do arguments begin here, or end at once? Reads nothing.

    `bare_words`: whether a word without quotes may be a value.
    """
    offset = 0
    _, length = _whole_keyword(r) or (yield from _keyword_ahead(r))
    if length:
        offset = length
        while (yield from char_ahead(r, offset)).isspace() and offset < length + LONGEST:
            offset += 1
    c = yield from char_ahead(r, offset)
    if not c or c in ",)" or c in _LITERAL_START:
        return bool(c) and (c in _LITERAL_START or (c == ")" and not offset))
    word = yield from word_ahead(r, offset)
    return bare_words or word in _LITERAL_WORDS


class CallArguments:
    """Reads the arguments of one call and writes them as a JSON object."""

    def __init__(
        self,
        r: Reader,
        marks: Marks,
        dialect: Dialect,
        tool: Tool,
        output: Output,
        *,
        declared: bool,
        text_like: bool,
    ) -> None:
        """`text_like`: call text, where a declared type wins over quotes, and positional values of a
        tool that is not declared are strings."""
        self.r = r
        self.loose = LooseReader(r, marks, dialect)
        self.tool = tool
        self.declared = declared
        self.text_like = text_like
        self.output = output
        self.object = ObjectBuilder(output.write)
        self.position = 0

    def read(self) -> Step[bool]:
        """Behind the parenthesis: read up to the closing one. Returns whether it came."""
        r = self.r
        while True:
            if r.space() is None:
                yield from r.skip_space()
            while (c := r.next()) is None:
                yield
            if not c or (self.loose.delimited and (yield from self.loose.at_delimiter())):
                return False
            if c == ")":
                r.take(r.pos + 1)
                self.object.close()
                return True
            if c == ",":
                r.take(r.pos + 1)
            elif c == "{" and not self.position and not self.object.keys:
                return (yield from self._whole_object())
            elif not (yield from self._argument()):
                return False

    def _whole_object(self) -> Step[bool]:
        """One positional object is the arguments."""
        output = self.output
        finished = yield from self.loose.container(
            output.write, on_key=output.on_key, on_value=output.on_value
        )
        if not finished:
            return False
        rest, _ = yield from self.loose.word(")")
        rest = rest.lstrip(",").strip()
        if rest:
            output.write(rest)
        if (yield from self.r.peek()) == ")":
            self.r.take(self.r.pos + 1)
        return True

    def _argument(self) -> Step[bool]:
        r = self.r
        key, length = _whole_keyword(r) or (yield from _keyword_ahead(r))
        as_text = False
        if length:
            r.take(r.pos + length)
            if r.space() is None:
                yield from r.skip_space()
        else:
            names = self.tool.parameters
            known = self.position < len(names)
            key = names[self.position] if known else f"arg{self.position}"
            as_text = self.text_like and not self.declared
            self.position += 1
        self.object.key(key)
        self.output.on_key(key)
        kind = Kind(frozenset({"string"})) if as_text else self.tool.kind(key)
        if not (yield from self._value(kind)):
            return False
        self.output.on_value()
        return True

    def _value(self, kind: Kind) -> Step[bool]:
        write = self.output.write
        while (quote := self.loose.quotes.seen(self.r)) is None:
            yield
        if quote:
            finished = yield from self._quoted(quote, kind)
        elif (yield from self.r.peek()) in ("[", "{", "("):
            finished = yield from self._bracketed(kind)
        else:
            word, finished = yield from self.loose.word(",)")
            quote = (yield from self.loose.quote()) if finished else ""
            if quote:  # r"…", f'…'
                finished = yield from self._quoted(quote, kind)
            elif finished:
                write(literal(word, kind))
            else:
                write(unfinished(word))
        if not finished:
            return False
        if (following := self.r.next()) and following in ",)":
            return True
        rest, finished = yield from self.loose.word(",)")
        if rest:  # something behind the value: as it is written
            write(f" {rest}")
        return finished

    def _quoted(self, quote: str, kind: Kind) -> Step[bool]:
        write = self.output.write
        if self.text_like and kind.types and "string" not in kind.types:
            pieces: list[str] = []
            closed = yield from self.loose.string(quote, pieces.append)
            text = '"' + "".join(pieces) + '"'
            value = kind.json_of(_decoded(text)) if closed else None
            write(value or (text if closed else text[:-1]))
            return closed
        write('"')
        closed = yield from self.loose.string(quote, write)
        if closed:
            write('"')
        return closed

    def _bracketed(self, kind: Kind) -> Step[bool]:
        if not (kind.types and kind.text_only):
            return (yield from self.loose.container(self.output.write))
        pieces: list[str] = []  # a declared string: the value is text
        finished = yield from self.loose.container(pieces.append)
        text = encode("".join(pieces))
        self.output.write(text if finished else text[:-1])
        return finished


def _decoded(text: str) -> str:
    """The text of a JSON string that was written here."""
    value = json.loads(text, strict=False)
    assert isinstance(value, str)
    return value
