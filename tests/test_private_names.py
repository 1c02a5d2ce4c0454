"""The tests are a specification: they say what holds for anybody, so they use no private name.

Every file below tests/ is walked, those of the engines too. A name that begins with one underscore is
private; a test may have such names of its own (`self._x`), and an engine's, where that engine gives no
other way in.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FILES = sorted(HERE.rglob("*.py"))

#: Of SGLang's own objects.
THEIRS = {"_launch_command"}
#: These take an object and the name of one of its attributes.
BY_NAME = {"getattr", "setattr", "hasattr", "delattr"}


def private(name: object) -> bool:
    return isinstance(name, str) and name.startswith("_") and not name.startswith("__")


def root(node: ast.expr) -> str | None:
    """The name that a chain like `name.x.y` begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def imported(tree: ast.AST) -> dict[str, str]:
    """The names that a file imports, and from which package. A file of tests/ counts as toolwire's."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = {
                alias.asname or alias.name.partition(".")[0]: alias.name for alias in node.names
            }
            found |= {name: module.partition(".")[0] for name, module in names.items()}
        elif isinstance(node, ast.ImportFrom):
            package = (node.module or "").partition(".")[0] if node.level == 0 else "toolwire"
            found |= {alias.asname or alias.name: package for alias in node.names}
    return found


def private_uses(source: str) -> Iterator[tuple[int, str]]:
    """Private names that a file takes from elsewhere: imported, of an object, or by their name."""
    tree = ast.parse(source)
    packages = imported(tree)

    def ours(node: ast.expr) -> bool:
        return packages.get(root(node) or "", "toolwire") == "toolwire"

    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "toolwire":
            parts = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            yield from ((node.lineno, name) for name in parts if private(name))
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names if alias.name.startswith("toolwire.")]
            yield from ((node.lineno, m) for m in modules if any(map(private, m.split("."))))
        elif isinstance(node, ast.Attribute) and private(node.attr):
            its_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not its_own and ours(node.value) and node.attr not in THEIRS:
                yield node.lineno, node.attr
        elif isinstance(node, ast.Call) and len(node.args) > 1 and called(node) in BY_NAME:
            names = [n.value for n in ast.walk(node.args[1]) if isinstance(n, ast.Constant)]
            yield from ((node.lineno, str(n)) for n in names if private(n) and ours(node.args[0]))


def called(node: ast.Call) -> str | None:
    """The name of a function, or of a method such as `monkeypatch.setattr`."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else None


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(HERE)))
def test_a_test_needs_no_private_name(file: Path) -> None:
    assert list(private_uses(file.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "from toolwire.gateway.upstream import _wait",
        "def f():\n    from toolwire import (\n        Parser,\n        _Reader as Reader,\n    )",
        "from toolwire._core import Parser",
        "import toolwire._core",
        "import toolwire\ntoolwire.formats._formats",
        "from toolwire import Parser\nParser('hermes')._reader",
        "parser.detector._stream",
        "def f(self):\n    self.parser._reader",
        "from toolwire.formats import registry\nmonkeypatch.setattr(registry, '_formats', {})",
        "setattr(parser.detector, '_feed' if x else '_parser', 1)",
    ],
)
def test_the_walk_sees_private_names(source: str) -> None:
    assert list(private_uses(source))


@pytest.mark.parametrize(
    "source",
    [
        "from toolwire import Parser as _Parser",
        "from toolwire.core.format import __name__",
        "class A:\n    def f(self):\n        return self._x",
        "import os\nos._exit(3)",
        "from engine import Server\nServer._look(None)",
        "monkeypatch.setattr(self.log, 'propagate', True)",
    ],
)
def test_the_walk_leaves_the_rest_alone(source: str) -> None:
    assert list(private_uses(source)) == []
