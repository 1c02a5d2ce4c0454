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

from .literals import Literals, any_of, cut_off
from .marks import Marks, closer_in_string
from .reader import Reader, Sink, Step
from .schema import Kind, encode, json_type, python_word

_ESCAPE_LENGTH = {"x": 2, "u": 4, "U": 8}
_SAME_IN_JSON = frozenset('"\\/bfnrt')
_PYTHON_ONLY = {"a": "\a", "v": "\v", "'": "'"}
_HEX = re.compile(r"[0-9a-fA-F]+")
_OCTAL = re.compile(r"[0-7]{1,3}")
_STRUCTURE = frozenset("{[(}]),:")
_OPENING = {"{": "{", "[": "[", "(": "["}
_CLOSING = {"{": "}", "[": "]", "(": ")"}
_PREFIXES = frozenset({"r", "b", "u", "f", "rb", "br", "R", "B", "U", "F"})
_PYTHON_NUMBER = re.compile(
    r"[-+]?(?:0[xXoObB][0-9a-fA-F_]+|[0-9_]*\.?[0-9_]+\.?(?:[eE][-+]?[0-9_]+)?)"
)


@dataclass(frozen=True, slots=True)
class Dialect:
    """How strings are quoted, and whether the output keeps the model's own spacing."""

    quotes: tuple[str, ...] = ('"""', "'''", '"', "'")
    escapes: bool = True
    spacing_kept: bool = True


@dataclass(frozen=True, slots=True)
class _Patterns:
    quotes: Literals
    strings: dict[str, re.Pattern[str]]  # what to stop at inside a string, by its quote
    same: dict[str, re.Pattern[str]]  # text inside a string that JSON writes just so, by its quote
    words: re.Pattern[str]  # what to stop at inside a word


@lru_cache(maxsize=256)
def _patterns(dialect: Dialect, marks: Marks) -> _Patterns:
    closes = marks.closes.spellings
    strings, same = {}, {}
    for quote in dialect.quotes:
        # The groups stand at the ends for the reason that `first_of` gives.
        parts = [
            f"{re.escape(quote)}(?P<quote>)",
            f"(?:{any_of(closes)})(?P<close>)" if closes else "",
            r"\\(?P<escape>)" if dialect.escapes else "",
            f"{cut}(?P<cut>)" if (cut := cut_off([*closes, quote])) else "",
        ]
        strings[quote] = re.compile("|".join(part for part in parts if part))
        first = "".join(sorted({re.escape(literal[0]) for literal in (*closes, quote)}))
        plain = rf'[^\x00-\x1f"\\{first}]*'
        escape = rf'(?:\\["\\/bfnrt]{plain})*' if dialect.escapes else ""
        same[quote] = re.compile(plain + escape)
    stops = [*closes, *marks.starts.spellings]
    parts = [
        f"(?P<stop>{any_of(stops)})" if stops else "",
        f"(?P<cut>{cut})" if (cut := cut_off(stops)) else "",
        r"(?P<mark>[,:()\[\]{}\"'])",
    ]
    words = re.compile("|".join(part for part in parts if part))
    return _Patterns(Literals(dialect.quotes), strings, same, words)


class LooseReader:
    """Reads values from the text and writes them as JSON."""

    def __init__(self, r: Reader, marks: Marks, dialect: Dialect) -> None:
        self.r = r
        self.marks = marks
        self.dialect = dialect
        self._patterns = _patterns(dialect, marks)

    def quote(self) -> Step[str]:
        """The quote that stands here, or ""."""
        return (yield from self._patterns.quotes.here(self.r))

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
        r = self.r
        r.take(r.pos + len(quote))

        def text(piece: str) -> None:
            sink(encode(piece)[1:-1])

        passing = r.passing(self._patterns.same[quote].fullmatch, sink)
        while True:
            found = self._plain_text(quote, sink)
            kind = found.lastgroup if found else "cut"
            if kind == "quote":
                r.take(r.pos + len(quote))
                return True
            if kind == "escape":
                sink((yield from self._escape()))
            elif kind == "close":
                if (yield from closer_in_string(r, self.marks, text)):
                    return False
            elif r.eof:
                text(r.take(len(r.text)))
                return False
            else:
                if found is None:
                    r.shortcut = passing
                yield

    def _plain_text(self, quote: str, sink: Sink) -> re.Match[str] | None:
        """The hot loop: read text and simple escapes; gives what it stopped at, if anything."""
        same, search = self._patterns.same[quote].match, self._patterns.strings[quote].search
        text, end = self.r.text, self.r.pos
        while True:
            start, end = end, same(text, end).end()  # type: ignore[union-attr]  # always matches
            if end > start:
                sink(text[start:end])
            found = search(text, end)
            start, end = end, found.start() if found else len(text)
            if end == start:
                self.r.take(end)
                return found
            sink(encode(text[start:end])[1:-1])

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
        on_key: Callable[[str], None] = lambda key: None,
        on_value: Callable[[], None] = lambda: None,
    ) -> Step[bool]:
        """At a bracket: read to its end. Returns whether it was finished.

        `kind_of` tells the kind of a member of the outermost object; `on_key` and `on_value` hear of
        those members.
        """
        r = self.r
        brackets = _Nesting(sink, self.dialect.spacing_kept)
        key: str | None = None
        while True:
            brackets.space((yield from r.skip_space()))
            c = yield from r.peek()
            if not c or (yield from self.at_delimiter()):
                return False
            if c in _STRUCTURE:
                r.take(r.pos + 1)
                brackets.structure(c)
                if c in "}])" and brackets.depth <= 1:
                    on_value()
                if not brackets.depth:
                    return True
                continue
            brackets.flush()
            outermost = brackets.depth == 1
            if brackets.at_key:
                key = yield from self._key(sink)
                if key is None:
                    return False
                brackets.at_key = False
                if outermost:
                    on_key(key)
                continue
            kind = kind_of(key) if kind_of and outermost and key is not None else None
            if not (yield from self._scalar(sink, kind)):
                return False
            if outermost:
                on_value()

    def _key(self, sink: Sink) -> Step[str | None]:
        quote = yield from self.quote()
        if not quote:
            word, finished = yield from self.word(":,{}[]()")
            sink(encode(word) if finished else encode(word)[:-1])
            return word if finished else None
        pieces: list[str] = []
        closed = yield from self.string(quote, pieces.append)
        key = "".join(pieces)
        sink(f'"{key}"' if closed else f'"{key}')
        return key if closed else None

    def _scalar(self, sink: Sink, kind: Kind | None) -> Step[bool]:
        """A string or a word inside a container."""
        quote = yield from self.quote()
        if not quote:
            word, finished = yield from self.word(",:]})")
            quote = (yield from self.quote()) if word in _PREFIXES else ""
            if not quote:
                sink(literal(word, kind) if finished else unfinished(word))
                return finished
        sink('"')
        closed = yield from self.string(quote, sink)
        if closed:
            sink('"')
        return closed


class _Nesting:
    """The brackets, commas and colons of a container on their way out as JSON."""

    __slots__ = ("_before", "_kept", "_open", "_sink", "at_key")

    def __init__(self, sink: Sink, spacing_kept: bool) -> None:
        self._sink = sink
        self._kept = spacing_kept
        self._open: list[str] = []
        self._before = ""  # a comma and spacing: they wait, since the comma may be one too many
        self.at_key = False

    @property
    def depth(self) -> int:
        return len(self._open)

    def space(self, space: str) -> None:
        if self._kept:
            self._before += space

    def flush(self) -> None:
        self._sink(self._before)
        self._before = ""

    def structure(self, c: str) -> None:
        if c == ",":
            self._before += "," if self._kept else ", "
            self.at_key = self._open[-1] == "{"
        elif c == ":":
            self._sink(self._before + (":" if self._kept else ": "))
            self._before = ""
            self.at_key = False
        elif c in "{[(":
            self._sink(self._before + _OPENING[c])
            self._before = ""
            self._open.append(c)
            self.at_key = c == "{"
        else:
            self._close(c)

    def _close(self, c: str) -> None:
        """A bracket that closes another one than it should is passed on as it is."""
        matches = _CLOSING[self._open.pop()] == c
        space = "" if "," in self._before else self._before
        self._sink(space + ("]" if matches and c == ")" else c))
        self._before = ""
        self.at_key = False


def _is_prefix(pieces: list[str]) -> bool:
    """Whether the word so far is what Python writes before a quote, as in `r"…"`."""
    return len(pieces) <= 2 and "".join(pieces) in _PREFIXES


def literal(word: str, kind: Kind | None) -> str:
    """A bare word as JSON: of its declared kind if it can be, else what it looks like."""
    if kind and (kind.types or kind.values is not None):
        value = kind.json_of(word)
        if value is not None:
            return value
        if "string" in kind.types:
            return encode(word)
    word = python_word(word)
    if json_type(word) is not None:
        return word
    return _python_number(word) or encode(word)


def _python_number(word: str) -> str:
    """A number that only Python writes this way (`1_000`, `.5`, `0x1f`), as JSON writes it."""
    if not _PYTHON_NUMBER.fullmatch(word) or len(word) > 400:
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
