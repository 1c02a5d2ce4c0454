"""Holds a model to its own format: xgrammar structural tags, as plain dicts, made of a format's layout.

Where the arguments can't be expressed in the format (`NotExpressible`), forced calls are written as JSON
instead and read by the parser of the format `json`. Every engine that uses xgrammar can use the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.format import Format
from ..core.layout import Layout, Place
from ..core.literals import Literals
from ..core.shape import NotExpressible, Piece
from ..shapes.grammar_text import as_text
from ..shapes.pieces import const, either, optional, sequence, shared, tag, unit

Function = dict[str, Any]

#: A call's number. Without a limit, a model that is held to a grammar may write digits for ever.
_NUMBER = "[0-9]{1,3}"
#: Fewer tools than this whose names begin alike stand side by side.
FEW = 4


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

    def whole(one: Piece) -> Piece:
        # Not a call and `star` of more: what stands there twice takes xgrammar three times as long.
        return sequence(*begin, _list(layout.separator, [_tag(one)], parallel), *end)

    return _in_text(calls, whole, as_text)


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

    def whole(one: Piece) -> Piece:
        if not layout.section_begin:
            return _tag(one)
        inside = _list(layout.separator, [_tag(one)], parallel)
        return tag(layout.section_begin, inside, layout.section_end)

    return {
        "type": "triggered_tags",
        "triggers": [_marker(format)],
        "tags": [_in_text(calls, whole, _inside_as_text)],
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


def _in_text(
    calls: list[list[Piece]], whole: Callable[[Piece], Piece], text_of: Callable[[Piece], Piece]
) -> Piece:
    """The grammar that `whole` makes of one call, as text; or, where not every call can be said in text,
    in pieces, of which one has all those that can."""
    piece = whole(_one_of(calls, lambda some: sequence(*_branches(some))))
    text = text_of(piece)
    return whole(_one_of(calls, _texts_apart)) if text is piece else text


def _inside_as_text(tag: Piece) -> Piece:
    """The tag with its content as text; the same one where that has none."""
    content = as_text(tag["content"])
    return tag if content is tag["content"] else {**tag, "content": content}


def _texts_apart(calls: list[list[Piece]]) -> Piece:
    texts: list[list[Piece]] = []
    others: list[list[Piece]] = []
    for call in calls:
        piece = sequence(*call)
        (others if as_text(piece) is piece else texts).append(call)
    found = [sequence(*_branches(some)) for some in (texts, others) if some]
    return either(*(as_text(piece) for piece in found))


def _one_of(calls: list[list[Piece]], tree: Callable[[list[list[Piece]]], Piece]) -> Piece:
    """One of the calls: what they begin and end with alike is there once, not once for each."""
    begin = _same_beginning([_text(call[0]) for call in calls])
    calls = [[_cut(call[0], len(begin), 0), *call[1:]] for call in calls]
    end = _same_beginning([_text(call[-1])[::-1] for call in calls])[::-1]
    calls = [[*call[:-1], _cut(call[-1], 0, len(end))] for call in calls]
    return sequence(const(begin), tree(calls), const(end))


def _branches(calls: list[list[Piece]]) -> list[Piece]:
    """The calls as a tree: what many of them begin with alike stands there once. Where a call may begin,
    xgrammar follows each that has a beginning of its own, for every token that goes so far."""
    if len(calls) == 1:
        return [unit(piece) for piece in calls[0]]
    if all(call and call[0] == calls[0][0] for call in calls):
        return [unit(calls[0][0]), *_branches([call[1:] for call in calls])]
    begin = _same_beginning([_text(call[0]) if call else "" for call in calls])
    if begin:
        calls = [[_cut(call[0], len(begin), 0), *call[1:]] for call in calls]
    by_letter: dict[str, list[list[Piece]]] = {}
    for call in calls:
        by_letter.setdefault(_text(call[0])[:1] if call else "", []).append(call)
    groups: list[list[list[Piece]]] = []
    for letter, some in by_letter.items():
        groups += [some] if letter and len(some) >= FEW else [[call] for call in some]
    return [const(begin), either(*(sequence(*_branches(group)) for group in groups))]


def _tag(call: Piece) -> Piece:
    """The same as a tag, with the text at its beginning and its end."""
    between = list(call["elements"]) if call["type"] == "sequence" else [call]
    begin = _text(between.pop(0)) if _text(between[0]) else ""
    end = _text(between.pop()) if between and _text(between[-1]) else ""
    return tag(begin, sequence(*map(unit, between)), end)


def _cut(piece: Piece, begin: int, end: int) -> Piece:
    """A piece without so many characters at its beginning and its end."""
    text = _text(piece)
    return const(text[begin : len(text) - end]) if begin or end else piece


def _text(piece: Piece) -> str:
    return str(piece["value"]) if piece["type"] == "const_string" else ""


def _same_beginning(texts: list[str]) -> str:
    least, most = min(texts), max(texts)
    same = next((i for i, c in enumerate(least) if not most.startswith(c, i)), len(least))
    return least[:same]


def _call(format: Format, function: Function, arguments: Piece) -> list[Piece]:
    """The pieces of a call."""
    layout = format.written
    name = format.shape.write_name(function["name"])
    begin = [*_id(layout, "before_name"), const(layout.name_begin)]
    if layout.recipient(name):  # the name stands there twice
        between = shared(const(layout.recipient_end), *begin)
        begin = [const(layout.recipient_begin + name), between]
    whole = sequence(
        const(layout.call_begin),
        *begin,
        const(name),
        shared(const(layout.name_end), *_id(layout, "after_name"), const(layout.arguments_begin)),
        arguments,
        const(layout.arguments_end),
        *_id(layout, "after_arguments"),
        const(layout.call_end),
    )
    return list(whole["elements"]) if whole["type"] == "sequence" else [whole]


def _id(layout: Layout, place: Place) -> list[Piece]:
    """A call's id, where it stands at this place."""
    id = layout.id
    if id is None or id.place != place:
        return []
    pattern = _NUMBER if id.first is not None else id.pattern
    written = sequence(const(id.begin), {"type": "regex", "pattern": pattern}, const(id.end))
    return [written if id.first is not None else optional(written)]
