"""What thoughts cost vLLM: microseconds a token, with a reasoning parser in front of the tool parser.

    .venvs/vllm/bin/python benchmarks/vllm_thoughts.py [--sizes 1000 4000 16000] [--json FILE]
                                                       [--plot FILE] [--check]

An answer is thoughts, and then a call with one long string argument, each about half of its tokens. It
goes token by token through vLLM's own `DelegatingParser.parse_delta`: with toolwire's tool parser alone
(thoughts are text then), with one of toolwire's reasoning parsers in front of it, and with the pair of
parsers that vLLM itself has for such models. All is measured in one run, round by round in turn, and the
median of the rounds counts.

Promised: both of ours cost at most 1.2 times what the tool parser costs alone, less than vLLM's pair.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import Any

import engine_table
import engine_vllm
import measure
import part
from engine_table import LONGEST, Line
from measure import Subject
from workloads import TOOLS, Answer, answer, cut, load_tokenizer, prose

TIMES_ALONE = 1.2
OPEN, CLOSE = "<think>\n", "\n</think>\n\n"


@dataclass(frozen=True)
class Pair:
    """A format of ours, and vLLM's names for the two parsers of its models."""

    format: str
    reasoning: str
    tools: str

    @property
    def alone(self) -> Subject:
        return Subject(f"toolwire {self.format}", f"toolwire_{self.format}", self.format, "ours")

    @property
    def both(self) -> Subject:
        label = f"toolwire think, {self.format}"
        return Subject(label, f"toolwire_{self.format}", self.format, "ours")

    @property
    def theirs(self) -> Subject:
        return Subject(f"vLLM {self.reasoning}, {self.tools}", self.tools, self.format, "theirs")


PAIRS = (
    Pair("hermes", "qwen3", "hermes"),
    Pair("qwen3_coder", "qwen3", "qwen3_coder"),
    Pair("deepseek_v3", "deepseek_r1", "deepseek_v3"),
    Pair("glm45", "glm45", "glm45"),
)


class Thoughts:
    """vLLM with all these parsers."""

    def __init__(self) -> None:
        engine_vllm.prepare()
        self.tokenizer = load_tokenizer()
        self.tokenizer.add_tokens(["<think>", "</think>"])
        self.reasoning: dict[str, str] = {}  # of those that have one, by their labels
        for pair in PAIRS:
            self.reasoning |= {
                pair.both.label: "toolwire_think",
                pair.theirs.label: pair.reasoning,
            }

    def open(self, subject: Subject) -> Any:
        reasoning = self.reasoning.get(subject.label)
        return engine_vllm.Stream(self.tokenizer, subject.parser, TOOLS, reasoning)

    def answer(self, format: str, size: int) -> tuple[str, Answer]:
        """The thoughts, and all of the answer."""
        call = answer(self.tokenizer, "file", format, size // 2)
        sentence = len(cut(self.tokenizer, prose(1)))
        thoughts = prose(max(1, size // 2 // sentence))
        text = f"{OPEN}{thoughts}{CLOSE}{''.join(text for text, _ in call.steps)}"
        return thoughts, Answer(cut(self.tokenizer, text), None, call.calls)

    def lines(self, pair: Pair, sizes: list[int]) -> list[Line]:
        subjects = [pair.alone, pair.both, pair.theirs]
        found = {subject.label: Line(subject, True) for subject in subjects}
        for size in sizes:
            part.progress(f"{pair.format}, {size:,} tokens")
            thoughts, text = self.answer(pair.format, size)
            self.look(pair, thoughts, text)
            costs = measure.costs(subjects, self.open, {pair.format: text}, 1, LONGEST)
            for label, cost in costs.items():
                found[label].costs[size] = cost
        part.progress_done()
        return list(found.values())

    def look(self, pair: Pair, thoughts: str, text: Answer) -> None:
        """What is measured reads the answer right."""
        seen = self.open(pair.both).thoughts(text.steps)
        if seen != thoughts or not measure.reads_right(pair.both, self.open, text, 1, math.inf):
            raise SystemExit(f"{pair.both.label} did not read its answer right.")


def times(one: Line, other: Line, size: int) -> float:
    """How many times the other's cost: round by round, so that what drifts falls out."""
    rounds = zip(one.costs[size].rounds, other.costs[size].rounds, strict=False)
    return statistics.median(mine / its for mine, its in rounds)


def verdicts(lines: list[Line], sizes: list[int]) -> list[str]:
    """What is not as promised of a pair; empty if all is."""
    alone, both, theirs = lines
    wrong = []
    for size in sizes:
        more = times(both, alone, size)
        if more > TIMES_ALONE:
            says = f"{both.subject.label} costs {more:.2f} times {alone.subject.label}"
            wrong.append(f"{says} at {size} tokens")
        if times(theirs, both, size) <= 1:
            wrong.append(
                f"{theirs.subject.label} is ahead of {both.subject.label} at {size} tokens"
            )
    return wrong


def main() -> None:
    asked = engine_table.ask(__doc__)
    thoughts = Thoughts()
    measure.pin()
    measure.settle()
    every: list[Line] = []
    wrong: list[str] = []
    for pair in PAIRS:
        lines = thoughts.lines(pair, asked.sizes)
        print(engine_table.table(lines, lines[0], asked.sizes), end="\n\n")
        every += lines
        wrong += verdicts(lines, asked.sizes)
    engine_table.report(asked, every, "What thoughts cost vLLM")
    promise = (
        f"As promised: at most {TIMES_ALONE:g} times the tool parser alone, ahead of vLLM's own."
    )
    engine_table.conclude(asked, wrong, promise)


if __name__ == "__main__":
    main()
