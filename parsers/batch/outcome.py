"""What comes out of one row, and what many rows come to.

A problem is of one of five kinds. It is written into the row as `kind: sentence`, so that it can be
counted and searched for wherever the row goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..openai.message import ToolCall

#: The row itself can't be read; the others are about its calls.
BAD_ROW = "row"
INCOMPLETE = "incomplete"
BAD_ARGUMENTS = "arguments"
UNKNOWN_TOOL = "unknown_tool"
VIOLATION = "schema"

#: What each is called where they are counted, in the order in which they are shown.
KINDS = {
    INCOMPLETE: "incomplete calls",
    BAD_ARGUMENTS: "arguments that are no JSON object",
    UNKNOWN_TOOL: "calls of unknown tools",
    VIOLATION: "schema violations",
    BAD_ROW: "rows that can't be read",
}

#: The columns that are added to a row.
COLUMNS = ("content", "reasoning", "tool_calls", "complete", "problems")


@dataclass(frozen=True, slots=True)
class Problem:
    kind: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is added to a row."""

    content: str | None = None
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    problems: tuple[Problem, ...] = ()

    @classmethod
    def bad(cls, sentence: str) -> Outcome:
        """Of a row that can't be read."""
        return cls(problems=(Problem(BAD_ROW, sentence),))

    @property
    def is_bad(self) -> bool:
        return bool(self.problems) and any(problem.kind == BAD_ROW for problem in self.problems)

    @property
    def complete(self) -> bool:
        """Whether the model finished every call that it began."""
        return not self.is_bad and all(call.complete for call in self.tool_calls)

    def to_dict(self) -> dict[str, Any]:
        """The columns, in the order of `COLUMNS`."""
        return {
            "content": self.content,
            "reasoning": self.reasoning,
            "tool_calls": [call.to_dict() for call in self.tool_calls],
            "complete": self.complete,
            "problems": [str(problem) for problem in self.problems],
        }


@dataclass(slots=True)
class Counts:
    """What many rows come to."""

    rows: int = 0
    calls: int = 0
    problems: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Counts:
        counts = cls()
        for outcome in outcomes:
            counts.rows += 1
            counts.calls += len(outcome.tool_calls)
            if outcome.problems:  # of most rows there are none
                counts.problems.update(problem.kind for problem in outcome.problems)
        return counts

    def add(self, other: Counts) -> None:
        self.rows += other.rows
        self.calls += other.calls
        self.problems.update(other.problems)

    @classmethod
    def total(cls, parts: Iterable[Counts]) -> Counts:
        counts = cls()
        for part in parts:
            counts.add(part)
        return counts

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Counts:
        """What `to_dict` has made."""
        return cls(found["rows"], found["calls"], Counter(found["problems"]))

    def to_dict(self) -> dict[str, Any]:
        kinds = {kind: self.problems[kind] for kind in KINDS}
        return {"rows": self.rows, "calls": self.calls, "problems": kinds}
