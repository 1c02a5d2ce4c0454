"""Finds known calls that look like code, and tells whether they stand in a list."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...core.samples import Call, CallSpans, Inferred, Sample, Span, surroundings_of
from ..find_code import code_spans

if TYPE_CHECKING:
    from . import Pythonic


def infer(kind: type[Pythonic], samples: Sequence[Sample]) -> Inferred | None:
    """`[NAME(k="v"), NAME2(n=1)]`, or one call a line between delimiters."""
    spans = code_spans(samples)
    if spans is None:
        return None
    lists = [
        _as_list(sample.text, here) for sample, here in zip(samples, spans, strict=True) if here
    ]
    written = tuple(
        tuple(map(_parts, sample.calls, here)) for sample, here in zip(samples, spans, strict=True)
    )
    if all(lists):
        found = iter(lists)
        spans = [[next(found)] if here else [] for here in spans]  # type: ignore[list-item]
        return Inferred(kind(), surroundings_of(samples, spans), written, listed=True)
    if any(lists):
        return None
    texts = surroundings_of(
        samples, [here and [Span(here[0].start, here[-1].end)] for here in spans]
    )
    return Inferred(kind(), texts, written)


def _parts(call: Call, span: Span) -> CallSpans:
    opened = span.start + len(call[0])
    return CallSpans(span, Span(span.start, opened), Span(opened + 1, span.end - 1))


def _as_list(text: str, calls: Sequence[Span]) -> Span | None:
    """The list that these calls are, brackets included."""
    between = [text[one.end : other.start] for one, other in itertools.pairwise(calls)]
    before = re.search(r"\[\s*\Z", text[: calls[0].start])
    after = re.match(r"\s*\]", text[calls[-1].end :])
    if before is None or after is None or any(b.strip() != "," for b in between):
        return None
    return Span(before.start(), calls[-1].end + after.end())
