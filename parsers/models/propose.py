"""From texts and the calls that are known to be in them to a format that reads them.

The pieces of a call are told apart (`cuts`), and what stands around calls (`around`); each way of
reading that makes sense becomes a format. A format is proposed only if it is proven: it reads every
sample to exactly the calls that are in it, whole and one character at a time, and leaves no markup in
the text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..core.events import Event
from ..core.parser import EventParser
from ..core.shapes import BareKeys, JsonCalls, Labels, NamedJson, Pythonic, Tags
from ..core.spec import Format, Wrapper
from ..openai.message import collect
from . import code_cuts, cuts, tag_cuts
from .around import MARKUP, wrappers
from .cuts import Call, Cut, Sample, same_json

__all__ = ["Sample", "propose", "proven", "read_back", "tools_for"]

#: The ways to read a call, strictest first.
_WAYS: tuple[Callable[[Sequence[Sample]], Cut | None], ...] = (
    cuts.json_calls,
    cuts.labels,
    cuts.named_json,
    tag_cuts.tags,
    code_cuts.bare_keys,
    code_cuts.pythonic,
    code_cuts.call_text,
)


def propose(samples: Sequence[Sample], name: str) -> Format | None:
    """A format that reads all samples, or None. Samples without calls show what is none."""
    with_arguments = [s for s in samples if s.calls and all(args for _, args in s.calls)]
    for way in _WAYS:
        for shown in (samples, with_arguments):
            cut = way(shown) if shown else None
            spec = _format(cut, shown, name) if cut else None
            if spec and proven(spec, samples):
                return spec
    return None


def _format(cut: Cut, samples: Sequence[Sample], name: str) -> Format | None:
    around = wrappers(cut.around) if cut.around.before else ()
    if not around and isinstance(cut.shape, (NamedJson, Labels, BareKeys, Tags)):
        return None  # a name in the open needs a marker
    return Format(
        name=name,
        shape=cut.shape,
        wrappers=around,
        bare=not around and isinstance(cut.shape, (JsonCalls, Pythonic)),
        example=_example(cut, around),
    )


def _example(cut: Cut, around: Sequence[Wrapper]) -> str:
    """One call as it is written, with its delimiters, and places for what differs.

    Engines hold a model to its format by the example, so there is none where it would mislead.
    """
    before, after = (cut.around.before[0], cut.around.after[0]) if around else ("", "")
    begin = before.rfind(around[0].open[0]) if around else 0
    ends = [after.find(w.close[0]) + len(w.close[0]) for w in around if w.close]
    example = before[max(begin, 0) :] + cut.body + after[: max(ends, default=0)]
    places = ("NAME", "K", "V") if isinstance(cut.shape, Tags) else ("NAME",)
    misleading = isinstance(cut.shape, NamedJson) and cut.shape.header and ":0" not in example
    return "" if misleading or any(example.count(p) != 1 for p in places) else example


# -- the proof ------------------------------------------------------------------------------------


def proven(spec: Format, samples: Iterable[Sample]) -> bool:
    """Whether the format reads every sample as it should, however the text is cut."""
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


def tools_for(calls: Iterable[Call]) -> list[dict[str, Any]] | None:
    """Tools that such calls would be for: without types, no text between tags is a number."""
    functions: dict[str, dict[str, set[str]]] = {}
    for name, arguments in calls:
        properties = functions.setdefault(name, {})
        for key, value in arguments.items():
            properties.setdefault(key, set()).add(_type(value))
    return [_tool(name, properties) for name, properties in functions.items()] or None


def _tool(name: str, properties: dict[str, set[str]]) -> dict[str, Any]:
    """Complete, with descriptions: templates show these to the model, and some insist on them."""
    described = {
        key: {
            "type": sorted(types) if len(types) > 1 else next(iter(types)),
            "description": f"The {key}.",
        }
        for key, types in properties.items()
    }
    parameters = {"type": "object", "properties": described, "required": list(properties)}
    function = {"name": name, "description": f"Does {name}.", "parameters": parameters}
    return {"type": "function", "function": function}


def _type(value: Any) -> str:
    for kind, name in (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
        (dict, "object"),
    ):
        if isinstance(value, kind):
            return name
    return "null"
