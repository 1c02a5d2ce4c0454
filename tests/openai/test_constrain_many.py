"""The grammar of many tools: each can be called, nothing else can, and names that begin alike stand in a
tree. (What that is good for is measured: benchmarks/grammars.py.)"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import toolwire
from hypothesis import given
from hypothesis import strategies as st
from toolwire.formats.grammar import FEW
from toolwire.shapes.pieces import STRING

from ..in_pieces import constrain_in_pieces

NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
NAMES = st.lists(st.text("abc_", min_size=1, max_size=6), min_size=1, max_size=14, unique=True)


def tools(names: list[str]) -> list[dict[str, Any]]:
    functions = ({"name": name, "parameters": NOTHING} for name in names)
    return [{"type": "function", "function": function} for function in functions]


def texts(piece: Any) -> set[str]:
    """All that a piece allows, where there are but names to choose from."""
    match piece["type"]:
        case "const_string":
            return {piece["value"]}
        case "sequence":
            return {"".join(parts) for parts in product(*map(texts, piece["elements"]))}
        case "or":
            return set().union(*map(texts, piece["elements"]))
        case "tag":
            return {piece["begin"] + text + piece["end"] for text in texts(piece["content"])}
        case "tags_with_separator":
            return set().union(*map(texts, piece["tags"]))
        case "optional":
            return {""} | texts(piece["content"])
        case "regex":
            return {"0", "1"}  # a call's number, or an id, which may be left out
    raise AssertionError(f"There is a choice of something else than names: {piece}")


@pytest.mark.parametrize("name", toolwire.list_formats())
@given(names=NAMES)
def test_each_tool_can_be_called_and_nothing_else(name: str, names: list[str]) -> None:
    found = constrain_in_pieces(name, tools(names), "required", parallel=False)
    written = {
        toolwire.write(found.format, [{"name": one, "arguments": {}}], tools(names))
        for one in names
    }
    assert found.tag is not None
    allowed = texts(found.tag["format"])
    assert written <= allowed
    calls = [toolwire.parse(found.format, text, tools(names)).tool_calls for text in allowed]
    assert {(len(some), some[0].name) for some in calls} == {(1, one) for one in names}


def choices(piece: Any) -> Iterator[list[Any]]:
    if isinstance(piece, dict):
        if piece.get("type") == "or":
            yield piece["elements"]
        piece = list(piece.values())
    for part in piece if isinstance(piece, list) else ():
        yield from choices(part)


@pytest.mark.parametrize("name", toolwire.list_formats())
def test_few_of_the_calls_side_by_side_begin_alike(name: str) -> None:
    verbs, nouns = ("create", "read", "list", "find"), ("issue", "file", "branch", "user")
    names = [f"{verb}_{noun}_{n}" for verb in verbs for noun in nouns for n in range(12)]
    found = constrain_in_pieces(name, tools(names), "required")
    assert found.tag is not None
    some = list(choices(found.tag["format"]))
    assert some
    for elements in some:
        letters = Counter(text[:1] for element in elements for text in beginnings(element))
        assert max(letters.values()) < FEW


def beginnings(piece: Any) -> list[str]:
    """The text that a piece begins with, if it begins with text."""
    while piece["type"] == "sequence":
        piece = piece["elements"][0]
    return [piece["value"]] if piece["type"] == "const_string" else []


def test_a_strings_rule_refers_to_no_other() -> None:
    """xgrammar compiles such a rule once for all grammars."""
    root, *rules = (line.split(" ::= ") for line in STRING["grammar"].strip().splitlines())
    (string, body), (behind, _) = rules
    assert (root[0], string in root[1]) == ("root", True)
    inside, _, after = body.partition("(=")
    assert string in inside
    assert behind not in inside
    assert after == f"{behind})"


# -- an agent sends the same tools with every turn --------------------------------------------------


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_the_same_tools_give_the_same_grammar_and_nobody_shares_it(choice: str) -> None:
    def declared(says: str) -> list[dict[str, Any]]:
        function = {"name": "look", "description": says, "parameters": NOTHING, "strict": True}
        return [{"type": "function", "function": function}]

    first, again, described = (
        toolwire.constrain("hermes", declared(says), choice).tag for says in ("x", "x", "y")
    )
    assert first is not None
    assert first == again == described  # what is said to people is nothing that has to be compiled
    first["format"].clear()
    assert toolwire.constrain("hermes", declared("x"), choice).tag == again != first


def test_parameters_that_are_no_json_have_a_grammar_all_the_same() -> None:
    odd = NOTHING | {"description": object()}
    function = {"name": "look", "parameters": odd}
    found = toolwire.constrain("hermes", [{"type": "function", "function": function}], "required")
    assert found == toolwire.constrain("hermes", tools(["look"]), "required")
