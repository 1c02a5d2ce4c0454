"""From texts and the calls that are known to be in them to a format that reads them.

Every shape is asked how the calls would be written in it (`shapes/*/infer.py`), and what stands around
them becomes wrappers (`shapes/infer_wrappers.py`) and a layout (`shapes/infer_layout.py`). A format is
proposed only if it is proven: it reads every sample to exactly the calls that are in it, whole and one
character at a time, and leaves no markup in the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ..core.format import Format
from ..core.parser import EventParser
from ..core.samples import Inferred, Sample
from ..events import Event
from ..formats.layouts import proven_layout
from ..formats.tools_for import tools_for
from ..openai.message import collect
from ..shapes import ALL
from ..shapes.find_json import same_json
from ..shapes.infer_wrappers import infer_wrappers
from ..shapes.tokens import MARKUP


def propose(samples: Sequence[Sample], name: str) -> Format | None:
    """A format that reads all samples, or None. Samples without calls show what is none."""
    with_arguments = [s for s in samples if s.calls and all(args for _, args in s.calls)]
    for shape in ALL:
        for shown in (samples, with_arguments):
            found = shape.infer(shown) if shown else None
            spec = _format(found, name) if found else None
            if found and spec and not _has_id(spec, samples) and proven(spec, samples):
                return replace(spec, layout=proven_layout(spec, found, shown))
    return None


def _format(found: Inferred, name: str) -> Format | None:
    wrappers = infer_wrappers(found.surroundings) if found.surroundings.before else ()
    if not wrappers and found.shape.needs_wrappers:
        return None  # a name in the open needs a marker
    bare = not wrappers and bool(found.shape.bare_start)
    return Format(name=name, shape=found.shape, wrappers=wrappers, bare=bare)


def _has_id(spec: Format, samples: Iterable[Sample]) -> bool:
    """Whether the id of one of the calls has been taken for a part of the format."""
    literals = repr((spec.shape, spec.wrappers))
    return any(id in literals for sample in samples for id in sample.ids)


# -- the proof ------------------------------------------------------------------------------------


def proven(spec: Format, samples: Iterable[Sample]) -> bool:
    """Whether the format reads every sample as it should, however the text is split."""
    samples = list(samples)
    tools = tools_for(call for sample in samples for call in sample.calls)
    return all(_reads(spec, sample, tools) for sample in samples)


def _reads(spec: Format, sample: Sample, tools: Any) -> bool:
    content = read_back(spec, sample, tools)
    return (
        content is not None
        and not left_over(content)
        and content == read_back(spec, sample, tools, size=1)
    )


def read_back(spec: Format, sample: Sample, tools: Any, size: int = 0) -> str | None:
    """The text that a format leaves beside a sample's calls; None where it reads other calls.

    `size` is how many characters it is fed at a time; 0 is all.
    """
    parser = EventParser(spec, tools)
    events: list[Event] = []
    step = size or max(1, len(sample.text))
    for place in range(0, len(sample.text), step):
        events += parser.feed(sample.text[place : place + step])
    message = collect([*events, *parser.finish()])
    if len(message.tool_calls) != len(sample.calls):
        return None
    for call, (name, arguments) in zip(message.tool_calls, sample.calls, strict=True):
        if not (call.complete and call.name == name and _is(call.arguments, arguments)):
            return None
    return message.content or ""


def _is(text: str, arguments: dict[str, Any]) -> bool:
    try:
        return same_json(json.loads(text), arguments)
    except (ValueError, RecursionError):
        return False


def left_over(content: str) -> bool:
    """Whether a message's text has something in it that is no prose."""
    stripped = content.strip()
    return bool(MARKUP.search(stripped)) or bool(
        stripped and not any(character.isalnum() for character in stripped)
    )
