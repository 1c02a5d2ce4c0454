"""Finds labelled lines, where nothing is known of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ...core.samples import Call
from ...schema.tools import Tool
from ..find_json import json_values

#: `name: NAME`, and on the next line the label of the arguments
_LABELLED_NAME = re.compile(
    r"(?:name|tool|function|action)\s*:\s*[\"']?(?P<name>[\w.-]+)[\"']?\s*\n[\w ]+:\s*\Z",
    re.IGNORECASE,
)


def find(text: str, tools: Mapping[str, Tool] | None) -> Iterable[Call]:
    """Objects behind a label, where the line before has the label of a name."""
    floor = 0
    for start, end, value in json_values(text):
        name = _LABELLED_NAME.search(text[floor:start]) if isinstance(value, dict) else None
        if name and (tools is None or name["name"] in tools):
            yield name["name"], value
        floor = end
