"""Finds calls that are JSON objects, where nothing is known of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...core.samples import Call
from ...schema.tools import Tool
from ..find_json import as_arguments, json_values
from ..find_names import ARGUMENT_KEYS
from .infer import items_in

#: Keys that a call's name often has.
NAME_KEYS = ("name", "tool_name", "function_name", "function", "tool", "action")
#: `<function=NAME>`, `<invoke name="NAME">`
_NAMED_TAG = re.compile(r"<[^<>=]+=[^<>]*>")
#: `<key>K</key><value>`
_KEY_BEFORE = re.compile(r"<[^<>/]+>[^<>\s]*</[^<>]+>\s*<[^<>/]+>\Z")


def find(text: str, tools: Mapping[str, Tool] | None) -> Iterable[Call]:
    """Objects with a name and arguments in them, or lists of objects whose keys are names."""
    values = list(json_values(text))
    items = [item.value for value in values for item in items_in(text, *value)]
    calls = [call for item in items for call in _named(item, tools)]
    return calls or _keyed_by_name(text, values, tools)


def _named(item: Any, tools: Mapping[str, Tool] | None) -> Iterator[Call]:
    """`{"name": "NAME", "arguments": {…}}`"""
    if not isinstance(item, dict):
        return
    if isinstance(item.get("function"), dict):
        item = item["function"]
    texts = [key for key, value in item.items() if isinstance(value, str)]
    names = [item[key] for key in texts if (item[key] in tools if tools else key in NAME_KEYS)]
    usual = [as_arguments(item[key]) for key in ARGUMENT_KEYS if key in item]
    arguments = usual or [value for value in item.values() if isinstance(value, dict)]
    if names and arguments and isinstance(arguments[0], dict):
        yield names[0], arguments[0]
    elif names and not arguments and tools:
        yield names[0], {}


def _keyed_by_name(
    text: str, values: Sequence[tuple[int, int, Any]], tools: Mapping[str, Tool] | None
) -> list[Call]:
    """`[{"NAME": {…}}]`; where the tools are known, an object by itself will do.

    Other JSON looks like that, too. It may not be some call's value; and where the tools are not known,
    there may be no other JSON.
    """
    if not values or _NAMED_TAG.search(text) or _is_value(text[: values[0][0]]):
        return []
    lists = [value if isinstance(value, list) else [value] for _, _, value in values]
    items = [item for items in lists for item in items]
    alike = all(map(_has_objects, items)) and all(isinstance(v, list) for _, _, v in values)
    if tools is None and not alike:
        return []
    return [call for item in items if _has_objects(item) for call in item.items()]


def _has_objects(item: Any) -> bool:
    """Whether all that an object has are objects."""
    return isinstance(item, dict) and all(isinstance(value, dict) for value in item.values())


def _is_value(before: str) -> bool:
    """Whether what follows is a value: `<key>K</key><value>` or `f(k=` stands before it."""
    before = before.rstrip()
    return before.endswith(("=", "(", ",")) or _KEY_BEFORE.search(before) is not None
