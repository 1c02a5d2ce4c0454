"""Values as the chat templates write them: JSON with spaces, and any letters as they are."""

from __future__ import annotations

import json
from typing import Any


def dumps(value: Any, compact: bool = False, sorted_keys: bool = False) -> str:
    """A value as JSON."""
    separators = (",", ":") if compact else (", ", ": ")
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=separators, sort_keys=sorted_keys
    )


def write_value(value: Any, python_words: bool = False, compact: bool = False) -> str:
    """A value by itself: JSON, but for the three words that Python writes otherwise."""
    if python_words and (value is None or isinstance(value, bool)):
        return repr(value)
    return dumps(value, compact)
