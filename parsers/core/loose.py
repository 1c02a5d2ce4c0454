"""Reading values that are almost JSON, and writing JSON: Python literals, bare keys, bare words.

What is JSON already is copied as it stands. What is not is rewritten where it stands: other quotes,
other escapes, `True`, tuples, keys and words without quotes, a comma too many. So a value streams
however deep it is nested, and nothing is read twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ..schema.kinds import Kind, encode
from .containers import Nesting
from .delimiters import Delimiters, closer_in_string
from .dialects import Dialect, patterns_of
from .escapes import read_escape
from .sinks import Sink
from .tokens import STRUCTURE
from .window import FastPath, Step, Window
from .words import is_literal, is_prefix, is_raw, literal, unfinished

_PREFIX: Final = re.compile("[rbufRBUF]{1,2}").match
_PREFIX_LETTERS: Final = frozenset("rbufRBUF")
#: Longer words are neither numbers nor what stands before a quote.
_LONGEST: Final = 400
_NO_STRING: Final = ("", "")


class LooseReader:
    """Reads values from the text and writes them as JSON."""

    def __init__(
        self, window: Window, delimiters: Delimiters, dialect: Dialect, strict: bool = False
    ) -> None:
        """`strict`: words that neither JSON nor Python knows are no values, and are written as they
        are."""
        self.window = window
        self._strict = strict
        self.delimiters = delimiters
        self.dialect = dialect
        self._patterns = patterns_of(dialect, delimiters)
        self.quotes = self._patterns.quotes
        #: what the format's delimiters begin with, and a bracket that closes none; "" is the end
        self.initials = self._patterns.initials

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

    def string(self, quote: str, sink: Sink, raw: bool = False) -> Step[bool]:
        """At a quote: read the string, write its text as JSON writes it, without quotes. `raw`: nothing
        in it is escaped, but that a backslash before a quote keeps it from ending the string."""
        self.window.take(self.window.pos + len(quote))
        return (yield from self._string_text(quote, sink, raw))

    def _string_text(self, quote: str, sink: Sink, raw: bool) -> Step[bool]:
        """Inside a string: read to its end. Returns whether it was closed."""
        tokens = self._patterns.tokens
        w, same = self.window, (tokens.same_raw if raw else tokens.same)[quote]
        fast_path: FastPath | None = None
        while True:
            end = same.match(w.text, w.pos).end()  # type: ignore[union-attr]  # always matches
            if end > w.pos:
                sink.write(w.take(end))
            if w.text.startswith(quote, end):
                w.take(end + len(quote))
                return True
            if end < len(w.text):
                closed = yield from self._uncommon(quote, sink, raw)
                if closed is not None:
                    return closed
            elif w.eof:
                return False
            else:
                fast_path = fast_path or sink.fast_path(tokens.plain(quote, raw))
                w.wait_with(fast_path)
                yield

    def _uncommon(self, quote: str, sink: Sink, raw: bool) -> Step[bool | None]:
        """Inside a string, at text that JSON would write in another way, or that may be a delimiter:
        read some. Returns whether the string was closed if it ends there."""
        w = self.window
        found = self._patterns.strings[quote].search(w.text, w.pos)
        end = found.start() if found else len(w.text)
        if end > w.pos:
            sink.write(encode(w.take(end))[1:-1])
            return None
        kind = found.lastgroup if found else ""
        if kind == "escape" and raw:
            while w.has(2) is None:
                yield
            sink.write(encode(w.take(min(w.pos + 2, len(w.text))))[1:-1])
        elif kind == "escape":
            while (escape := read_escape(w)) is None:
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

    # -- words --------------------------------------------------------------------------------

    def word(self, ends: str, in_line: bool = False) -> Step[tuple[str, bool]]:
        """Read a bare word, up to one of `ends` outside brackets; and whether it was finished.
        `in_line`: it ends with its line, too, and at a bracket that closes none of its own. A quote that
        the end of the message has cut off is no word, but read, too."""
        w = self.window
        left = len(w.text) - w.pos
        if w.eof and left < self.quotes.longest and self.quotes.begun(w.text[w.pos :]):
            w.take(len(w.text))
            return "", False
        pieces: list[str] = []
        depth = length = 0
        while True:
            found = self._patterns.words.search(w.text, w.pos)
            end = found.start() if found else len(w.text)
            if end > w.pos:
                length += end - w.pos
                pieces.append(w.take(end))
            kind = found.lastgroup if found else "cut"
            if kind == "punctuation":
                c = w.text[w.pos]
                if not depth and (
                    c in ends
                    or (in_line and c in "\n]}")
                    or (length < _LONGEST and self._word_ends(c, pieces))
                ):
                    return "".join(pieces).strip(), True
                depth += c in "([{"
                depth -= c in ")]}" and depth > 0
                length += 1
                pieces.append(w.take(w.pos + 1))
            elif kind == "stop":
                return "".join(pieces).strip(), True
            elif w.eof:
                pieces.append(w.take(len(w.text)))
                return "".join(pieces).strip(), False
            else:
                yield

    def _word_ends(self, c: str, pieces: list[str]) -> bool:
        """Whether a word ends before a character that is none of those it is read up to: a quote behind
        what Python writes before one, a comment behind what Python knows."""
        if c in "\"'":
            return len(pieces) <= 2 and is_prefix("".join(pieces))
        if c != "#":
            return False
        word = "".join(pieces)
        return self.dialect.python and word[-1:].isspace() and is_literal(word.strip())

    def string_ahead(self) -> tuple[str, str] | None:
        """The prefix and the quote of the string that stands here; "" and "" if none does."""
        w = self.window
        text, pos = w.text, w.pos
        if pos == len(text):
            return None if not w.eof else _NO_STRING
        if not self.dialect.python or text[pos] not in _PREFIX_LETTERS:
            quote = self.quotes.here(w)
            return None if quote is None else ("", quote) if quote else _NO_STRING
        found = _PREFIX(text, pos)
        if found is None or (found.end() == len(text) and not w.eof):
            return None
        if not is_prefix(found[0]):
            return _NO_STRING
        quote = self.quotes.here(w, len(found[0]))
        return None if quote is None else (found[0], quote) if quote else _NO_STRING

    def comment(self) -> Step[str]:
        """At what begins a comment: read it, up to the end of its line."""
        w = self.window
        pieces: list[str] = []
        while True:
            end = w.text.find("\n", w.pos)
            pieces.append(w.take(len(w.text) if end < 0 else end))
            if end >= 0 or w.eof:
                return "".join(pieces)
            yield

    # -- containers ---------------------------------------------------------------------------

    def container(
        self,
        sink: Sink,
        kind_of: Callable[[str], Kind] | None = None,
        *,
        members: bool = False,
        open_end: bool = False,
    ) -> Step[bool]:
        """At a bracket: read to its end. Returns whether it was finished.

        `kind_of` tells the kind of a member of the outermost object. `members`: whether the sink is to
        hear of those members. `open_end`: the last bracket is not written.
        """
        w, tokens, delimiter = self.window, self._patterns.tokens, self._patterns.delimiter
        nesting = Nesting(
            tokens,
            sink,
            members=members,
            spacing_kept=self.dialect.spacing_kept,
            typed=kind_of is not None,
            open_end=open_end,
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
                closed = yield from self._string_text(
                    nesting.quote, nesting.string_sink(), nesting.raw
                )
                nesting.end_string(closed)
                if not closed:
                    break
            elif nesting.closed:
                return nesting.matched
            elif w.pos == len(w.text):
                if w.eof:
                    break
                yield
            elif delimiter and delimiter.match(w.text, w.pos) and (yield from self._cut_off()):
                break
            elif w.text[w.pos] in STRUCTURE:
                sure = w.pos
            else:
                if w.fast_paths and not w.eof and tokens.begun(w.text, w.pos):
                    yield  # `read` will know it when it has ended
                elif not (yield from self._token(nesting, kind_of)):
                    break
        nesting.finish()
        return False

    def _cut_off(self) -> Step[bool]:
        """At what may be a delimiter: whether it is one."""
        while (found := self.at_delimiter()) is None:
            yield
        return found

    def _token(self, nesting: Nesting, kind_of: Callable[[str], Kind] | None) -> Step[bool]:
        """Read a word inside a container, or the quote of a string. Returns whether it was all."""
        while (string := self.string_ahead()) is None:
            yield
        prefix, quote = string
        if not quote:
            if nesting.at_key:
                word, finished = yield from self.word(":,{}[]()")
            elif kind_of is not None and nesting.outermost:
                word, finished = yield from self._member_word()
            else:
                word, finished = yield from self.word(",:]})")
            self._write_word(nesting, word, finished, kind_of)
            return finished
        self.window.take(self.window.pos + len(prefix) + len(quote))
        nesting.begin_string(quote, is_raw(prefix))
        return True

    def _member_word(self) -> Step[tuple[str, bool]]:
        """Read a word that is all of a member's value: a comma is part of it where no key follows."""
        w = self.window
        pieces: list[str] = []
        while True:
            word, finished = yield from self.word(",})")
            pieces.append(word)
            while (c := w.peek()) is None:
                yield
            if not finished or c != ",":
                break
            while (follows := self._key_follows()) is None:
                yield
            if follows:
                break
            pieces.append(w.take(w.pos + 1))
            while (space := w.space()) is None:
                yield
            pieces.append(space)
        return "".join(pieces), finished

    def _key_follows(self) -> bool | None:
        """At a comma: whether a key and its colon follow it, or the end of the object."""
        w = self.window
        if self._patterns.next_key.match(w.text, w.pos):
            return True
        return None if not w.eof and self._patterns.next_key_begun.match(w.text, w.pos) else False

    def _write_word(
        self,
        nesting: Nesting,
        word: str,
        finished: bool,
        kind_of: Callable[[str], Kind] | None,
    ) -> None:
        if self._strict and not is_literal(word):
            nesting.write(word or "?")
            nesting.value_read()
            return
        if nesting.at_key:
            nesting.write(encode(word) if finished else encode(word)[:-1])
            if finished:
                nesting.key_read(word, word)
            return
        key = nesting.key if nesting.outermost else None
        quote = next((q for q in self.dialect.raw if word.endswith(q)), "")
        if quote and finished:  # of a string whose first quote was lost
            nesting.write(encode(word.removesuffix(quote)))
        elif finished:
            nesting.write(literal(word, kind_of(key) if kind_of and key is not None else None))
        else:
            nesting.write(unfinished(word))
            return
        nesting.value_read()
