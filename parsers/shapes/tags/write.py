"""How values are written between tags: strings as they are, anything else as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.layout import Layout
from ...schema.kinds import json_type
from ..values import dumps, write_value
from .tag import Tag


def written(arguments: Mapping[str, Any], layout: Layout, tag: Tag) -> str:
    keys = sorted(arguments) if layout.sorted_keys else arguments
    return layout.parameter_separator.join(
        parameter_begin(tag.written(key), type_word(arguments[key], layout), layout)
        + text_of(arguments[key], layout)
        + layout.value_end
        for key in keys
    )


def text_of(value: Any, layout: Layout) -> str:
    """A value as it stands between tags."""
    if isinstance(value, str):
        return value
    return write_value(value, layout.python_words, layout.compact)


def parameter_begin(key: str, word: str, layout: Layout) -> str:
    """All that stands before a value; `word` says its type, where the layout has a place for that."""
    return layout.key_begin + key + behind_key(word, layout)


def behind_key(word: str, layout: Layout) -> str:
    """What stands between a key and its value."""
    mark = layout.type
    said = mark.begin + word + mark.end if mark else ""
    return layout.key_end + said + layout.value_begin


def type_word(value: Any, layout: Layout) -> str:
    """The word for the type of a value."""
    if layout.type is None:
        return ""
    if isinstance(value, str):
        return layout.type.string
    return layout.type.word(str(json_type(dumps(value))))
