"""Counts, inside one engine, the cases whose calls do not depend on how the text is cut.

    .venvs/vllm/bin/python benchmarks/correctness_worker.py vllm --json FILE [--quick]

`benchmarks/correctness.py` runs this for each engine. Ctrl-C leaves what was counted in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import measure
import part
import workers
from cases import Calls, Case, corpus, loaded, random_splits
from workloads import WRITERS, Step, cut, load_tokenizer

SPLITS = 20
LONGEST = 5.0  # seconds of CPU for a reading: none is long, but the first loads what all need
QUICK = ("hermes", "qwen3_coder", "pythonic", "llama3_json", "glm45")


class Worker(workers.EngineWorker):
    def __init__(self, engine_name: str) -> None:
        super().__init__(engine_name)
        self.tokenizer = load_tokenizer()
        self.rows: list[dict[str, Any]] = []

    def run(self, formats: Sequence[str], splits: int) -> None:
        measure.settle()
        chosen = [name for name in formats if name in self.theirs]
        for number, name in enumerate(chosen):
            part.progress(f"{self.engine.LABEL}: cutting {name} ({number + 1} of {len(chosen)})")
            for case in corpus(name):
                self.rows.append(self.row(case, splits))

    def row(self, case: Case, splits: int) -> dict[str, Any]:
        end: Step = ("", [self.tokenizer.eos_token_id])  # the model's last token has no text
        steps = [*cut(self.tokenizer, case.text), end]
        ways = list(random_splits(steps, splits))
        return {
            "format": case.format,
            "case": case.name,
            "ours": self.judge(f"toolwire_{case.format}", case, ways),
            "theirs": self.judge(self.theirs[case.format], case, ways),
        }

    def judge(self, parser: str, case: Case, ways: Sequence[list[Step]]) -> dict[str, Any]:
        answers = [self.read(parser, case, way) for way in ways]
        kinds = [answer for at, answer in enumerate(answers) if answer not in answers[:at]]
        return {
            "same": len(kinds) == 1,
            "right": None if case.calls is None else kinds == [case.calls],
            "answers": kinds[:3],
        }

    def read(self, parser: str, case: Case, steps: Sequence[Step]) -> Calls | str:
        """The calls a client would have; a sentence where the parser failed or did not end."""
        calls: dict[int, list[str]] = {}
        try:
            with measure.box(LONGEST) as limited:
                stream = self.engine.Stream(self.tokenizer, parser, case.tools)
                for _, pieces in stream.deltas(steps):
                    if limited.over:
                        break
                    for index, name, arguments in pieces:
                        call = calls.setdefault(index, ["", ""])
                        call[0] += name
                        call[1] += arguments
                if not limited.over:
                    return [(calls[i][0], loaded(calls[i][1])) for i in sorted(calls)]
        except Exception as error:  # noqa: BLE001  # whatever it is: a client gets an error
            return f"{type(error).__name__}: {error}"
        return f"no end after {LONGEST:g} s"

    def found(self) -> dict[str, Any]:
        return {"rows": self.rows}


def main() -> None:
    parser = workers.options(__doc__)
    parser.add_argument("--quick", action="store_true", help="a few formats")
    parser.add_argument("--formats", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--splits", type=int, default=SPLITS)
    asked = parser.parse_args()
    formats = asked.formats or (QUICK if asked.quick else sorted(WRITERS))
    workers.work(
        asked.json,
        lambda: Worker(asked.engine),
        lambda worker: worker.run(formats, asked.splits),
    )


if __name__ == "__main__":
    main()
