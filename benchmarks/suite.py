"""Runs the benchmark's parts one after the other and makes one report of them. Called by scripts/bench.

Each part is a program of its own that writes one JSON file; the report is made of whatever files are
there. So a part that is run alone joins the results of earlier runs, and Ctrl-C leaves the finished
parts (and what the current one had) in the report.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import readme
import render
import workers
from workloads import ROOT

PARTS = (
    "start", "tools", "grammars", "cache", "parsers", "correctness", "neighbours", "serve", "batch",
    "gateway",
)  # fmt: skip
#: The engines whose environments a part needs.
ENGINES = {
    "start": ("vllm",),
    "tools": ("vllm",),
    "grammars": ("vllm",),
    "cache": ("vllm", "sglang"),
    "parsers": ("vllm", "sglang"),
    "correctness": ("vllm", "sglang"),
    "neighbours": ("vllm",),
    "serve": ("vllm",),
    "batch": ("vllm", "sglang"),
    "gateway": ("litellm",),
}
#: The parts that run in vLLM's environment, where toolwire's core is compiled.
INSIDE = ("tools", "grammars", "neighbours", "serve")
#: What the parts need in them beside the engine: gguf makes the model, pandas is for `vllm bench`.
NEEDS = {"vllm": ("gguf", "httpx2", "pandas"), "sglang": ("gguf",), "litellm": ()}


@dataclass
class Run:
    """What a run of the suite did not get done."""

    failed: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False


def say(sentence: str) -> None:
    print(f"\033[36m==>\033[0m {sentence}", file=sys.stderr, flush=True)


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./scripts/bench",
        description="Measures toolwire beside vLLM's and SGLang's own parsers, and makes one report.",
        epilog="Without options: all parts, under half an hour. Ctrl-C keeps what is finished.",
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--quick", action="store_true", help="smaller, under five minutes")
    parser.add_argument("--base-url", metavar="URL", help="for serve: a server that runs already")
    parser.add_argument("--model", metavar="NAME", help="for serve: the model's name there")
    parser.add_argument("--readme", action="store_true", help="put the ratios into README.md, too")
    parser.add_argument(
        "--report", type=Path, metavar="DIR", default=ROOT / "benchmarks" / "report"
    )
    parser.add_argument(
        "--no-install", action="store_true", help="use the environments as they are"
    )
    return parser.parse_args(arguments)


def engines_for(parts: Sequence[str], base_url: str | None) -> list[str]:
    """A server that runs elsewhere needs no engine here."""
    local = [part for part in parts if not (part == "serve" and base_url)]
    return list(dict.fromkeys(engine for part in local for engine in ENGINES[part]))


def install(engine: str) -> None:
    script = ROOT / "scripts" / "lib" / f"install_{engine}.sh"
    subprocess.run([str(script), *NEEDS[engine]], check=True, cwd=ROOT)


def command(part: str, asked: argparse.Namespace) -> list[str]:
    away = part == "serve" and asked.base_url
    inside = part in INSIDE and not away
    python = str(workers.python_of("vllm")) if inside else sys.executable
    found = [python, str(ROOT / "benchmarks" / f"{part}.py")]
    found += ["--json", str(asked.report / f"{part}.json")]
    found += ["--quick"] if asked.quick else []
    litellm = workers.python_of("litellm")
    if part == "gateway" and litellm.exists() and not asked.quick:  # it takes long to start
        found += ["--litellm", str(litellm.parents[1])]
    if away:
        found += ["--base-url", asked.base_url]
        found += ["--model", asked.model] if asked.model else []
    return found


def run_part(part: str, asked: argparse.Namespace, run: Run) -> None:
    """In a process group of its own, so that Ctrl-C reaches it and all it started exactly once."""
    (asked.report / f"{part}.json").unlink(
        missing_ok=True
    )  # an old one must not pass for this run's
    started = time.monotonic()
    process = subprocess.Popen(
        command(part, asked), cwd=ROOT, env=os.environ | workers.QUIET, start_new_session=True
    )
    status = wait(process, run)
    seconds = time.monotonic() - started
    if status == 0:
        say(f"{part}: done in {seconds:.0f} seconds")
    elif not run.interrupted:
        run.failed[part] = (
            f"The part {part} failed (exit status {status}) after {seconds:.0f} seconds."
        )
        say(run.failed[part])


def wait(process: subprocess.Popen[bytes], run: Run) -> int:
    """The first Ctrl-C asks the part to write what it has; the second ends it."""
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            first, run.interrupted = not run.interrupted, True
            say(
                "stopping; what is finished stays (Ctrl-C again ends it at once)"
                if first
                else "ended"
            )
            os.killpg(process.pid, signal.SIGINT if first else signal.SIGKILL)


def run_all(parts: Sequence[str], asked: argparse.Namespace) -> Run:
    run = Run()
    try:
        if not asked.no_install:
            for engine in engines_for(parts, asked.base_url):
                install(engine)
    except KeyboardInterrupt:
        run.interrupted = True
    except subprocess.CalledProcessError as error:
        run.failed["install"] = f"An environment could not be made: {error}."
        say(run.failed["install"])
        return run
    for number, part in enumerate(parts):
        if run.interrupted:
            break
        say(f"{part} ({number + 1} of {len(parts)})")
        run_part(part, asked, run)
    return run


def finish(asked: argparse.Namespace, run: Run) -> int:
    found = render.load_parts(asked.report)
    page = render.render(asked.report, run.failed)
    for part in found:
        for sentence in part["wrong"]:
            print(f"{part['part']}: {sentence}")
    for part in found:
        for ratio in part["ratios"].values():
            print(f"{part['part']}: {ratio['text']}")
    if asked.readme and not run.interrupted and not run.failed:
        readme.write(ROOT / "README.md", found)
    say(f"the report: {page}")
    if run.interrupted:
        return 130
    return 1 if run.failed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    asked = options(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the same as Ctrl-C
    asked.report.mkdir(parents=True, exist_ok=True)
    parts = [part for part in PARTS if part in (asked.only or PARTS)]
    if asked.base_url and "serve" not in parts:
        print("--base-url is for the part serve, which was not asked for.", file=sys.stderr)
        return 2
    run = run_all(parts, asked)
    try:
        return finish(asked, run)
    except readme.NoPlace as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
