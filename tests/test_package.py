"""What `pip install .` installs: every module, the templates, and the mark that it is typed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder), "."]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_every_module_and_template(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {f"toolwire/{p.relative_to(ROOT / 'parsers')}" for p in ROOT.glob("parsers/**/*.py")}
    templates = {f"toolwire/chat_templates/{p.name}" for p in ROOT.glob("chat_templates/*.jinja")}
    assert modules - names == set()
    assert templates - names == set()
    assert "toolwire/py.typed" in names


def test_it_works_where_nothing_else_is_installed(wheel: Path, tmp_path: Path) -> None:
    """The core needs no dependency, and no engine."""
    script = (
        "import sys, toolwire, toolwire.openai;"
        "call = toolwire.parse('call_text', 'add(a=1)').tool_calls[0];"
        "assert call.load() == {'a': 1};"
        "heavy = {'torch', 'vllm', 'sglang', 'jinja2', 'typer', 'transformers'};"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules);"
        "print(toolwire.__file__)"
    )
    zipfile.ZipFile(wheel).extractall(tmp_path)
    command = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {script}",
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.startswith(str(tmp_path))
