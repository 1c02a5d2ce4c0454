"""Texts whose calls are known, and what can be told from them about how calls are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from .layout import Layout

if TYPE_CHECKING:
    from .shape import Shape

#: A call: its name and its arguments.
Call: TypeAlias = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Sample:
    """What a model wrote, and the calls known to be in it."""

    text: str
    calls: tuple[Call, ...]
    #: the calls' ids, where they are known; whether they stand in the text is another question
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Span:
    """Where something stands in a sample's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CallSpans:
    """Where a call and its parts stand in a sample's text."""

    call: Span
    name: Span
    arguments: Span
    #: the call's id, where the shape could tell it
    id: Span | None = None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The texts around the calls of some samples: one `before` and `after` for each sample."""

    before: tuple[str, ...]
    between: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Inferred:
    """One way to read the samples."""

    shape: Shape
    surroundings: Surroundings
    #: where the calls of each sample stand; empty where that tells nothing about the layout
    calls: tuple[tuple[CallSpans, ...], ...] = ()
    #: the calls of a message are in one list
    listed: bool = False
    #: the calls' ids are numbers that count them
    numbered: bool = False
    #: what of the layout is known already: what stands around keys and values
    layout: Layout = field(default_factory=Layout)


def surroundings_of(samples: Sequence[Sample], spans: Sequence[Sequence[Span]]) -> Surroundings:
    """The texts around spans, for samples that have any."""
    found = [(s.text, places) for s, places in zip(samples, spans, strict=True) if places]
    return Surroundings(
        tuple(text[: places[0].start] for text, places in found),
        tuple(
            text[one.end : other.start] for text, places in found for one, other in pairwise(places)
        ),
        tuple(text[places[-1].end :] for text, places in found),
    )
