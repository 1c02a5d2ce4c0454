"""Which repairs there are, and which of them somebody asks for. What they do is in `repair`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ..errors import ToolwireError

REPAIRS = ("coerce", "names")
#: Where the engines' plugins and the gateway are told.
VARIABLE = "TOOLWIRE_REPAIR"
_NONE: frozenset[str] = frozenset()


def read_repairs(asked: str | Iterable[str] | None) -> frozenset[str]:
    """The repairs that somebody asks for: their names, in a list or in one string with commas."""
    if not asked:
        return _NONE
    names = asked.split(",") if isinstance(asked, str) else list(asked)
    found = frozenset(name.strip() for name in names if name.strip())
    for name in sorted(found.difference(REPAIRS)):
        raise ToolwireError(f"There is no repair {name!r}: use {' or '.join(REPAIRS)}, or both.")
    return found


def environment_repairs(environment: Mapping[str, str] = os.environ) -> frozenset[str]:
    """The repairs that the environment asks for."""
    try:
        return read_repairs(environment.get(VARIABLE))
    except ToolwireError as error:
        raise ToolwireError(f"{VARIABLE}: {error}") from None
