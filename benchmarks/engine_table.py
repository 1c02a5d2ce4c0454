"""The table of one engine: what its parsers and ours cost for one long string argument.

`vllm_parsers.py` and `sglang_parsers.py` are this with an engine's name. The whole comparison, with
every workload and a report, is `./scripts/bench`.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import measure
import part
from measure import UNCOUNTED, Cost, Subject
from workloads import TOOLS, answer, load_tokenizer

FORMATS = (
    *("hermes", "llama3_json", "pythonic", "qwen3_coder", "call_text", "kimi_k2", "deepseek_v3_1"),
    *("mistral", "glm45", "minimax_m2"),
)
FLAT = 1.25
COUNTING = 1.05
LONGEST = 10.0  # seconds of CPU for one answer; what takes longer is broken off


@dataclass
class Line:
    """One parser's costs, by size."""

    subject: Subject
    #: Whether a long value comes out while it is written, not all at once at its end.
    streams: bool
    costs: dict[int, Cost] = field(default_factory=dict)

    def us(self, size: int) -> float:
        return self.costs[size].microseconds()


class Engine:
    def __init__(self, name: str) -> None:
        self.module = import_module(f"engine_{name}")
        self.subjects = measure.subjects(self.module.LABEL, self.module.prepare(), FORMATS)
        self.tokenizer = load_tokenizer()

    def open(self, subject: Subject) -> Any:
        return self.module.Stream(self.tokenizer, subject.parser, TOOLS)

    def lines(self, sizes: list[int]) -> list[Line]:
        found = {s.label: Line(s, self.streams_its_values(s)) for s in self.subjects}
        for size in sizes:
            part.progress(f"{size:,} tokens")
            answers = {name: answer(self.tokenizer, "file", name, size) for name in FORMATS}
            costs = measure.costs(self.subjects, self.open, answers, 1, LONGEST)
            for label, cost in costs.items():
                found[label].costs[size] = cost
        part.progress_done()
        return list(found.values())

    def streams_its_values(self, subject: Subject) -> bool:
        text = answer(self.tokenizer, "file", subject.format, 400)
        return measure.look(subject, self.open, text, LONGEST).deltas > len(text.steps) / 4


def table(lines: list[Line], floor: Line, sizes: list[int]) -> str:
    shown = ["µs a token".ljust(26) + "".join(f"{size:>18,}" for size in sizes)]
    for line in lines:
        cells = []
        for size in sizes:
            mark = "≈ " if line.costs[size].estimated else ""
            value = line.us(size)
            cells.append(f"{mark}{value:.1f} ({value / floor.us(size):.2f}x)".rjust(18))
        note = "" if line.streams else "  a value comes whole, at its end"
        shown.append(line.subject.label.ljust(26) + "".join(cells) + note)
    shown.append(f"In brackets: times the floor ({floor.subject.label}) of the same size.")
    return "\n".join(shown)


def verdicts(lines: list[Line], floor: Line, sizes: list[int], times_floor: float) -> list[str]:
    """What is not as promised; empty if all is."""
    wrong = []
    rivals = [line for line in lines if line.subject.kind == "theirs" and line.streams]
    for ours in (line for line in lines if line.subject.kind == "ours"):
        label = ours.subject.label
        for size in sizes:
            ratio = ours.us(size) / floor.us(size)
            if ratio > times_floor:
                wrong.append(f"{label} costs {ratio:.2f} times the floor at {size} tokens")
            wrong += [
                f"{theirs.subject.label} is ahead of {label} at {size} tokens"
                for theirs in rivals
                if theirs.us(size) <= ours.us(size)
            ]
        growth = ours.us(sizes[-1]) / ours.us(sizes[0])
        floor_growth = floor.us(sizes[-1]) / floor.us(sizes[0])
        if growth > FLAT * max(floor_growth, 1.0):
            wrong.append(f"{label} is not flat: {growth:.2f} times as much at {sizes[-1]}")
    found = {line.subject.label: line for line in lines}
    counting = found["toolwire hermes"].us(sizes[-1]) / found[UNCOUNTED].us(sizes[-1])
    if counting > COUNTING:
        wrong.append(f"Counting makes a token cost {counting:.2f} times as much.")
    return wrong


def as_json(lines: list[Line], sizes: list[int]) -> dict[str, Any]:
    return {
        "unit": "microseconds per token",
        "sizes": sizes,
        "parsers": [
            {
                "label": line.subject.label,
                "kind": line.subject.kind,
                "streams": line.streams,
                "median": {size: round(line.us(size), 2) for size in sizes},
                "seconds": {size: line.costs[size].rounds for size in sizes},
                "estimated": [size for size in sizes if line.costs[size].estimated],
            }
            for line in lines
        ],
    }


def plot(lines: list[Line], sizes: list[int], path: Path, title: str) -> None:
    from render import draw

    series = [
        part.Series(line.subject.label, line.subject.kind, sizes, [line.us(s) for s in sizes])
        for line in lines
    ]
    chart = part.Plot(
        *(path.stem, title, "lines", "tokens in the call", "µs of CPU a token", series),
        x_log=True,
        y_log=True,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    draw(part.plain(chart), path)


def ask(description: str | None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 4000, 16000])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write a PNG (needs matplotlib)")
    parser.add_argument("--check", action="store_true", help="fail where it is not as promised")
    asked = parser.parse_args()
    if asked.plot and find_spec("matplotlib") is None:
        parser.error(f"--plot needs matplotlib: {sys.executable} -m pip install matplotlib")
    return asked


def report(asked: argparse.Namespace, lines: list[Line], title: str) -> None:
    """Writes the files that were asked for."""
    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        asked.json.write_text(json.dumps(as_json(lines, asked.sizes), indent=2) + "\n")
    if asked.plot:
        plot(lines, asked.sizes, asked.plot, title)


def conclude(asked: argparse.Namespace, wrong: list[str], promise: str) -> None:
    print("\n".join(wrong) or promise)
    if wrong and asked.check:
        sys.exit(1)


def main(engine_name: str, description: str | None, times_floor: float) -> None:
    asked = ask(description)
    engine = Engine(engine_name)
    label = engine.module.LABEL
    measure.pin()
    measure.settle()
    lines = engine.lines(asked.sizes)
    floor = next(line for line in lines if line.subject.parser == "floor_arguments")
    print(table(lines, floor, asked.sizes))
    report(asked, lines, f"What a tool parser costs {label}")
    wrong = verdicts(lines, floor, asked.sizes, times_floor)
    promise = f"As promised: at most {times_floor:g} times the floor, flat, ahead of {label}'s own."
    conclude(asked, wrong, promise)
