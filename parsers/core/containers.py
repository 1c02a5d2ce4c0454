"""The inside of brackets that are almost JSON: what the window tells for sure, read in one go.

`Nesting` keeps the brackets, commas and colons of a container on their way out as JSON. Its `read` is
the hot loop of nested values: it takes tokens as long as each can mean one thing only, whatever
follows the window. It stops in front of anything else (what may be a delimiter of the format, a quote
that may become three, a bare word), and inside a string that the window cuts or that JSON writes in
another way. Whoever called it reads that with care, and calls it again behind it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from .literals import KEEP, MOST_REPEATS, any_of, cut_off, first_characters
from .reader import Reader, Shortcut, Sink
from .schema import encode, python_word

STRUCTURE: Final = frozenset("{[(}]),:")
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
    plain = rf"[^\x00-\x1f{first_characters((*closes, quote), chr(34) + chr(92))}]*{KEEP}"
    return rf'{plain}(?:\\["\\/bfnrt]{plain}){{0,{MOST_REPEATS}}}{KEEP}' if escapes else plain


def here_or_cut(literals: Sequence[str]) -> str:
    """A pattern for any of `literals`, and for the beginning of one at the end of the text."""
    return "|".join(part for part in (any_of(literals), cut_off(literals)) if part)


class Tokens:
    """What `Nesting.read` can tell without a doubt, in one dialect of one format.

    The groups of `match` are the whitespace in front; for each quote a string's text, and its end if
    it is there; a word that is known; any other word. So a string's text has an even number.
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
        self.known = 2 * len(quotes) + 2
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
            marks = ",:()[]{}" + chr(34) + chr(39)
            begin = rf"[^\s{first_characters((*stops, *quotes), marks)}]"
            within = rf"[^{first_characters(stops, marks)}]"
            word = rf"{begin}{within}{{0,{_LONGEST_WORD - 1}}}"
            branches += [rf"({KNOWN_WORD})\s{{0,9}}(?=[{ends}])", rf"({word})(?=[{ends}])"]
        token = "|".join(branches)
        if stops:
            token = f"(?!{here_or_cut(stops)})(?:{token})"
        self.match = re.compile(rf"(\s*)(?:{token})?").match


def _begin(quote: str, quotes: Sequence[str]) -> str:
    """A pattern for `quote` where it begins a string: three quotes are not an empty string and a
    quote, and an empty string at the end of the window may be two quotes of three."""
    longer = [q.removeprefix(quote) for q in quotes if q != quote and q.startswith(quote)]
    return re.escape(quote) + (rf"(?!{here_or_cut(longer)}|\Z)" if longer else "")


class Nesting:
    """The brackets, commas and colons of a container on their way out as JSON."""

    __slots__ = (
        "_before",
        "_fixed",
        "_key",
        "_on_key",
        "_on_value",
        "_open",
        "_passing",
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
        on_key: Callable[[str], None],
        on_value: Callable[[], None],
        *,
        spacing_kept: bool,
        typed: bool,
    ) -> None:
        """`on_key` and `on_value` hear of the outermost members. `typed`: their words have declared
        kinds, which are not known here."""
        self.sink = sink
        self._on_key = on_key
        self._on_value = on_value
        comma, colon = (",", ":") if spacing_kept else (", ", ": ")
        self._fixed = (tokens, comma, colon, spacing_kept, typed)
        self._open: list[str] = []  # what should close the brackets that are open
        self._before: list[str] = []  # commas and spacing: they wait, a comma may be one too many
        self._key: list[str] = []  # the key that is being read
        self._passing: dict[tuple[str, bool], Shortcut | None] = {}
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
            self.sink("".join(self._before))
            self._before.clear()

    def begin_string(self, quote: str) -> None:
        self.quote = quote
        if not self.at_key:
            self.sink('"')

    def string_sink(self) -> Sink:
        """Where the text of the string at hand goes: a key is kept until it is whole.

        (No property: compiled, a call of what it gives would be lost.)
        """
        return self._key.append if self.at_key else self.sink

    def passing(self, r: Reader) -> Shortcut | None:
        """The shortcut inside the string at hand."""
        place = (self.quote, self.at_key)
        shortcut = self._passing.get(place)
        if shortcut is None:
            plain = self._fixed[0].same[self.quote]
            self._passing[place] = shortcut = r.passing(plain.fullmatch, self.string_sink())
        return shortcut

    def end_string(self, closed: bool) -> None:
        self.quote = ""
        if self.at_key:
            key = "".join(self._key)
            self._key.clear()
            self.sink(f'"{key}"' if closed else f'"{key}')
            if closed:
                self.key_read(key)
        elif closed:
            self.sink('"')
            self.value_read()

    def key_read(self, key: str) -> None:
        self.key = key
        self.at_key = False
        if len(self._open) == 1:
            self._on_key(key)

    def value_read(self) -> None:
        if len(self._open) == 1:
            self._on_value()

    # -- the hot loop -------------------------------------------------------------------------

    def read(self, text: str, pos: int, sure: int) -> int:
        """Read tokens from `pos` on, up to the last bracket; returns where it stopped.

        `sure` is where no delimiter of the format stands though it may seem so.

        All is in one place and in local names since this is where the time goes. What is read is
        written at once in the end, but for the outermost members: who hears of them has to have seen
        all that stands before, and nothing behind.
        """
        if self.quote:
            pos = self._read_string(text, pos)
            if self.quote:
                return pos
        tokens, comma, colon, spacing_kept, typed = self._fixed
        structure, match, known = tokens.structure, tokens.match, tokens.known
        brackets, before, at_key = self._open, self._before, self.at_key
        out: list[str] = []
        last = len(text) - 1
        while pos <= last:
            c = text[pos]
            if c in structure or (pos == sure and c in STRUCTURE):
                pos += 1
                if c in "]})":
                    if before:
                        if comma not in before:
                            out += before
                        before.clear()
                    # A bracket that closes another one than it should is passed on as it is.
                    out.append("]" if brackets.pop() == c == ")" else c)
                    at_key = False
                    if len(brackets) <= 1:
                        self._write(out)
                        self._on_value()
                        if not brackets:
                            self.closed = True
                            break
                    continue
                if c == ",":
                    before.append(comma)
                    at_key = brackets[-1] == "}"
                else:
                    if before:
                        out += before
                        before.clear()
                    if c != ":":
                        out.append("[" if c == "(" else c)
                        brackets.append(_CLOSING[c])
                        at_key = c == "{"
                        continue
                    out.append(colon)
                    at_key = False
                if pos <= last and text[pos] == " ":  # most often one is all there is
                    pos += 1
                    if spacing_kept:
                        before.append(" ")
                continue
            if pos == last:  # one character is no token
                if c.isspace():
                    pos += 1
                    if spacing_kept:
                        before.append(c)
                break
            found = match(text, pos)
            assert found
            group = found.lastindex
            if c.isspace():
                start = found.end(1)
                if spacing_kept:
                    before.append(text[pos:start])
                pos = start
                if group == 1:
                    continue
            elif group == 1:
                break
            assert group
            if group >= known and not at_key and (group > known or typed):
                break
            pos = found.end()
            if before:
                out += before
                before.clear()
            if group >= known:
                token = found[group]
                if at_key:
                    token = token.rstrip()
                    out.append(encode(token))
                else:
                    out.append(python_word(token))
            elif group % 2:
                token = found[group - 1]
                out.append(f'"{token}"')
            else:  # a string whose end is not in sight
                self.at_key = at_key
                self._write(out)
                self.begin_string(tokens.quotes[group // 2 - 1])
                if token := found[group]:
                    self.string_sink()(token)
                return pos
            if at_key:
                at_key = False
                self.key = token
                if len(brackets) == 1:
                    self._write(out)
                    self._on_key(token)
            elif len(brackets) == 1:
                self._write(out)
                self._on_value()
            if len(out) > _MOST_PIECES:
                self._write(out)
        if out:
            self.sink("".join(out))
        self.at_key = at_key
        return pos

    def _read_string(self, text: str, pos: int) -> int:
        """The same inside a string."""
        found = self._fixed[0].rest[self.quote](text, pos)
        assert found
        if piece := found[1]:
            self.string_sink()(piece)
        if found.lastindex == 2:
            self.end_string(True)
        return found.end()

    def _write(self, out: list[str]) -> None:
        if out:
            self.sink("".join(out))
            out.clear()
