"""Finds calls with a tag for each parameter, and tells what the tags are.

    before NAME first KEY inside VALUE next KEY inside VALUE last

`first` ends with what opens a parameter, `inside` leads from its key to its value, `next` is what
closes one and opens another, and `last` begins with what closes one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.layout import Layout, TypeMark
from ...core.samples import Call, CallSpans, Inferred, Sample, Span, surroundings_of
from ..find_names import find_word
from ..tokens import common_end, common_start, joined, tokens_without_space
from .tag import Tag

if TYPE_CHECKING:
    from . import Tags

#: The end of a tag that has the key in it: `">`, ` string="true">`, `>` and a newline.
_TAG_END = re.compile(r"""["']?(?:\s+[\w:.-]+\s*=\s*"[^"]*")*\s*>\s*""")
#: … and one that says whether the value is text.
_TYPE = re.compile(r"""(?P<before>["']?)(?P<begin>\s+string=["'])(?:true|false)(?P<end>["'])""")


@dataclass(frozen=True, slots=True)
class _Parts:
    """Where the parts of one call stand."""

    text: str
    name: Span
    keys: tuple[Span, ...]
    values: tuple[Span, ...]
    floor: int  # where the call before it ended

    @property
    def before(self) -> str:
        return self.text[self.floor : self.name.start]

    @property
    def first(self) -> str:
        return self.text[self.name.end : self.keys[0].start]

    @property
    def insides(self) -> list[str]:
        return [
            self.text[key.end : value.start]
            for key, value in zip(self.keys, self.values, strict=True)
        ]

    @property
    def nexts(self) -> list[str]:
        return [
            self.text[value.end : key.start]
            for value, key in zip(self.values, self.keys[1:], strict=False)
        ]

    @property
    def end(self) -> int:
        return self.values[-1].end


def infer(kind: type[Tags], samples: Sequence[Sample]) -> Inferred | None:
    """`<function=NAME><parameter=K>V</parameter></function>`, or a tag for keys and one for values."""
    found = _all_parts(samples)
    if found is None:
        return None
    every = [call for here in found for call in here]
    parameter = _parameter(every)
    if parameter is None:
        return None
    opener, tag = parameter
    closer = _parameter_closer(samples, found, opener)
    if not closer:
        return None
    head = every[0].first[: -len(opener)]
    call = _call_tag(every, head)
    if call and not common_end([_before_tag(here[0].before) for here in found if here]):
        call = None  # nothing else marks the call, so the tag's beginning is its marker
    close = _call_closer(samples, found, closer) if call else ""
    shape = kind(
        call=call,
        parameter=tag,
        parameter_close=(closer,),
        close=(close,) if close else (),
        separator=() if call or not head.strip() else (head.strip(),),
        value_on_own_lines=_on_own_lines(every),
    )
    begin = _unclosed(every[0].before) if call else ""
    spans = [
        [Span(c.name.start - len(begin), _end(c, (closer, close))) for c in here] for here in found
    ]
    layout = _layout(every, opener, tag, closer)
    calls = tuple(
        tuple(_call_spans(c, span, opener, layout) for c, span in zip(here, places, strict=True))
        for here, places in zip(found, spans, strict=True)
    )
    return Inferred(shape, surroundings_of(samples, spans), calls, layout=layout)


def _layout(every: Sequence[_Parts], opener: str, tag: Tag, closer: str) -> Layout:
    """What stands around keys and values."""
    insides = [inside for call in every for inside in call.insides]
    ends = [text.removesuffix(opener) for call in every for text in call.nexts]
    inside = insides[0]
    at = inside.index(tag.end)
    key_end, value_begin = inside[:at], inside[at:]
    said = _TYPE.fullmatch(key_end) if not tag.key_close else None
    return Layout(
        key_begin=opener,
        key_end=said["before"] if said else key_end,
        value_begin=value_begin,
        value_end=ends[0] if ends else _only_end(every[0], closer),
        type=TypeMark(said["begin"], said["end"], "true", "false") if said else None,
    )


def _only_end(call: _Parts, closer: str) -> str:
    """What stands behind the only value: its closer, and the newline behind that."""
    end = call.text.index(closer, call.end) + len(closer)
    return call.text[call.end : end + call.text.startswith("\n", end)]


def _call_spans(call: _Parts, span: Span, opener: str, layout: Layout) -> CallSpans:
    end = call.end
    if call.text.startswith(layout.value_end, end):
        end += len(layout.value_end)
    return CallSpans(span, call.name, Span(call.keys[0].start - len(opener), end))


# -- finding the parts ----------------------------------------------------------------------------


def _all_parts(samples: Sequence[Sample]) -> list[list[_Parts]] | None:
    """Where each call's parts stand. Calls without arguments tell nothing and are left to the proof."""
    found: list[list[_Parts]] = []
    for sample in samples:
        here: list[_Parts] = []
        floor = 0
        for call in sample.calls:
            if not call[1]:
                return None
            parts = _parts_of(sample.text, call, floor)
            if parts is None:
                return None
            here.append(parts)
            floor = parts.end
        found.append(here)
    return found if any(found) else None


def _parts_of(text: str, call: Call, floor: int) -> _Parts | None:
    name, arguments = call
    for order in (list(arguments), sorted(arguments)):
        for start in reversed(find_word(text, name, floor)):
            parts = _keys_and_values(text, start + len(name), order, arguments)
            if parts:
                keys, values = parts
                return _Parts(text, Span(start, start + len(name)), keys, values, floor)
    return None


def _keys_and_values(
    text: str, place: int, order: Iterable[str], arguments: dict[str, Any]
) -> tuple[tuple[Span, ...], tuple[Span, ...]] | None:
    keys, values = [], []
    for key in order:
        starts = find_word(text, key, place)
        if not starts:
            return None
        keys.append(Span(starts[0], starts[0] + len(key)))
        value = _value(text, keys[-1].end, arguments[key])
        if value is None:
            return None
        values.append(value)
        place = value.end
    return tuple(keys), tuple(values)


def _value(text: str, place: int, value: Any) -> Span | None:
    """The value as it may stand between tags: text as it is, anything else as JSON or Python."""
    spellings = (
        [value]
        if isinstance(value, str)
        else [
            json.dumps(value, ensure_ascii=False),
            json.dumps(value, ensure_ascii=False, separators=(",", ":")),
            repr(value),
        ]
    )
    places = [
        Span(at, at + len(spelling))
        for spelling in spellings
        for at in find_word(text, spelling, place)[:1]
    ]
    return min(places, key=lambda span: span.start, default=None)


# -- what they are made of ------------------------------------------------------------------------


def _parameter(every: Sequence[_Parts]) -> tuple[str, Tag] | None:
    """What opens a parameter, as it is written, and the tag it makes with the key in it."""
    firsts = [call.first for call in every]
    nexts = [text for call in every for text in call.nexts]
    shared = common_end([*firsts, *nexts])
    if not shared or shared[-1].kind != "tag":
        return None
    opener = joined(shared if nexts else shared[-1:]).lstrip()
    if not all(text.endswith(opener) for text in (*firsts, *nexts)):
        return None
    insides = {inside for call in every for inside in call.insides}
    if all(_TAG_END.fullmatch(inside) for inside in insides):
        return opener, Tag((opener.rstrip("\"'"),))
    pieces = tokens_without_space(insides.pop())
    if insides or not pieces or pieces[-1].kind != "tag":
        return None
    if len(pieces) == 1:
        return opener, Tag((opener,), end=pieces[0].text)
    return opener, Tag((opener,), end=pieces[-1].text, key_close=joined(pieces[:-1]))


def _on_own_lines(every: Sequence[_Parts]) -> bool:
    """Whether each value begins behind a newline, and a newline follows it."""
    before = [inside for call in every for inside in call.insides]
    after = [call.text[value.end :] for call in every for value in call.values]
    return all(text.endswith("\n") for text in before) and all(
        text.startswith(("\n", "\r\n")) for text in after
    )


def _tails(samples: Sequence[Sample], found: Sequence[Sequence[_Parts]]) -> list[str]:
    """What stands behind each call's last value, up to the next call's name."""
    tails: list[str] = []
    for sample, here in zip(samples, found, strict=True):
        ends = [*(call.name.start for call in here[1:]), len(sample.text)]
        tails += [sample.text[call.end : end] for call, end in zip(here, ends, strict=False)]
    return tails


def _parameter_closer(
    samples: Sequence[Sample], found: Sequence[Sequence[_Parts]], opener: str
) -> str:
    nexts = [text for here in found for call in here for text in call.nexts]
    if nexts:
        closers = {text.removesuffix(opener).strip() for text in nexts}
        return closers.pop() if len(closers) == 1 else ""
    shared = common_start(_tails(samples, found))
    first = next((token for token in shared if token.kind != "space"), None)
    return first.text if first and first.kind == "tag" else ""


def _unclosed(before: str) -> str:
    """The tag at the end of a text that has not ended: `<function=`."""
    found = re.search(r"<[^<>\s][^<>]*\Z", before)
    return found[0] if found else ""


def _before_tag(before: str) -> str:
    return before.removesuffix(_unclosed(before))


def _call_tag(every: Sequence[_Parts], head: str) -> Tag | None:
    begins = {_unclosed(call.before) for call in every}
    if len(begins) != 1 or not _TAG_END.fullmatch(head):
        return None
    begin = begins.pop().rstrip("\"'")
    return Tag((begin,)) if begin else None


def _call_closer(samples: Sequence[Sample], found: Sequence[Sequence[_Parts]], closer: str) -> str:
    """The tag behind the last parameter's, if all calls have the same."""
    shared = common_start([tail.strip().removeprefix(closer) for tail in _tails(samples, found)])
    first = next((token for token in shared if token.kind != "space"), None)
    return first.text if first and first.kind == "tag" else ""


def _end(call: _Parts, closers: Iterable[str]) -> int:
    """Where the call's own closers end."""
    end = call.end
    for closer in closers:
        found = re.compile(r"\s*" + re.escape(closer)).match(call.text, end) if closer else None
        end = found.end() if found else end
    return end
