"""The house in docs/architecture.md: data flows one way, and a room knows only the rooms before it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "parsers"

#: Every room, in the order in which they may know each other. The engines do not know each other.
ORDER = (
    "errors", "events", "schema", "core", "shapes", "formats", "openai", "templates", "models",
    "batch", "engines", "rollouts", "view", "gateway", "replay", "play", "commands", "cli",
)  # fmt: skip
FACE = ""  # the package itself, whose names are for users


def room(module: str) -> str:
    return module.partition(".")[0]


def modules() -> dict[str, Path]:
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports(module: str) -> Iterator[tuple[int, str]]:
    """What a module imports of the package, also inside functions and for type checkers."""
    path = MODULES[module]
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from ((node.lineno, n.removeprefix("toolwire").lstrip(".")) for n in names
                        if n.split(".")[0] == "toolwire")  # fmt: skip
        elif isinstance(node, ast.ImportFrom):
            base = [part for part in package if part]
            if node.level == 0:
                if (node.module or "").split(".")[0] != "toolwire":
                    continue
                found = (node.module or "").removeprefix("toolwire").lstrip(".")
            else:
                up = base[: len(base) - (node.level - 1)]
                found = ".".join([*up, *(node.module or "").split(".")]).strip(".")
            for alias in node.names:  # `from . import module`
                inner = f"{found}.{alias.name}".strip(".")
                yield node.lineno, inner if inner in MODULES else found


def test_every_room_has_its_place() -> None:
    assert {room(module) for module in MODULES} - {FACE} == set(ORDER)


@pytest.mark.parametrize("module", sorted(module for module in MODULES if module))
def test_a_module_knows_only_rooms_before_its_own(module: str) -> None:
    place = ORDER.index(room(module))
    for line, other in imports(module):
        assert other != FACE, f"line {line}: it imports the package's own face"
        assert ORDER.index(room(other)) <= place, f"line {line}: it knows {other}"


@pytest.mark.parametrize(("one", "other"), [("vllm", "sglang"), ("sglang", "vllm")])
def test_the_engines_do_not_know_each_other(one: str, other: str) -> None:
    for module in MODULES:
        if module.startswith(f"engines.{one}"):
            assert not any(name.startswith(f"engines.{other}") for _, name in imports(module))


def test_the_walk_sees_imports_inside_functions_and_of_modules() -> None:
    assert "formats.toml_specs" in {name for _, name in imports("formats.user_files")}
    assert "openai.sentences" in {name for _, name in imports("openai.checks")}


def named_modules() -> set[str]:
    """The modules that docs/architecture.md has a line for, as paths: under the heading of their folder,
    or in the line of a folder inside it."""
    page = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    found: set[str] = set()
    folder = ""
    for line in page.partition("## Every module")[2].splitlines():
        words = re.findall(r"`([^`]+)`", line.partition(":")[0] if line.startswith("- ") else line)
        if line.startswith("###"):
            folder = next((word for word in words if word.endswith("/")), "")
        elif line.startswith("- ") and words[0].endswith("/"):
            inside = re.findall(r"`([^`]+)`", line.partition(":")[2])
            found.update(f"{folder}{words[0]}{name}" for name in inside)
        elif line.startswith("- "):
            found.add(f"{folder}{words[0]}")
    return found


def test_the_architecture_names_every_module_in_its_room() -> None:
    paths = [path for path in MODULES.values() if path.name != "__init__.py"]
    modules = {path.relative_to(PACKAGE).with_suffix("").as_posix() for path in paths}
    named = {name if name != "commands/cli" else "cli" for name in named_modules()}
    assert modules - named == set(), "docs/architecture.md, Every module: add a line for each"
    assert named - modules == set(), "docs/architecture.md has lines for what is not there"
