"""Reading values that are almost JSON, and writing JSON: Python literals, bare keys, bare words.

What is JSON already is copied as it stands. What is not is rewritten where it stands: other quotes,
other escapes, `True`, tuples, keys and words without quotes, a comma too many. So a value streams
however deep it is nested, and nothing is read twice.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ..schema.kinds import Kind, encode, json_type, python_word
from .containers import KNOWN_WORD, STRUCTURE, Nesting, Tokens, here_or_cut
from .delimiters import Delimiters, closer_in_string
from .literals import Literals, any_of, cut_off
from .sinks import Sink
from .window import FastPath, Step, Window

_ESCAPE_LENGTH: Final = {"x": 2, "u": 4, "U": 8}
_SAME_IN_JSON: Final = frozenset('"\\/bfnrt')
_PYTHON_ONLY: Final = {"a": "\a", "v": "\v", "'": "'"}
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_OCTAL: Final = re.compile(r"[0-7]{1,3}")
_PREFIXES: Final = frozenset({"r", "b", "u", "f", "rb", "br", "R", "B", "U", "F"})
_KNOWN_WORD: Final = re.compile(KNOWN_WORD).fullmatch
_PYTHON_NUMBER: Final = re.compile(
    r"[-+]?(?:0[xXoObB][0-9a-fA-F_]+|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9_]+)(?:[eE][-+]?[0-9_]+)?)"
)


class Dialect:
    """How strings are quoted, and whether the output keeps the model's own spacing."""

    __slots__ = ("escapes", "quotes", "spacing_kept")

    def __init__(
        self,
        quotes: tuple[str, ...] = ('"""', "'''", '"', "'"),
        escapes: bool = True,
        spacing_kept: bool = True,
    ) -> None:
        self.quotes = quotes
        self.escapes = escapes
        self.spacing_kept = spacing_kept


@dataclass(frozen=True, slots=True)
class _Patterns:
    quotes: Literals
    strings: dict[str, re.Pattern[str]]  # what to stop at inside a string, by its quote
    words: re.Pattern[str]  # what to stop at inside a word
    delimiter: re.Pattern[str] | None  # a delimiter of the format, or what may become one
    tokens: Tokens  # what is sure inside a container


@lru_cache(maxsize=256)
def _patterns(dialect: Dialect, delimiters: Delimiters) -> _Patterns:
    closes = delimiters.closes.spellings
    strings = {}
    for quote in dialect.quotes:
        # The groups stand at the ends for the reason that `first_of` gives.
        parts = [
            f"{re.escape(quote)}(?P<quote>)",
            f"(?:{any_of(closes)})(?P<close>)" if closes else "",
            r"\\(?P<escape>)" if dialect.escapes else "",
            f"{cut}(?P<cut>)" if (cut := cut_off([*closes, quote])) else "",
        ]
        strings[quote] = re.compile("|".join(part for part in parts if part))
    stops = [*closes, *delimiters.starts.spellings]
    parts = [
        f"(?P<stop>{any_of(stops)})" if stops else "",
        f"(?P<cut>{cut})" if (cut := cut_off(stops)) else "",
        r"(?P<punctuation>[,:()\[\]{}\"'])",
    ]
    words = re.compile("|".join(part for part in parts if part))
    return _Patterns(
        Literals(dialect.quotes),
        strings,
        words,
        re.compile(here_or_cut(stops)) if stops else None,
        Tokens(dialect.quotes, dialect.escapes, closes, stops),
    )


class LooseReader:
    """Reads values from the text and writes them as JSON."""

    def __init__(self, window: Window, delimiters: Delimiters, dialect: Dialect) -> None:
        self.window = window
        self.delimiters = delimiters
        self.dialect = dialect
        self._patterns = _patterns(dialect, delimiters)
        self.quotes = self._patterns.quotes
        #: whether the format has any delimiters
        self.delimited = self._patterns.delimiter is not None

    def quote(self) -> str | None:
        """The quote that stands here, or ""."""
        return self.quotes.here(self.window)

    def at_delimiter(self) -> bool | None:
        """Whether a delimiter of the format stands here: it cuts off whatever is being read. (One that
        is itself cut off by the end of the message is read.)"""
        w, closes = self.window, self.delimiters.closes
        found = closes.here(w)
        if found == "":
            found = self.delimiters.starts.here(w)
        if found is None or found:
            return None if found is None else True
        if w.eof and closes.begun(rest := w.text[w.pos :]) and rest not in ("{", "["):
            w.take(len(w.text))
            return True
        return False

    # -- strings ------------------------------------------------------------------------------

    def string(self, quote: str, sink: Sink) -> Step[bool]:
        """At a quote: read the string, write its text as JSON writes it, without quotes."""
        self.window.take(self.window.pos + len(quote))
        return (yield from self._string_text(quote, sink))

    def _string_text(self, quote: str, sink: Sink) -> Step[bool]:
        """Inside a string: read to its end. Returns whether it was closed."""
        w, same = self.window, self._patterns.tokens.same[quote]
        fast_path: FastPath | None = None
        while True:
            end = same.match(w.text, w.pos).end()  # type: ignore[union-attr]  # always matches
            if end > w.pos:
                sink.write(w.take(end))
            if w.text.startswith(quote, end):
                w.take(end + len(quote))
                return True
            if end < len(w.text):
                closed = yield from self._uncommon(quote, sink)
                if closed is not None:
                    return closed
            elif w.eof:
                return False
            else:
                fast_path = fast_path or sink.fast_path(same.fullmatch)
                w.wait_with(fast_path)
                yield

    def _uncommon(self, quote: str, sink: Sink) -> Step[bool | None]:
        """Inside a string, at text that JSON would write in another way, or that may be a delimiter:
        read some. Returns whether the string was closed if it ends there."""
        w = self.window
        found = self._patterns.strings[quote].search(w.text, w.pos)
        end = found.start() if found else len(w.text)
        if end > w.pos:
            sink.write(encode(w.take(end))[1:-1])
            return None
        kind = found.lastgroup if found else ""
        if kind == "escape":
            while (escape := self._escape()) is None:
                yield
            sink.write(escape)
        elif kind == "close":
            text = yield from closer_in_string(w, self.delimiters)
            if text is None:
                return False
            sink.write(encode(text)[1:-1])
        elif w.eof:
            sink.write(encode(w.take(len(w.text)))[1:-1])
            return False
        else:
            yield
        return None

    def _escape(self) -> str | None:
        """At a backslash: read the escape; returns it as JSON writes it."""
        w = self.window
        if w.has(2) is None:
            return None
        letter = w.text[w.pos + 1 : w.pos + 2]
        if letter in _ESCAPE_LENGTH:
            return self._coded_escape(letter)
        octal = _OCTAL.match(w.text, w.pos + 1)
        if octal:
            if octal.end() == len(w.text) and len(octal[0]) < 3 and not w.eof:
                return None
            w.take(octal.end())
            return encode(chr(int(octal[0], 8)))[1:-1]
        piece = w.take(min(w.pos + 2, len(w.text)))
        if not letter or letter in _SAME_IN_JSON:
            return piece
        if letter == "\n":
            return ""  # a line that goes on
        return encode(_PYTHON_ONLY.get(letter, piece))[1:-1]

    def _coded_escape(self, letter: str) -> str | None:
        """The same with a character's code in hexadecimal digits."""
        w = self.window
        start = w.pos + 2
        length = _ESCAPE_LENGTH[letter]
        found = _HEX.match(w.text, start, start + length)
        digits = found[0] if found else ""
        if len(digits) < length and start + len(digits) == len(w.text) and not w.eof:
            return None
        if len(digits) < length or (code := int(digits, 16)) > 0x10FFFF:
            return encode(w.take(min(w.pos + 2, len(w.text))))[1:-1]
        piece = w.take(start + length)
        return piece if letter == "u" else encode(chr(code))[1:-1]

    # -- words --------------------------------------------------------------------------------

    def word(self, ends: str) -> Step[tuple[str, bool]]:
        """Read a bare word, up to one of `ends` outside brackets; and whether it was finished."""
        w = self.window
        pieces: list[str] = []
        depth = 0
        while True:
            found = self._patterns.words.search(w.text, w.pos)
            end = found.start() if found else len(w.text)
            if end > w.pos:
                pieces.append(w.take(end))
            kind = found.lastgroup if found else "cut"
            if kind == "punctuation":
                c = w.text[w.pos]
                if not depth and (c in ends or (c in "\"'" and _is_prefix(pieces))):
                    return "".join(pieces).strip(), True
                depth += c in "([{"
                depth -= c in ")]}" and depth > 0
                pieces.append(w.take(w.pos + 1))
            elif kind == "stop":
                return "".join(pieces).strip(), True
            elif w.eof:
                pieces.append(w.take(len(w.text)))
                return "".join(pieces).strip(), False
            else:
                yield

    # -- containers ---------------------------------------------------------------------------

    def container(
        self, sink: Sink, kind_of: Callable[[str], Kind] | None = None, *, members: bool = False
    ) -> Step[bool]:
        """At a bracket: read to its end. Returns whether it was finished.

        `kind_of` tells the kind of a member of the outermost object. `members`: whether the sink is to
        hear of those members.
        """
        w, tokens, delimiter = self.window, self._patterns.tokens, self._patterns.delimiter
        nesting = Nesting(
            tokens,
            sink,
            members=members,
            spacing_kept=self.dialect.spacing_kept,
            typed=kind_of is not None,
            fast=w.fast_paths,
        )
        sure = -1
        while True:
            w.take(nesting.read(w.text, w.pos, sure))
            sure = -1
            if nesting.quote:
                if w.pos == len(w.text) and not w.eof:
                    w.wait_with(nesting.fast_path())
                    yield
                    continue
                closed = yield from self._string_text(nesting.quote, nesting.string_sink())
                nesting.end_string(closed)
                if not closed:
                    return False
            elif nesting.closed:
                return True
            elif w.pos == len(w.text):
                if w.eof:
                    return False
                yield
            elif delimiter and delimiter.match(w.text, w.pos) and (yield from self._cut_off()):
                return False
            elif w.text[w.pos] in STRUCTURE:
                sure = w.pos
            else:
                nesting.flush()
                if w.fast_paths and not w.eof and tokens.begun(w.text, w.pos):
                    yield  # `read` will know it when it has ended
                elif not (yield from self._token(nesting, kind_of)):
                    return False

    def _cut_off(self) -> Step[bool]:
        """At what may be a delimiter: whether it is one."""
        while (found := self.at_delimiter()) is None:
            yield
        return found

    def _token(self, nesting: Nesting, kind_of: Callable[[str], Kind] | None) -> Step[bool]:
        """Read a word inside a container, or the quote of a string. Returns whether it was all."""
        while (quote := self.quote()) is None:
            yield
        if not quote:
            word, finished = yield from self.word(":,{}[]()" if nesting.at_key else ",:]})")
            if word in _PREFIXES and not nesting.at_key:
                while (quote := self.quote()) is None:
                    yield
            if not quote:
                _write_word(nesting, word, finished, kind_of)
                return finished
        self.window.take(self.window.pos + len(quote))
        nesting.begin_string(quote)
        return True


def _write_word(
    nesting: Nesting, word: str, finished: bool, kind_of: Callable[[str], Kind] | None
) -> None:
    if nesting.at_key:
        nesting.sink.write(encode(word) if finished else encode(word)[:-1])
        if finished:
            nesting.key_read(word)
    elif finished:
        key = nesting.key if nesting.outermost else None
        nesting.sink.write(literal(word, kind_of(key) if kind_of and key is not None else None))
        nesting.value_read()
    else:
        nesting.sink.write(unfinished(word))


def _is_prefix(pieces: list[str]) -> bool:
    """Whether the word so far is what Python writes before a quote, as in `r"…"`."""
    return len(pieces) <= 2 and "".join(pieces) in _PREFIXES


def literal(word: str, kind: Kind | None) -> str:
    """A bare word as JSON: of its declared kind if it can be, else what it looks like."""
    if kind and (kind.types or kind.members is not None):
        value = kind.json_of(word)
        if value is not None:
            return value
        if "string" in kind.types:
            return encode(word)
    word = python_word(word)
    if _KNOWN_WORD(word) or json_type(word) is not None:
        return word
    return _python_number(word) or encode(word)


def _python_number(word: str) -> str:
    """A number that only Python writes this way (`1_000`, `.5`, `0x1f`), as JSON writes it."""
    if len(word) > 400 or not _PYTHON_NUMBER.fullmatch(word):
        return ""
    try:
        number = repr(ast.literal_eval(word.lstrip("+")))
    except (ValueError, SyntaxError):
        return ""
    return number if json_type(number) else ""


def unfinished(word: str) -> str:
    """A bare word that the end of the message cut off."""
    looks_literal = word[:1] in set("-0123456789") or any(
        full.startswith(word) for full in ("true", "false", "null", "True", "False", "None")
    )
    return word if looks_literal else encode(word)[:-1]
