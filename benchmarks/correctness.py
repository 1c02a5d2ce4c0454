"""Whose calls depend on how the text is cut: ours, vLLM's and SGLang's, over a corpus of cases.

    python benchmarks/correctness.py --json FILE [--quick]

Runs `correctness_worker.py` in the environment of each engine, both at once (nothing is timed), and
makes the report's part `correctness` of what they counted.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

import workers
from part import Part, Plot, Ratio, Series, Table

ABOUT = (
    "A model's tokens reach a parser one by one or several at once, as the engine has them. The calls "
    "must not depend on that. Every case of the corpus (the tests' known failures of today's servers, "
    "and ordinary situations in each format's words) is handed over in 20 random ways, its tokens "
    "never cut, through the engine's own classes as in its server, and counts if all 20 give the same "
    "calls: the same names and the same arguments as JSON. The second table counts the cases where "
    "all 20 give the calls that are in the text. Formats for which an engine has no parser of its own "
    "are left out there; so are those where its parser finds nothing in the plainest call, however it "
    "is cut: it expects another form, or other settings."
)
PLAINEST = "one call"

Judge = Callable[[dict[str, Any]], bool | None]


class Column:
    """One implementation inside one engine."""

    def __init__(self, result: dict[str, Any], who: str) -> None:
        self.engine: str = result["engine"]
        self.who = who
        self.label = self.engine if who == "theirs" else f"toolwire in {self.engine}"
        rows: list[dict[str, Any]] = result["rows"]
        self.unread = [
            row["format"] for row in rows if row["case"] == PLAINEST and row[who]["answers"] == [[]]
        ]
        if who == "ours":
            self.unread = []  # no excuses
        self.rows = [row for row in rows if row["format"] not in self.unread]

    def formats(self) -> list[str]:
        return list(dict.fromkeys(row["format"] for row in self.rows))

    def count(self, what: str, format_name: str | None = None) -> tuple[int, int]:
        """Cases that hold, and all cases where that can be asked."""
        asked = [
            row[self.who][what]
            for row in self.rows
            if format_name in (None, row["format"]) and row[self.who][what] is not None
        ]
        return sum(asked), len(asked)

    def failures(self, what: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row[self.who][what] is False]

    def show(self, what: str, format_name: str | None = None) -> str:
        good, cases = self.count(what, format_name)
        if not cases:
            return ""
        red = "!" if self.who == "ours" and good < cases else ""
        return f"{red}{good} of {cases}"


def columns_of(results: Sequence[dict[str, Any]]) -> list[Column]:
    return [Column(result, who) for result in results for who in ("ours", "theirs")]


def formats_of(columns: Sequence[Column]) -> list[str]:
    return sorted({name for column in columns for name in column.formats()})


def rate_table(columns: Sequence[Column], what: str, title: str, note: str) -> Table:
    rows = [["all", *(column.show(what) for column in columns)]]
    rows += [[name, *(c.show(what, name) for c in columns)] for name in formats_of(columns)]
    left_out = [f"{c.label} {', '.join(c.unread)}" for c in columns if c.unread]
    if left_out:
        note = f"{note} Left out, because nothing is found: {'; '.join(left_out)}.".strip()
    return Table(title, ["format", *(column.label for column in columns)], rows, note)


def difference_table(columns: Sequence[Column]) -> Table:
    rows = [
        [column.label, row["format"], row["case"], *shown(row[column.who]["answers"])]
        for column in columns
        for row in column.failures("same")
    ]
    return Table(
        title="Cases whose calls depend on the cuts",
        columns=["parser", "format", "case", "one way", "another way"],
        rows=rows,
    )


def shown(answers: Sequence[Any]) -> list[str]:
    return [answer if isinstance(answer, str) else compact(answer) for answer in answers[:2]]


def compact(calls: Any) -> str:
    text = json.dumps(calls, ensure_ascii=False)
    return text if len(text) <= 120 else text[:119] + "…"


def verdicts(columns: Sequence[Column]) -> list[str]:
    ours = [column for column in columns if column.who == "ours"]
    found = [
        f"{column.label}: the calls of {row['format']}, “{row['case']}”, depend on the cuts."
        for column in ours
        for row in column.failures("same")
    ]
    found += [
        f"{column.label}: {row['format']}, “{row['case']}”, gives {compact(row['ours']['answers'][0])}, "
        "which is not what is in the text."
        for column in ours
        for row in column.failures("right")
        if row["ours"]["same"]
    ]
    return found


def rate_plot(columns: Sequence[Column]) -> Plot:
    """Each format's share of cases; ours is the worse of its two engines."""
    formats = formats_of(columns)

    def shares(chosen: Sequence[Column]) -> list[float | None]:
        found: list[float | None] = []
        for name in formats:
            counts = [column.count("same", name) for column in chosen]
            rates = [100 * good / cases for good, cases in counts if cases]
            found.append(round(min(rates), 1) if rates else None)
        return found

    ours = [column for column in columns if column.who == "ours"]
    series = [Series("toolwire", "ours", formats, shares(ours))]
    series += [
        Series(column.label, "theirs", formats, shares([column]))
        for column in columns
        if column.who == "theirs"
    ]
    return Plot(
        name="correctness_same",
        title="Cases that give the same calls however the text is cut",
        kind="bars",
        x_label="format",
        y_label="% of the cases",
        series=series,
    )


def ratios(columns: Sequence[Column]) -> dict[str, Ratio]:
    found = {}
    for column in columns:
        (same, cases), (right, asked) = column.count("same"), column.count("right")
        if not cases or not asked:
            continue
        who = "toolwire gives" if column.who == "ours" else f"{column.engine}'s own parsers give"
        text = (
            f"Inside {column.engine}, {who} the same calls however the text is cut in "
            f"{percent(same, cases)} of {cases} cases, and the right ones in {percent(right, asked)}."
        )
        found[f"{column.engine.lower()}_{column.who}_same"] = Ratio(round(same / cases, 4), text)
    return found


def in_short(columns: Sequence[Column]) -> list[str]:
    shares = []
    for column in columns:
        (same, cases), (right, asked) = column.count("same"), column.count("right")
        if cases and asked:
            who = f"{column.engine}'s own" if column.who == "theirs" else column.label
            shares.append(f"{who} {percent(same, cases)} and {percent(right, asked)}")
    if not shares:
        return []
    return [
        "**Of the corpus' cases, each cut in 20 random ways,** so many give the same calls every time, "
        f"and so many the right ones: {'; '.join(shares)}."
    ]


def percent(good: int, cases: int) -> str:
    """All is 100 %, and nothing less is."""
    return f"{int(1000 * good / cases) / 10:g} %"


def as_part(outcome: workers.Outcome, started: str, seconds: float) -> Part:
    columns = columns_of([result for result in outcome.results if result["rows"]])
    same = "Cases that give the same calls for 20 random splits"
    right = "Cases that give the right calls for 20 random splits"
    tables = [
        rate_table(columns, "same", same, ""),
        rate_table(
            columns, "right", right, "Cases that are cut off on purpose are not counted here."
        ),
        difference_table(columns),
    ]
    return workers.part_of(
        "correctness",
        *(outcome, started, seconds),
        title="Whose calls depend on how the text is cut",
        about=ABOUT,
        tables=tables if columns else [],
        plots=[rate_plot(columns)] if columns else [],
        wrong=[*outcome.wrong, *verdicts(columns)],
        ratios=ratios(columns),
        summary=in_short(columns),
        data=outcome.results,
    )


if __name__ == "__main__":
    sys.exit(workers.run_part(__doc__, "correctness_worker.py", as_part, at_once=True))
