"""What users import: every name is there when it is asked for, and nothing is loaded before."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import toolwire
import toolwire.openai

FACES = (toolwire, toolwire.openai)


@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_type_checkers_and_programs_see_the_same_names(face: object) -> None:
    tree = ast.parse(Path(face.__file__).read_text(encoding="utf-8"))  # type: ignore[attr-defined]
    (shown,) = (node for node in tree.body if isinstance(node, ast.If) and _type_checking(node))
    imports = [node for node in shown.body if isinstance(node, ast.ImportFrom)]
    written = {f"{face.__name__}.{n.module}": [a.name for a in n.names] for n in imports}  # type: ignore[attr-defined]
    every = [name for names in written.values() for name in names]
    assert sorted(face.__all__) == sorted(every)  # type: ignore[attr-defined]
    assert set(every) <= set(dir(face))
    for module, names in written.items():
        for name in names:
            assert getattr(face, name) is getattr(import_module(module), name)


def _type_checking(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def test_a_name_that_is_not_there_says_so() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Parsr'"):
        toolwire.Parsr  # type: ignore[attr-defined]  # noqa: B018


def test_importing_the_package_loads_nothing_of_it() -> None:
    code = "import sys, toolwire; print(*sorted(m for m in sys.modules if 'toolwire.' in m))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_rooms_are_there_without_importing_them() -> None:
    code = "import toolwire; print(toolwire.openai.DeltaStream, toolwire.shapes.Tags)"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
