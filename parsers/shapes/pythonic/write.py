"""How Python's arguments are written: `k="v", n=42`; as one JSON object where a key is no name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..values import dumps, write_value


def written(arguments: Mapping[str, Any], python_words: bool) -> str:
    if odd_names(arguments):
        return dumps(arguments)
    return ", ".join(f"{key}={write_value(v, python_words)}" for key, v in arguments.items())


def odd_names(names: Iterable[str]) -> bool:
    """Whether some can't be written as keywords."""
    return not all(name.isascii() and name.isidentifier() for name in names)
