"""What `scripts/matrix` has run: its results, one file each, and how they are told."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENVS = ROOT / ".venvs"
RESULTS = VENVS / "matrix"
Counts = dict[str, int]


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def run(*command: str | Path, **environment: str) -> None:
    subprocess.run(
        list(map(str, command)),
        cwd=ROOT,
        env={**os.environ, **environment},
        check=True,
        stdout=sys.stderr,
    )


def digest(folders: Iterable[str], without: frozenset[str] = frozenset()) -> str:
    """Of all files that a result is about; none in a folder of one of the names in `without`."""
    found = hashlib.sha256()
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and not {"__pycache__", *without} & set(path.parts):
                found.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]


# -- running tests --------------------------------------------------------------------------------


def run_tests(name: str, command: Iterable[str | Path], **environment: str) -> Counts:
    """How many passed, failed and so on. What pytest says goes to the log of that name."""
    report = RESULTS / f"{name}.xml"
    began = time.monotonic()
    with (RESULTS / f"{name}.log").open("w") as log:
        report.unlink(missing_ok=True)
        done = subprocess.run(
            [*map(str, command), f"--junit-xml={report}"],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=log,
            stderr=log,
        )
    counts = read_report(report)
    counts["seconds"] = round(time.monotonic() - began)
    if done.returncode and not counts["failed"]:
        counts["failed"] = 1  # it did not even come to the tests
    return counts


def read_report(report: Path) -> Counts:
    if not report.exists():
        return {"passed": 0, "failed": 0, "skipped": 0}
    suites = ElementTree.parse(report).getroot().iter("testsuite")
    names = ("tests", "failures", "errors", "skipped")
    sums = [{name: int(suite.get(name, 0)) for name in names} for suite in suites]
    total = {name: sum(one[name] for one in sums) for name in names}
    failed = total["failures"] + total["errors"]
    passed = total["tests"] - failed - total["skipped"]
    return {"passed": passed, "failed": failed, "skipped": total["skipped"]}


def is_green(counts: Counts) -> bool:
    return counts["passed"] > 0 and counts["failed"] == 0


def cell(counts: Counts | None) -> str:
    """For a table."""
    if counts is None:
        return "–"
    text = f"{counts['passed']:,} passed"
    for kind in ("failed", "skipped"):
        text += f", {counts[kind]} {kind}" if counts[kind] else ""
    return text


# -- what was run ---------------------------------------------------------------------------------


def load_result(name: str, of: str | None = None) -> dict:
    """Each has a file of its own, so that two runs may go side by side. Given a digest, it is empty
    where the result is about other files."""
    path = RESULTS / f"{name}.json"
    found = json.loads(path.read_text()) if path.exists() else {}
    return found if of is None or found.get("digest") == of else {}


def save_result(name: str, found: dict) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(found, indent=2) + "\n")


# -- in the README --------------------------------------------------------------------------------


def write_block(name: str, text: str) -> None:
    """Puts the text in the place of the README's block of that name."""
    readme = ROOT / "README.md"
    begin, end = (
        f"<!-- {name}: written by ./scripts/matrix --readme -->\n",
        f"<!-- end of {name} -->",
    )
    before, found, rest = readme.read_text(encoding="utf-8").partition(begin)
    if not found or end not in rest:
        raise SystemExit(f"README.md has no block {begin.strip()} … {end}")
    after = rest[rest.index(end) :]
    readme.write_text(f"{before}{begin}{text}{after}", encoding="utf-8")
