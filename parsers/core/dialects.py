"""Dialects of almost-JSON: how strings are quoted there, and the patterns that follow from that.

`core/loose.py` reads values with them. Patterns depend on the format's delimiters, too, and are made
once for both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .delimiters import Delimiters
from .literals import Literals, any_of, cut_off
from .names import IN_NAME
from .tokens import Tokens, here_or_cut


class Dialect:
    """How strings are quoted, and whether the output keeps the model's own spacing."""

    __slots__ = ("python", "quotes", "raw", "spacing_kept")

    def __init__(
        self,
        quotes: tuple[str, ...] = ('"""', "'''", '"', "'"),
        raw: tuple[str, ...] = (),
        python: bool = True,
        spacing_kept: bool = True,
    ) -> None:
        """`raw`: the quotes of strings in which nothing is escaped. `python`: comments, sets,
        parentheses, prefixes and strings in a row mean what they mean there."""
        self.quotes = quotes
        self.raw = raw
        self.python = python
        self.spacing_kept = spacing_kept


@dataclass(frozen=True, slots=True)
class Patterns:
    """What the text of such values is searched for."""

    quotes: Literals
    strings: dict[str, re.Pattern[str]]  # what to stop at inside a string, by its quote
    words: re.Pattern[str]  # what to stop at inside a word
    #: what ends the values of a call: a delimiter's first character, a closing bracket, the end
    initials: frozenset[str]
    delimiter: re.Pattern[str] | None  # a delimiter of the format, or what may become one
    tokens: Tokens  # what is sure inside a container
    next_key: re.Pattern[str]  # a comma and the next key with its colon, or the end of an object
    next_key_begun: re.Pattern[str]  # the beginning of that, at the end of the text


@lru_cache(maxsize=256)
def patterns_of(dialect: Dialect, delimiters: Delimiters) -> Patterns:
    closes = delimiters.closes.spellings
    strings = {}
    for quote in dialect.quotes:
        # The groups stand at the ends for the reason that `first_of` gives.
        parts = [
            f"{re.escape(quote)}(?P<quote>)",
            f"(?:{any_of(closes)})(?P<close>)" if closes else "",
            r"\\(?P<escape>)" if quote not in dialect.raw else "",
            f"{cut}(?P<cut>)" if (cut := cut_off([*closes, quote])) else "",
        ]
        strings[quote] = re.compile("|".join(part for part in parts if part))
    stops = [*closes, *delimiters.starts.spellings]
    parts = [
        f"(?P<stop>{any_of(stops)})" if stops else "",
        f"(?P<cut>{cut})" if (cut := cut_off(stops)) else "",
        r"(?P<punctuation>[,:()\[\]{}\"'#\n])"
        if dialect.python
        else r"(?P<punctuation>[,:()\[\]{}\"'])",
    ]
    words = re.compile("|".join(part for part in parts if part))
    key = "|".join(rf"{q}[^{q[0]}\n]{{1,64}}{q}" for q in map(re.escape, dialect.quotes))
    begun = "|".join(map(_quoted_key_begun, dialect.quotes))
    before = r"\s{0,64},\s{0,64}"
    return Patterns(
        Literals(dialect.quotes),
        strings,
        words,
        frozenset({"", "]", "}", *[stop[0] for stop in stops]}),
        re.compile(here_or_cut(stops)) if stops else None,
        Tokens(dialect.quotes, dialect.raw, dialect.python, closes, stops, delimiters.turn_ends),
        re.compile(rf"{before}(?:(?:{IN_NAME}{{1,64}}|{key})\s{{0,16}}:|[}})])"),
        re.compile(
            rf"{before}(?:{IN_NAME}{{1,64}}\s{{0,16}}|{begun}|{cut_off(dialect.quotes)})?\Z"
        ),
    )


def _quoted_key_begun(quote: str) -> str:
    """A pattern for a key in quotes, or the beginning of one."""
    end = rf"(?:{re.escape(quote)}\s{{0,16}}|{cut_off([quote]) or '(?!)'})?"
    return rf"{re.escape(quote)}[^{re.escape(quote[0])}\n]{{0,64}}{end}"
