"""Reading JSON as it is written, byte for byte: where does a value end?

Only strings, escapes and brackets are looked at. Whether the value is valid JSON is not asked: what a
model wrote is passed on as it is. A value ends where its outermost bracket closes; a delimiter of the
format outside a string cuts it off; inside a string a delimiter is text, with the exception that
`closer_in_string` knows.
"""

from __future__ import annotations

import re
from typing import Final

from .marks import Marks, closer_in_string
from .reader import Reader, Shortcut, Sink, Step

#: Characters that a JSON value can begin with.
VALUE_START: Final = frozenset('{["-0123456789tfn')

_SCALAR_END: Final = re.compile(r'[\s,;{}\[\]"<]')
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX: Final = re.compile(r"[0-9a-fA-F]{4}")
_LOW_SURROGATE: Final = re.compile(r"\\(?:u(?:[dD](?:[c-fC-F](?:[0-9a-fA-F]{0,2}))?)?)?")
#: Text shorter than this is most often a token, with nothing whole in it.
_SHORT: Final = 8
_TOKENS: Final = re.compile(r'\\.?|["{}\[\]]', re.DOTALL)


def ignore(piece: str) -> None:
    """A sink for what nobody needs."""


def read_value(r: Reader, marks: Marks, sink: Sink) -> Step[bool]:
    """Read one JSON value into `sink`. Returns whether it was finished."""
    first = yield from r.peek()
    if first == '"':
        sink(r.take(r.pos + 1))
        return (yield from _read_string(r, marks, sink))
    if first in ("{", "["):
        return (yield from _read_brackets(r, marks, sink))
    text = yield from _read_scalar(r)
    sink(text)
    return text in ("true", "false", "null") or not (yield from r.ended())


def read_arguments(r: Reader, marks: Marks, sink: Sink) -> Step[bool]:
    """Read a value that is a call's arguments. Returns whether it was finished.

    `null` and `""` mean no arguments: `{}`. A string that holds an object is that object's text.
    """
    while (first := r.next()) is None:
        yield
    if first == '"':
        return (yield from _read_quoted_arguments(r, marks, sink))
    if first in ("{", "["):
        return (yield from _read_brackets(r, marks, sink))
    text = yield from _read_scalar(r)
    sink("{}" if text == "null" else text)
    return text in ("true", "false", "null") or not (yield from r.ended())


def _read_scalar(r: Reader) -> Step[str]:
    """Read a number or a word, up to whitespace or punctuation."""
    pieces = []
    while True:
        found = _SCALAR_END.search(r.text, r.pos)
        pieces.append(r.take(found.start() if found else len(r.text)))
        if found or r.eof:
            return "".join(pieces)
        yield


def _read_brackets(r: Reader, marks: Marks, sink: Sink) -> Step[bool]:
    """The hot loop: at a bracket; reads until it is closed."""
    brackets = _Brackets()
    quoted = False
    between, inside, structure = marks.between.search, marks.inside.search, marks.structure
    in_string: Shortcut | None = None
    between_strings: Shortcut | None = None
    while True:
        text, i = r.text, r.pos
        found = None
        while i < len(text):
            if not quoted and len(text) - i > _SHORT:
                i, quoted = marks.pass_flat(text, i)
                found = None
                if i == len(text):
                    break
            c = text[i]
            if quoted or c not in structure:
                found = inside(text, i) if quoted else between(text, i)
                if found is None:
                    i = len(text)
                    break
                i = found.start()
                if found.lastindex:
                    break  # a delimiter, or the beginning of one
                c = text[i]
            if c == '"':
                quoted = not quoted
            elif c == "\\":
                if i + 1 == len(text):
                    break  # what it escapes is still to come
                i += 1
            elif brackets.all_closed(c):
                sink(r.take(i + 1))
                return brackets.matched
            i += 1
        if i > r.pos:
            sink(r.take(i))
        if found is not None and found.lastindex:
            if (yield from _cut_off_here(r, marks, sink, quoted)):
                return False
        elif r.eof:
            if i < len(text):
                sink(r.take(len(text)))  # a lone backslash
            return False
        else:
            if i == len(text) and quoted:
                in_string = in_string or r.passing(marks.plain_inside.fullmatch, sink)
                r.shortcut = in_string
            elif i == len(text):
                between_strings = between_strings or r.passing(marks.plain_between.fullmatch, sink)
                r.shortcut = between_strings
            yield


class _Brackets:
    """Which brackets are open. A closing one that fits none is ignored; one that fits an outer one
    closes what is inside it too, but then the brackets do not match."""

    __slots__ = ("_braces", "_open", "matched")

    def __init__(self) -> None:
        self._open: list[str] = []
        self._braces = 0  # how many of them are braces
        self.matched = True

    def all_closed(self, bracket: str) -> bool:
        """Take the next bracket; whether it was the last one."""
        if bracket == "{" or bracket == "[":
            self._open.append(bracket)
            self._braces += bracket == "{"
            return False
        opening = "{" if bracket == "}" else "["
        if not (self._braces if bracket == "}" else len(self._open) - self._braces):
            return False
        while True:
            last = self._open.pop()
            self._braces -= last == "{"
            if last == opening:
                return not self._open
            self.matched = False


def _cut_off_here(r: Reader, marks: Marks, sink: Sink, quoted: bool) -> Step[bool]:
    """At what may be a delimiter: does it, or the end of the message, end the value here?"""
    if (yield from marks.closes.here(r)):
        return not quoted or (yield from closer_in_string(r, marks, sink))
    if not quoted and (yield from marks.starts.here(r)):
        return True
    if not r.eof:
        return False
    rest = r.text[r.pos :]
    closer, opener = marks.closes.begun(rest), marks.starts.begun(rest)
    if not closer and (quoted or not opener):
        return False
    # The end of the message cut a delimiter off. In a string it is text; elsewhere a closer is
    # markup, but a lone bracket is JSON.
    r.take(len(r.text))
    if quoted or rest in ("{", "[") or not closer:
        sink(rest)
    return True


def _read_string(r: Reader, marks: Marks, sink: Sink, decoded: bool = False) -> Step[bool]:
    """Behind an opening quote: read the string up to its closing quote.

    As it is written, closing quote and all; or `decoded`: the text that the string stands for.
    """
    while True:
        found = marks.inside.search(r.text, r.pos)
        end = found.start() if found else len(r.text)
        if end > r.pos:
            sink(r.take(end))
        if found is None:
            if r.eof:
                return False
            yield
        elif found.lastindex:
            if (yield from _cut_off_here(r, marks, sink, True)):
                return False
        elif r.text[end] == '"':
            quote = r.take(end + 1)
            if not decoded:
                sink(quote)
            return True
        elif decoded:
            sink((yield from _read_escape(r)))
        else:
            yield from _need(r, 2)
            sink(r.take(min(r.pos + 2, len(r.text))))


def _need(r: Reader, count: int) -> Step[bool]:
    """Wait for `count` characters; false where the message ends before."""
    while len(r.text) - r.pos < count:
        if r.eof:
            return False
        yield
    return True


def _read_escape(r: Reader) -> Step[str]:
    """At a backslash in a JSON string: the character it stands for (as written if it is none)."""
    yield from _need(r, 2)
    letter = r.text[r.pos + 1 : r.pos + 2]
    if letter != "u":
        r.take(min(r.pos + 2, len(r.text)))
        return _ESCAPES.get(letter, letter or "\\")
    yield from _need(r, 6)
    code = _HEX.match(r.text, r.pos + 2)
    if not code:
        return r.take(min(r.pos + 2, len(r.text)))
    r.take(code.end())
    first = int(code[0], 16)
    if 0xD800 <= first < 0xDC00:
        second = yield from _low_surrogate(r)
        if second:
            return chr(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00))
    return chr(first)


def _low_surrogate(r: Reader) -> Step[int]:
    """Read the second half of a surrogate pair if it stands here; 0 if not."""
    for count in range(1, 7):  # one by one: nothing waits longer than it must
        yield from _need(r, count)
        seen = r.text[r.pos : r.pos + count]
        if not _LOW_SURROGATE.fullmatch(seen) or len(seen) < count:
            return 0
    return int(r.take(r.pos + 6)[2:], 16)


def _read_quoted_arguments(r: Reader, marks: Marks, sink: Sink) -> Step[bool]:
    """At the quote of a string that is a call's arguments."""
    raw = [r.take(r.pos + 1)]
    while True:  # does an object begin here, perhaps behind whitespace?
        raw.append((yield from r.skip_space()))
        first = yield from r.peek()
        if first != "\\":
            break
        yield from _need(r, 2)
        if r.text[r.pos + 1 : r.pos + 2] not in ("n", "r", "t"):
            break
        raw.append(r.take(r.pos + 2))
    if first == '"' and "".join(raw) == '"':
        r.take(r.pos + 1)
        sink("{}")
        return True
    if first != "{":
        sink("".join(raw))
        return (yield from _read_string(r, marks, sink))
    inner = _Inner(sink)
    closed = yield from _read_string(r, marks, inner.feed, decoded=True)
    return closed and inner.balanced


class _Inner:
    """The JSON text inside a string: passes it on, without whitespace at its end, and says whether
    it is whole."""

    __slots__ = ("_depth", "_escaped", "_quoted", "_sink", "_space")

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._depth = 0
        self._quoted = False
        self._escaped = False
        self._space: list[str] = []

    def feed(self, piece: str) -> None:
        body = piece.rstrip()
        if body:
            self._sink("".join(self._space) + body)
            self._space.clear()
        if len(body) < len(piece):
            self._space.append(piece[len(body) :])
        if self._quoted and not self._escaped and '"' not in piece and "\\" not in piece:
            return
        start = 1 if self._escaped else 0
        self._escaped = False
        for token in _TOKENS.finditer(piece, start):
            c = token[0]
            if c == "\\":
                self._escaped = self._quoted  # at the end of this piece
            elif c == '"':
                self._quoted = not self._quoted
            elif not self._quoted and len(c) == 1:
                self._depth += 1 if c in "{[" else -1

    @property
    def balanced(self) -> bool:
        return self._depth == 0 and not self._quoted


def read_name(r: Reader, marks: Marks) -> Step[str | None]:
    """Read a JSON string that is a key or a name; its text, or None if it is not finished.

    No key and no name holds a delimiter: there the string is given up, so that a lost quote does not
    swallow the next call.
    """
    whole = marks.whole_name.match(r.text, r.pos)
    if whole:
        r.take(whole.end())
        return whole[1]
    pieces: list[str] = []
    if (yield from r.peek()) != '"':
        return None
    r.take(r.pos + 1)
    while True:
        found = marks.name.search(r.text, r.pos)
        end = found.start() if found else len(r.text)
        if end > r.pos:
            pieces.append(r.take(end))
        if found is None:
            if r.eof:
                return None
            yield
        elif found.lastindex:
            if (yield from marks.starts.here(r)) or (yield from marks.closes.here(r)) or r.eof:
                return None
            pieces.append(r.take(r.pos + 1))
        elif r.text[end] == '"':
            r.take(end + 1)
            return "".join(pieces)
        else:
            pieces.append((yield from _read_escape(r)))


def read_key(r: Reader, marks: Marks) -> Step[str | None]:
    """Read a key, its colon and the whitespace around that; None if there is none."""
    whole = marks.whole_key.match(r.text, r.pos)
    if whole:
        r.take(whole.end())
        return whole[1]
    key = yield from read_name(r, marks)
    yield from r.skip_space()
    if key is None or (yield from r.peek()) != ":":
        return None
    r.take(r.pos + 1)
    yield from r.skip_space()
    return key
