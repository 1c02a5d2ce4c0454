"""`toolwire new-format`, as a user runs it; what it writes is used, and its tests are run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from toolwire.formats.toml_specs import load_formats

from ..support import INTEGER, STRING, tool
from .running import run_in

# Each of them starts processes.
pytestmark = pytest.mark.slow

#: Ways to write calls that no format of toolwire's reads, with one call and with two.
WAYS = {
    "json_calls": (
        'Sure.\n<do>{"tool": "add", "with": {"a": 1}}</do>',
        '<do>{"tool": "add", "with": {"a": 1}}</do>\n<do>{"tool": "get", "with": {"k": "ä"}}</do>',
    ),
    "named_json": (
        'Sure.\n<|do|>add @@ {"a": 1}<|done|>',
        '<|do|>add @@ {"a": 1}<|done|><|do|>get @@ {"k": "ä"}<|done|>',
    ),
    "tags": (
        "Sure.\n<act>\n<do name=add>\n<with name=a>1</with>\n</do>\n</act>",
        "<act>\n<do name=add>\n<with name=a>1</with>\n</do>\n</act>\n"
        "<act>\n<do name=get>\n<with name=k>ä</with>\n</do>\n</act>",
    ),
    "labels": (
        'Sure.\n<do>\ntool: add\ninput: {"a": 1}\n</do>',
        '<do>\ntool: add\ninput: {"a": 1}\n</do>\n<do>\ntool: get\ninput: {"k": "ä"}\n</do>',
    ),
    "pythonic": (
        "Sure.\n<|do|>[add(a=1)]<|done|>",
        '<|do|>[add(a=1), get(k="ä")]<|done|>',
    ),
}
CALLS = [[("add", {"a": 1})], [("add", {"a": 1}), ("get", {"k": "ä"})]]
TOOLS = [tool("add", a=INTEGER), tool("get", k=STRING)]
HERMES = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'


def toolwire(folder: Path, *arguments: str, **environment: str) -> Any:
    return run_in(folder, os.environ | environment, *arguments)


def run_tests(folder: Path, name: str) -> Any:
    """Runs a test file as a user does, who has toolwire and pytest and no more."""
    missing = ("typer", "jinja2", "hypothesis", "httpx2", "transformers")
    block = ";".join(f"sys.modules[{module!r}] = None" for module in missing)
    code = f"import sys; {block}; import pytest; sys.exit(pytest.main(['-q', {name!r}]))"
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def write(folder: Path, **files: Any) -> None:
    for name, content in files.items():
        stem, _, suffix = name.rpartition("_")
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{stem}.{suffix}").write_text(text, encoding="utf-8")


def complaint(done: Any, code: int = 2) -> str:
    """The one sentence on stderr."""
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("toolwire: ")
    assert done.stderr.count("\n") == 1
    return str(done.stderr.removeprefix("toolwire: ").rstrip())


# -- from examples --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", WAYS)
def test_from_examples_to_a_format_that_is_used(kind: str, tmp_path: Path) -> None:
    one, two = WAYS[kind]
    write(tmp_path, one_txt=one, two_txt=two, tools_json=TOOLS)
    examples = ("--example", "one.txt", "--example", "two.txt", "--tools", "tools.json")
    done = toolwire(tmp_path, "new-format", "mine", *examples)
    assert (done.returncode, done.stderr) == (0, "")
    assert 'one.txt: add({"a": 1})\ntwo.txt: add({"a": 1}), get({"k": "ä"})' in done.stdout
    assert f"export TOOLWIRE_FORMATS={tmp_path.resolve()}/mine.toml" in done.stdout
    text = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    assert f'"{kind}"' in text
    assert load_formats(text, "mine.toml")[0].name == "mine"

    tested = run_tests(tmp_path, "test_mine.py")
    assert tested.returncode == 0, tested.stdout
    assert "8 passed" in tested.stdout

    parse = ("parse", "mine", "two.txt", "--tools", "tools.json", "--json")
    parsed = toolwire(tmp_path, *parse, TOOLWIRE_FORMATS="mine.toml")
    calls = json.loads(parsed.stdout)["tool_calls"]
    assert [(call["name"], json.loads(call["arguments"])) for call in calls] == CALLS[1]


def test_its_tests_can_fail(tmp_path: Path) -> None:
    write(tmp_path, one_txt=WAYS["json_calls"][0])
    assert toolwire(tmp_path, "new-format", "mine", "--example", "one.txt").returncode == 0
    spec = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    changed = "\n".join(line for line in spec.splitlines() if not line.startswith("example"))
    (tmp_path / "mine.toml").write_text(changed.replace("</do>", "</did>"), encoding="utf-8")
    tested = run_tests(tmp_path, "test_mine.py")
    assert tested.returncode == 1
    assert "3 failed, 1 passed" in tested.stdout  # the closer is now text; nothing is lost


def test_into_a_folder(tmp_path: Path) -> None:
    write(tmp_path, one_txt=WAYS["tags"][0])
    done = toolwire(tmp_path, "new-format", "mine", "--example", "one.txt", "--into", "a/b c")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in (tmp_path / "a" / "b c").iterdir()) == [
        "mine.toml",
        "test_mine.py",
    ]
    assert run_tests(tmp_path, "a/b c/test_mine.py").returncode == 0


def test_without_tools_numbers_between_tags_are_text(tmp_path: Path) -> None:
    write(tmp_path, one_txt=WAYS["tags"][0])
    done = toolwire(tmp_path, "new-format", "mine", "--example", "one.txt")
    assert 'one.txt: add({"a": "1"})' in done.stdout


def test_calls_may_be_stated(tmp_path: Path) -> None:
    calls = [{"name": name, "arguments": arguments} for name, arguments in CALLS[1]]
    write(tmp_path, two_txt=WAYS["tags"][1], two_json=calls)
    done = toolwire(tmp_path, "new-format", "mine", "--example", "two.txt")
    assert (done.returncode, done.stderr) == (0, "")
    assert 'two.txt: add({"a": 1}), get({"k": "ä"})' in done.stdout
    assert run_tests(tmp_path, "test_mine.py").returncode == 0


def test_an_example_without_calls(tmp_path: Path) -> None:
    write(tmp_path, one_txt=WAYS["json_calls"][0], prose_txt="About <do> and {}.", prose_json=[])
    examples = ("--example", "one.txt", "--example", "prose.txt")
    done = toolwire(tmp_path, "new-format", "mine", *examples)
    assert "prose.txt: no call" in done.stdout
    assert run_tests(tmp_path, "test_mine.py").returncode == done.returncode


# -- where no format is needed, or none is found --------------------------------------------------


def test_a_format_that_is_there_already(tmp_path: Path) -> None:
    write(tmp_path, one_txt=HERMES)
    done = toolwire(tmp_path, "new-format", "mine", "--example", "one.txt")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Nothing needs writing: " in done.stdout
    assert "hermes" in done.stdout
    assert not (tmp_path / "mine.toml").exists()
    done = toolwire(tmp_path, "new-format", "mine", "--example", "one.txt", "--anyway")
    assert done.returncode == 0
    assert run_tests(tmp_path, "test_mine.py").returncode == 0


def test_what_does_not_fit(tmp_path: Path) -> None:
    """The files are a beginning: once the format is written by hand, its tests pass."""
    text = "Sure. <<add|a~1>>"
    write(tmp_path, one_txt=text, one_json=[{"name": "add", "arguments": {"a": 1}}])
    done = toolwire(tmp_path, "new-format", "mine", "--example", "one.txt")
    said = 'one.txt: the format reads no call, not add({"a": 1})'
    assert complaint(done, code=1) == said
    assert "Change mine.toml until this passes: pytest test_mine.py" in done.stdout
    assert run_tests(tmp_path, "test_mine.py").returncode == 1


# -- without examples -----------------------------------------------------------------------------


def test_without_examples(tmp_path: Path) -> None:
    done = toolwire(tmp_path, "new-format", "mine")
    assert (done.returncode, done.stderr) == (0, "")
    tested = run_tests(tmp_path, "test_mine.py")
    assert tested.returncode == 0, tested.stdout
    assert "4 passed" in tested.stdout
    text = (tmp_path / "mine.toml").read_text(encoding="utf-8")
    assert text.count("#") > 10


# -- files that are there, and mistakes -----------------------------------------------------------


@pytest.mark.parametrize("file", ["mine.toml", "test_mine.py"])
def test_nothing_is_overwritten(file: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text("precious", encoding="utf-8")
    said = complaint(toolwire(tmp_path, "new-format", "mine"))
    assert said == f"{file} is there already: --force overwrites it"
    assert [path.name for path in tmp_path.iterdir()] == [file]
    assert (tmp_path / file).read_text(encoding="utf-8") == "precious"
    assert toolwire(tmp_path, "new-format", "mine", "--force").returncode == 0
    assert (tmp_path / file).read_text(encoding="utf-8") != "precious"


def test_again_while_it_is_in_use(tmp_path: Path) -> None:
    assert toolwire(tmp_path, "new-format", "mine").returncode == 0
    again = toolwire(tmp_path, "new-format", "mine", "--force", TOOLWIRE_FORMATS="mine.toml")
    assert (again.returncode, again.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Mine"], "'Mine' can't be a format's name"),
        (["../mine"], "'../mine' can't be a format's name"),
        (["hermes"], "There is a format named 'hermes' already"),
        (["hermes", "--force"], "There is a format named 'hermes' already"),
        (["mine", "--example", "gone.txt"], "gone.txt can't be read: No such file"),
        (
            ["mine", "--example", "prose.txt"],
            "prose.txt: there is no call to be seen; say which there are in prose.json: [{",
        ),
        (["mine", "--example", "stated.txt"], "stated.json must be a list of calls: [{"),
        (["mine", "--tools", "prose.txt"], "prose.txt is not JSON"),
        (["mine", "--into", "prose.txt"], "prose.txt"),
        ([], "Missing argument"),
    ],
)
def test_mistakes_are_one_sentence(arguments: list[str], said: str, tmp_path: Path) -> None:
    write(tmp_path, prose_txt="Hello.", stated_txt=HERMES, stated_json=[{"name": "add"}])
    assert said in complaint(toolwire(tmp_path, "new-format", *arguments))
    assert not list(tmp_path.glob("**/*mine*"))
