"""Finds calls whose arguments are elements, and tells what the elements are called.

marker<call … name="NAME" …>marker<K>…                    marker</call>
marker<call … name="NAME" …>marker<value name="K" type="…">…    marker</call>
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...core.samples import Call, CallSpans, Inferred, Sample, Span, surroundings_of
from .markup import attributes
from .types import ElementTypes

if TYPE_CHECKING:
    from . import Elements

_TAG = re.compile(r"""<([^\s<>/"'=]+)((?:\s[^<>]*)?)>""")
#: A marker may have a tag in it itself.
_MOST_TAGS = 3
_LONGEST_MARKER = 64


@dataclass(frozen=True, slots=True)
class OpeningTag:
    """An opening tag in a text."""

    span: Span
    word: str
    attributes: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.attributes.get("name", "")


def opening_tags(text: str, start: int = 0) -> Iterator[OpeningTag]:
    for found in _TAG.finditer(text, start):
        inside = attributes(found[2])
        if inside is not None:
            yield OpeningTag(Span(*found.span()), found[1], inside)


@dataclass(frozen=True, slots=True)
class Beginning:
    """How a call begins: its tag, and that of its first parameter."""

    call: OpeningTag
    first: OpeningTag
    marker: str

    @property
    def by_name(self) -> bool:
        return not self.first.attributes

    @property
    def start(self) -> int:
        return self.call.span.start - len(self.marker)


def beginning(text: str, call: OpeningTag, key: str | None = None) -> Beginning | None:
    """What a call begins with, if elements follow its tag; `key` is the first parameter's, if known."""
    for first in islice(opening_tags(text, call.span.end), _MOST_TAGS):
        by_name = not first.attributes and key in (None, first.word)
        said = first.name and _type_attribute(first) and key in (None, first.name)
        if first.span.start - call.span.end > _LONGEST_MARKER:
            break
        marker = text[call.span.end : first.span.start].strip()
        marks = text.endswith(marker, 0, call.span.start) and len(marker.split()) < 2
        if (by_name or said) and first.word != call.word and marks:
            return Beginning(call, first, marker)
    return None


def infer(kind: type[Elements], samples: Sequence[Sample]) -> Inferred | None:
    """Elements that are called like the parameters, or that have their names in an attribute."""
    found: list[list[_Parts]] = []
    for sample in samples:
        here = _parts(sample)
        if here is None:
            return None
        found.append(here)
    every = [parts for here in found for parts in here]
    if not every:
        return None
    shapes = {_shape(kind, parts.begin, ElementTypes("")) for parts in every}
    if len(shapes) != 1:
        return None
    shape = _shape(kind, every[0].begin, _words(every))
    spans = [[parts.spans.call for parts in here] for here in found]
    calls = tuple(tuple(parts.spans for parts in here) for here in found)
    return Inferred(shape, surroundings_of(samples, spans), calls)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Where the parts of one call stand."""

    text: str
    begin: Beginning
    spans: CallSpans
    arguments: Mapping[str, Any]


def _parts(sample: Sample) -> list[_Parts] | None:
    """Where each call's parts stand; None where one is not there."""
    found: list[_Parts] = []
    floor = 0
    for call in sample.calls:
        parts = _parts_of(sample.text, call, floor) if call[1] else None
        if parts is None:
            return None
        found.append(parts)
        floor = parts.spans.call.end
    return found


def _parts_of(text: str, call: Call, floor: int) -> _Parts | None:
    name, arguments = call
    for tag in opening_tags(text, floor):
        begin = beginning(text, tag, next(iter(arguments))) if tag.name == name else None
        if begin is None:
            continue
        closer = f"{begin.marker}</{tag.word}>"
        end = text.find(closer, begin.first.span.end)
        if end < 0:
            return None
        at = text.rindex(name, tag.span.start, tag.span.end)
        spans = CallSpans(
            Span(begin.start, end + len(closer)),
            Span(at, at + len(name)),
            Span(begin.first.span.start - len(begin.marker), end),
        )
        return _Parts(text, begin, spans, arguments)
    return None


def _shape(kind: type[Elements], begin: Beginning, types: ElementTypes) -> Elements:
    word = begin.call.word
    if begin.by_name:
        return kind(call=word, marker=begin.marker)
    return kind(call=word, element=begin.first.word, marker=begin.marker, types=types)


def shape_of(kind: type[Elements], begin: Beginning) -> Elements:
    """The shape that the beginning of one call shows."""
    return _shape(kind, begin, ElementTypes(_type_attribute(begin.first)))


def _type_attribute(tag: OpeningTag) -> str:
    """The attribute that says in a word what an element holds. One that says yes or no is no such."""
    words = [
        (k, v) for k, v in tag.attributes.items() if k != "name" and v not in ("true", "false")
    ]
    return words[0][0] if words else ""


def _words(every: Sequence[_Parts]) -> ElementTypes:
    """The words for types that parameters were shown with."""
    attribute = _type_attribute(every[0].begin.first)
    words: dict[str, str] = {}
    for parts in every:
        inside = parts.spans.arguments
        for tag in opening_tags(parts.text[inside.start : inside.end]):
            if tag.name in parts.arguments and attribute in tag.attributes:
                holds = _holds(parts.arguments[tag.name])
                words.setdefault(holds, tag.attributes[attribute])
    return ElementTypes(attribute, **words)


def _holds(value: Any) -> str:
    for kind, word in ((str, "text"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return word
    return "json"
