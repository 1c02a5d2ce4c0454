"""The benchmark, at a small size: it must run, and find nothing lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import PATIENCE

pytestmark = pytest.mark.slow

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "gateway.py"


def test_the_benchmark_finds_nothing_lost(tmp_path: Path) -> None:
    file = tmp_path / "gateway.json"
    options = ["--streams", "5", "--seconds", "0.5", "--rounds", "1", "--json", str(file)]
    command = [sys.executable, str(BENCHMARK), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    (table,) = json.loads(file.read_text(encoding="utf-8"))["tables"]
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    ways = ["direct", "plain", "gateway", "gateway+format"]
    assert [row["way"] for row in rows] == ways * 2  # paced, and as fast as they go
    assert all(row["errors"] == 0 for row in rows)
    assert all(row["ended"] > 0 for row in rows)
