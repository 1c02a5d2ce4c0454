"""Stored completions: rows a second of `toolwire batch`, its memory, and a plain loop over the engines'
own whole-text parsers, in the same run.

    .venvs/dev/bin/python benchmarks/batch.py --json FILE [--quick] [--rows NUMBER]

Every row is what a model of the format hermes wrote: a sentence or some, and in most rows a call. A run
is the command as a user starts it, in vLLM's environment, where toolwire is compiled; its seconds begin
when the command is loaded. The loops read, parse and write the same rows, on one core. Rounds are in
turn, so that what else the machine does meets all of them; the quickest one counts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import part
import workers
from toolwire.batch.targets import PART_BYTES
from workloads import CODE, SENTENCE, TOOLS, WRITERS

FORMAT = "hermes"
FEW, MANY = 10_000, 1_000_000
QUICK_MANY = 30_000
LOOP = 10_000  # the rows of a loop
ROUNDS = 3
ENGINES = ("vllm", "sglang")
ENOUGH = 0.85  # of one core's rate times the cores
#: What is written waits until it fills a part, which few rows do not: so much more many may take.
ONE_PART = PART_BYTES / 2**20

#: Runs the command and says what it took, in seconds and in seconds of CPU, its own and its workers';
#: and the most memory that it and any of its workers had.
RUN = """
import json, resource, sys, time
from toolwire.cli import main
began, own = time.perf_counter(), time.process_time()
code = main(sys.argv[1:])
took, own = time.perf_counter() - began, time.process_time() - own
this, workers = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
found = {"seconds": took, "kilobytes": this.ru_maxrss + workers.ru_maxrss}
found |= {"own": own, "workers": workers.ru_utime + workers.ru_stime}
print(json.dumps(found), file=sys.stderr)
sys.exit(code)
"""


def rows(count: int) -> Iterator[str]:
    """The same ones every time."""
    choose = random.Random(7)
    for number in range(count):
        said = SENTENCE.strip() * choose.randint(0, 3)
        calls = [("write_file", {"path": f"f{number}.py", "content": CODE * choose.randint(1, 4)})]
        text = said + (WRITERS[FORMAT](calls) if choose.random() < 0.8 else "")
        yield json.dumps({"id": number, "text": text}) + "\n"


def write_rows(path: Path, count: int) -> Path:
    with path.open("w") as file:
        file.writelines(rows(count))
    return path


class Measuring:
    """Files with few and many rows in a folder, and what was measured with them."""

    def __init__(self, folder: Path, many: int) -> None:
        self.cores = len(os.sched_getaffinity(0))
        self.sizes = {"few": min(FEW, many // 3), "many": many}
        self.files = {
            name: write_rows(folder / f"{name}.jsonl", n) for name, n in self.sizes.items()
        }
        self.tools = folder / "tools.json"
        self.tools.write_text(json.dumps(TOOLS))
        self.target = folder / "out.jsonl"

    def command(self, size: str, processes: int) -> dict[str, Any]:
        """One run of the command: its rows a second, and its memory."""
        part.progress(f"{self.sizes[size]:,} rows, {processes} processes")
        arguments = ["batch", FORMAT, str(self.files[size]), str(self.target)]
        arguments += ["--tools", str(self.tools), "--workers", str(processes)]
        command = [str(workers.python_of("vllm")), "-c", RUN, *arguments]
        done = subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        found = json.loads(done.stderr.splitlines()[-1])
        rows = self.sizes[size]
        return {
            "rate": rows / found["seconds"],
            "megabytes": found["kilobytes"] / 1024,
            "cpu": (found["own"] + found["workers"]) / rows * 1e6,
            "own_cpu": found["own"] / rows * 1e6,
        }

    def loop(self, engine: str) -> dict[str, Any] | None:
        """A plain loop over the engine's own parser, and over toolwire's in its place."""
        if not workers.python_of(engine).exists():
            return None
        part.progress(f"a loop over {engine}'s own parser")
        script = str(Path(__file__).with_name("batch_loop.py"))
        command = [str(workers.python_of(engine)), script, engine, str(self.files["few"])]
        command += [str(self.tools), str(min(LOOP, self.sizes["few"]))]
        done = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, env=os.environ | workers.QUIET
        )
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found

    def all(self, rounds: int) -> dict[str, Any]:
        found: dict[str, Any] = {"cores": self.cores, "sizes": self.sizes}
        one, several = [], []
        for _ in range(rounds):
            one.append(self.command("few", 1))
            several.append(self.command("few", self.cores))
        found["one"] = max(one, key=lambda run: run["rate"])
        found["few"] = max(several, key=lambda run: run["rate"])
        found["many_one"] = self.command("many", 1)  # to start takes as long as a third of few rows
        found["many"] = self.command("many", self.cores)
        found["loops"] = {engine: self.loop(engine) for engine in ENGINES}
        return found


def run_row(rows: int, processes: int, run: dict[str, Any]) -> list[part.Cell]:
    cpu = [round(run["cpu"], 1), round(run["own_cpu"], 1)]
    return [f"{rows:,}", processes, round(run["rate"]), *cpu, round(run["megabytes"])]


def as_part(found: dict[str, Any], started: str, seconds: float) -> part.Part:
    one, many, cores = found["many_one"]["rate"], found["many"]["rate"], found["cores"]
    share = many / (one * cores)
    few_memory, many_memory = found["few"]["megabytes"], found["many"]["megabytes"]
    runs = [
        run_row(found["sizes"]["few"], 1, found["one"]),
        run_row(found["sizes"]["few"], cores, found["few"]),
        run_row(found["sizes"]["many"], 1, found["many_one"]),
        run_row(found["sizes"]["many"], cores, found["many"]),
    ]
    loops: list[list[part.Cell]] = [
        [engine, round(loop["theirs"]), round(loop["ours"]), f"{loop['same']} of {loop['rows']}"]
        for engine, loop in found["loops"].items()
        if loop is not None
    ]
    wrong = [f"{engine} is not here." for engine, loop in found["loops"].items() if loop is None]
    if share < ENOUGH:
        wrong.append(f"All cores do {share:.0%} of one core's rate times {cores}.")
    if many_memory > few_memory + ONE_PART:
        wrong.append(f"Memory grows: {few_memory:.0f} MB, and {many_memory:.0f} MB for many rows.")
    times = part.Ratio(share, f"{cores} processes do {share:.0%} of {cores} times what one does.")
    return part.Part(
        part="batch",
        title="Stored completions",
        about=" ".join((__doc__ or "").split("\n\n")[0].split()),
        command=part.command(),
        started=started,
        seconds=seconds,
        versions=part.versions("toolwire"),
        machine=part.machine(),
        tables=[
            part.Table(
                "toolwire batch",
                (
                    *("rows", "processes", "rows a second", "µs of CPU a row"),
                    *("of them what reads and writes", "MB at most"),
                ),
                runs,
            ),
            part.Table(
                "One core, a plain loop over whole-text parsers",
                ("engine", "its own, rows a second", "toolwire in its place", "same calls"),
                loops,
            ),
        ],
        wrong=wrong,
        ratios={"batch cores": times},
        data=found,
    )


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--json", type=Path, metavar="FILE", required=True)
    options.add_argument("--quick", action="store_true", help="fewer rows, and one round")
    options.add_argument("--rows", type=int, metavar="NUMBER", help=f"how many are many: {MANY:,}")
    asked = options.parse_args()
    started, clock = part.now(), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        many = asked.rows or (QUICK_MANY if asked.quick else MANY)
        measuring = Measuring(Path(folder), many)
        found = measuring.all(1 if asked.quick else ROUNDS)
    part.progress_done()
    part.write(asked.json, as_part(found, started, time.perf_counter() - clock))
    return 0


if __name__ == "__main__":
    sys.exit(main())
