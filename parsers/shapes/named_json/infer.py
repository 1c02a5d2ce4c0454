"""Finds known names with a JSON object behind them, and tells what stands between the two."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING

from ...core.samples import CallSpans, Inferred, Sample, Span, Surroundings, surroundings_of
from ..find_json import is_arguments, json_values
from ..find_names import find_word, last_word
from ..infer_wrappers import without_fences
from ..tokens import joined, tokens, tokens_without_space

if TYPE_CHECKING:
    from . import NamedJson

_ANY_ID = "[A-Za-z0-9_-]+"


@dataclass(frozen=True, slots=True)
class NamedObject:
    """A name that stands in the open, and the JSON object behind it."""

    text: str
    name: Span
    arguments: Span
    floor: int  # where the call before it ended
    known_id: str = ""

    @property
    def middle(self) -> str:
        return re.sub(r"```\w*\s*\Z", "", self.text[self.name.end : self.arguments.start])

    def spans(self, id: Span | None = None) -> CallSpans:
        """Where its parts stand in the text; `id` is where one stands behind the name."""
        call, behind = Span(self.name.start, self.arguments.end), self.name.end
        own = Span(behind + id.start, behind + id.end) if id else None
        return CallSpans(call, self.name, self.arguments, own)


def names_with_json(samples: Sequence[Sample]) -> list[list[NamedObject]] | None:
    found: list[list[NamedObject]] = []
    for sample in samples:
        waiting = list(sample.calls)
        here: list[NamedObject] = []
        floor = 0
        for start, end, value in json_values(sample.text):
            if not waiting or not is_arguments(value, waiting[0][1]):
                continue
            name = waiting.pop(0)[0]
            places = find_word(sample.text, name, floor, start)
            if not places:
                return None
            at = places[-1]
            span = Span(at, at + len(name))
            known_id = sample.ids[len(here)] if sample.ids else ""
            here.append(NamedObject(sample.text, span, Span(start, end), floor, known_id))
            floor = end
        if waiting:
            return None
        found.append(here)
    return found if any(found) else None


def infer(kind: type[NamedJson], samples: Sequence[Sample]) -> Inferred | None:
    """`NAME`, something between, `{…}`; perhaps with a number or an id behind the name."""
    found = names_with_json(samples)
    if found is None:
        return None
    every = [call for here in found for call in here]
    tails = [re.match(r"[^\s<>{}\[\]()\"'`|,;=]*", call.middle)[0] for call in every]  # type: ignore[index]
    if any(tails):
        return _with_header(kind, samples, found, tails)
    ids = _ids(every)
    spans = [[Span(c.name.start, c.arguments.end) for c in here] for here in found]
    texts = _fence_after(surroundings_of(samples, spans))
    separators = {_separators(call, id) for call, id in zip(every, ids, strict=True)}
    if len(separators) > 1:
        return None
    before, after = separators.pop()
    shape = kind(separator=(after,) if after else (), id_separator=(before,) if before else ())
    return Inferred(shape, texts, call_spans(found, ids))


def call_spans(
    found: list[list[NamedObject]], ids: Iterable[Span | None] = ()
) -> tuple[tuple[CallSpans, ...], ...]:
    own = chain(ids, repeat(None))
    return tuple(tuple(call.spans(next(own)) for call in here) for here in found)


def _fence_after(texts: Surroundings) -> Surroundings:
    """A fence opened between name and arguments closes behind them."""
    without = without_fences(texts)
    return Surroundings(texts.before, without.between, without.after)


# -- ids ------------------------------------------------------------------------------------------


def _ids(every: Sequence[NamedObject]) -> Sequence[Span | None]:
    """Where ids stand between names and arguments: those that are known, or the words that differ."""
    known = [_known_id(call, call.middle) for call in every]
    if all(known):
        return known
    words = [_word_between(call.middle) for call in every]
    differ = len({joined(tokens(call.middle)).strip() for call in every}) > 1
    return words if differ and all(words) else [None] * len(every)


def _known_id(call: NamedObject, text: str) -> Span | None:
    places = find_word(text, call.known_id, 0) if call.known_id else []
    return Span(places[0], places[0] + len(call.known_id)) if places else None


def _word_between(middle: str) -> Span | None:
    """The word in `[CALL_ID]word[ARGS]`."""
    pieces = tokens_without_space(middle)
    if len(pieces) != 3 or pieces[1].kind != "word":
        return None
    before, word, _ = (piece.text for piece in pieces)
    start = middle.index(word, middle.index(before) + len(before))
    return Span(start, start + len(word))


def _separators(call: NamedObject, id: Span | None) -> tuple[str, str]:
    """What stands before an id and before the arguments."""
    if id is None:
        return "", joined(tokens(call.middle)).strip()
    return call.middle[: id.start].strip(), call.middle[id.end :].strip()


def _with_header(
    kind: type[NamedJson],
    samples: Sequence[Sample],
    found: list[list[NamedObject]],
    tails: list[str],
) -> Inferred | None:
    """The word that holds the name has an id or a number in it: the whole word is the call's id then."""
    every = [call for here in found for call in here]
    known = [_known_id(call, tail) for call, tail in zip(every, tails, strict=True)]
    ids = known if all(known) else [_number(tail) for tail in tails]
    any_id = _ANY_ID if all(known) else "[0-9]+"
    heads = {last_word(c.text[c.floor : c.name.start], ".:/-") for c in every}
    patterns = {_tail_pattern(tail, id, any_id) for tail, id in zip(tails, ids, strict=True)}
    separators = {c.middle[len(tail) :].strip() for c, tail in zip(every, tails, strict=True)}
    if len(heads) > 1 or len(patterns) > 1 or len(separators) > 1:
        return None
    head, pattern, separator = heads.pop(), patterns.pop(), separators.pop()
    if pattern is None:
        return None
    shape = kind(
        separator=(separator,) if separator else (),
        header=rf"(?:{re.escape(head)})?(?P<name>.+?)(?:{pattern})?",
    )
    spans = [[Span(c.name.start - len(head), c.arguments.end) for c in here] for here in found]
    texts = surroundings_of(samples, spans)
    return Inferred(shape, texts, call_spans(found, ids), numbered=not all(known))


def _number(text: str) -> Span | None:
    found = re.search("[0-9]+", text)
    return Span(*found.span()) if found else None


def _tail_pattern(tail: str, id: Span | None, any_id: str) -> str | None:
    """What is behind a name in its word, with any other id; None where that can't be told."""
    if id is None or not id.start:
        return None  # nothing differs from call to call, or nothing ends the name
    rest = re.sub("[0-9]+", "[0-9]+", re.escape(tail[id.end :]))
    return re.escape(tail[: id.start]) + any_id + rest
