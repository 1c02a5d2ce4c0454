"""Finds known calls that are JSON objects, and tells under which keys they have name and arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from ...core.samples import Call, CallSpans, Inferred, Sample, Span, surroundings_of
from ..find_json import is_arguments, json_values, same_json
from ..infer_wrappers import without_fences
from ..values import dumps

if TYPE_CHECKING:
    from . import JsonCalls


@dataclass(frozen=True, slots=True)
class _Keys:
    """Under which keys a JSON object has a call's name and arguments; none where the name is one."""

    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class _Item:
    """A JSON value that may be a call, and where it stands."""

    span: Span
    value: Any


def infer(kind: type[JsonCalls], samples: Sequence[Sample]) -> Inferred | None:
    """`{"name": "NAME", "arguments": {…}}`, alone or in an array, with any keys."""
    keys: set[_Keys] = set()
    spans: list[list[Span]] = []
    listed = False
    parts: list[tuple[CallSpans, ...]] = []
    for sample in samples:
        waiting = list(sample.calls)
        places = []
        here: list[CallSpans] = []
        for start, end, value in json_values(sample.text):
            items = items_in(sample.text, start, end, value)
            found = _keys_in_row(items, waiting)
            if not found:
                continue
            keys.update(found)
            listed = listed or items[0].span.start > start
            for item, call, own in zip(items, waiting, found, strict=False):
                here += _parts(sample.text, item.span, call, own)
            del waiting[: len(found)]
            places.append(Span(start, end))
        if waiting:
            return None
        spans.append(places)
        parts.append(tuple(here))
    if not keys or len({not key.name for key in keys}) > 1:
        return None
    texts = without_fences(surroundings_of(samples, spans))
    return Inferred(_shape(kind, keys), texts, tuple(parts), listed)


def items_in(text: str, start: int, end: int, value: Any) -> list[_Item]:
    """What in a JSON value may be calls: it, or what is in the list that it is or has."""
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        inner = _behind_key(text, "tool_calls", start, end)
    elif isinstance(value, list):
        inner = start
    else:
        return [_Item(Span(start, end), value)]
    inside = takewhile(lambda found: found[0] < end, json_values(text, inner + 1))
    return [_Item(Span(at, behind), item) for at, behind, item in inside]


def _keys_in_row(items: Sequence[_Item], waiting: Sequence[Call]) -> list[_Keys]:
    """The keys of the waiting calls that the items are, as many as there are in a row."""
    found = []
    for item, call in zip(items, waiting, strict=False):
        keys = _keys_of(item.value, call)
        if keys is None:
            break
        found.append(keys)
    return found


def _keys_of(item: Any, call: Call) -> _Keys | None:
    if isinstance(item, dict) and isinstance(item.get("function"), dict):
        item = item["function"]
    if not isinstance(item, dict):
        return None
    name, arguments = call
    if len(item) == 1 and same_json(item.get(name), arguments):
        return _Keys()
    names = [key for key, value in item.items() if value == name]
    holding = [key for key, value in item.items() if is_arguments(value, arguments)]
    return _Keys(names[0], holding[0]) if names and holding else None


def _shape(kind: type[JsonCalls], keys: set[_Keys]) -> JsonCalls:
    usual = kind()
    if _Keys() in keys:
        return kind(name_is_key=True)
    names = tuple(sorted({key.name for key in keys}))
    arguments = tuple(sorted({key.arguments for key in keys}))
    return kind(
        name_keys=usual.name_keys if set(names) <= set(usual.name_keys) else names,
        argument_keys=(
            usual.argument_keys if set(arguments) <= set(usual.argument_keys) else arguments
        ),
    )


def _parts(text: str, item: Span, call: Call, keys: _Keys) -> list[CallSpans]:
    """Where name and arguments stand, in this order; nothing where they stand otherwise."""
    quoted = dumps(call[0])
    label = _behind_key(text, keys.name, item.start, item.end) if keys.name else item.start
    at = text.find(quoted, label, item.end) if label >= 0 else -1
    if at < 0:
        return []
    name = Span(at + 1, at + len(quoted) - 1)
    key, floor = (keys.arguments, name.end) if keys.name else (call[0], at)
    arguments = _behind_key(text, key, floor, item.end)
    if not text.startswith("{", arguments):
        return []
    end = json.JSONDecoder().raw_decode(text, arguments)[1]
    return [CallSpans(item, name, Span(arguments, end))]


def _behind_key(text: str, key: str, start: int, end: int) -> int:
    """Where the value of a key begins; -1 where there is no such key."""
    found = re.compile(re.escape(dumps(key)) + r"\s*:\s*").search(text, start, end)
    return found.end() if found else -1
