"""How a call that looks like code is written: the part of `cuts` about bare keys and parentheses."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

from ..core.shapes import BareKeys, CallText, Pythonic
from .around import Around
from .cuts import Cut, Sample, Span, around, last_word

# -- bare keys ------------------------------------------------------------------------------------


_LONGEST_QUOTE = 40


def bare_keys(samples: Sequence[Sample]) -> Cut | None:
    """`call:NAME{k:<|"|>v<|"|>,n:42}`: strings stand in quotes of their own."""
    spans: list[list[Span]] = []
    prefixes: set[str] = set()
    quotes: set[str] = set()
    key = ""
    for sample in samples:
        here: list[Span] = []
        floor = 0
        for name, arguments in sample.calls:
            opened = re.compile(rf"(?<=\w)\W{re.escape(name)}\{{").search(sample.text, floor)
            if opened is None:
                return None
            word = last_word(sample.text[floor : opened.start()])
            quotes |= _quotes(sample.text[opened.end() :], arguments)
            floor = _end_of_braces(sample.text, opened.end() - 1, next(iter(quotes), '"'))
            key = key or next(iter(arguments), "")
            prefixes.add(word + opened[0][0])
            here.append(Span(opened.start() - len(word), floor))
        spans.append(here)
    if len(prefixes) != 1 or len(quotes) != 1:
        return None
    prefix, quote = prefixes.pop(), quotes.pop()
    body = f"{prefix}NAME{{k:{quote}v{quote},n:42}}"
    return Cut(BareKeys(quote=quote, prefix=prefix), around(samples, spans), body)


def _quotes(text: str, arguments: dict[str, Any]) -> set[str]:
    """What stands between the key of a string and its value."""
    found = set()
    for key, value in arguments.items():
        if not isinstance(value, str) or not value:
            continue
        for label in re.finditer(rf"(?<!\w){re.escape(key)}:\s*", text):
            at = text.find(value, label.end(), label.end() + _LONGEST_QUOTE + len(value))
            quote = text[label.end() : at] if at > 0 else ""
            again = quote and text.startswith(quote, at + len(value))
            if again and not quote[0].isalnum() and not any(map(str.isspace, quote)):
                found.add(quote)
    return found


def _end_of_braces(text: str, start: int, quote: str) -> int:
    """Behind the brace that closes the one at `start`."""
    depth = 0
    quoted = False
    for found in re.compile(rf"{re.escape(quote)}|[{{}}]").finditer(text, start):
        if found[0] == quote:
            quoted = not quoted
        elif not quoted:
            depth += 1 if found[0] == "{" else -1
            if not depth:
                return found.end()
    return len(text)


# -- code -----------------------------------------------------------------------------------------

# A string without an end goes to the end of the text: nothing is looked for twice.
_QUOTED = re.compile(r""""(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|[()]""", re.S)


def pythonic(samples: Sequence[Sample]) -> Cut | None:
    """`[NAME(k="v"), NAME2(n=1)]`, or one call a line between delimiters."""
    spans = _code_spans(samples)
    if spans is None:
        return None
    lists = [
        _as_list(sample.text, here) for sample, here in zip(samples, spans, strict=True) if here
    ]
    if all(lists):
        found = iter(lists)
        spans = [[next(found)] if here else [] for here in spans]  # type: ignore[list-item]
        return Cut(Pythonic(), around(samples, spans), '[NAME(k="v")]')
    if any(lists):
        return None
    texts = around(samples, [here and [Span(here[0].start, here[-1].end)] for here in spans])
    return Cut(Pythonic(), texts, 'NAME(k="v")')


def call_text(samples: Sequence[Sample]) -> Cut | None:
    """`NAME(k="v")` in plain text."""
    spans = _code_spans(samples)
    if spans is None:
        return None
    return Cut(CallText(), Around((), (), ()), 'NAME(k="v", n=10)')


def _code_spans(samples: Sequence[Sample]) -> list[list[Span]] | None:
    """From each call's name to the parenthesis that closes it."""
    spans: list[list[Span]] = []
    for sample in samples:
        here: list[Span] = []
        floor = 0
        for name, _ in sample.calls:
            opened = re.compile(rf"(?<!\w){re.escape(name)}\(").search(sample.text, floor)
            end = _closing_parenthesis(sample.text, opened.end() - 1) if opened else 0
            if opened is None or not end:
                return None
            here.append(Span(opened.start(), end))
            floor = end
        spans.append(here)
    return spans if any(spans) else None


def _closing_parenthesis(text: str, start: int) -> int:
    depth = 0
    for found in _QUOTED.finditer(text, start):
        if found[0] in "()":
            depth += 1 if found[0] == "(" else -1
            if not depth:
                return found.end()
    return 0


def _as_list(text: str, calls: Sequence[Span]) -> Span | None:
    """The list that these calls are, brackets included."""
    between = [text[one.end : other.start] for one, other in itertools.pairwise(calls)]
    before = re.search(r"\[\s*\Z", text[: calls[0].start])
    after = re.match(r"\s*\]", text[calls[-1].end :])
    if before is None or after is None or any(b.strip() != "," for b in between):
        return None
    return Span(before.start(), calls[-1].end + after.end())
