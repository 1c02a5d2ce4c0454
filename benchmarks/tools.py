"""What many tools cost: making a parser, a token of prose, reading a request's tools.

    python benchmarks/tools.py [--json FILE] [--quick] [--check]

Agents send 50 to 200 tools with every request. They are read once (`toolwire.KnownTools`), for all its
choices; from then on a parser and a token cost the same however many there are. All names have a
long beginning in common, which is the worst case for prose in `call_text`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import measure
import part
from toolwire import COMPILED, KnownTools, Parser

COUNTS = (1, 10, 100, 1_000, 10_000)
MOST_TO_MAKE = 5.0  # µs, in the compiled core
#: How much dearer than with one tool: a search among sorted names takes a few steps more.
MOST_GROWTH = 1.5
#: A file of prose in which every second word may become a tool's name.
PROSE = [" find", " the", " find_and", " best"] * 250


def tools(count: int) -> list[dict[str, Any]]:
    city = {"type": "string", "description": "Where it is, as people say it. " * 4}
    schema = {"type": "object", "properties": {"city": city}, "required": ["city"]}
    names = [f"find_and_replace_{number}" for number in range(count)]
    return [{"type": "function", "function": {"name": n, "parameters": schema}} for n in names]


def microseconds(work: Callable[[], Any], times: int, rounds: int) -> float:
    """Of one call; the quickest round of several."""
    taken = []
    for _ in range(rounds):
        started = time.process_time()
        for _ in range(times):
            work()
        taken.append((time.process_time() - started) / times * 1e6)
    return min(taken)


def read_prose(known: KnownTools) -> None:
    parser = Parser("call_text", known)
    for chunk in PROSE:
        parser.feed(chunk)
    parser.finish()


def row(count: int, rounds: int) -> dict[str, float]:
    part.progress(f"{count} tools")
    given = tools(count)
    known = KnownTools(given)
    return {
        "tools": count,
        "read": microseconds(lambda: KnownTools(given), 1, rounds) / count,
        "make": microseconds(lambda: Parser("hermes", known), 200, rounds),
        "make call_text": microseconds(lambda: Parser("call_text", known), 200, rounds),
        "prose": microseconds(lambda: read_prose(known), 1, rounds) / len(PROSE),
    }


def verdicts(rows: Sequence[dict[str, float]]) -> list[str]:
    wrong = []
    for what in ("make", "make call_text"):
        worst = max(row[what] for row in rows)
        if COMPILED and worst > MOST_TO_MAKE:
            wrong.append(f"{what}: {worst:.1f} µs, {MOST_TO_MAKE:g} at most were promised.")
    for what in ("make", "make call_text", "prose"):
        growth = rows[-1][what] / rows[0][what]
        if growth > MOST_GROWTH:
            wrong.append(f"{what}: {growth:.2f} times as much with {rows[-1]['tools']:g} tools.")
    return wrong


def in_short(rows: Sequence[dict[str, float]]) -> list[str]:
    few, many = rows[0], rows[-1]
    return [
        f"**With {many['tools']:,g} tools**, read once for a request, a parser is made in "
        f"{many['make']:.1f} µs ({few['make']:.1f} with one)."
    ]


def measured(quick: bool) -> part.Measured:
    measure.settle()
    rows = [row(count, 3 if quick else 15) for count in COUNTS]
    columns = tuple(rows[0])
    return part.Measured(
        title="Many tools",
        about="What a request with many tools costs beside one with few.",
        tables=[
            part.Table(
                "µs: reading a tool, making a parser, a token of prose",
                columns,
                [[round(each[column], 2) for column in columns] for each in rows],
            )
        ],
        wrong=verdicts(rows),
        data=rows,
        summary=in_short(rows),
    )


if __name__ == "__main__":
    sys.exit(part.run("tools", __doc__, measured))
