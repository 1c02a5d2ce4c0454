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

from .containers import KNOWN_WORD, STRUCTURE, Nesting, Tokens, here_or_cut
from .literals import Literals, any_of, cut_off
from .marks import Marks, closer_in_string
from .reader import Reader, Shortcut, Sink, Step
from .schema import Kind, encode, json_type, python_word

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
def _patterns(dialect: Dialect, marks: Marks) -> _Patterns:
    closes = marks.closes.spellings
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
    stops = [*closes, *marks.starts.spellings]
    parts = [
        f"(?P<stop>{any_of(stops)})" if stops else "",
        f"(?P<cut>{cut})" if (cut := cut_off(stops)) else "",
        r"(?P<mark>[,:()\[\]{}\"'])",
    ]
    words = re.compile("|".join(part for part in parts if part))
    return _Patterns(
        Literals(dialect.quotes),
        strings,
        words,
        re.compile(here_or_cut(stops)) if stops else None,
        Tokens(dialect.quotes, dialect.escapes, closes, stops),
    )


def ignore_key(key: str) -> None:
    """For a member that nobody waits for: its key."""


def ignore_value() -> None:
    """The same: its value is over."""


class LooseReader:
    """Reads values from the text and writes them as JSON."""

    def __init__(self, r: Reader, marks: Marks, dialect: Dialect) -> None:
        self.r = r
        self.marks = marks
        self.dialect = dialect
        self._patterns = _patterns(dialect, marks)
        self.quotes = self._patterns.quotes
        #: whether the format has any delimiters
        self.delimited = self._patterns.delimiter is not None

    def quote(self) -> Step[str]:
        """The quote that stands here, or ""."""
        return (yield from self.quotes.here(self.r))

    def at_delimiter(self) -> Step[bool]:
        """Whether a delimiter of the format stands here: it cuts off whatever is being read."""
        r, marks = self.r, self.marks
        if (yield from marks.closes.here(r)) or (yield from marks.starts.here(r)):
            return True
        if r.eof and marks.closes.begun(rest := r.text[r.pos :]) and rest not in ("{", "["):
            r.take(len(r.text))
            return True
        return False

    def string(self, quote: str, sink: Sink) -> Step[bool]:
        """At a quote: read the string, write its text as JSON writes it, without quotes."""
        self.r.take(self.r.pos + len(quote))
        return (yield from self._string_text(quote, sink))

    def _string_text(self, quote: str, sink: Sink) -> Step[bool]:
        """Inside a string: read to its end. Returns whether it was closed."""
        r, same = self.r, self._patterns.tokens.same[quote]
        passing: Shortcut | None = None
        while True:
            end = same.match(r.text, r.pos).end()  # type: ignore[union-attr]  # always matches
            if end > r.pos:
                sink(r.take(end))
            if r.text.startswith(quote, end):
                r.take(end + len(quote))
                return True
            if end < len(r.text):
                closed = yield from self._uncommon(quote, sink)
                if closed is not None:
                    return closed
            elif r.eof:
                return False
            else:
                r.shortcut = passing = passing or r.passing(same.fullmatch, sink)
                yield

    def _uncommon(self, quote: str, sink: Sink) -> Step[bool | None]:
        """Inside a string, at text that JSON would write in another way, or that may be a delimiter:
        read some. Returns whether the string was closed if it ends there."""
        r = self.r
        found = self._patterns.strings[quote].search(r.text, r.pos)
        end = found.start() if found else len(r.text)
        if end > r.pos:
            sink(encode(r.take(end))[1:-1])
            return None
        kind = found.lastgroup if found else ""
        if kind == "escape":
            sink((yield from self._escape()))
        elif kind == "close":
            if (yield from closer_in_string(r, self.marks, lambda text: sink(encode(text)[1:-1]))):
                return False
        elif r.eof:
            sink(encode(r.take(len(r.text)))[1:-1])
            return False
        else:
            yield
        return None

    def _escape(self) -> Step[str]:
        """At a backslash: the escape as JSON writes it."""
        r = self.r
        yield from _wait(r, 2)
        letter = r.text[r.pos + 1 : r.pos + 2]
        if letter in _ESCAPE_LENGTH:
            return (yield from self._coded_escape(letter))
        if letter.isdigit() and letter in "01234567":
            for length in (3, 4):
                if _OCTAL.fullmatch(r.text, r.pos + 1, r.pos + length - 1):
                    yield from _wait(r, length)
            found = _OCTAL.match(r.text, r.pos + 1)
            assert found
            r.take(found.end())
            return encode(chr(int(found[0], 8)))[1:-1]
        piece = r.take(min(r.pos + 2, len(r.text)))
        if not letter or letter in _SAME_IN_JSON:
            return piece
        if letter == "\n":
            return ""  # a line that goes on
        return encode(_PYTHON_ONLY.get(letter, piece))[1:-1]

    def _coded_escape(self, letter: str) -> Step[str]:
        r = self.r
        length = _ESCAPE_LENGTH[letter]
        for count in range(1, length + 1):  # one by one: nothing waits longer than it must
            yield from _wait(r, 2 + count)
            if not _HEX.fullmatch(r.text, r.pos + 2, r.pos + 2 + count):
                break
        found = _HEX.match(r.text, r.pos + 2, r.pos + 2 + length)
        if not found or len(found[0]) < length or (code := int(found[0], 16)) > 0x10FFFF:
            return encode(r.take(min(r.pos + 2, len(r.text))))[1:-1]
        piece = r.take(found.end())
        return piece if letter == "u" else encode(chr(code))[1:-1]

    def word(self, ends: str) -> Step[tuple[str, bool]]:
        """Read a bare word, up to one of `ends` outside brackets; and whether it was finished."""
        r = self.r
        pieces: list[str] = []
        depth = 0
        while True:
            found = self._patterns.words.search(r.text, r.pos)
            end = found.start() if found else len(r.text)
            if end > r.pos:
                pieces.append(r.take(end))
            kind = found.lastgroup if found else "cut"
            if kind == "mark":
                c = r.text[r.pos]
                if not depth and (c in ends or (c in "\"'" and _is_prefix(pieces))):
                    return "".join(pieces).strip(), True
                depth += c in "([{"
                depth -= c in ")]}" and depth > 0
                pieces.append(r.take(r.pos + 1))
            elif kind == "stop":
                return "".join(pieces).strip(), True
            elif r.eof:
                pieces.append(r.take(len(r.text)))
                return "".join(pieces).strip(), False
            else:
                yield

    def container(
        self,
        sink: Sink,
        kind_of: Callable[[str], Kind] | None = None,
        on_key: Callable[[str], None] = ignore_key,
        on_value: Callable[[], None] = ignore_value,
    ) -> Step[bool]:
        """At a bracket: read to its end. Returns whether it was finished.

        `kind_of` tells the kind of a member of the outermost object; `on_key` and `on_value` hear of
        those members.
        """
        r, tokens, delimiter = self.r, self._patterns.tokens, self._patterns.delimiter
        nesting = Nesting(
            tokens,
            sink,
            on_key,
            on_value,
            spacing_kept=self.dialect.spacing_kept,
            typed=kind_of is not None,
        )
        sure = -1
        while True:
            r.take(nesting.read(r.text, r.pos, sure))
            sure = -1
            if nesting.quote:
                if r.pos == len(r.text) and not r.eof:
                    r.shortcut = nesting.passing(r)
                    yield
                    continue
                closed = yield from self._string_text(nesting.quote, nesting.string_sink())
                nesting.end_string(closed)
                if not closed:
                    return False
            elif nesting.closed:
                return True
            elif r.pos == len(r.text):
                if r.eof:
                    return False
                yield
            elif delimiter and delimiter.match(r.text, r.pos) and (yield from self.at_delimiter()):
                return False
            elif r.text[r.pos] in STRUCTURE:
                sure = r.pos
            else:
                nesting.flush()
                if not r.eof and tokens.begun(r.text, r.pos):
                    yield  # `read` will know it when it has ended
                elif not (yield from self._token(nesting, kind_of)):
                    return False

    def _token(self, nesting: Nesting, kind_of: Callable[[str], Kind] | None) -> Step[bool]:
        """Read a word inside a container, or the quote of a string. Returns whether it was all."""
        quote = yield from self.quote()
        if not quote:
            word, finished = yield from self.word(":,{}[]()" if nesting.at_key else ",:]})")
            if word in _PREFIXES and not nesting.at_key:
                quote = yield from self.quote()
            if not quote:
                _write_word(nesting, word, finished, kind_of)
                return finished
        self.r.take(self.r.pos + len(quote))
        nesting.begin_string(quote)
        return True


def _write_word(
    nesting: Nesting, word: str, finished: bool, kind_of: Callable[[str], Kind] | None
) -> None:
    if nesting.at_key:
        nesting.sink(encode(word) if finished else encode(word)[:-1])
        if finished:
            nesting.key_read(word)
    elif finished:
        key = nesting.key if nesting.outermost else None
        nesting.sink(literal(word, kind_of(key) if kind_of and key is not None else None))
        nesting.value_read()
    else:
        nesting.sink(unfinished(word))


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


def _wait(r: Reader, count: int) -> Step[None]:
    """Wait for `count` characters, or the end of the message."""
    while len(r.text) - r.pos < count and not r.eof:
        yield
