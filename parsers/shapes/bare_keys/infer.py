"""Finds known calls that are objects with bare keys, and tells their prefix and their quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...core.samples import CallSpans, Inferred, Sample, Span, surroundings_of
from ..find_names import last_word

if TYPE_CHECKING:
    from . import BareKeys

_LONGEST_QUOTE = 40


def infer(kind: type[BareKeys], samples: Sequence[Sample]) -> Inferred | None:
    """`call:NAME{k:<|"|>v<|"|>,n:42}`: strings stand in quotes of their own."""
    spans: list[list[Span]] = []
    prefixes: set[str] = set()
    quotes: set[str] = set()
    written: list[tuple[CallSpans, ...]] = []
    for sample in samples:
        here: list[Span] = []
        parts: list[CallSpans] = []
        floor = 0
        for name, arguments in sample.calls:
            opened = re.compile(rf"(?<=\w)\W{re.escape(name)}\{{").search(sample.text, floor)
            if opened is None:
                return None
            word = last_word(sample.text[floor : opened.start()])
            quotes |= _quotes(sample.text[opened.end() :], arguments)
            floor = _end_of_braces(sample.text, opened.end() - 1, next(iter(quotes), '"'))
            prefixes.add(word + opened[0][0])
            here.append(Span(opened.start() - len(word), floor))
            start = opened.end() - 1
            parts.append(CallSpans(here[-1], Span(start - len(name), start), Span(start, floor)))
        spans.append(here)
        written.append(tuple(parts))
    if len(prefixes) != 1 or len(quotes) != 1:
        return None
    prefix, quote = prefixes.pop(), quotes.pop()
    texts = surroundings_of(samples, spans)
    return Inferred(kind(quote=quote, prefix=prefix), texts, tuple(written))


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
