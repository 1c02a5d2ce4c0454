"""Reading JSON as it is written, byte for byte: where does a value end?

Only strings, escapes and brackets are looked at. Whether the value is valid JSON is not asked: what a
model wrote is passed on as it is. A value ends where its outermost bracket closes; a delimiter of the
format outside a string cuts it off; inside a string a delimiter is text, with the exception that
`closer_in_string` knows.
"""

from __future__ import annotations

import re
from typing import Final

from ..events import Event
from ..schema.kinds import json_type
from .delimiters import Delimiters, closer_in_string
from .literals import Plain
from .sinks import Sink
from .window import FastPath, Step, Window

#: Characters that a JSON value can begin with.
VALUE_START: Final = frozenset('{["-0123456789tfn')

_SCALAR_END: Final = re.compile(r'[\s,;{}\[\]"<]')
_ESCAPES: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX: Final = re.compile(r"[0-9a-fA-F]{4}")
_LOW_SURROGATE: Final = re.compile(r"\\(?:u(?:[dD](?:[c-fC-F](?:[0-9a-fA-F]{0,2}))?)?)?")
#: Text shorter than this is most often a token, with nothing whole in it.
_SHORT: Final = 8
_TOKENS: Final = re.compile(r'\\.?|["{}\[\]]', re.DOTALL)


#: For what nobody needs.
IGNORE: Final = Sink()


def read_value(w: Window, delimiters: Delimiters, sink: Sink) -> Step[bool]:
    """Read one JSON value into `sink`. Returns whether it was finished."""
    while (first := w.peek()) is None:
        yield
    if first == '"':
        sink.write(w.take(w.pos + 1))
        return (yield from _read_string(w, delimiters, sink))
    if first in ("{", "["):
        return (yield from _read_brackets(w, delimiters, sink))
    text = yield from _read_scalar(w)
    sink.write(text)
    return _is_whole(w, text)


def read_arguments(w: Window, delimiters: Delimiters, sink: Sink) -> Step[bool]:
    """Read a value that is a call's arguments. Returns whether it was finished.

    `null` and `""` mean no arguments: `{}`. A string that holds an object is that object's text. A
    number or a word has no end of its own: it is finished as far as it is JSON.
    """
    while (first := w.peek()) is None:
        yield
    if first == '"':
        return (yield from _read_quoted_arguments(w, delimiters, sink))
    if first in ("{", "["):
        return (yield from _read_brackets(w, delimiters, sink))
    text = yield from _read_scalar(w)
    sink.write("{}" if text == "null" else text)
    return json_type(text) is not None


def _read_scalar(w: Window) -> Step[str]:
    """Read a number or a word, up to whitespace or punctuation, or to the end of the message."""
    pieces = []
    while True:
        found = _SCALAR_END.search(w.text, w.pos)
        pieces.append(w.take(found.start() if found else len(w.text)))
        if found or w.eof:
            return "".join(pieces)
        yield


def _is_whole(w: Window, scalar: str) -> bool:
    """Whether a scalar that was read is all there: a number at the end of the message may not be."""
    return scalar in ("true", "false", "null") or w.pos < len(w.text)


def _read_brackets(w: Window, delimiters: Delimiters, sink: Sink) -> Step[bool]:
    """At a bracket; reads until it is closed. Returns whether all brackets were, each by its own."""
    scan = _Scan(delimiters, w.fast_paths)
    in_string: FastPath | None = None
    between_strings: FastPath | None = None
    while True:
        end = scan.read(w.text, w.pos)
        if end > w.pos:
            sink.write(w.take(end))
        if scan.closed:
            return scan.brackets.matched
        if scan.at_delimiter:
            if (yield from _cut_off_here(w, delimiters, sink, scan.quoted)):
                return False
        elif w.eof:
            if end < len(w.text):
                sink.write(w.take(len(w.text)))  # a lone backslash
            return False
        else:
            if end == len(w.text) and scan.quoted:
                in_string = in_string or sink.fast_path(delimiters.stops.plain_inside)
                w.wait_with(in_string)
            elif end == len(w.text):
                plain = delimiters.stops.plain_between
                between_strings = between_strings or sink.fast_path(plain)
                w.wait_with(between_strings)
            yield


class _Scan:
    """Looks for the end of a value in brackets: the hot loop."""

    __slots__ = ("_fast", "_stops", "at_delimiter", "brackets", "closed", "quoted")

    def __init__(self, delimiters: Delimiters, fast: bool) -> None:
        self._stops = delimiters.stops
        self._fast = fast
        self.brackets = _Brackets()
        self.quoted = False
        self.closed = False
        self.at_delimiter = False  # or at what may become one

    def read(self, text: str, i: int) -> int:
        """Look through `text` from `i` on; returns where it stopped: behind the last bracket, at a
        delimiter, at a backslash that ends the text, or at the end."""
        stops, brackets, fast = self._stops, self.brackets, self._fast
        structure = stops.structure
        quoted = self.quoted
        self.at_delimiter = False
        while i < len(text):
            if fast and not quoted and len(text) - i > _SHORT:
                i, quoted = stops.pass_flat(text, i)
                if i == len(text):
                    break
            c = text[i]
            if quoted or c not in structure:
                found = (stops.inside if quoted else stops.between).search(text, i)
                if found is None:
                    i = len(text)
                    break
                i = found.start()
                if found.lastindex:
                    self.at_delimiter = True
                    break
                c = text[i]
            if c == '"':
                quoted = not quoted
            elif c == "\\":
                if i + 1 == len(text):
                    break  # what it escapes is still to come
                i += 1
            elif brackets.all_closed(c):
                self.closed = True
                i += 1
                break
            i += 1
        self.quoted = quoted
        return i


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


def _cut_off_here(w: Window, delimiters: Delimiters, sink: Sink, quoted: bool) -> Step[bool]:
    """At what may be a delimiter: does it, or the end of the message, end the value here?"""
    while (closer := delimiters.closes.here(w)) is None:
        yield
    if closer and quoted:
        text = yield from closer_in_string(w, delimiters)
        if text is not None:
            sink.write(text)
        return text is None
    if closer:
        return True
    if not quoted:
        while (opener := delimiters.starts.here(w)) is None:
            yield
        if opener:
            return True
    return w.eof and _cut_off_by_end(w, delimiters, sink, quoted)


def _cut_off_by_end(w: Window, delimiters: Delimiters, sink: Sink, quoted: bool) -> bool:
    """At the end of the message: whether it cut a delimiter off, which is read then. In a string it
    is text; elsewhere a closer is markup, but a lone bracket is JSON."""
    rest = w.text[w.pos :]
    closer = delimiters.closes.begun(rest)
    if not closer and (quoted or not delimiters.starts.begun(rest)):
        return False
    w.take(len(w.text))
    if quoted or rest in ("{", "[") or not closer:
        sink.write(rest)
    return True


def _read_string(
    w: Window, delimiters: Delimiters, sink: Sink, decoded: bool = False
) -> Step[bool]:
    """Behind an opening quote: read the string up to its closing quote.

    As it is written, closing quote and all; or `decoded`: the text that the string stands for.
    """
    fast_path: FastPath | None = None
    while True:
        found = delimiters.stops.inside.search(w.text, w.pos)
        end = found.start() if found else len(w.text)
        if end > w.pos:
            sink.write(w.take(end))
        if found is None:
            if w.eof:
                return False
            fast_path = fast_path or sink.fast_path(delimiters.stops.plain_text)
            w.wait_with(fast_path)
            yield
        elif found.lastindex:
            if (yield from _cut_off_here(w, delimiters, sink, True)):
                return False
        elif w.text[end] == '"':
            quote = w.take(end + 1)
            if not decoded:
                sink.write(quote)
            return True
        elif decoded:
            while (character := _read_escape(w)) is None:
                yield
            sink.write(character)
        else:
            while w.has(2) is None:
                yield
            sink.write(w.take(min(w.pos + 2, len(w.text))))


def _read_escape(w: Window) -> str | None:
    """At a backslash in a JSON string: the character it stands for (as written if it is none)."""
    if w.has(2) is None:
        return None
    letter = w.text[w.pos + 1 : w.pos + 2]
    if letter != "u":
        w.take(min(w.pos + 2, len(w.text)))
        return _ESCAPES.get(letter, letter or "\\")
    if w.has(6) is None:
        return None
    code = _HEX.match(w.text, w.pos + 2)
    if not code:
        return w.take(min(w.pos + 2, len(w.text)))
    first = int(code[0], 16)
    if 0xD800 <= first < 0xDC00:
        second = w.text[code.end() : code.end() + 6]  # of a pair, if it is one
        if not w.eof and (not second or (len(second) < 6 and _LOW_SURROGATE.fullmatch(second))):
            return None
        if len(second) == 6 and _LOW_SURROGATE.fullmatch(second):
            w.take(code.end() + 6)
            return chr(0x10000 + ((first - 0xD800) << 10) + (int(second[2:], 16) - 0xDC00))
    w.take(code.end())
    return chr(first)


def _read_quoted_arguments(w: Window, delimiters: Delimiters, sink: Sink) -> Step[bool]:
    """At the quote of a string that is a call's arguments."""
    raw = [w.take(w.pos + 1)]
    while True:  # does an object begin here, perhaps behind whitespace?
        while (space := w.space()) is None:
            yield
        raw.append(space)
        while (first := w.peek()) is None:
            yield
        if first != "\\":
            break
        while w.has(2) is None:
            yield
        if w.text[w.pos + 1 : w.pos + 2] not in ("n", "r", "t"):
            break
        raw.append(w.take(w.pos + 2))
    if first == '"' and "".join(raw) == '"':
        w.take(w.pos + 1)
        sink.write("{}")
        return True
    if first != "{":
        sink.write("".join(raw))
        return (yield from _read_string(w, delimiters, sink))
    inner = _Inner(sink)
    closed = yield from _read_string(w, delimiters, inner, decoded=True)
    return closed and inner.balanced


def write_inner(text: str, sink: Sink) -> bool:
    """Write the JSON text that stood in a string. Returns whether it is whole."""
    inner = _Inner(sink)
    inner.write(text)
    return inner.balanced


class _Inner(Sink):
    """The JSON text inside a string: passes it on, without whitespace at its end, and says whether
    it is whole."""

    __slots__ = ("_brackets", "_closed", "_escaped", "_more", "_quoted", "_sink", "_space")

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._brackets = _Brackets()
        self._closed = False
        self._more = False  # something follows the last bracket
        self._quoted = False
        self._escaped = False
        self._space: list[str] = []

    def write(self, piece: str) -> None:
        body = piece.rstrip()
        if body:
            self._sink.write("".join(self._space) + body)
            self._space.clear()
        if len(body) < len(piece):
            self._space.append(piece[len(body) :])
        if self._closed:
            self._more = self._more or bool(body)
            return
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
            elif not self._quoted and len(c) == 1 and self._brackets.all_closed(c):
                self._closed = True
                self._more = token.end() < len(body)
                return

    def fast_path(self, plain: Plain) -> FastPath:
        pass_on = self._sink.fast_path(plain)

        def fast_path(chunk: str) -> list[Event] | None:
            inside = self._quoted and not self._escaped and not self._space
            return pass_on(chunk) if inside and not chunk[-1].isspace() else None

        return fast_path

    @property
    def balanced(self) -> bool:
        return self._closed and self._brackets.matched and not self._more


def read_name(w: Window, delimiters: Delimiters) -> Step[str | None]:
    """Read a JSON string that is a key or a name; its text, or None if it is not finished.

    No key and no name holds a delimiter: there the string is given up, so that a lost quote does not
    swallow the next call.
    """
    whole = delimiters.stops.whole_name.match(w.text, w.pos) if w.fast_paths else None
    if whole:
        w.take(whole.end())
        return whole[1]
    while (quote := w.peek()) is None:
        yield
    if quote != '"':
        return None
    w.take(w.pos + 1)
    pieces: list[str] = []
    while True:
        found = delimiters.stops.name.search(w.text, w.pos)
        end = found.start() if found else len(w.text)
        if end > w.pos:
            pieces.append(w.take(end))
        if found is None:
            if w.eof:
                return None
            yield
        elif found.lastindex:
            if (yield from _name_ends(w, delimiters)):
                return None
            pieces.append(w.take(w.pos + 1))
        elif w.text[end] == '"':
            w.take(end + 1)
            return "".join(pieces)
        else:
            while (character := _read_escape(w)) is None:
                yield
            pieces.append(character)


def _name_ends(w: Window, delimiters: Delimiters) -> Step[bool]:
    """At what may be a delimiter inside a name: whether it is one, or the end of the message cuts it
    off."""
    while (opener := delimiters.starts.here(w)) is None:
        yield
    if opener:
        return True
    while (closer := delimiters.closes.here(w)) is None:
        yield
    return bool(closer) or w.eof


def read_key(w: Window, delimiters: Delimiters) -> Step[str | None]:
    """Read a key, its colon and the whitespace around that; None if there is none."""
    whole = delimiters.stops.whole_key.match(w.text, w.pos) if w.fast_paths else None
    if whole:
        w.take(whole.end())
        return whole[1]
    key = yield from read_name(w, delimiters)
    return (yield from read_colon(w, key))


def read_colon(w: Window, key: str | None) -> Step[str | None]:
    """Behind a key: read its colon and the whitespace around that. The key; None if there is none, or no
    colon."""
    while w.space() is None:
        yield
    while (colon := w.peek()) is None:
        yield
    if key is None or colon != ":":
        return None
    w.take(w.pos + 1)
    while w.space() is None:
        yield
    return key
