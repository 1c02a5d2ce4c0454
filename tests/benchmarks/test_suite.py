"""The driver: real processes, with stand-ins for the engines' environments.

What stands in for an engine's Python answers at once with figures that are written here, or works until
it is told to stop. The parts, the driver, the report and the signals are the real ones.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ..support import heed_ctrl_c

# Each of them starts processes.
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SUITE = ROOT / "benchmarks" / "suite.py"

#: Stands in for an engine's Python. It is called as `python SCRIPT ENGINE --json FILE …`.
STAND_IN = f"""#!{sys.executable}
import os, sys, threading
from pathlib import Path
sys.path.insert(0, {str(ROOT / "benchmarks")!r})
import workers

class Worker:
    def __init__(self):
        self.result = lambda interrupted: __import__("json").loads(os.environ["STAND_IN_RESULT"])

def run(worker):
    if os.environ.get("STAND_IN_WAITS") == sys.argv[2]:
        Path(os.environ["STAND_IN_MARK"]).touch()
        threading.Event().wait()
    if os.environ.get("STAND_IN_FAILS") == sys.argv[2]:
        os._exit(3)

workers.work(Path(sys.argv[sys.argv.index("--json") + 1]), Worker, run)
"""


def cell(label: str, kind: str, seconds: float, **more: Any) -> dict[str, Any]:
    found = {
        "workload": "file",
        "size": 1024,
        "group": 1,
        "label": label,
        "parser": label,
        "format": "hermes",
        "kind": kind,
        "tokens": 1000,
        "rounds": [seconds] * 5,
        "right": None,
        "estimated": False,
    }
    return found | {"us": seconds * 1000} | more


def result(ours: float, theirs: float, right: bool | None = True) -> dict[str, Any]:
    cells = [
        cell("nothing, as text", "floor", 0.005),
        cell("nothing, as arguments", "floor", 0.010),
        cell("toolwire hermes", "ours", ours),
        cell("vLLM hermes", "theirs", theirs, right=right),
    ]
    long = {"size": 65_536, "rounds": [90.0], "estimated": True}
    cells += [one | {"size": 65_536} for one in cells[:3]]
    cells.append(cell("vLLM hermes", "theirs", 90.0) | long)
    return {"engine": "vLLM", "versions": {"vllm": "1"}, "cells": cells, "looks": []}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    found = dict(os.environ)
    for engine in ("vllm", "sglang"):
        python = tmp_path / engine / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(STAND_IN)
        python.chmod(python.stat().st_mode | stat.S_IXUSR)
        found[f"TOOLWIRE_{engine.upper()}_VENV"] = str(tmp_path / engine)
    found["STAND_IN_RESULT"] = json.dumps(result(ours=0.012, theirs=0.030))
    found["STAND_IN_MARK"] = str(tmp_path / "mark")
    return found


def command(report: Path, *arguments: str) -> list[str]:
    return [sys.executable, str(SUITE), "--no-install", "--report", str(report), *arguments]


def run(report: Path, environment: dict[str, str], *arguments: str) -> Any:
    return subprocess.run(
        command(report, *arguments), env=environment, capture_output=True, text=True, timeout=600
    )


def part(report: Path, name: str = "parsers") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((report / f"{name}.json").read_text())
    return found


def test_one_part_makes_the_report(tmp_path: Path, environment: dict[str, str]) -> None:
    done = run(tmp_path / "report", environment, "--only", "parsers")
    assert done.returncode == 0, done.stderr
    found = part(tmp_path / "report")
    assert found["wrong"] == []
    table = found["tables"][0]
    assert table["columns"][1:] == ["1,024", "65,536"]
    assert table["rows"] == [
        ["nothing, as arguments", "10.0", "10.0"],
        ["toolwire hermes", "12.0 (1.20×)", "12.0 (1.20×)"],
        ["vLLM hermes", "30.0 (3.00×)", "> 60 s"],
    ]
    assert found["ratios"]["vllm_floor"]["value"] == 1.2
    assert found["ratios"]["vllm_hermes"]["value"] == 2.5
    sentence = found["summary"][0]
    assert "costs 1.2 times what" in sentence
    assert "`hermes` 2.5 times as much, for 1,024 tokens" in sentence
    assert "What tool parsers cost" in (tmp_path / "report" / "index.html").read_text()
    assert (tmp_path / "report" / "parsers_vllm_file.png").exists()


@pytest.mark.parametrize(
    ("ours", "theirs", "sentences"),
    [
        (0.016, 0.030, ["Over 1.5 times vLLM's floor: one big string argument (a file), 1,024"]),
        (0.012, 0.011, ["vLLM hermes is ahead of toolwire hermes: one big string argument"]),
    ],
)
def test_what_is_not_as_promised_is_said(
    ours: float,
    theirs: float,
    sentences: list[str],
    tmp_path: Path,
    environment: dict[str, str],
) -> None:
    environment["STAND_IN_RESULT"] = json.dumps(result(ours, theirs))
    done = run(tmp_path / "report", environment, "--only", "parsers")
    assert done.returncode == 0
    for sentence in sentences:
        assert any(wrong.startswith(sentence) for wrong in part(tmp_path / "report")["wrong"])
        assert sentence in done.stdout
        assert 'class="red"' in (tmp_path / "report" / "index.html").read_text()


def test_a_peer_that_reads_the_calls_wrong_is_never_ahead(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    environment["STAND_IN_RESULT"] = json.dumps(result(0.012, 0.001, right=False))
    assert run(tmp_path / "report", environment, "--only", "parsers").returncode == 0
    assert part(tmp_path / "report")["wrong"] == []


def test_an_engine_that_fails_or_is_not_there_is_said(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    environment |= {"STAND_IN_FAILS": "sglang", "TOOLWIRE_VLLM_VENV": str(tmp_path / "nowhere")}
    run(tmp_path / "report", environment, "--only", "parsers")
    left_out, failed = part(tmp_path / "report")["wrong"]
    assert left_out.startswith("vllm was left out: there is no")
    assert failed == "sglang did not finish: exit status 3."


def test_a_part_that_fails_is_said_and_its_old_figures_are_not_shown(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    report = tmp_path / "report"
    report.mkdir()
    (report / "serve.json").write_text("{}")
    asked = ("--only", "serve", "--base-url", "http://127.0.0.1:9/v1")
    done = run(report, environment, *asked)
    assert done.returncode == 1
    assert not (report / "serve.json").exists()
    assert "The part serve failed" in (report / "index.html").read_text()


def test_ctrl_c_leaves_what_is_finished(tmp_path: Path, environment: dict[str, str]) -> None:
    report = tmp_path / "report"
    environment["STAND_IN_WAITS"] = "sglang"
    asked = command(report, "--only", "parsers", "correctness")
    process = subprocess.Popen(
        asked, env=environment, stderr=subprocess.PIPE, text=True, preexec_fn=heed_ctrl_c
    )
    while not Path(environment["STAND_IN_MARK"]).exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 130, said
    found = part(report)
    assert found["interrupted"]
    assert len(found["data"]) == 2  # vLLM's, which was done, and what SGLang's had
    assert not (report / "correctness.json").exists()
    assert "stopped before its end" in (report / "index.html").read_text()
    assert "Traceback" not in said


def test_bad_options_are_one_sentence(tmp_path: Path, environment: dict[str, str]) -> None:
    done = run(tmp_path, environment, "--only", "parsers", "--base-url", "http://x/v1")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert run(tmp_path, environment, "--only", "nothing").returncode == 2
