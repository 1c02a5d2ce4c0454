"""The benchmark of the core measures what it says, and ends; how fast anything is, is not asked."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path

from toolwire import Parser, get_format, shapes

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "core.py"


def run(*arguments: str) -> str:
    command = [sys.executable, str(SCRIPT), "--quick", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_table_and_json() -> None:
    heading, row = run("--shape", "tags", "--only-cost").splitlines()
    assert heading.split()[0] == "shape"
    assert row.split()[:2] == ["tags", "qwen3_coder"]
    (measured,) = json.loads(run("--shape", "tags", "--only-cost", "--json"))["rows"]
    assert measured["shape"] == "tags"
    assert all(measured[key] > 0 for key in ("us_short", "us_long", "growth", "floor_ratio"))


def test_thoughts() -> None:
    """Each text is what it says: thoughts, or calls that count although nothing closed the thoughts."""
    benchmark = runpy.run_path(str(SCRIPT))
    for what, (beside, before, calls) in benchmark["THOUGHTS"].items():
        parser = Parser("hermes", benchmark["TOOLS"], True)
        unit = benchmark["CALL"] if calls else benchmark["TEXT"]
        events = [*parser.feed(before + unit * 3), *parser.finish()]
        kind = "CallStart" if calls else "Reasoning" if before else "Content"
        assert {type(event).__name__ for event in events} >= {kind}, what
        row = benchmark["measure_thought"](what, 256, 1)
        assert (row.what, row.beside) == (what, beside)
        assert min(row.us, row.us_beside, row.ratio) > 0
        assert what in benchmark["thoughts_table"]([row])


def test_any() -> None:
    """Each text is read as in its own format."""
    benchmark = runpy.run_path(str(SCRIPT))
    for what, (format, before, after) in benchmark["UNNAMED"].items():
        chunks = benchmark["tokens"](before, after, 64)
        own, unnamed = (Parser(name, benchmark["TOOLS"]) for name in (format, "any"))
        for chunk in chunks:
            assert unnamed.feed(chunk) == own.feed(chunk), what
        row = benchmark["measure_any"](what, 64, 1)
        assert (row.what, row.format) == (what, format)
        assert min(row.us, row.us_own, row.ratio) > 0
        assert what in benchmark["any_table"]([row])


def test_slow_texts() -> None:
    heading, row = run("--format", "glm45", "--only-adversarial").splitlines()
    assert heading.split()[:3] == ["format", "ms", "growth"]
    assert row.split()[0] == "glm45"
    found = json.loads(run("--format", "glm45", "--only-adversarial", "--json"))
    assert found["rows"] == []
    assert [worst["format"] for worst in found["adversarial"]] == ["glm45"]


def test_slow_texts_find_what_is_slow() -> None:
    """A pattern like the one that tags had: spaces cost their cube."""
    benchmark = runpy.run_path(str(SCRIPT))
    taken = iter([0.01, 0.64, 0.01, 0.64])
    benchmark["growth"].__globals__["seconds"] = lambda format, text: next(taken)
    assert benchmark["growth"](None, "<function=", " ", '"a"b>', 590) == (640.0, 64.0)


def test_every_shape_is_one_whole_call() -> None:
    benchmark = runpy.run_path(str(SCRIPT))
    for shape, (format, before, after) in benchmark["SHAPES"].items():
        parser = Parser(format, benchmark["TOOLS"])
        events = [e for t in benchmark["tokens"](before, after, 64) for e in parser.feed(t)]
        kinds = [type(event).__name__ for event in [*events, *parser.finish()]]
        expected = 0 if shape == "prose" else 1
        assert (kinds.count("CallStart"), kinds.count("CallEnd")) == (expected, expected), shape


def test_every_shape_is_measured() -> None:
    measured = {
        type(get_format(row[0]).shape) for row in runpy.run_path(str(SCRIPT))["SHAPES"].values()
    }
    missing = [shape.__name__ for shape in shapes.ALL if shape not in measured]
    assert not missing, f"add a row for {missing} to SHAPES in benchmarks/core.py"
