"""The grammar of `{k:<quote>v<quote>,n:1}`, the braces being part of it."""

from __future__ import annotations

from typing import Any

from ...core.layout import Layout
from ...core.shape import Piece
from ..grammar import Parameters, quoted_value
from ..pieces import const, listed, sequence


def constrain(parameters: Any, quote: str, layout: Layout) -> Piece:
    found = Parameters(parameters)
    names = sorted(found.names) if layout.sorted_keys else found.names
    values = {
        name: sequence(const(f"{name}:"), quoted_value(found.schema(name), quote)) for name in names
    }
    return sequence(const("{"), listed(found.required, values, ","), const("}"))
