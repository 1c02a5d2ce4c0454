"""The grammar of Python's arguments."""

from __future__ import annotations

from typing import Any

from ...core.layout import Layout
from ...core.shape import Piece
from ..grammar import Parameters, json_or_words
from ..json_grammar import json_object
from ..pieces import const, listed, sequence
from .write import odd_names


def constrain(parameters: Any, layout: Layout) -> Piece:
    """`k="v", n=1`; one JSON object where a key is no name."""
    found = Parameters(parameters)
    if odd_names(found.names):
        return json_object(parameters)
    values = {
        name: sequence(const(f"{name}="), json_or_words(found.schema(name), layout))
        for name in found.names
    }
    return listed(found.required, values, ", ")
