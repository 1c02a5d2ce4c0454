"""Which formats read what a template writes, and which of them it is.

A format fits if it reads exactly the calls that were rendered and leaves nothing over. Several may
manage. First come those that would write the very text, then those that would begin it so, then those
that need their own delimiters, then those whose thoughts are marked so; where formats are alike in all
of this, the one that was there first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.format import Format
from ..core.literals import before_gap
from ..errors import ToolwireError
from ..formats import get_format
from ..formats.registry import formats_in_order
from ..formats.tools_for import tools_for
from ..formats.write import write
from ..templates import list_templates
from .probes import CALLS, THINK, Markers, Turn
from .propose import read_back

_TAG_AT_END = re.compile(r"<[^<>]{1,80}>\Z")
_TAG_AT_START = re.compile(r"<[^<>]{1,80}>")
#: Formats that write calls as others do are told apart by the markers around thoughts.
_THOUGHTS: Mapping[str, tuple[Markers, ...]] = {
    "apriel": (
        ("Here are my reasoning steps:", "[BEGIN FINAL RESPONSE]"),
        ("<thinking>", "</thinking>"),
    ),
    "hunyuan": (THINK,),
}


@dataclass(frozen=True, slots=True)
class Reading:
    """How well a format reads a template's calls."""

    parallel: bool  # both calls of one turn, too
    left: str  # markup that stays in the text


def readings_of(turns: Sequence[Turn]) -> dict[str, Reading]:
    """The formats that read single calls back, and how well."""
    found = {}
    for name in formats_in_order():
        spec = get_format(name)
        if not may_read(spec, turns[0].sample.text):
            continue
        texts = [text_left(spec, turn) for turn in turns]
        if None not in texts[: len(CALLS)]:
            found[name] = Reading(None not in texts, "".join(filter(None, texts)))
    return found


def may_read(spec: Format, text: str) -> bool:
    """Whether there is anything in a text that a call of the format could begin with. To read it with
    every format would take long: each has its own patterns, which are made when it is first used."""
    begins = [spelling for wrapper in spec.wrappers for spelling in wrapper.open]
    if spec.bare or not begins:
        if not spec.shape.heads:
            return True
        begins += spec.shape.heads
    return any(before_gap(literal).strip() in text for literal in begins)


def is_marked(spec: Format, turn: Turn) -> bool:
    """Whether the calls of a turn stand behind something that begins calls and nothing else."""
    begins = [spelling for wrapper in spec.wrappers for spelling in wrapper.open]
    return not spec.bare or any(literal.strip() in turn.sample.text for literal in begins)


def text_left(spec: Format, turn: Turn) -> str | None:
    """What a format leaves beside the turn's calls and its own text; None if it reads others."""
    left = read_back(spec, turn.sample, tools_for(turn.sample.calls))
    if left is None:
        return None
    return _beside(turn, left).removesuffix(turn.answer_begins).strip()


def _beside(turn: Turn, text: str) -> str:
    """A text without the turn's own, and without the tags that stand right around that."""
    before, found, after = text.partition(turn.content or "\0")
    if not found:
        return text.strip()
    opened, closed = _TAG_AT_END.search(before), _TAG_AT_START.match(after)
    if opened and closed:
        before, after = before[: opened.start()], after[closed.end() :]
    return f"{before}{after}".strip()


# -- choosing -------------------------------------------------------------------------------------


def best_first(
    readings: Mapping[str, Reading],
    turns: Sequence[Turn],
    has_tokens: Mapping[str, bool],
    markers: Markers | None = None,
) -> list[str]:
    """The formats that read some turns, best first.

    `has_tokens` says which of them the model seems to have special tokens for, `markers` what stands
    around its thoughts.
    """
    suits = {template.format for template in list_templates()}
    text = _written_part(turns[0]) if turns else ""

    def rank(name: str) -> tuple[object, ...]:
        reading, spec = readings[name], get_format(name)
        return (
            bool(reading.left),
            -_exactness(spec, turns, has_tokens.get(name, False)),
            -likeness(spec, text),
            not reading.parallel,
            spec.bare,
            name not in suits,
            markers not in _THOUGHTS.get(name, ()),
        )

    order = formats_in_order()
    return sorted(sorted(readings, key=order.index), key=rank)


def _written_part(turn: Turn) -> str:
    return _beside(turn, turn.sample.text)


def _exactness(spec: Format, turns: Sequence[Turn], has_tokens: bool) -> int:
    """Whether the format writes just what the template does; more, if it would but for tokens that
    the template leaves out and that the model has."""
    written = [written_by(spec, turn.sample.calls, turn.sample.ids) for turn in turns]
    if all(map(_is_written, turns, written)):
        return 1
    bare = [text and _without_wrappers(spec, text) for text in written]
    return 2 if has_tokens and spec.bare and all(map(_is_written, turns, bare)) else 0


def _is_written(turn: Turn, text: str | None) -> bool:
    return _written_part(turn) in (text, f"{text}{turn.answer_begins}")


def _without_wrappers(spec: Format, text: str) -> str:
    for wrapper in spec.wrappers:
        for literal in (*wrapper.open, *wrapper.close):
            text = text.replace(literal, "")
    return text.strip()


def written_by(spec: Format, calls: Sequence[Any], ids: Sequence[str] = ()) -> str | None:
    """What the format writes for calls; None where it can't, or does not say how."""
    ids = [*ids, *[""] * (len(calls) - len(ids))]
    given = [
        {"name": name, "arguments": arguments, "id": id}
        for (name, arguments), id in zip(calls, ids, strict=True)
    ]
    try:
        return write(spec, given).strip()
    except ToolwireError:
        return None


def likeness(spec: Format, text: str, name: str = CALLS[0][0]) -> int:
    """How much of the text's beginning is what the format itself would write; more is better."""
    begin = beginning(spec, name)
    if not begin:
        return 0
    if text.startswith(begin):
        return 2 * len(begin)
    return len(begin) if _squeezed(text).startswith(_squeezed(begin)) else 0


def beginning(spec: Format, name: str) -> str:
    """What the format writes before a call's arguments."""
    layout = spec.layout
    if layout is None:
        return ""
    number = str(layout.id.first) if layout.id and layout.id.first is not None else ""
    begin = layout.section_begin + layout.before_name(number) + name
    return begin + layout.before_arguments(number)


def _squeezed(text: str) -> str:
    return "".join(text.split())
