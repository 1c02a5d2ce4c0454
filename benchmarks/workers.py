"""Measuring inside each engine's environment: how a part starts its workers, and what a worker does.

A worker is a script that is told an engine and a file. Ctrl-C reaches part and workers at once (they
are of one process group): each worker writes what it has, and the part makes the report of that.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

import part
from workloads import ROOT

W = TypeVar("W", bound="Worker")

#: Each engine has a virtual environment of its own, made by scripts/lib/install_*.sh.
ENVIRONMENTS = {
    "vllm": os.environ.get("TOOLWIRE_VLLM_VENV", ".venvs/vllm"),
    "sglang": os.environ.get("TOOLWIRE_SGLANG_VENV", ".venvs/sglang"),
    "litellm": os.environ.get("TOOLWIRE_LITELLM_VENV", ".venvs/litellm"),
}

#: The engines talk a lot; what is said on the terminal is our own progress.
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "PYTHONWARNINGS": "ignore",
    "TRANSFORMERS_VERBOSITY": "error",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_NO_USAGE_STATS": "1",
}


# -- the part's side ------------------------------------------------------------------------------


@dataclass
class Outcome:
    results: list[dict[str, Any]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)  # sentences about workers that failed
    interrupted: bool = False


def python_of(engine: str) -> Path:
    return ROOT / ENVIRONMENTS[engine] / "bin" / "python"


def command(script: str, engine: str, options: Sequence[str], target: Path) -> list[str]:
    file = str(ROOT / "benchmarks" / script)
    return [str(python_of(engine)), file, engine, "--json", str(target), *options]


def run_in_each(
    script: str,
    options: Sequence[str],
    *,
    at_once: bool,
    engines: Sequence[str] = ("vllm", "sglang"),
) -> Outcome:
    """One engine after the other, or all at once where nothing is timed."""
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder, _noting_interrupts(outcome):
        waiting = list(engines)
        while waiting and not outcome.interrupted:
            now = waiting if at_once else waiting[:1]
            waiting = waiting[len(now) :]
            _run(script, options, now, Path(folder), outcome)
    return outcome


def run_part(
    description: str | None,
    script: str,
    as_part: Callable[[Outcome, str, float], part.Part],
    *,
    at_once: bool,
) -> int:
    """A part that is made of what its workers find: reads its command line, runs them, writes it."""
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--json", type=Path, metavar="FILE", required=True)
    options.add_argument("--quick", action="store_true", help="less of it")
    chosen = options.parse_args()
    started, clock = part.now(), time.perf_counter()
    outcome = run_in_each(script, ["--quick"] if chosen.quick else [], at_once=at_once)
    part.write(chosen.json, as_part(outcome, started, time.perf_counter() - clock))
    return 130 if outcome.interrupted else 0


def part_of(
    name: str,
    outcome: Outcome,
    started: str,
    seconds: float,
    *,
    versions: Mapping[str, str] | None = None,
    **said: Any,
) -> part.Part:
    """The part that workers measured: `said` is what there is to say, `versions` are the part's own."""
    theirs = {k: v for result in outcome.results for k, v in result["versions"].items()}
    return part.Part(
        part=name,
        command=part.command(),
        started=started,
        seconds=round(seconds, 1),
        versions=dict(versions or {}) | theirs,
        machine=part.machine(),
        interrupted=outcome.interrupted,
        **said,
    )


def _run(
    script: str, options: Sequence[str], engines: Sequence[str], folder: Path, outcome: Outcome
) -> None:
    running = {}
    for engine in engines:
        if not python_of(engine).exists():
            outcome.wrong.append(f"{engine} was left out: there is no {ENVIRONMENTS[engine]}.")
            continue
        asked = command(script, engine, options, folder / f"{engine}.json")
        running[engine] = subprocess.Popen(asked, env=os.environ | QUIET, stdout=sys.stderr)
    for engine, process in running.items():
        status = process.wait()
        file = folder / f"{engine}.json"
        if file.exists():
            outcome.results.append(json.loads(file.read_text()))
        if status not in (0, 130):
            outcome.wrong.append(f"{engine} did not finish: exit status {status}.")


@contextmanager
def _noting_interrupts(outcome: Outcome) -> Iterator[None]:
    """Ctrl-C is noted, whenever it comes: the workers were told as well, and end by themselves."""

    def note(*_: object) -> None:
        outcome.interrupted = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# -- the worker's side ----------------------------------------------------------------------------


class Worker(Protocol):
    def result(self, interrupted: bool) -> dict[str, Any]: ...


class EngineWorker:
    """One that measures an engine's parsers, in that engine's environment."""

    def __init__(self, engine_name: str) -> None:
        part.progress(f"starting {engine_name}")
        self.engine = import_module(f"engine_{engine_name}")
        self.theirs: dict[str, str] = self.engine.prepare()

    def found(self) -> dict[str, Any]:
        raise NotImplementedError

    def result(self, interrupted: bool) -> dict[str, Any]:
        return {
            "engine": self.engine.LABEL,
            "versions": part.versions(*self.engine.PACKAGES),
            "interrupted": interrupted,
            **self.found(),
        }


def options(description: str | None) -> argparse.ArgumentParser:
    """What all of them are told; a part adds its own."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("engine", choices=["vllm", "sglang"])
    parser.add_argument("--json", type=Path, metavar="FILE", required=True)
    return parser


def work(target: Path, make: Callable[[], W], run: Callable[[W], None]) -> NoReturn:
    """Makes a worker, has it run, writes what it found (or has found so far), and ends the process."""
    worker = None
    interrupted = False
    try:
        worker = make()
        run(worker)
    except KeyboardInterrupt:
        interrupted = True
    if worker is not None:
        target.write_text(json.dumps(worker.result(interrupted), ensure_ascii=False))
    part.progress_done()
    sys.stderr.flush()
    # At once: what the engines' libraries have to say at the end of a process is of no interest.
    os._exit(130 if interrupted else 0)
