"""The inside of brackets that are almost JSON: what the window tells for sure, read in one go.

`Nesting` keeps the brackets, commas and colons of a container on their way out as JSON. Its `read` is
the hot loop of nested values: it takes tokens as long as each can mean one thing only, whatever
follows the window. It stops in front of anything else (what may be a delimiter of the format, a quote
that may become three, a bare word), and inside a string that the window cuts or that JSON writes in
another way. Whoever called it reads that with care, and calls it again behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ..schema.kinds import encode, python_word
from .literals import MOST_REPEATS, POSSESSIVE, any_of, cut_off, first_characters
from .sinks import Pieces, Sink
from .window import FastPath

STRUCTURE: Final = frozenset("{[(}]),:")
_SPACE: Final = re.compile(r"\s+").match
_CLOSING: Final = {"{": "}", "[": "]", "(": ")"}
#: A word that JSON or Python knows: what it means needs no second look.
KNOWN_WORD: Final = (
    r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,4})?"
    r"|true|false|null|True|False|None"
)
# Longer words go the careful way: where they do not fit, `re` goes back over all of them.
_LONGEST_WORD: Final = 100
_LONGEST_WAITING: Final = 24
# Pieces that are joined at once: many small ones take several times the memory of their text.
_MOST_PIECES: Final = 1000


def _same_in_json(quote: str, closes: Iterable[str], escapes: bool) -> str:
    """A pattern for text inside a string that JSON writes just so: all there is, or much of it."""
    plain = rf"[^\x00-\x1f{first_characters((*closes, quote), chr(34) + chr(92))}]*{POSSESSIVE}"
    return rf'{plain}(?:\\["\\/bfnrt]{plain}){{0,{MOST_REPEATS}}}{POSSESSIVE}' if escapes else plain


def here_or_cut(literals: Sequence[str]) -> str:
    """A pattern for any of `literals`, and for the beginning of one at the end of the text."""
    return "|".join(part for part in (any_of(literals), cut_off(literals)) if part)


class Tokens:
    """What `Nesting.read` can tell without a doubt, in one dialect of one format.

    The groups of `match` are for each quote a string's text, and its end if it is there; a word that
    is known; any other word. So a string's text has an odd number.
    """

    __slots__ = ("begun", "known", "match", "quotes", "rest", "same", "structure")

    def __init__(
        self, quotes: Sequence[str], escapes: bool, closes: Sequence[str], stops: Sequence[str]
    ) -> None:
        """`closes` may cut off a string; `stops`, which has them all, anything else."""
        first = {literal[0] for literal in stops}
        #: brackets, commas and colons that no delimiter begins with
        self.structure = STRUCTURE - first
        self.quotes = quotes
        self.known = 2 * len(quotes) + 1
        no_quote = f"(?![{first_characters(quotes)}])"
        #: what is best left in the window until it is decided: a quote, and a word that is short
        #: (a long one would be looked at too often)
        word = rf"{no_quote}[\w.+-]{{1,{_LONGEST_WAITING}}}\Z"
        self.begun = re.compile("|".join(filter(None, (word, cut_off(quotes))))).match
        same = {quote: _same_in_json(quote, closes, escapes) for quote in quotes}
        rest = {quote: f"({same[quote]})({re.escape(quote)})?" for quote in quotes}
        #: text inside a string that JSON writes just so, by the quote
        self.same = {quote: re.compile(same[quote]) for quote in quotes}
        #: the same, and the quote behind it if it is there
        self.rest = {quote: re.compile(rest[quote]).match for quote in quotes}
        branches = [_begin(quote, quotes) + rest[quote] for quote in quotes]
        ends = first_characters((), "".join(set(",:]})") - first))
        if ends:
            punctuation = ",:()[]{}" + chr(34) + chr(39)
            begin = rf"[^\s{first_characters((*stops, *quotes), punctuation)}]"
            within = rf"[^{first_characters(stops, punctuation)}]"
            word = rf"{begin}{within}{{0,{_LONGEST_WORD - 1}}}"
            branches += [rf"({KNOWN_WORD})\s{{0,9}}(?=[{ends}])", rf"({word})(?=[{ends}])"]
        token = "|".join(branches)
        if stops:
            token = f"(?!{here_or_cut(stops)})(?:{token})"
        self.match = re.compile(token).match


def _begin(quote: str, quotes: Sequence[str]) -> str:
    """A pattern for `quote` where it begins a string: three quotes are not an empty string and a
    quote, and an empty string at the end of the window may be two quotes of three."""
    longer = [q.removeprefix(quote) for q in quotes if q != quote and q.startswith(quote)]
    return re.escape(quote) + (rf"(?!{here_or_cut(longer)}|\Z)" if longer else "")


class Nesting:
    """The brackets, commas and colons of a container on their way out as JSON.

    What `read` reads is written at once in the end, but for the outermost members: who hears of them
    has to have seen all that stands before, and nothing behind.
    """

    __slots__ = (
        "_before",
        "_colon",
        "_comma",
        "_fast",
        "_fast_paths",
        "_key",
        "_members",
        "_open",
        "_out",
        "_spacing_kept",
        "_tokens",
        "_typed",
        "at_key",
        "closed",
        "key",
        "quote",
        "sink",
    )

    def __init__(
        self,
        tokens: Tokens,
        sink: Sink,
        *,
        members: bool,
        spacing_kept: bool,
        typed: bool,
        fast: bool,
    ) -> None:
        """`members`: the sink hears of the outermost members. `typed`: their words have declared
        kinds, which are not known here. `fast`: whether tokens are read here, and not just what
        stands between them."""
        self.sink = sink
        self._tokens = tokens
        self._members = members
        self._spacing_kept = spacing_kept
        self._typed = typed
        self._fast = fast
        self._comma, self._colon = (",", ":") if spacing_kept else (", ", ": ")
        self._open: list[str] = []  # what should close the brackets that are open
        self._out: list[str] = []  # what is still to be written
        self._before: list[str] = []  # commas and spacing: they wait, a comma may be one too many
        self._key = Pieces()  # the key that is being read
        self._fast_paths: dict[tuple[str, bool], FastPath] = {}
        self.at_key = False
        self.closed = False
        self.key: str | None = None  # the last one
        self.quote = ""  # of the string that is being read

    @property
    def outermost(self) -> bool:
        return len(self._open) == 1

    # -- what was read elsewhere --------------------------------------------------------------

    def flush(self) -> None:
        """A key or a value follows: what waited for it goes out."""
        if self._before:
            self.sink.write("".join(self._before))
            self._before.clear()

    def begin_string(self, quote: str) -> None:
        self.quote = quote
        if not self.at_key:
            self.sink.write('"')

    def string_sink(self) -> Sink:
        """Where the text of the string at hand goes: a key is kept until it is whole."""
        return self._key if self.at_key else self.sink

    def fast_path(self) -> FastPath:
        """For chunks inside the string at hand."""
        place = (self.quote, self.at_key)
        fast_path = self._fast_paths.get(place)
        if fast_path is None:
            fast_path = self.string_sink().fast_path(self._tokens.same[self.quote].fullmatch)
            self._fast_paths[place] = fast_path
        return fast_path

    def end_string(self, closed: bool) -> None:
        self.quote = ""
        if self.at_key:
            key = self._key.take()
            self.sink.write(f'"{key}"' if closed else f'"{key}')
            if closed:
                self.key_read(key)
        elif closed:
            self.sink.write('"')
            self.value_read()

    def key_read(self, key: str) -> None:
        self.key = key
        self.at_key = False
        if self._members and len(self._open) == 1:
            self._write()
            self.sink.on_key(key)

    def value_read(self) -> None:
        if self._members and len(self._open) <= 1:
            self._write()
            self.sink.on_value()

    # -- the hot loop -------------------------------------------------------------------------

    def read(self, text: str, pos: int, sure: int) -> int:
        """Read tokens from `pos` on, up to the last bracket; returns where it stopped.

        `sure` is where no delimiter of the format stands though it may seem so.
        """
        if self.quote:
            if self._fast:
                pos = self._read_string(text, pos)
            if self.quote:
                return pos
        structure, last = self._tokens.structure, len(text) - 1
        while pos <= last:
            c = text[pos]
            if c in structure or (pos == sure and c in STRUCTURE):
                pos += 1
                if c in "]})":
                    self._close(c)
                    if self.closed:
                        break
                elif c in ",:":
                    self._separate(c)
                    if pos <= last and text[pos] == " ":  # most often one is all there is
                        pos += 1
                        if self._spacing_kept:
                            self._before.append(" ")
                else:
                    self._begin(c)
            elif c.isspace():
                end = _SPACE(text, pos).end()  # type: ignore[union-attr]  # one stands here
                if self._spacing_kept:
                    self._before.append(text[pos:end])
                pos = end
            else:
                end = self._read_token(text, pos) if pos < last else pos
                if end == pos:
                    break
                pos = end
                if self.quote:
                    break
        self._write()
        return pos

    def _begin(self, bracket: str) -> None:
        self._pass_before()
        self._out.append("[" if bracket == "(" else bracket)
        self._open.append(_CLOSING[bracket])
        self.at_key = bracket == "{"

    def _separate(self, c: str) -> None:
        if c == ",":
            self._before.append(self._comma)
            self.at_key = self._open[-1] == "}"
        else:
            self._pass_before()
            self._out.append(self._colon)
            self.at_key = False

    def _close(self, bracket: str) -> None:
        if self._comma in self._before:
            self._before.clear()
        self._pass_before()
        # A bracket that closes another one than it should is passed on as it is.
        self._out.append("]" if self._open.pop() == bracket == ")" else bracket)
        self.at_key = False
        self.value_read()
        self.closed = not self._open

    def _read_token(self, text: str, pos: int) -> int:
        """Read a word or a string, as far as it is there; returns where it ends, which is `pos` where
        that can't be told."""
        tokens, out = self._tokens, self._out
        found = tokens.match(text, pos) if self._fast else None
        if found is None:
            return pos
        group, known = found.lastindex or 0, tokens.known
        if group >= known and not self.at_key and (group > known or self._typed):
            return pos
        self._pass_before()
        if group >= known:
            token = found[group].rstrip() if self.at_key else found[group]
            out.append(encode(token) if self.at_key else python_word(token))
        elif group % 2 == 0:
            token = found[group - 1]
            out.append(f'"{token}"')
        else:  # a string whose end is not in sight
            self._write()
            self.begin_string(tokens.quotes[group // 2])
            if token := found[group]:
                self.string_sink().write(token)
            return found.end()
        if self.at_key:
            self.key_read(token)
        else:
            self.value_read()
        if len(out) > _MOST_PIECES:
            self._write()
        return found.end()

    def _read_string(self, text: str, pos: int) -> int:
        """The same inside a string."""
        found = self._tokens.rest[self.quote](text, pos)
        assert found
        if piece := found[1]:
            self.string_sink().write(piece)
        if found.lastindex == 2:
            self.end_string(True)
        return found.end()

    def _pass_before(self) -> None:
        if self._before:
            self._out += self._before
            self._before.clear()

    def _write(self) -> None:
        if self._out:
            self.sink.write("".join(self._out))
            self._out.clear()
