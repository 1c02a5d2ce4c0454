"""What tool parsers cost: ours, vLLM's and SGLang's on the same answers, in the engines themselves.

    python benchmarks/parsers.py --json FILE [--quick]

Runs `parsers_worker.py` in the environment of each engine, one after the other, and makes the
report's part `parsers` of what they measured: tables, plots, and what is not as promised.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import part
import workers
from measure import UNCHECKED, UNCOUNTED
from part import Part, Plot, Ratio, Series, Table
from workloads import TITLES

TIMES_FLOOR = 1.5
COUNTING = 1.05  # what counting may make of a token's cost
LONGEST = 60.0  # seconds; what needs more is shown as that
TOO_LONG = "> 60 s"
ENOUGH_PAIRS = 5  # of rounds; a single pair says less than the medians of all

ABOUT = (
    "Every parser reads the same answers, token by token, through the engine's own classes, as in "
    "the engine's server: vLLM's DelegatingParser.parse_delta, SGLang's FunctionCallParser. The floor "
    "is a parser that builds the engine's message for every step and reads nothing; like the engines' "
    "own parsers it uses the messages' constructors. Ours fills messages in without them, so it can be "
    "below the floor; a floor that does the same is shown as well (“unchecked”), and one of ours that "
    "counts nothing for /metrics (“uncounted”). toolwire's core is "
    "compiled, as it is in a wheel, if the versions below say so. Figures are "
    "microseconds of CPU for each token, the median of rounds in which all parsers take turns on one "
    "core; in brackets, how many times the floor that is. Choices that keep this short: every size "
    "for the big string, two for the other workloads; several tokens in a step (speculative decoding) "
    "at one size; formats that share a shape with another get the big string only. An engine's own "
    "parser gets half a second of CPU for an answer (0.2 in a quick run). Where it needs more it is "
    "stopped, and ≈ marks what the whole would have cost, estimated from the part that it read; where "
    f"that is over a minute, the table says {TOO_LONG}. A peer is ahead only where it reads the calls "
    "of just that answer right, cut in just that way."
)


@dataclass(frozen=True)
class Row:
    """The parsers measured on one workload of one size: label → cell, and their floor."""

    engine: str
    workload: str
    size: int
    group: int
    cells: dict[str, dict[str, Any]]

    @property
    def floor(self) -> dict[str, Any]:
        return self.cells[
            "nothing, as text" if self.workload == "prose" else "nothing, as arguments"
        ]

    def times(self, label: str, other: str) -> float:
        """How many times the other's cost: round by round, so that what drifts falls out."""
        one, two = self.cells[label], self.cells[other]
        ratios = [a / b for a, b in zip(one["rounds"], two["rounds"], strict=False)]
        if len(ratios) < ENOUGH_PAIRS:
            return one["us"] / two["us"]
        return statistics.median(ratios) * two["tokens"] / one["tokens"]

    def times_floor(self, label: str) -> float:
        return self.times(label, self.floor["label"])

    def where(self) -> str:
        steps = "one token at a time" if self.group == 1 else f"{self.group} tokens in a step"
        return f"{TITLES[self.workload]}, {self.size:,} tokens, {steps}"

    def show(self, label: str) -> str:
        cell = self.cells.get(label)
        if cell is None:
            return ""
        if cell["estimated"] and cell["rounds"][-1] > LONGEST:
            return TOO_LONG
        if label == self.floor["label"]:
            return figure(cell["us"])
        ratio = self.times_floor(label)
        red = "!" if cell["kind"] == "ours" and self.is_over(label) else ""
        about = "≈ " if cell["estimated"] else ""
        return f"{red}{about}{figure(cell['us'])} ({figure(ratio)}×)"

    def is_over(self, label: str) -> bool:
        """The promise is for vLLM; inside SGLang the ratio is only shown."""
        return self.engine == "vLLM" and self.times_floor(label) > TIMES_FLOOR


def figure(value: float) -> str:
    """Enough digits to compare, no more."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


class Engine:
    """What one worker measured, in rows."""

    def __init__(self, result: dict[str, Any]) -> None:
        self.name: str = result["engine"]
        self.looks: list[dict[str, Any]] = result["looks"]
        by_place: dict[tuple[str, int, int], dict[str, Any]] = {}
        for cell in result["cells"]:
            place = (cell["workload"], cell["size"], cell["group"])
            by_place.setdefault(place, {})[cell["label"]] = cell
        self.rows = [Row(self.name, *place, cells) for place, cells in by_place.items()]

    def find(self, workload: str, group: int = 1, size: int | None = None) -> list[Row]:
        return [
            row
            for row in self.rows
            if (row.workload, row.group) == (workload, group) and size in (None, row.size)
        ]

    def labels(self, rows: Sequence[Row]) -> list[str]:
        """Floor first, then each format's: ours, theirs."""
        cells = {label: cell for row in rows for label, cell in row.cells.items()}
        formats = list(dict.fromkeys(c["format"] for c in cells.values() if c["kind"] == "ours"))
        floors = [label for label in cells if any(label == row.floor["label"] for row in rows)]
        floors += [UNCHECKED] if UNCHECKED in cells else []
        ranks = {"ours": 0, "uncounted": 1, "theirs": 2}
        others = [label for label in cells if cells[label]["kind"] != "floor"]
        return floors + sorted(
            others,
            key=lambda label: (formats.index(cells[label]["format"]), ranks[cells[label]["kind"]]),
        )

    def look_of(self, workload: str, label: str) -> dict[str, Any] | None:
        for look in self.looks:
            if (look["workload"], look["label"]) == (workload, label):
                return look
        return None


# -- tables ---------------------------------------------------------------------------------------


def cost_table(title: str, engine: Engine, rows: Sequence[Row], heads: Sequence[str]) -> Table:
    lines = [[label, *(row.show(label) for row in rows)] for label in engine.labels(rows)]
    return Table(
        title=f"{engine.name}: {title}",
        columns=["µs of CPU a token (times the floor)", *heads],
        rows=lines,
        note=f"In red: ours, over {TIMES_FLOOR} times the floor." if engine.name == "vLLM" else "",
    )


def cost_tables(engine: Engine) -> list[Table]:
    file = engine.find("file")
    others = [row for row in engine.rows if row.group == 1 and row.workload != "file"]
    grouped = [row for row in engine.rows if row.group > 1]
    tables = [
        (
            "one big string argument (a file), one token at a time",
            file,
            [f"{r.size:,}" for r in file],
        ),
        (
            "the other workloads, one token at a time",
            others,
            [f"{row.workload}, {row.size:,}" for row in others],
        ),
        (
            "several tokens in a step",
            grouped,
            [f"{row.workload}, {row.size:,}, {row.group} in a step" for row in grouped],
        ),
    ]
    return [cost_table(title, engine, rows, heads) for title, rows, heads in tables if rows]


def look_table(engine: Engine) -> Table:
    looks = [look for look in engine.looks if look["kind"] != "floor"]
    return Table(
        title=f"{engine.name}: what comes out, and when",
        columns=[
            *("workload", "parser", "tokens", "calls", "name after tokens", "name after µs"),
            *("argument after tokens", "argument after µs", "deltas", "peak memory, kB"),
        ],
        rows=[look_row(look) for look in looks],
        note="µs of CPU from the first token to the step that gives the call's name, and the first "
        "byte of its arguments. Ours gives a name when its arguments have begun: only then is it sure "
        "to be a call. Memory is the parser's own, beside what it gives away; where a parser was "
        "stopped, up to there.",
    )


def look_row(look: dict[str, Any]) -> list[part.Cell]:
    verdict = {True: "right", False: "!wrong", None: "stopped"}[look["right"]]
    return [
        *(look["workload"], look["label"], look["tokens"], verdict),
        *(look["name_after"], _rounded(look["name_us"])),
        *(look["argument_after"], _rounded(look["argument_us"])),
        look["deltas"] if look["right"] is not None else None,
        round(look["peak_bytes"] / 1000, 1),
    ]


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


# -- what is not as promised ----------------------------------------------------------------------


def verdicts(engine: Engine) -> list[str]:
    found = [
        f"{look['label']} inside {engine.name} gives wrong calls for {TITLES[look['workload']]}."
        for look in engine.looks
        if look["kind"] == "ours" and look["right"] is False
    ]
    for row in engine.rows:
        over = [
            f"{cell['format']} {row.times_floor(label):.2f}"
            for label, cell in row.cells.items()
            if cell["kind"] == "ours" and row.is_over(label)
        ]
        if over:
            found.append(
                f"Over {TIMES_FLOOR} times {row.engine}'s floor: {row.where()}: {', '.join(over)}."
            )
    counting = counting_costs(engine)
    if counting is not None and counting > COUNTING:
        found.append(f"Counting makes a token inside {engine.name} cost {counting} times as much.")
    for row in engine.rows:
        found += [sentence for label in row.cells if (sentence := behind(engine, row, label))]
    return found


def behind(engine: Engine, row: Row, label: str) -> str | None:
    """Says where the parser `label` of the engine is ahead of ours, if it reads the calls right."""
    theirs = row.cells[label]
    if theirs["kind"] != "theirs":
        return None
    ours = row.cells[f"toolwire {theirs['format']}"]
    look = engine.look_of(row.workload, label)
    if row.times(label, ours["label"]) > 1 or theirs["right"] is False:
        return None
    return (
        f"{label} is ahead of {ours['label']}: {row.where()}: {figure(theirs['us'])} against "
        f"{figure(ours['us'])} µs a token.{_pieces(engine, row.workload, ours, look)}"
    )


def _pieces(
    engine: Engine, workload: str, ours: dict[str, Any], look: dict[str, Any] | None
) -> str:
    """A parser that keeps back what it reads has less to build: the reader should know."""
    mine = engine.look_of(workload, ours["label"])
    if not (mine and look and look["deltas"] < mine["deltas"] * 0.75):
        return ""
    return (
        f" It keeps values back until they end: {look['deltas']} deltas, where ours gives "
        f"{mine['deltas']}."
    )


# -- plots and ratios -----------------------------------------------------------------------------

PLOTTED = ("hermes", "qwen3_coder", "glm45", "pythonic", "kimi_k2")
BARS = ("hermes", "qwen3_coder")


def size_plot(engine: Engine) -> Plot:
    rows = engine.find("file")
    series = []
    for label in engine.labels(rows):
        cells = [row.cells[label] for row in rows if label in row.cells]
        kind, format_name = cells[0]["kind"], cells[0]["format"]
        if kind == "floor" or (format_name in PLOTTED and kind != "uncounted"):
            sizes = [row.size for row in rows if label in row.cells]
            series.append(Series(label, kind, sizes, [round(cell["us"], 2) for cell in cells]))
    return Plot(
        name=f"parsers_{engine.name.lower()}_file",
        title=f"{engine.name}: one big string argument, one token at a time",
        kind="lines",
        x_label="tokens in the call",
        y_label="µs of CPU a token",
        series=series,
        x_log=True,
        y_log=True,
    )


def workload_plot(engine: Engine) -> Plot:
    """Each workload at its largest size, one token at a time."""
    rows = [
        max(engine.find(name), key=lambda row: row.size) for name in TITLES if engine.find(name)
    ]
    labels = [
        label
        for label in engine.labels(rows)
        if any(label in (f"toolwire {name}", f"{engine.name} {name}") for name in BARS)
    ]
    return Plot(
        name=f"parsers_{engine.name.lower()}_workloads",
        title=f"{engine.name}: times the floor, for each workload",
        kind="bars",
        x_label="workload, tokens",
        y_label="times the floor",
        series=[
            Series(
                label,
                "ours" if label.startswith("toolwire") else "theirs",
                [f"{row.workload}, {row.size:,}" for row in rows],
                [round(row.times_floor(label), 2) if label in row.cells else None for row in rows],
            )
            for label in labels
        ],
        y_log=True,
    )


README_SIZE = 1024
README_FORMATS = ("hermes", "qwen3_coder", "pythonic")


def counting_costs(engine: Engine) -> float | None:
    """How many times a token of one long argument costs what it does where nothing is counted."""
    rows = [row for row in engine.find("file") if row.size >= 1024 and UNCOUNTED in row.cells]
    found = [row.times("toolwire hermes", UNCOUNTED) for row in rows]
    return round(statistics.median(found), 2) if found else None


def ratios(engine: Engine) -> dict[str, Ratio]:
    """Few, and each of many figures: what a README can say and another run will confirm."""
    rows = [row for row in engine.find("file") if row.size >= 1024]
    ours = [
        row.times_floor(label)
        for row in rows
        for label, cell in row.cells.items()
        if cell["kind"] == "ours"
    ]
    if not ours:
        return {}
    key = engine.name.lower()
    value = round(statistics.median(ours), 2)
    text = (
        f"Inside {engine.name}, a token of a long argument costs {value} times what it costs with a "
        "parser that reads nothing and builds its messages the usual way, at every length."
    )
    found = {f"{key}_floor": Ratio(value, text)}
    counting = counting_costs(engine)
    if counting is not None:
        text = (
            f"Inside {engine.name}, counting calls and drift makes a token of a long argument cost "
            f"{counting} times what it costs where nothing is counted."
        )
        found[f"{key}_counting"] = Ratio(counting, text)
    for row in engine.find("file", size=README_SIZE):
        for name in README_FORMATS:
            theirs, mine = f"{engine.name} {name}", f"toolwire {name}"
            if theirs in row.cells:
                times = row.times(theirs, mine)
                text = (
                    f"{engine.name}'s own `{name}` costs {two_digits(times)} times as much as "
                    f"toolwire's, for an argument of {README_SIZE:,} tokens."
                )
                found[f"{key}_{name}"] = Ratio(round(times, 2), text)
    return found


def in_short(engine: Engine) -> list[str]:
    """The ratios in one breath."""
    found, key = ratios(engine), engine.name.lower()
    times = [
        f"`{name}` {two_digits(found[f'{key}_{name}'].value)} times"
        for name in README_FORMATS
        if f"{key}_{name}" in found
    ]
    if not times:
        return []
    return [
        f"**Inside {engine.name}** a token of a long argument costs {found[f'{key}_floor'].value} "
        "times what it costs with a parser that reads nothing and builds its messages the usual way. "
        f"{engine.name}'s own parsers against toolwire's: {', '.join(times)} as much, for "
        f"{README_SIZE:,} tokens, and with most of them the more the longer the argument is."
    ]


def two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):,g}"


# -- the part -------------------------------------------------------------------------------------


def as_part(outcome: workers.Outcome, started: str, seconds: float) -> Part:
    engines = [Engine(result) for result in outcome.results]
    measured = [engine for engine in engines if engine.find("file")]
    return workers.part_of(
        "parsers",
        *(outcome, started, seconds),
        title="What tool parsers cost",
        about=ABOUT,
        tables=[
            *(table for engine in engines for table in cost_tables(engine)),
            *(look_table(engine) for engine in engines if engine.looks),
        ],
        plots=[plot(engine) for engine in measured for plot in (size_plot, workload_plot)],
        wrong=[*outcome.wrong, *(s for engine in engines for s in verdicts(engine))],
        ratios={k: v for engine in engines for k, v in ratios(engine).items()},
        summary=[sentence for engine in engines for sentence in in_short(engine)],
        data=outcome.results,
    )


if __name__ == "__main__":
    sys.exit(workers.run_part(__doc__, "parsers_worker.py", as_part, at_once=False))
