"""Measures one engine's tool parsers beside ours, inside that engine's own environment.

    .venvs/vllm/bin/python benchmarks/parsers_worker.py vllm --json FILE [--quick] [--formats NAME …]

`benchmarks/parsers.py` runs this once for each engine and makes the report's part of it. Ctrl-C
leaves what was measured so far in the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import measure
import part
import workers
from measure import Subject
from workloads import TOOLS, WORKLOADS, answer, load_tokenizer

#: Formats whose calls have shapes of their own: these get every workload. The others share their
#: shape with one of these and get the big string only.
SHAPES = ("hermes", "qwen3_coder", "glm45", "pythonic", "kimi_k2", "call_text")
FORMATS = (*SHAPES, "llama3_json", "deepseek_v3_1", "mistral", "minimax_m2")
QUICK_FORMATS = ("hermes", "qwen3_coder", "pythonic")


@dataclass(frozen=True)
class Cell:
    """One row of measurements: a workload of a size, so many tokens in a step, for these formats."""

    workload: str
    size: int
    group: int
    formats: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    cells: list[Cell]
    look_size: int
    looks: dict[str, tuple[str, ...]]  # for each workload the formats to look at
    limit: float  # seconds of CPU for a peer's answer


def full_plan() -> Plan:
    sizes = (256, 1024, 4096, 16_384, 65_536)
    others = [name for name in WORKLOADS if name != "file"]
    cells = [Cell("file", size, 1, FORMATS) for size in sizes]
    for name in others:
        small = 4096 if name == "parallel" else 1024  # 64 calls need that many
        cells += [Cell(name, size, 1, SHAPES) for size in (small, 16_384)]
    cells += [Cell(name, 4096, 4, SHAPES) for name in WORKLOADS] + [Cell("file", 4096, 16, SHAPES)]
    looks = {name: FORMATS if name == "file" else SHAPES for name in WORKLOADS}
    return Plan(cells, 4096, looks, limit=0.5)


def quick_plan() -> Plan:
    cells = [Cell("file", size, 1, QUICK_FORMATS) for size in (256, 1024, 4096)]
    cells += [Cell(name, 4096, 1, QUICK_FORMATS) for name in WORKLOADS if name != "file"]
    cells += [Cell("file", 4096, group, QUICK_FORMATS) for group in (4, 16)]
    return Plan(cells, 1024, {"file": QUICK_FORMATS, "parallel": QUICK_FORMATS}, limit=0.2)


def tiny_plan() -> Plan:
    """For the tests: everything happens, nothing takes long."""
    formats = ("hermes", "qwen3_coder")
    cells = [Cell(name, 64, 1, formats) for name in ("prose", "file", "unicode")]
    return Plan([*cells, Cell("file", 64, 4, formats)], 64, {"file": formats}, limit=0.1)


def narrow(plan: Plan, formats: Sequence[str]) -> Plan:
    """The same plan for these formats only, every workload for each."""
    chosen = tuple(formats)
    cells = [Cell(c.workload, c.size, c.group, chosen) for c in plan.cells]
    return Plan(cells, plan.look_size, dict.fromkeys(plan.looks, chosen), plan.limit)


class Worker(workers.EngineWorker):
    """An engine made ready, and what was measured there so far."""

    def __init__(self, engine_name: str) -> None:
        super().__init__(engine_name)
        self.tokenizer = load_tokenizer()
        self.cells: list[dict[str, Any]] = []
        self.looks: list[dict[str, Any]] = []

    def subjects(self, formats: Sequence[str]) -> list[Subject]:
        return measure.subjects(self.engine.LABEL, self.theirs, formats)

    def open(self, subject: Subject) -> Any:
        return self.engine.Stream(self.tokenizer, subject.parser, TOOLS)

    def run(self, plan: Plan) -> None:
        measure.pin()
        measure.settle()
        for number, cell in enumerate(plan.cells):
            what = f"{cell.workload}, {cell.size:,} tokens, {cell.group} in a step"
            part.progress(f"{self.engine.LABEL}: {what} ({number + 1} of {len(plan.cells)})")
            self.cells += self.measure(cell, plan.limit)
        for number, (workload, formats) in enumerate(plan.looks.items()):
            what = f"what comes out of {workload} ({number + 1} of {len(plan.looks)})"
            part.progress(f"{self.engine.LABEL}: {what}")
            self.looks += self.look(workload, formats, plan)

    def measure(self, cell: Cell, limit: float) -> Iterator[dict[str, Any]]:
        subjects = self.subjects(cell.formats)
        answers = {
            name: answer(self.tokenizer, cell.workload, name, cell.size) for name in cell.formats
        }
        found = measure.costs(subjects, self.open, answers, cell.group, limit)
        for subject in subjects:
            right = None
            if subject.kind == "theirs" and self.rivals(subject, found):
                text = answers[subject.format]
                right = measure.reads_right(subject, self.open, text, cell.group, 2 * limit)
            yield {
                "right": right,
                "workload": cell.workload,
                "size": cell.size,
                "group": cell.group,
                **asdict(subject),
                **asdict(found[subject.label]),
                "us": found[subject.label].microseconds(),
            }

    def rivals(self, subject: Subject, found: dict[str, measure.Cost]) -> bool:
        """Whether it costs so little that it matters whether it reads the calls right."""
        ours = found[f"toolwire {subject.format}"]
        return found[subject.label].microseconds() < 1.5 * ours.microseconds()

    def look(self, workload: str, formats: Sequence[str], plan: Plan) -> Iterator[dict[str, Any]]:
        for subject in self.subjects(formats):
            text = answer(self.tokenizer, workload, subject.format, plan.look_size)
            found = measure.look(subject, self.open, text, plan.limit * 2)
            yield {"workload": workload, **asdict(subject), **asdict(found)}

    def found(self) -> dict[str, Any]:
        return {"cells": self.cells, "looks": self.looks}


def main() -> None:
    parser = workers.options(__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer formats and sizes")
    parser.add_argument("--tiny", action="store_true", help="for the tests: next to nothing")
    parser.add_argument("--formats", nargs="+", metavar="NAME", help="only these, in full")
    asked = parser.parse_args()
    plan = (tiny_plan if asked.tiny else quick_plan if asked.quick else full_plan)()
    if asked.formats:
        plan = narrow(plan, asked.formats)
    workers.work(asked.json, lambda: Worker(asked.engine), lambda worker: worker.run(plan))


if __name__ == "__main__":
    main()
