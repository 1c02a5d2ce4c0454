"""What a shape is, it says itself: no module outside `shapes/` asks which one it has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from toolwire import shapes

PACKAGE = Path(__file__).parents[2] / "parsers"
OUTSIDE = sorted(p for p in PACKAGE.rglob("*.py") if not p.is_relative_to(PACKAGE / "shapes"))
CLASSES = {"Shape", "Tag", *(shape.__name__ for shape in shapes.ALL)}


def names(node: ast.AST) -> set[str]:
    """All names in an expression, those of attributes, too."""
    found = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    return found | {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def is_call(node: ast.AST, *functions: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in functions


def questions(source: str) -> Iterator[int]:
    """The lines that ask for the class of a shape."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and is_call(node, "isinstance", "issubclass"):
            of, classes = node.args
            if names(classes) & CLASSES or "shape" in names(of) | names(classes):
                yield node.lineno
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            types = [side for side in sides if is_call(side, "type")]
            if (
                any("shape" in names(side) for side in types)
                or (types and any(names(side) & CLASSES for side in sides))
                or any(isinstance(s, ast.Name) and s.id in CLASSES - {"Shape"} for s in sides)
            ):
                yield node.lineno
        elif isinstance(node, ast.MatchClass) and names(node.cls) & CLASSES:
            yield node.lineno


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_nobody_asks_for_a_shapes_class(path: Path) -> None:
    assert list(questions(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(spec.shape, Tags)",
        "isinstance(item, Tag | None)",
        "isinstance(base, shape)",
        "issubclass(kind, shapes.JsonCalls)",
        "type(spec.shape) is kind",
        "type(it) in (Labels, Pythonic)",
        "wanted is Tag",
        "match it:\n    case shapes.Tags(): pass",
    ],
)
def test_such_questions_are_seen(line: str) -> None:
    assert list(questions(line))


@pytest.mark.parametrize("line", ["isinstance(a, dict)", "wanted is Shape", "a.shape == b.shape"])
def test_others_are_none(line: str) -> None:
    assert not list(questions(line))
