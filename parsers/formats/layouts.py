"""Layouts that were not written down, but shown: by samples of calls, or by an example.

An example is one call as people write it by hand:

    <call>{"tool": "NAME", "arguments": {…}}</call>
    <call>NAME<k>K</k><v>V</v></call>

It is shorter than a layout, and says less: one call does not show what stands between two. The innermost
of several wrappers is taken to stand around each call, the others around all of them; a list is taken to
hold all calls. Who needs more gives the layout itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..core.format import Format
from ..core.layout import TEXTS, Layout
from ..core.parser import EventParser
from ..core.samples import Call, Inferred, Sample
from ..errors import ToolwireError
from ..events import Arguments, CallEnd, CallStart
from ..shapes.infer_layout import ids_in, infer_layouts
from .write import write


def proven_layout(spec: Format, found: Inferred, samples: Sequence[Sample]) -> Layout | None:
    """The layout by which the format writes exactly what the samples have; None where there is none."""
    calls = [
        [{"name": n, "arguments": a, "id": i} for (n, a), i in zip(s.calls, ids, strict=False)]
        for s, ids in zip(samples, ids_in(samples, found), strict=True)
    ]
    for layout in infer_layouts(samples, found, spec):
        ways = (layout, replace(layout, python_words=True), replace(layout, sorted_keys=True))
        for way in ways:
            if not _has_id(way, samples) and _writes(replace(spec, layout=way), samples, calls):
                return way
    return None


def _has_id(layout: Layout, samples: Sequence[Sample]) -> bool:
    """Whether the id of one of the calls has become a part of the layout."""
    return any(id in getattr(layout, text) for s in samples for id in s.ids for text in TEXTS)


def _writes(spec: Format, samples: Sequence[Sample], calls: Sequence[Sequence[Any]]) -> bool:
    try:
        return all(write(spec, some) in s.text for s, some in zip(samples, calls, strict=True))
    except ToolwireError:
        return False


def layout_by_example(spec: Format, example: str) -> Layout:
    """The layout that an example shows. A `ToolwireError` says what is wrong where it shows none."""
    text = example.replace("{…}", '{"K": "V"}')
    sample = Sample(text, _calls(spec, text))
    found = spec.shape.infer([sample])
    layout = proven_layout(spec, found, [sample]) if found else None
    if layout is None:
        raise ToolwireError(
            "the example does not show how a call with one argument is laid out: give the layout itself"
        )
    return layout


def _calls(spec: Format, text: str) -> tuple[Call, ...]:
    parser = EventParser(spec)
    events = [*parser.feed(text), *parser.finish()]
    starts = [event for event in events if isinstance(event, CallStart)]
    if not starts or starts[0].name != "NAME":
        raise ToolwireError("the format does not read its example as a call to NAME")
    if any(not isinstance(event, CallStart | Arguments | CallEnd) for event in events):
        raise ToolwireError("the format leaves some of its example in the text")
    texts = [
        "".join(e.text for e in events if isinstance(e, Arguments) and e.index == start.index)
        for start in starts
    ]
    return tuple((start.name, json.loads(text)) for start, text in zip(starts, texts, strict=True))
