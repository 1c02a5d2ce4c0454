"""The user's own formats: which files are read, when, and what is said about mistakes in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Each of them starts processes.
pytestmark = pytest.mark.slow

SPEC = 'name = "{name}"\nlike = "hermes"\nwrappers = {{open = "<{name}>", close = "</{name}>"}}\n'
CALL = '<{name}>{{"name": "add", "arguments": {{"a": 1}}}}</{name}>'

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs Python with arguments, as a user who has no configuration but what a test makes."""
    home = tmp_path / "home"
    home.mkdir()

    def run(*arguments: str, text: str = "", **environment: str) -> Any:
        settings = {k: v for k, v in os.environ.items() if k != "XDG_CONFIG_HOME"}
        return subprocess.run(
            [sys.executable, *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=settings | {"HOME": str(home), "TOOLWIRE_FORMATS": ""} | environment,
        )

    return run


def spec_file(path: Path, name: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SPEC.format(name=name), encoding="utf-8")
    return path


def names(run: Run, **environment: str) -> set[str]:
    """The user's formats that the command line knows."""
    done = run("-m", "toolwire.cli", "formats", "--json", **environment)
    assert done.returncode == 0, done.stderr
    return {entry["name"] for entry in json.loads(done.stdout)} & {"one", "two", "three", "four"}


# -- which files ----------------------------------------------------------------------------------


def test_no_files(run: Run) -> None:
    assert names(run) == set()


def test_files_and_folders(run: Run, tmp_path: Path) -> None:
    one = spec_file(tmp_path / "one.toml", "one")
    spec_file(tmp_path / "folder" / "two.toml", "two")
    spec_file(tmp_path / "folder" / "three.toml", "three")
    (tmp_path / "folder" / "notes.txt").write_text("not TOML")
    (tmp_path / "folder" / ".#two.toml").write_text("an editor's")
    both = os.pathsep.join([str(one), "", str(tmp_path / "folder")])
    assert names(run, TOOLWIRE_FORMATS=str(one)) == {"one"}
    assert names(run, TOOLWIRE_FORMATS="one.toml") == {"one"}
    assert names(run, TOOLWIRE_FORMATS=both) == {"one", "two", "three"}
    assert names(run, TOOLWIRE_FORMATS=os.pathsep.join([both, both])) == {"one", "two", "three"}


def test_the_users_configuration(run: Run, tmp_path: Path) -> None:
    spec_file(tmp_path / "home" / ".config" / "toolwire" / "formats" / "a.toml", "one")
    spec_file(tmp_path / "xdg" / "toolwire" / "formats" / "b.toml", "two")
    three = str(spec_file(tmp_path / "home" / "c.toml", "three"))
    assert names(run) == {"one"}
    assert names(run, TOOLWIRE_FORMATS=three) == {"one", "three"}
    assert names(run, TOOLWIRE_FORMATS="~/c.toml") == {"one", "three"}
    assert names(run, XDG_CONFIG_HOME=str(tmp_path / "xdg")) == {"two"}
    assert names(run, XDG_CONFIG_HOME="xdg") == {"one"}  # not absolute: it does not count


def test_a_later_file_may_be_like_an_earlier_one(run: Run, tmp_path: Path) -> None:
    spec_file(tmp_path / "f" / "1.toml", "one")
    (tmp_path / "f" / "2.toml").write_text('name = "two"\nlike = "one"')
    assert names(run, TOOLWIRE_FORMATS="f") == {"one", "two"}


def test_a_byte_order_mark_is_no_mistake(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b"\xef\xbb\xbf" + SPEC.format(name="one").encode())
    assert names(run, TOOLWIRE_FORMATS="x.toml") == {"one"}


# -- mistakes -------------------------------------------------------------------------------------


def complaint(run: Run, **environment: str) -> str:
    done = run("-m", "toolwire.cli", "formats", **environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("toolwire: ")
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("toolwire: ").rstrip()


def test_mistakes_are_one_sentence(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text('name = "one"\n\nlikes = "hermes"')
    said = "bad.toml, line 3: there is no key likes. Did you mean like?"
    assert complaint(run, TOOLWIRE_FORMATS="bad.toml") == said
    said = "gone.toml can't be read: No such file or directory"
    assert complaint(run, TOOLWIRE_FORMATS="gone.toml") == said
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    said = "bad.toml can't be read: it is not UTF-8 text"
    assert complaint(run, TOOLWIRE_FORMATS="bad.toml") == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('like = "jamba"\nname = "hermes"', "line 2: There is a format named 'hermes' already"),
        (
            'name = "mine"\nlike = "hermes"\naliases = ["fine", "qwen3"]',
            "line 3: There is a format named 'qwen3' already",
        ),
        ('name = "Mine"\nlike = "hermes"', "line 1: 'Mine' can't be a format's name"),
        (
            '[[format]]\nname = "one"\nlike = "hermes"\n[[format]]\nlike = "jamba"\nname = "one"',
            "line 6: There is a format named 'one' already",
        ),
    ],
)
def test_names_that_are_taken(text: str, said: str, run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text(text)
    assert complaint(run, TOOLWIRE_FORMATS="bad.toml").startswith(f"bad.toml, {said}")


def test_help_and_version_need_no_files(run: Run) -> None:
    for option in ("--help", "--version"):
        done = run("-m", "toolwire.cli", option, TOOLWIRE_FORMATS="gone.toml")
        assert (done.returncode, done.stderr) == (0, "")


# -- when -----------------------------------------------------------------------------------------


def test_importing_toolwire_reads_no_file(run: Run) -> None:
    code = (
        "import sys, toolwire, toolwire.openai;"
        "print('one' in toolwire.list_formats(), 'tomllib' in sys.modules, 'tomli' in sys.modules)"
    )
    assert run("-c", code, TOOLWIRE_FORMATS="gone.toml").stdout == "False False False\n"


def test_loading_again_and_again(run: Run, tmp_path: Path) -> None:
    spec_file(tmp_path / "one.toml", "one")
    code = (
        "import toolwire; from toolwire.formats.user_files import load_user_formats as load;"
        "load(); load(); load(); print(toolwire.list_formats().count('one'))"
    )
    assert run("-c", code, TOOLWIRE_FORMATS="one.toml").stdout == "1\n"


def test_one_bad_file_leaves_the_others(run: Run, tmp_path: Path) -> None:
    """What engines do: they log it, and all other formats are there."""
    spec_file(tmp_path / "one.toml", "one")
    (tmp_path / "bad.toml").write_text("name = 3")
    code = (
        "import toolwire; from toolwire.formats.user_files import load_user_formats as load;"
        "told = []; load(told.append); print(told, 'one' in toolwire.list_formats())"
    )
    done = run("-c", code, TOOLWIRE_FORMATS=os.pathsep.join(["gone", "bad.toml", "one.toml"]))
    gone = "gone can't be read: No such file or directory"
    bad = "bad.toml, line 1: name must be a string, not 3"
    assert done.stdout == f"{[gone, bad]} True\n"


# -- what they do: here on the command line; the gateway's and the engines' tests have their own ----


def test_the_command_line_parses_with_it(run: Run, tmp_path: Path) -> None:
    spec_file(tmp_path / "one.toml", "one")
    call = CALL.format(name="one")
    done = run("-m", "toolwire.cli", "parse", "one", text=call, TOOLWIRE_FORMATS="one.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == 'CALL  ARGUMENTS  PROBLEM\nadd   {"a": 1}\n'
    assert run("-m", "toolwire.cli", "parse", "one", text=call).returncode == 2
