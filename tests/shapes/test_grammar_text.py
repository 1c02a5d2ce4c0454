"""Pieces of a grammar as one text. (That the text allows what the pieces do is tested where xgrammar is:
tests/engines/vllm/test_triangle.py.)"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import toolwire
from toolwire.shapes.grammar_text import as_text
from toolwire.shapes.pieces import (
    NUMBER,
    STRING,
    const,
    either,
    json_string,
    listed,
    optional,
    repeated,
    sequence,
    tag,
    unit,
)

INTEGER = {"type": "integer"}
PLAIN = {"type": "object", "properties": {"n": INTEGER, "s": {"type": "string"}}, "required": ["n"]}
PATTERN = {"type": "object", "properties": {"s": {"type": "string", "pattern": "a+"}}}


def tool(name: str, parameters: Any = PLAIN) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def lines(piece: Any) -> list[str]:
    found = as_text(piece)
    assert found["type"] == "grammar"
    text: str = found["grammar"]
    return text.splitlines()


def test_text_is_quoted_as_it_is() -> None:
    (root,) = lines(const('a"b\\c\n\té｜'))
    assert root == r'root ::= "a\"b\\c\n\té｜"'


def test_what_comes_again_is_one_rule() -> None:
    member = sequence(const("k: "), STRING)
    root, *rules = lines(sequence(unit(member), const(","), unit(member)))
    name = root.split()[2]
    assert root == f'root ::= {name} "," {name}'
    names = [rule.split(" ::= ")[0] for rule in rules]
    assert len(names) == len(set(names)) == 4  # it, the string, its inside, and what stands behind


def test_what_may_be_empty_has_no_rule() -> None:
    """Behind a rule that stands in several places xgrammar can rule nothing out."""
    values = {name: sequence(const(f"{name}="), NUMBER) for name in "ab"}
    maybe = [
        optional(const("x")),
        repeated(const("y"), "", at_least_one=False),
        listed((), values, ","),
    ]
    for piece in maybe:
        found = lines(sequence(piece, const("1"), piece, const("2"), piece))
        empty = re.compile(r'^r\d+ ::= .*\| ""$')
        assert not any(empty.match(line) for line in found)
        assert found[0].count('| ""') == 3


def test_several_and_at_most_one() -> None:
    (root,) = lines(repeated(const("y"), "", at_least_one=True))[:1]
    assert re.fullmatch(r"root ::= (r\d+) \(\1\)\*", root)
    one = {
        "type": "tags_with_separator",
        "tags": [tag("<", const("y"), ">")],
        "separator": "\n",
        "at_least_one": True,
    }
    many = lines(one | {"stop_after_first": False})
    assert re.fullmatch(r'root ::= (r\d+) \("\\n" \1\)\*', many[0])
    assert re.fullmatch(r"root ::= r\d+", lines(one | {"stop_after_first": True})[0])


def test_rules_of_different_strings_have_different_names() -> None:
    found = lines(either(json_string('")"'), STRING))
    names = [line.split(" ::= ")[0] for line in found]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "piece",
    [
        {"type": "json_schema", "json_schema": {}},
        {"type": "regex", "pattern": "(a|b)*"},
        {"type": "regex", "pattern": "[a-z]*"},
        {"type": "any_text", "excludes": ["</x>"], "max_chars": 3},
        repeated(optional(const("x")), "", at_least_one=True),
    ],
)
def test_what_only_xgrammar_can_say_stays_in_pieces(piece: Any) -> None:
    for odd in (piece, sequence(const("a"), piece)):
        assert as_text(odd) is odd


@pytest.mark.parametrize("name", sorted({*toolwire.list_formats()} - {"beam"}))
def test_ordinary_tools_are_one_text(name: str) -> None:
    """But in beam, where no text has to follow a value: that is left to xgrammar."""
    found = toolwire.constrain(name, [tool("f"), tool("g")], "required").tag
    assert found is not None
    assert found["format"]["type"] == "grammar"


def test_one_odd_tool_leaves_the_others_text() -> None:
    many = [*(tool(f"f{number}") for number in range(5)), tool("odd", PATTERN)]
    found = json.dumps(toolwire.constrain("hermes", many, "required").tag)
    assert found.count('"type": "grammar"') == 1
    assert found.count('"type": "json_schema"') == 1
    assert found.count("<tool_call>") == 1
