"""From where calls stand in some texts to how they are laid out.

All that is neither a name nor arguments nor an id is layout. What stands before a name both at the first
call of a message and at a later one belongs to each call, and so does what stands behind the arguments
both of the last call and of an earlier one; the rest stands around all calls, or between them.

Ids differ from call to call: a placeholder is put in their place first, and found again in the layout.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ..core.format import Format, Wrapper
from ..core.layout import TEXTS, CallId, Layout, Place
from ..core.literals import pattern_of
from ..core.samples import Inferred, Sample, Span
from .find_names import find_word

#: Stands for a call's id. It is a character that Unicode has given no meaning.
_ID = "\ue000"
#: What is the same or not as a whole: a tag, a marker, a word, a single character of anything else.
_UNIT = re.compile(r"<[^<>]*>|\[/?[A-Z_]{2,}\]|\w+|.", re.DOTALL)
#: What a key or an attribute has before its value, backwards: `"id": "`, ` id="`, `, "id": "`.
_KEY_BACKWARDS = re.compile(r"""["']\s*[:=]\s*["']?[\w.-]+["']?[\s,]*""")
_QUOTE_AND_SEPARATOR = re.compile(r"""["'][\s,]*""")
#: Where the placeholder may stand, and what place that is.
_PLACES: dict[str, Place] = {
    "call_begin": "before_name",
    "name_end": "after_name",
    "call_end": "after_arguments",
}

#: The ids of each sample's calls; "" for one that has none.
Ids = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Texts:
    """What stands around names and arguments, in all samples."""

    before: list[str]  # the first name of a sample, from the first opener on
    middle: list[str]  # between a name and its arguments
    between: list[str]  # arguments, and the next name
    after: list[str]  # the last arguments of a sample, up to the last closer


def infer_layouts(samples: Sequence[Sample], found: Inferred, spec: Format) -> Iterator[Layout]:
    """The layouts that the calls that were found may have, the likeliest first."""
    if not any(found.calls):
        if found.layout != Layout():
            yield found.layout
        return
    if any(len(here) != len(s.calls) for s, here in zip(samples, found.calls, strict=True)):
        return  # the parts of some call stand in an order that no layout has
    for ids, first in _possible_ids(samples, found):
        layout = _infer(samples, found, spec, ids)
        layout = _with_id(layout, first) if layout else None
        if layout:
            yield layout
    plain = _infer(samples, found, spec, [[] for _ in samples])
    if plain:
        yield plain


def ids_in(samples: Sequence[Sample], found: Inferred) -> Ids:
    """The calls' ids: those that the shape has found, or those that are known."""
    ids: list[Sequence[str]] = []
    for sample, here in zip(samples, found.calls or [()] * len(samples), strict=True):
        shown = [sample.text[c.id.start : c.id.end] for c in here if c.id]
        ids.append(shown or sample.ids or [""] * len(sample.calls))
    return ids


def _possible_ids(samples: Sequence[Sample], found: Inferred) -> Iterator[tuple[Ids, int | None]]:
    """What may be the ids, and the first of them where they count the calls."""
    own = ids_in(samples, found)
    numbers = [int(ids[0]) for ids in own if found.numbered and ids]
    yield own, numbers[0] if numbers else None
    if any(len(here) > 1 for here in found.calls):  # else any number would do
        for first in (0, 1):
            yield [[str(first + i) for i in range(len(here))] for here in found.calls], first


def _infer(samples: Sequence[Sample], found: Inferred, spec: Format, ids: Ids) -> Layout | None:
    """The layout, with the placeholder where an id was, if all calls are laid out alike."""
    texts = _texts(samples, found, spec, ids)
    if any(len(set(same)) != 1 for same in (texts.before, texts.middle, texts.after)):
        return None
    before, after = texts.before[0], texts.after[0]
    named = replace(found.layout, name_end=texts.middle[0])
    if not texts.between:
        if found.listed:
            return _of_listed_call(named, before, after, *_around_listed(samples, found, ids))
        return _of_single_calls(named, before, after, spec.wrappers)
    between = texts.between[0]
    call_begin = _common_end(before, between)
    call_end = _common_start(after, between[: len(between) - len(call_begin)])
    return replace(
        named,
        section_begin=before.removesuffix(call_begin),
        call_begin=call_begin,
        call_end=call_end,
        section_end=after.removeprefix(call_end),
        separator=between[len(call_end) : len(between) - len(call_begin)],
    )


def _texts(samples: Sequence[Sample], found: Inferred, spec: Format, ids: Ids) -> _Texts:
    texts = _Texts([], [], [], [])
    shown = [
        (sample.text, here, own)
        for sample, here, own in zip(samples, found.calls, ids, strict=True)
        if here
    ]
    for place, (text, here, own) in enumerate(shown):
        before = _from_opener(text[: here[0].name.start], spec, found, place)
        after = _to_closer(text[here[-1].arguments.end :], spec, found, place)
        texts.before.append(_without_ids(before, own[:1]))
        texts.after.append(_without_ids(after, own[-1:]))
        for i, call in enumerate(here):
            middle = text[call.name.end : call.arguments.start]
            texts.middle.append(_without_ids(middle, own[i : i + 1]))
        for i, (one, other) in enumerate(pairwise(here)):
            between = text[one.arguments.end : other.name.start]
            texts.between.append(_without_ids(between, own[i : i + 2]))
    return texts


def _without_ids(text: str, ids: Sequence[str]) -> str:
    """A text with the placeholder in the place of ids."""
    for id in filter(None, ids):
        for at in reversed(find_word(text, id, 0)):
            text = text[:at] + _ID + text[at + len(id) :]
    return text


def _from_opener(before: str, spec: Format, found: Inferred, place: int) -> str:
    """What belongs to the calls of what stands before the first name."""
    for opener in spec.wrappers[0].open[:1] if spec.wrappers else spec.shape.heads:
        places = _places(opener, before)
        if places:
            return before[places[-1].start :]
    return before.removeprefix(found.surroundings.before[place])


def _to_closer(after: str, spec: Format, found: Inferred, place: int) -> str:
    closers = [*(wrapper.close[:1] for wrapper in spec.wrappers), spec.shape.closers[:1]]
    ends = [place.end for close in closers if close for place in _places(close[0], after)[:1]]
    return after[: max(ends)] if ends else after.removesuffix(found.surroundings.after[place])


def _around_listed(samples: Sequence[Sample], found: Inferred, ids: Ids) -> tuple[str, str]:
    """What the first call's own object has before its name and behind its arguments."""
    shown = zip(samples, found.calls, ids, strict=True)
    text, call, own = next((s.text, here[0], own[:1]) for s, here, own in shown if here)
    return (
        _without_ids(text[call.call.start : call.name.start], own),
        _without_ids(text[call.arguments.end : call.call.end], own),
    )


def _of_listed_call(layout: Layout, before: str, after: str, begin: str, end: str) -> Layout:
    """One call in a list: what belongs to it is what belongs to its object."""
    return replace(
        layout,
        section_begin=before.removesuffix(begin),
        call_begin=begin,
        call_end=end,
        section_end=after.removeprefix(end),
        separator=", ",
    )


def _of_single_calls(
    layout: Layout, before: str, after: str, wrappers: Sequence[Wrapper]
) -> Layout:
    """Where no sample has two calls: with several wrappers, the innermost stands around each call."""
    start, end = 0, len(after)
    if len(wrappers) > 1 and wrappers[-1].close:
        openers = _places(wrappers[-1].open[0], before)
        closers = _places(wrappers[-1].close[0], after)
        if openers and closers:
            start, end = openers[-1].start, closers[0].end
    return replace(
        layout,
        section_begin=before[:start],
        call_begin=before[start:],
        call_end=after[:end],
        section_end=after[end:],
        separator="\n" if "\n" in before else "",
    )


def _places(delimiter: str, text: str) -> list[Span]:
    """Where a delimiter stands in a text, with any suffix."""
    return [Span(*found.span()) for found in re.finditer(pattern_of(delimiter), text)]


def _common_start(one: str, other: str) -> str:
    return "".join(_common(_UNIT.findall(one), _UNIT.findall(other)))


def _common_end(one: str, other: str) -> str:
    units = _common(_UNIT.findall(one)[::-1], _UNIT.findall(other)[::-1])
    return "".join(units[::-1])


def _common(one: Sequence[str], other: Sequence[str]) -> Sequence[str]:
    """What both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return one[: next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))]


# -- ids ------------------------------------------------------------------------------------------


def _with_id(layout: Layout, first: int | None) -> Layout | None:
    """A layout whose placeholder has become a call's id; None where that stands around no call."""
    places = [name for name in TEXTS for _ in range(getattr(layout, name).count(_ID))]
    if len(places) != 1 or places[0] not in _PLACES:
        return None
    place = _PLACES[places[0]]
    head, begin, end, tail = _around_id(*getattr(layout, places[0]).split(_ID))
    id = CallId(begin, end, place, first)
    if place == "before_name":
        return replace(layout, id=id, call_begin=head, name_begin=tail)
    if place == "after_name":
        return replace(layout, id=id, name_end=head, arguments_begin=tail)
    return replace(layout, id=id, arguments_end=head, call_end=tail)


def _around_id(before: str, after: str) -> tuple[str, str, str, str]:
    """What of the text around an id stands there only with it: its key and quotes, or what is next to
    it."""
    key = _KEY_BACKWARDS.match(before[::-1])
    closed = _QUOTE_AND_SEPARATOR.match(after)
    if key and closed:
        begin = before[len(before) - key.end() :]
        # the separator stands before the key, or else behind the value
        end = closed[0][:1] if begin[:1] in ", \n" else closed[0]
    else:
        begin, end = (_UNIT.findall(before) or [""])[-1], ""
    return before[: len(before) - len(begin)], begin, end, after[len(end) :]
