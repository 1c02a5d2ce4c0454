"""What every part of the benchmark hands to the report: one JSON file, described by these classes.

    part.write(path, Part(...))       the file; a part that is stopped half-way writes what it has
    part.run("start", …, measure)     a part that is measured in this process: all around that
    part.progress("…")                what is being done, on the terminal
    part.versions("vllm", "torch")    of installed packages, and of Python
    part.machine()                    what it ran on

Standard library only: parts run in the engines' environments, the report in one with matplotlib.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import toolwire

Cell = str | int | float | None
Kind = Literal["floor", "ours", "theirs"]


@dataclass(frozen=True)
class Table:
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclass(frozen=True)
class Series:
    """A line, or the bars of one colour. `x` may be words if the plot is of bars."""

    label: str
    kind: Kind
    x: Sequence[Cell]
    y: Sequence[float | None]


@dataclass(frozen=True)
class Plot:
    name: str  # of the PNG file, unique among all parts
    title: str
    kind: Literal["lines", "bars"]
    x_label: str
    y_label: str
    series: Sequence[Series]
    x_log: bool = False
    y_log: bool = False


@dataclass(frozen=True)
class Ratio:
    """A figure that repeated runs agree on: `text` is the whole sentence, with the value in it."""

    value: float
    text: str


@dataclass(frozen=True)
class Part:
    part: str
    title: str
    about: str  # plain words, one paragraph
    command: str
    started: str  # from `now()`
    seconds: float
    versions: Mapping[str, str]
    machine: Mapping[str, str]
    tables: Sequence[Table] = ()
    plots: Sequence[Plot] = ()
    wrong: Sequence[str] = ()  # sentences, shown in red
    ratios: Mapping[str, Ratio] = field(default_factory=dict)
    summary: Sequence[str] = ()  # the ratios in few words, in Markdown: for the README
    data: Any = None  # the raw figures
    interrupted: bool = False  # stopped before its end; the report says so


def write(path: Path, part: Part) -> None:
    """Whole or not at all: a report that is made meanwhile never reads half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(path.name + ".new")
    beside.write_text(json.dumps(plain(part), indent=2, ensure_ascii=False) + "\n")
    beside.replace(path)


def plain(found: Part | Plot) -> dict[str, Any]:
    """As the report reads it: nothing but JSON's own types."""
    return asdict(found)


def as_text(table: Table) -> str:
    """For who runs a part alone."""
    cells = (table.columns, *table.rows)
    rows = [["" if cell is None else str(cell) for cell in row] for row in cells]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )


@dataclass(frozen=True)
class Measured:
    """What a part finds that is measured in this process."""

    title: str
    about: str
    tables: Sequence[Table]
    wrong: Sequence[str]
    data: Any
    packages: Sequence[str] = ()  # besides toolwire, whose versions matter
    summary: Sequence[str] = ()


def run(
    name: str,
    description: str | None,
    measure: Callable[[bool], Measured],
    arguments: Sequence[str] | None = None,
) -> int:
    """Reads the command line, measures (fewer rounds, or all), shows what was found, writes the part."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the part of the report")
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--check", action="store_true", help="fail where it is not as promised")
    asked = parser.parse_args(arguments)
    started, clock = now(), time.monotonic()
    found = measure(asked.quick)
    progress_done()
    print("\n\n".join(map(as_text, found.tables)))
    print("\n".join(found.wrong) or "As promised.")
    if asked.json:
        whole = Part(
            part=name,
            title=found.title,
            about=found.about,
            command=command(),
            started=started,
            seconds=round(time.monotonic() - clock, 1),
            versions=versions("toolwire", *found.packages),
            machine=machine(),
            tables=found.tables,
            wrong=found.wrong,
            summary=found.summary,
            data=found.data,
        )
        write(asked.json, whole)
    return 1 if found.wrong and asked.check else 0


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def command() -> str:
    """This process's own command line, as a user would type it from the checkout."""
    return " ".join([Path(sys.executable).name, *_shown(sys.argv)])


def _shown(words: Sequence[str]) -> list[str]:
    here = str(Path(__file__).resolve().parents[1]) + os.sep
    return [word.removeprefix(here) for word in words]


def versions(*packages: str) -> dict[str, str]:
    """Of those that are installed here."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    if "toolwire" in found:
        found["toolwire"] += f" (core: {'compiled' if toolwire.COMPILED else 'Python'})"
    return found


def machine() -> dict[str, str]:
    return {
        "processor": _from_file("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": str(os.cpu_count()),
        "memory": _gigabytes(_from_file("/proc/meminfo", "MemTotal")),
        "system": f"{platform.system()} {platform.release()}",
    }


def _from_file(path: str, key: str) -> str:
    """The first `key: value` of one of Linux's own files; empty where there is none."""
    if not Path(path).exists():
        return ""
    for line in Path(path).read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return ""


def _gigabytes(kilobytes: str) -> str:
    number = kilobytes.split(" ")[0]
    return f"{int(number) / 2**20:.0f} GB" if number else ""


_shown_at = 0.0


def progress(text: str) -> None:
    """One line that is written over on a terminal; elsewhere a line every two seconds at most."""
    global _shown_at
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif time.monotonic() - _shown_at >= 2:
        print(text, file=sys.stderr, flush=True)
        _shown_at = time.monotonic()


def progress_done() -> None:
    """Leaves the line that `progress` wrote over."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
