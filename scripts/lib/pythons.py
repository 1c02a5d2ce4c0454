"""The package on every Python of this machine, in plain Python and compiled: each in an environment of
its own, installed from a wheel as people install it. `./scripts/matrix pythons` runs this.

An environment is fresh for each wheel, and the time that pip takes is kept. What is tested needs no
engine: the core, the formats, and OpenAI's side of it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from matrix_results import (
    ROOT,
    VENVS,
    cell,
    digest,
    is_green,
    load_result,
    run,
    run_tests,
    save_result,
    say,
)

MINORS = range(10, 16)
TESTS = ("tests/core", "tests/formats", "tests/openai")
#: What these tests import.
TOOLS = ("hypothesis", "jsonschema", "openai", "packaging", "pytest", "transformers>=5.13")
SOURCES = ("parsers", "chat_templates", "pyproject.toml", "setup.py", "README.md", "LICENSE")
KINDS = {"plain": "0", "compiled": "1"}
"""What TOOLWIRE_COMPILE is for each kind of wheel."""
SAYS = {"plain": "(core: Python)", "compiled": "(core: compiled)"}


@dataclass(frozen=True)
class Python:
    minor: int
    path: Path

    @property
    def name(self) -> str:
        return f"python-3.{self.minor}"

    @cached_property
    def version(self) -> str:
        code = "import platform; print(platform.python_version())"
        return subprocess.check_output([self.path, "-c", code], text=True).strip()


def find_pythons() -> list[Python]:
    """Of each minor release the one on the path, or pyenv's newest."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = []
    for minor in MINORS:
        kept = [*pyenv.glob(f"3.{minor}.*/bin/python3")]
        kept.sort(key=lambda path: int(path.parts[-3].split(".")[2]))
        on_path = shutil.which(f"python3.{minor}")
        places = [*reversed(kept), *([Path(on_path)] if on_path else ())]
        found += [Python(minor, place) for place in places if works(place)][:1]
    return found


def works(python: Path) -> bool:
    """pyenv leaves a name on the path for each Python that it has, also where none is chosen."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


# -- one of them ----------------------------------------------------------------------------------


def build(python: Path, kind: str, folder: Path) -> Path:
    """A wheel from a copy of the sources, as pip builds it."""
    copy = folder / "source"
    copy.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy)
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--wheel-dir", folder)
    run(python, "-m", "pip", "wheel", *options, copy, TOOLWIRE_COMPILE=KINDS[kind])
    (wheel,) = folder.glob("*.whl")
    return wheel


def test(python: Python, kind: str) -> dict:
    """What came of it, in an environment that has nothing else: seconds to build, seconds to install,
    and how the tests went."""
    place = VENVS / "pythons" / f"{python.name}-{kind}"
    shutil.rmtree(place, ignore_errors=True)
    run(python.path, "-m", "venv", place)
    inside = place / "bin" / "python"
    pip = (inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        wheel = build(inside, kind, Path(folder))
        built = time.monotonic()
        run(*pip, wheel)
        installed = time.monotonic()
    said = subprocess.check_output([place / "bin" / "toolwire", "--version"], text=True)
    if SAYS[kind] not in said:
        raise SystemExit(f"{python.name}: the {kind} wheel says {said!r}")
    run(*pip, *TOOLS)
    command = [inside, "-m", "pytest", "-p", "no:cacheprovider", "--hypothesis-profile=glance"]
    command += ["-m", "not slow", *TESTS, *(["--compiled"] if kind == "compiled" else [])]
    counts = run_tests(f"{python.name}-{kind}", command, PYTHONPATH="")
    times = {"built": round(built - began, 1), "installed": round(installed - built, 1)}
    shutil.rmtree(place)
    return {**counts, **times, "wheel": wheel.name}


# -- all of them ----------------------------------------------------------------------------------


def work(again: bool) -> bool:
    """Whether all went well."""
    of = digest(("parsers", "chat_templates", *TESTS))
    good = True
    jobs = [(python, kind) for kind in KINDS for python in find_pythons()]
    for number, (python, kind) in enumerate(jobs, 1):
        found = {**load_result(python.name, of), "digest": of, "version": python.version}
        if again or kind not in found or not is_green(found[kind]):
            say(f"[{number}/{len(jobs)}] Python {python.version}, {kind} …")
            found[kind] = test(python, kind)
            save_result(python.name, found)
        say(f"Python {python.version}, {kind}: {cell(found[kind])}")
        good = good and is_green(found[kind])
    return good


def has_results() -> bool:
    return any(load_result(f"python-3.{minor}") for minor in MINORS)


def table() -> str:
    lines = ["| Python | in plain Python | compiled | pip takes |", "|---|---|---|---|"]
    for minor in MINORS:
        found = load_result(f"python-3.{minor}")
        if found:
            plain, compiled = found.get("plain"), found.get("compiled")
            took = ", ".join(f"{one['installed']} s" for one in (plain, compiled) if one)
            lines.append(f"| {found['version']} | {cell(plain)} | {cell(compiled)} | {took} |")
    return "\n".join(lines) + "\n"
