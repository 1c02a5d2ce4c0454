"""Finds objects with bare keys, where nothing is known of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from ...core.samples import Call
from ...schema.tools import Tool
from ..named_json import find as named_json

#: The quote behind the first key of an object that has one.
_QUOTED_VALUE = re.compile(r"[{,]\s*\w+:(<[^<>\s]+>)")


def find(text: str, tools: Mapping[str, Tool] | None) -> Iterable[Call]:
    """Objects with quotes that look like tags: as JSON, once keys and strings have JSON's quotes."""
    quote = _QUOTED_VALUE.search(text)
    if quote is None:
        return []
    pieces = text.split(quote[1])
    pieces[1::2] = [json.dumps(piece) for piece in pieces[1::2]]
    pieces[::2] = [re.sub(r"([{,]\s*)(\w+)(?=:)", r'\1"\2"', piece) for piece in pieces[::2]]
    return named_json.find("".join(pieces), tools)
