"""How an object with bare keys is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..values import dumps


def written(value: Any, quote: str, sorted_keys: bool) -> str:
    if isinstance(value, str):
        return quote + value + quote
    if isinstance(value, Mapping):
        keys = sorted(value) if sorted_keys else value
        members = ",".join(f"{key}:{written(value[key], quote, sorted_keys)}" for key in keys)
        return "{" + members + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(inner, quote, sorted_keys) for inner in value) + "]"
    return dumps(value)
