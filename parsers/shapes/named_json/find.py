"""Finds names with a JSON object behind them, where nothing is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...core.samples import Call
from ...schema.tools import Tool
from ..find_json import json_values
from ..find_names import name_at_end


def find(text: str, tools: Mapping[str, Tool] | None) -> Iterable[Call]:
    """The objects in a text that stand behind a name."""
    floor = 0
    for start, end, value in json_values(text):
        name = name_at_end(text[floor:start], tools) if isinstance(value, dict) else ""
        if name:
            yield name, value
        floor = end
