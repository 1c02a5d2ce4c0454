"""What people install: the wheel and the sdist, alone in an empty environment, and with its extras."""

from __future__ import annotations

import email.message
import email.parser
import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from toolwire.models.releases import SGLANG, VLLM

ROOT = Path(__file__).parents[1]
ENGINES = ("vllm", "sglang")

#: What a build starts from. Not the checkout itself: an earlier build's leftovers would get into it.
SOURCES = ("parsers", "chat_templates", "pyproject.toml", "setup.py", "README.md", "LICENSE")

BUILD = "import sys, setuptools.build_meta as b; getattr(b, 'build_' + sys.argv[1])(sys.argv[2])"


def pip(python: Path | str, *arguments: str) -> None:
    command = [str(python), "-m", "pip", "--disable-pip-version-check", *arguments, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True)
class Builder:
    """An environment with what the build asks for."""

    python: Path

    def build(
        self, what: str, source: Path, target: Path, compiled: str = "0", **more: str
    ) -> tuple[Path, str]:
        """The file that was built, and what the build said. `more` is added to the environment."""
        target.mkdir()
        copy = target.with_name("source")  # a build leaves files behind that the next would use
        shutil.copytree(source, copy)
        command = [str(self.python), "-W", "always", "-c", BUILD, what, str(target)]
        environment = {**os.environ, "TOOLWIRE_COMPILE": compiled, **more}
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        (made,) = target.iterdir()
        return made, done.stdout + done.stderr


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    python = empty_environment(tmp_path_factory.mktemp("builder"))
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'requires = ["setuptools>=77", "mypy>=2.4,<2.5"]' in text
    pip(python, "install", "setuptools>=77", "mypy>=2.4,<2.5")
    return Builder(python)


def empty_environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True, symlinks=True)
    return folder / "bin" / "python"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheel(builder: Builder, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made, said = builder.build("wheel", source, tmp_path_factory.mktemp("wheel") / "out")
    assert warnings(said) == []
    return made


@pytest.fixture(scope="module")
def compiled_wheel() -> Path:
    """The one that the tests of the compiled core and of the engines use: it takes minutes to make."""
    script = ROOT / "scripts" / "lib" / "build_wheel.sh"
    done = subprocess.run([script], stdout=subprocess.PIPE, text=True, check=True)
    return ROOT / done.stdout.strip()


@pytest.fixture(scope="module")
def sdist(builder: Builder, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made, said = builder.build("sdist", source, tmp_path_factory.mktemp("sdist") / "out")
    assert warnings(said) == []
    return made


def warnings(said: str) -> list[str]:
    """What a build complains about, but for its being told not to compile anything."""
    lines = [line for line in said.splitlines() if "warning:" in line.lower()]
    return [line for line in lines if "byte-compiling is disabled" not in line]


SCRIPTS = ("address.js", "places.js", "play.js", "templates.js")


def expected_files() -> set[str]:
    """Where the files of the checkout are inside the package."""
    package = [p.relative_to(ROOT / "parsers") for p in ROOT.glob("parsers/**/*.py")]
    templates = [f"toolwire/chat_templates/{p.name}" for p in ROOT.glob("chat_templates/*.jinja")]
    assert package
    assert templates
    others = ["py.typed", "gateway/page.html", "chat_templates/catalog.json"]
    others += [f"play/{name}" for name in ("play.html", *SCRIPTS)]
    others += ["view/view.css", "view/view.js"]
    return {f"toolwire/{name}" for name in [*package, *others]} | set(templates)


# -- the files ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_wheel_holds_every_module_template_and_page(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert expected_files() - names == set()
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    kinds = {Path(name).suffix for name in names if name.startswith("toolwire/")}
    pages = {".html", ".css", ".js"}
    assert kinds == {".py", ".typed", ".jinja", ".json"} | pages, "something else got into it"
    assert {name.split("/")[0].split("-")[0] for name in names} == {"toolwire"}


@pytest.mark.slow
def test_the_sdist_holds_all_that_a_build_needs(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    inside = {name.removeprefix("toolwire/") for name in expected_files()}
    moved = {n if n.startswith("chat_templates/") else f"parsers/{n}" for n in inside}
    assert moved | {"LICENSE", "README.md", "pyproject.toml", "setup.py"} <= names


@pytest.mark.slow
def test_a_wheel_from_the_sdist_is_the_same(
    builder: Builder, wheel: Path, sdist: Path, tmp_path: Path
) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    again, _ = builder.build("wheel", folder, tmp_path / "out")
    assert contents(again) == contents(wheel)


@pytest.mark.slow
def test_a_compiled_wheel_has_all_that_the_other_has(wheel: Path, compiled_wheel: Path) -> None:
    assert wheel.name.endswith("-py3-none-any.whl")
    assert "none-any" not in compiled_wheel.name
    plain, compiled = contents(wheel), contents(compiled_wheel)
    more = {name for name in compiled if name not in plain}
    assert plain.keys() <= compiled.keys()
    assert all(name.partition(".")[2].endswith((".so", ".pyd")) for name in more)
    modules = {name.partition(".")[0] for name in more}
    assert {"toolwire/core/window", "toolwire/shapes/tags/read", "toolwire/events"} <= modules
    assert all(f"{name}.py" in plain for name in modules - {"toolwire__mypyc"})
    assert code(compiled_wheel).items() >= code(wheel).items()


def is_compiled(wheel: Path, folder: Path) -> bool:
    """What the core in a wheel says about itself, after it has read a call."""
    zipfile.ZipFile(wheel).extractall(folder)
    script = (
        f"import sys; sys.path.insert(0, {str(folder)!r}); import toolwire;"
        "assert toolwire.parse('call_text', 'add(a=1)').tool_calls[0].load() == {'a': 1};"
        "print(toolwire.COMPILED)"
    )
    command = [sys.executable, "-I", "-c", script]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout == "True\n"


@pytest.mark.slow
def test_the_compiled_core_is_the_one_that_is_used(
    wheel: Path, compiled_wheel: Path, tmp_path: Path
) -> None:
    assert not is_compiled(wheel, tmp_path / "plain")
    assert is_compiled(compiled_wheel, tmp_path / "compiled")


@pytest.mark.slow
def test_without_a_compiler_the_wheel_has_the_python_files(
    builder: Builder, source: Path, wheel: Path, tmp_path: Path
) -> None:
    made, said = builder.build("wheel", source, tmp_path / "out", "", CC="no-such-compiler")
    assert "The core was not compiled" in said
    assert code(made) == code(wheel)
    assert not is_compiled(made, tmp_path / "files")


def contents(wheel: Path) -> dict[str, bytes]:
    archive = zipfile.ZipFile(wheel)
    return {name: archive.read(name) for name in archive.namelist() if name[-6:] != "RECORD"}


def code(wheel: Path) -> dict[str, bytes]:
    """The package's own files, whatever the wheel says about itself."""
    return {name: data for name, data in contents(wheel).items() if name.startswith("toolwire/")}


def about(wheel: Path) -> email.message.Message:
    """The wheel's metadata."""
    (name,) = [n for n in zipfile.ZipFile(wheel).namelist() if n.endswith(".dist-info/METADATA")]
    return email.parser.BytesParser().parsebytes(zipfile.ZipFile(wheel).read(name))


@pytest.mark.slow
def test_what_it_says_about_itself(wheel: Path) -> None:
    told = about(wheel)
    assert (told["Name"], told["License-Expression"]) == ("toolwire", "Apache-2.0")
    assert told["License-File"] == "LICENSE"
    assert told.get_payload().startswith("# toolwire")
    required = [Requirement(line) for line in told.get_all("Requires-Dist", [])]
    always = {r.name for r in required if r.marker is None or "extra" not in str(r.marker)}
    assert always <= {"jinja2", "partial-json-parser", "typer", "tomli"}, "it stays light"


# -- importing it ---------------------------------------------------------------------------------

#: Of the standard library: slow to import, and no business of a parser.
SLOW = {"asyncio", "ctypes", "email", "http", "multiprocessing", "socket", "ssl", "subprocess"}
#: What the `toolwire` command may import before it knows what it has to do.
COMMAND_LINE = {
    "annotated_doc",
    "click",
    "jinja2",
    "markupsafe",
    "shellingham",
    "typer",
    "typing_extensions",
}


def imported(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after a statement, and had not before."""
    script = (
        f"import sys; before = set(sys.modules); {statement}; import json;"
        "print(json.dumps(sorted({n.split('.')[0] for n in set(sys.modules) - before})))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout)) - {"toolwire", "json", "_json"}


@pytest.mark.parametrize(
    "modules",
    ["toolwire", "toolwire.openai", "toolwire.engines.vllm.plugin, toolwire.engines.sglang.plugin"],
)
def test_importing_it_imports_nothing_heavy(modules: str) -> None:
    found = imported(f"import {modules}")
    assert found, "nothing was imported at all"
    assert found - sys.stdlib_module_names == set()
    assert found & SLOW == set()


def test_the_command_imports_only_what_every_command_needs() -> None:
    found = {n for n in imported("import toolwire.cli") if not n.startswith("_sysconfigdata_")}
    assert found - sys.stdlib_module_names - COMMAND_LINE == set()


@pytest.mark.slow
def test_it_works_where_nothing_else_is_installed(wheel: Path, tmp_path: Path) -> None:
    """The core needs no dependency, and no engine."""
    script = (
        "import sys, toolwire, toolwire.openai;"
        "call = toolwire.parse('call_text', 'add(a=1)').tool_calls[0];"
        "assert call.load() == {'a': 1};"
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


# -- installing it --------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    python = empty_environment(tmp_path / "environment")
    pip(python, "install", str(wheel))
    toolwire = python.with_name("toolwire")

    def run(*arguments: str, text: str = "") -> str:
        done = subprocess.run(
            [str(toolwire), *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    assert run("--version") == f"toolwire {about(wheel)['Version']} (core: Python)\n"
    call = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
    shown = json.loads(run("parse", "hermes", "--json", text=call))
    assert shown["tool_calls"] == [{"name": "add", "arguments": '{"a": 1}', "problem": None}]
    path = Path(run("template", "chatml-hermes").rstrip("\n"))
    assert path.is_file()
    assert path.is_relative_to(tmp_path)
    chat = json.dumps([{"role": "user", "content": "Hi"}])
    assert "<|im_start|>user\nHi" in run("render", "chatml-hermes", "-", text=chat)
    for command in ("gateway --upstream http://127.0.0.1:9/v1", "chat"):
        done = subprocess.run(
            [str(toolwire), *command.split()], input="", capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert done.stderr.endswith(': pip install "toolwire[gateway]"\n')


# -- its extras -----------------------------------------------------------------------------------


def resolve(*arguments: str, folder: Path) -> list[dict[str, Any]]:
    """The metadata of everything that pip would install."""
    report = folder / "report.json"
    options = ["--dry-run", "--ignore-installed", "--report", str(report)]
    pip(sys.executable, "install", *options, *arguments)
    installs = json.loads(report.read_text(encoding="utf-8"))["install"]
    return [install["metadata"] for install in installs]


@pytest.mark.slow
@pytest.mark.matrix
@pytest.mark.parametrize("extra", ["gateway", "bench", "batch", "ray"])
def test_an_extra_resolves(extra: str, wheel: Path, tmp_path: Path) -> None:
    assert extra in about(wheel).get_all("Provides-Extra", [])
    names = {found["name"].lower() for found in resolve(f"{wheel}[{extra}]", folder=tmp_path)}
    expected = {"gateway": "httpx2", "bench": "matplotlib", "batch": "pyarrow", "ray": "ray"}
    assert expected[extra] in names
    assert not names & {"torch", "vllm", "sglang"}


def requirement_of(wheel: Path, extra: str) -> Requirement:
    """The engine that an extra asks for."""
    required = [Requirement(line) for line in about(wheel).get_all("Requires-Dist", [])]
    (found,) = [r for r in required if r.marker and r.marker.evaluate({"extra": extra})]
    return found


@pytest.mark.slow
def test_the_extras_of_engines_ask_for_the_versions_that_work(wheel: Path) -> None:
    """The same bounds as the plugins': older is refused there, newer has not been tried."""
    (_, oldest), (_, newest) = VLLM.oldest, VLLM.newest
    vllm = requirement_of(wheel, "vllm")
    assert vllm.name == "vllm"
    assert vllm.specifier == SpecifierSet(f">=0.{oldest},<0.{newest + 1}")
    sglang = requirement_of(wheel, "sglang")
    first, (major, minor, patch) = SGLANG.oldest, SGLANG.newest
    after = f"{major}.{minor}.{patch + 1}"
    assert sglang.name == "sglang"
    assert sglang.specifier == SpecifierSet(f">={'.'.join(map(str, first))},<{after}")


@pytest.mark.slow
@pytest.mark.matrix
@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_and_toolwire_get_along(engine: str, wheel: Path, tmp_path: Path) -> None:
    """There is such a release, and what it pins leaves room for what toolwire needs.

    To resolve the engine with all it needs takes pip many minutes; all that can go wrong is this.
    """
    wanted = requirement_of(wheel, engine)
    (release,) = resolve("--no-deps", f"{wanted.name}{wanted.specifier}", folder=tmp_path)
    needs = [Requirement(line) for line in release["requires_dist"]]
    pins = [
        n for n in needs if not n.url and (n.marker is None or n.marker.evaluate({"extra": ""}))
    ]
    assert len(pins) > 20, "that is not the engine"
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("".join(f"{pin.name}{pin.specifier}\n" for pin in pins))
    found = resolve(f"{wheel}[gateway]", "--constraint", str(constraints), folder=tmp_path)
    versions = {one["name"].lower().replace("_", "-"): one["version"] for one in found}
    shared = {pin.name.lower().replace("_", "-"): pin for pin in pins}.keys() & versions.keys()
    assert shared, "they have nothing in common, so this proves nothing"
