"""The tokens of values that are almost JSON: what can be told of them from a window without a doubt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from .literals import (
    MOST_REPEATS,
    POSSESSIVE,
    Plain,
    any_of,
    cut_off,
    first_characters,
    text_without,
)
from .words import KNOWN_WORD

STRUCTURE: Final = frozenset("{[(}]),:")
#: What JSON never writes as it is inside a string.
_ESCAPED_IN_JSON: Final = "".join(map(chr, range(32))) + '"\\'
# Longer words go the careful way: where they do not fit, `re` goes back over all of them.
_LONGEST_WORD: Final = 100
_LONGEST_WAITING: Final = 24


def _same_in_json(quote: str, closes: Iterable[str], escapes: bool) -> str:
    """A pattern for text inside a string that JSON writes just so: all there is, or much of it."""
    plain = text_without((*closes, quote), _ESCAPED_IN_JSON)
    return rf'{plain}(?:\\["\\/bfnrt]{plain}){{0,{MOST_REPEATS}}}{POSSESSIVE}' if escapes else plain


def here_or_cut(literals: Sequence[str]) -> str:
    """A pattern for any of `literals`, and for the beginning of one at the end of the text."""
    return "|".join(part for part in (any_of(literals), cut_off(literals)) if part)


class Tokens:
    """What `Nesting.read` can tell without a doubt, in one dialect of one format.

    The groups of `match` are for each quote a string's text, and its end if it is there; a word that
    is known; any other word. So a string's text has an odd number.
    """

    __slots__ = (
        "_plain",
        "_plain_text",
        "_raw",
        "begun",
        "known",
        "match",
        "python",
        "quotes",
        "rest",
        "same",
        "same_raw",
        "structure",
    )

    def __init__(
        self,
        quotes: Sequence[str],
        raw: Sequence[str],
        python: bool,
        closes: Sequence[str],
        stops: Sequence[str],
        turn_ends: Sequence[str],
    ) -> None:
        """`raw`: the quotes of strings in which nothing is escaped. `python`: comments, sets,
        parentheses and strings in a row mean what they mean there. `closes` may cut off a string;
        `stops`, which has them all, anything else. `turn_ends` are for slow paths only."""
        self.python = python
        first = {literal[0] for literal in stops}
        #: brackets, commas and colons that no delimiter begins with
        self.structure = STRUCTURE - first
        self.quotes = quotes
        self._raw = raw
        self.known = 2 * len(quotes) + 1
        no_quote = f"(?![{first_characters(quotes)}])"
        #: what is best left in the window until it is decided: a quote, and a word that is short
        #: (a long one would be looked at too often)
        word = rf"{no_quote}[\w.+-]{{1,{_LONGEST_WAITING}}}\Z"
        self.begun = re.compile("|".join(filter(None, (word, cut_off(quotes))))).match
        self._plain: dict[tuple[str, bool], Plain] = {}
        self._plain_text = (*closes, *turn_ends)
        same = {quote: _same_in_json(quote, closes, quote not in raw) for quote in quotes}
        rest = {quote: f"({same[quote]})({re.escape(quote)})?" for quote in quotes}
        #: text inside a string that JSON writes just so, by the quote
        self.same = {quote: re.compile(same[quote]) for quote in quotes}
        #: … where nothing is escaped
        self.same_raw = {q: re.compile(_same_in_json(q, closes, False)) for q in quotes}
        #: the same, and the quote behind it if it is there
        self.rest = {quote: re.compile(rest[quote]).match for quote in quotes}
        branches = [_begin(quote, quotes) + rest[quote] for quote in quotes]
        ends = first_characters((), "".join(set(",:]})") - first))
        if ends:
            punctuation = ",:()[]{}" + chr(34) + chr(39) + ("#" if python else "")
            begin = rf"[^\s{first_characters((*stops, *quotes), punctuation)}]"
            within = rf"[^{first_characters(stops, punctuation)}]"
            word = rf"{begin}{within}{{0,{_LONGEST_WORD - 1}}}"
            branches += [rf"({KNOWN_WORD})\s{{0,9}}(?=[{ends}])", rf"({word})(?=[{ends}])"]
        token = "|".join(branches)
        if stops:
            token = f"(?!{here_or_cut(stops)})(?:{token})"
        self.match = re.compile(token).match

    def plain(self, quote: str, raw: bool) -> Plain:
        """For fast paths: text inside a string that nothing has to be looked at in. `raw`: nothing in it
        is escaped."""
        plain = self._plain.get((quote, raw))
        if plain is None:
            escapes = not raw and quote not in self._raw
            text = _same_in_json(quote, self._plain_text, escapes)
            plain = Plain((*self._plain_text, quote), _ESCAPED_IN_JSON, text)
            self._plain[quote, raw] = plain
        return plain


def _begin(quote: str, quotes: Sequence[str]) -> str:
    """A pattern for `quote` where it begins a string: three quotes are not an empty string and a
    quote, and an empty string at the end of the window may be two quotes of three."""
    longer = [q.removeprefix(quote) for q in quotes if q != quote and q.startswith(quote)]
    return re.escape(quote) + (rf"(?!{here_or_cut(longer)}|\Z)" if longer else "")
