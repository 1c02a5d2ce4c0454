"""`./scripts/matrix`: which releases it knows, its table, and that it goes on where it stopped.

That it installs and tests releases is seen by running it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest
from toolwire.models.releases import SGLANG, VLLM, Releases

SCRIPT = Path(__file__).parents[1] / "scripts" / "matrix"
LIBRARY = SCRIPT.parent / "lib"
sys.path.append(str(LIBRARY))

import matrix_answers  # noqa: E402
import matrix_results  # noqa: E402
import pythons  # noqa: E402

GREEN = {"passed": 7, "failed": 0, "skipped": 0, "seconds": 1}


def load(path: Path) -> Any:
    loader = SourceFileLoader("matrix_script", str(path))
    spec = spec_from_loader("matrix_script", loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules["matrix_script"] = module  # its dataclasses look for it
    loader.exec_module(module)
    return module


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The script in a checkout of its own that has nothing else."""
    (tmp_path / "scripts" / "lib").mkdir(parents=True)
    (tmp_path / ".venvs" / "matrix").mkdir(parents=True)
    for path in LIBRARY.glob("*.py"):
        shutil.copy(path, tmp_path / "scripts" / "lib")
    return Path(shutil.copy(SCRIPT, tmp_path / "scripts"))


def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TOOLWIRE_VLLM_VENV": "nowhere"}
    command = [str(script), *arguments]  # as people run it
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("releases", [VLLM, SGLANG], ids=lambda releases: releases.engine)
def test_it_has_every_generation_from_the_oldest_to_the_newest(releases: Releases) -> None:
    matrix = load(SCRIPT)
    own = [one.version for one in matrix.RELEASES if one.engine == releases.engine.lower()]
    numbers = [releases.numbers(version) for version in own]
    assert (numbers[0], numbers[-1]) == (releases.oldest, releases.newest)
    assert all(map(releases.has, own))
    assert {releases.generation(version) for version in own} == set(releases.generations)
    served = [one for one in matrix.RELEASES if one.server and one.version in own]
    assert len({releases.generation(one.version) for one in served}) >= 2


def test_its_test_files_are_there() -> None:
    for engine, one in load(SCRIPT).ENGINES.items():
        for name in one.files(engine, (*one.contract, *one.server, *one.short)):
            assert (SCRIPT.parents[1] / name.partition("::")[0]).is_file(), name


def test_the_table(copy: Path) -> None:
    bad = {**GREEN, "failed": 2, "skipped": 1}
    found = {"digest": "x", "contract": GREEN, "server": bad}
    (copy.parents[1] / ".venvs" / "matrix" / "vllm-0.28.0.json").write_text(json.dumps(found))
    done = run(copy, "--table")
    assert done.returncode == 0
    assert "| vllm | 0.28.0 | 7 passed | 7 passed, 2 failed, 1 skipped | – |\n" in done.stdout
    assert "| vllm | 0.24.0 | – | – | – |\n" in done.stdout


def test_the_table_goes_into_the_readme(copy: Path) -> None:
    readme = copy.parents[1] / "README.md"
    readme.write_text(
        "Before.\n<!-- matrix: written by ./scripts/matrix --readme -->\nold\n<!-- end of matrix -->\n"
        "After.\n"
    )
    found = {"digest": "x", "contract": GREEN}
    (copy.parents[1] / ".venvs" / "matrix" / "vllm-0.28.0.json").write_text(json.dumps(found))
    for _ in range(2):
        done = run(copy, "--table", "--readme")
        assert done.returncode == 0, done.stderr
    text = readme.read_text()
    assert text.startswith("Before.\n<!-- matrix")
    assert text.endswith("<!-- end of matrix -->\nAfter.\n")
    assert "old" not in text
    assert text.count("| vllm | 0.28.0 | 7 passed | – | – |\n") == 1
    readme.write_text("No place.\n")
    assert "README.md has no block" in run(copy, "--table", "--readme").stderr


def leave(folder: Path, **kinds: dict[str, Any]) -> Path:
    folder.mkdir(parents=True)
    for kind, answers in kinds.items():
        (folder / f"{kind}.json").write_text(json.dumps(answers))
    return folder


def test_releases_that_answer_alike_and_otherwise(tmp_path: Path) -> None:
    same = {"a call": [1, "x"], "text": "y"}
    found = matrix_answers.compare(
        {
            "1": leave(tmp_path / "1", contract=same),
            "2": leave(tmp_path / "2", contract={**same, "text": "z"}, server=same),
            "3": leave(tmp_path / "3", contract={"text": "y"}, server=same),
            "4": tmp_path / "none",
            "5": leave(tmp_path / "5", contract=same),
        }
    )
    assert found == {
        "1": "2",
        "2": "1 not as on 5, e.g. contract: text",
        "3": "1 not as on 5, e.g. contract: a call",
        "5": "2",
    }


def test_a_difference_is_a_failure(copy: Path) -> None:
    answers = copy.parents[1] / ".venvs" / "matrix" / "answers"
    leave(answers / "vllm-0.24.0", contract={"a call": "x"})
    leave(answers / "vllm-0.32.0", contract={"a call": "y"})
    done = run(copy, "--table")
    assert done.returncode == 1
    assert "vllm-0.24.0: 1 not as on vllm-0.32.0, e.g. contract: a call" in done.stderr


# -- Pythons --------------------------------------------------------------------------------------


def test_the_python_that_runs_this_is_found() -> None:
    found = pythons.find_pythons()
    assert [one.minor for one in found] == sorted({one.minor for one in found})
    for one in found:
        assert one.version.startswith(f"3.{one.minor}.")


def test_the_classifiers_name_pythons_that_it_may_run_on() -> None:
    text = (SCRIPT.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    for minor in (10, 11, 12, 13):
        assert f'"Programming Language :: Python :: 3.{minor}",' in text
        assert minor in pythons.MINORS


def test_the_table_of_pythons(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(matrix_results, "RESULTS", tmp_path)
    assert not pythons.has_results()
    plain, compiled = {**GREEN, "installed": 2.5}, {**GREEN, "installed": 3.5}
    found = {"digest": "x", "version": "3.12.1", "plain": plain, "compiled": compiled}
    matrix_results.save_result("python-3.12", found)
    assert "| 3.12.1 | 7 passed | 7 passed | 2.5 s, 3.5 s |\n" in pythons.table()


# -- going on -------------------------------------------------------------------------------------


def test_what_was_run_is_not_run_again(copy: Path) -> None:
    """Neither is anything installed for it. What failed, and what is about other files, is run again."""
    results = copy.parents[1] / ".venvs" / "matrix" / "vllm-0.24.0.json"
    of = matrix_results.digest([])  # there is nothing in that checkout
    results.write_text(json.dumps({"digest": of, "contract": GREEN}))
    done = run(copy, "vllm-0.24.0")
    assert done.returncode == 0, done.stderr
    assert "vllm-0.24.0: contract: 7 passed (before)" in done.stderr
    for found in (
        {"digest": of, "contract": {**GREEN, "failed": 1}},
        {"digest": "other", "contract": GREEN},
    ):
        results.write_text(json.dumps(found))
        again = run(copy, "vllm-0.24.0")
        assert again.returncode != 0  # there is nothing here to run it with
        assert "(before)" not in again.stderr


def test_a_release_that_does_not_exist(copy: Path) -> None:
    done = run(copy, "vllm-0.23.0")
    assert done.returncode == 2
    assert "there is no vllm-0.23.0 here; there are" in done.stderr
