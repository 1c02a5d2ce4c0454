"""Holds a model to its own format: xgrammar structural tags, as plain dicts, made of a format's layout.

Where the arguments can't be expressed in the format (`NotExpressible`), forced calls are written as JSON
instead and read by the parser of the format `json`. Every engine that uses xgrammar can use the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.format import Format
from ..core.layout import Layout, Place
from ..core.literals import Literals
from ..core.shape import NotExpressible, Piece
from ..shapes.grammar import const, optional, sequence, tag

Function = dict[str, Any]

#: A call's number. Without a limit, a model that is held to a grammar may write digits for ever.
_NUMBER = "[0-9]{1,3}"


def forced(format: Format, functions: Sequence[Function], parallel: bool) -> Piece:
    """One call at least, and nothing else. `NotExpressible` where the format can't say it."""
    if format.layout is None:
        raise NotExpressible("a format without a layout")
    layout = format.layout
    shape = format.shape
    calls = [
        _call(format, function, shape.constrain(function.get("parameters"), format))
        for function in functions
    ]
    begin, end = (
        [const(text)] if text else [] for text in (layout.section_begin, layout.section_end)
    )
    return sequence(*begin, _list(layout.separator, calls, parallel), *end)


def triggered(
    format: Format, functions: Sequence[Function], parallel: bool, every_schema: bool
) -> Piece | None:
    """Any text, but where a call begins, it is one of these. The arguments of `strict` functions (of
    all with `every_schema`) fit their schemas. None where a grammar can't tell where calls begin or end.
    """
    if not marked(format):
        return None
    layout = format.written
    calls = []
    for function in functions:
        arguments = _arguments(format, function, every_schema or function.get("strict") is True)
        if arguments is None:
            return None
        calls.append(_call(format, function, arguments))
    if layout.section_begin:
        inside = _list(layout.separator, calls, parallel)
        calls = [tag(layout.section_begin, inside, layout.section_end)]
    return {
        "type": "triggered_tags",
        "triggers": [_marker(format)],
        "tags": calls,
        "stop_after_first": not parallel,
    }


def marked(format: Format) -> bool:
    """Whether a message's calls begin with the format's marker."""
    return bool(_marker(format))


def _marker(format: Format) -> str:
    """The marker that a message's calls begin with; "" where there is none."""
    if format.layout is None or not format.wrappers:
        return ""
    begin = format.layout.section_begin + format.layout.before_name()
    return Literals(format.wrappers[0].open[:1]).at(begin, 0)


def _arguments(format: Format, function: Function, strictly: bool) -> Piece | None:
    if strictly:
        try:
            return format.shape.constrain(function.get("parameters"), format)
        except NotExpressible:
            pass  # they are left free then
    return format.shape.any_arguments(format)


def _list(separator: str, calls: list[Piece], parallel: bool) -> Piece:
    return {
        "type": "tags_with_separator",
        "tags": calls,
        "separator": separator,
        "at_least_one": True,
        "stop_after_first": not parallel,
    }


def _call(format: Format, function: Function, arguments: Piece) -> Piece:
    """A call as one tag: the text that it begins and ends with, and what is between them."""
    layout = format.written
    name = format.shape.write_name(function["name"])
    parts = _joined(
        [
            layout.call_begin + layout.recipient(name),
            *_id(layout, "before_name"),
            layout.name_begin + name + layout.name_end,
            *_id(layout, "after_name"),
            layout.arguments_begin,
            arguments,
            layout.arguments_end,
            *_id(layout, "after_arguments"),
            layout.call_end,
        ]
    )
    inside = [const(part) if isinstance(part, str) else part for part in parts[1:-1]]
    return tag(str(parts[0]), sequence(*inside), str(parts[-1]))


def _id(layout: Layout, place: Place) -> list[str | Piece]:
    """A call's id, where it stands at this place."""
    id = layout.id
    if id is None or id.place != place:
        return []
    if id.first is not None:
        return [id.begin, {"type": "regex", "pattern": _NUMBER}, id.end]
    texts = [[const(text)] if text else [] for text in (id.begin, id.end)]
    return [optional(sequence(*texts[0], {"type": "regex", "pattern": id.pattern}, *texts[1]))]


def _joined(parts: list[str | Piece]) -> list[str | Piece]:
    """The same with texts that follow one another as one. It begins and ends with a text."""
    joined: list[str | Piece] = [""]
    for part in parts:
        last = joined[-1]
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        elif part:
            joined.append(part)
    return joined if isinstance(joined[-1], str) else [*joined, ""]
