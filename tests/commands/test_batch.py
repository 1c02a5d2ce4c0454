"""`toolwire batch`, as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from ..support import TOOLS
from .running import COMMAND, environment, run

# Each of them starts processes.
pytestmark = pytest.mark.slow

CALL = '<tool_call>{"name": "add", "arguments": {"a": "x"}}</tool_call>'
ROWS = [{"id": 1, "text": CALL}, {"id": 2, "text": "words"}, {"id": 3, "text": CALL[:-15]}]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "completions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS))
    return path


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_file(source: Path, tools: Path, tmp_path: Path) -> None:
    target = tmp_path / "calls.jsonl"
    done = run("batch", "hermes", str(source), str(target), "--tools", str(tools), "--validate")
    assert (done.returncode, done.stderr) == (0, "")
    summary = dict(line.rsplit("  ", 1) for line in done.stdout.splitlines())
    summary = {name.strip(): value.strip() for name, value in summary.items()}
    assert (summary["rows"], summary["calls"]) == ("3", "2")
    assert (summary["incomplete calls"], summary["schema violations"]) == ("1", "1")
    found = rows(target.read_text())
    assert [row["id"] for row in found] == [1, 2, 3]
    assert [row["complete"] for row in found] == [True, True, False]
    assert found[0]["problems"] == ["schema: add: [\"a\"] 'x' is not of type 'integer'"]


def test_pipes(source: Path) -> None:
    done = run("batch", "hermes", text=source.read_text() + "no row\n")
    assert done.returncode == 1, "there is a bad row"
    assert [row.get("id") for row in rows(done.stdout)] == [1, 2, 3, None]
    assert done.stderr.startswith("toolwire: -, row 4: this is not JSON")
    assert "rows that can't be read" in done.stderr


def test_the_summary_as_json_and_bad_rows_up_to_ten(tmp_path: Path) -> None:
    source = tmp_path / "bad.jsonl"
    source.write_text('{"text": "fine"}\n' + "no row\n" * 25)
    done = run("batch", "any", str(source), str(tmp_path / "out.jsonl"), "--json", "--workers", "1")
    summary = json.loads(done.stdout)
    assert (summary["rows"], summary["problems"]["row"]) == (26, 25)
    assert len(done.stderr.splitlines()) == 11
    assert done.stderr.splitlines()[-1] == "toolwire: … and 15 more rows."


def test_columns_thoughts_and_names(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    row = {"said": f"<think>hm</think>{CALL}", "content": "mine", "kind": "hermes", "tools": TOOLS}
    source.write_text(json.dumps(row))
    options = ["--text-column", "said", "--format-column", "kind", "--tools-column", "tools"]
    done = run("batch", "json", str(source), str(target), *options, "--reasoning")
    assert done.returncode == 2
    assert "There is a column 'content' already" in done.stderr
    done = run("batch", "json", str(source), str(target), *options, "--reasoning", "--prefix", "p_")
    assert done.returncode == 0, done.stderr
    (found,) = rows(target.read_text())
    assert (found["content"], found["p_reasoning"]) == ("mine", "hm")
    assert found["p_tool_calls"][0]["function"]["name"] == "add"


def test_folders(source: Path, tmp_path: Path) -> None:
    (tmp_path / "more.jsonl").write_text(source.read_text())
    done = run("batch", "hermes", str(tmp_path / "*.jsonl"), str(tmp_path / "out") + "/")
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["completions.jsonl", "more.jsonl"]
    assert "6\n" in done.stdout.splitlines(keepends=True)[0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["no_such_format", "SOURCE", "x.jsonl"], "no_such_format"),
        (["hermes", "nowhere.jsonl", "x.jsonl"], "nowhere.jsonl can't be read"),
        (["hermes", "SOURCE", "SOURCE"], "written over itself"),
        (["hermes", "SOURCE", "x.parquet"], "rows are written as they were read"),
        (["hermes", "SOURCE", "-", "--resume"], "--resume needs files"),
        (["hermes", "SOURCE", "x.jsonl", "--text-column", "none"], "There is no column 'none'"),
        (["hermes", "SOURCE", "x", "--ray", "auto", "--resume"], "--resume is not for --ray"),
        (["hermes", "-", "x", "--ray", "auto"], "--ray needs files"),
    ],
)
def test_wrong_use(arguments: list[str], sentence: str, source: Path, tmp_path: Path) -> None:
    given = [str(source) if word == "SOURCE" else word for word in arguments]
    done = subprocess.run(
        [*COMMAND, "batch", *given], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_ctrl_c(tmp_path: Path) -> None:
    """It is stopped while it waits for a pipe that never ends."""
    pipe, target = tmp_path / "endless.jsonl", tmp_path / "out.jsonl"
    os.mkfifo(pipe)
    command = [*COMMAND, "batch", "hermes", str(pipe), str(target), "--workers", "1"]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    line = json.dumps({"text": CALL + "x" * 1000}) + "\n"
    with pipe.open("w") as file:
        file.write(line * 1000)  # several pieces; the next one is never whole
        file.flush()
        while not list(tmp_path.glob("*.parts/state.json")):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert "rows; --resume goes on there." in said
    assert not target.exists()


def test_a_terminal_sees_how_far_it_is(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text((json.dumps({"text": CALL}) + "\n") * 3000)
    script = tmp_path / "typescript"
    command = " ".join([*COMMAND, "batch", "hermes", str(source), str(tmp_path / "out.jsonl")])
    subprocess.run(["script", "-qec", command, str(script)], check=True, env=environment())
    shown = script.read_text()
    assert "3,000 rows" in shown
    assert "problems" in shown
