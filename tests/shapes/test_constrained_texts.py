"""What a grammar lets a text between tags hold is that text, also where it is made of what the format
itself is made of."""

from __future__ import annotations

import random

import pytest
import toolwire

from ..by_shape import ELEMENTS, TAGGED
from ..core.generate import delimiters
from ..in_pieces import constrain_in_pieces

TEXT = {"type": "string"}
PARAMETERS = {"type": "object", "properties": {"a": TEXT, "b": TEXT}, "required": ["a"]}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": PARAMETERS}}
    for name in ("f", "g")
]
AROUND = ("\n", "\n\n", " ", "x", "<", "</", '"b">', "b>", ">", '"f">', "f>", "f", "a", "b")


def excluded(name: str) -> list[str]:
    """What no text can have in it, of those that the tools ask for."""
    waiting = [constrain_in_pieces(name, TOOLS, "required").tag]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, dict):
            if piece.get("type") == "any_text":
                return list(piece["excludes"])
            waiting += piece.values()
        elif isinstance(piece, list):
            waiting += piece
    raise AssertionError(f"{name} has no text between tags")


@pytest.mark.parametrize("name", [*TAGGED, *ELEMENTS])
def test_a_text_that_the_grammar_allows_is_read_back(name: str) -> None:
    """`write` reads back what it has written, and says so where it is something else."""
    chance, never = random.Random(name), excluded(name)
    whole = delimiters(toolwire.get_format(name))
    parts = [*whole, *(one[: len(one) // 2] for one in whole), *AROUND]
    allowed = [part for part in parts if not any(literal in part for literal in never)]
    for _ in range(300):
        text = "".join(chance.choices(allowed, k=chance.randint(1, 7)))
        if any(literal in text for literal in never):
            continue
        calls = [{"name": "f", "arguments": {"a": text, "b": "y"}}]
        calls += [{"name": "g", "arguments": {"a": "z", "b": text}}]
        assert toolwire.write(name, calls, TOOLS)
