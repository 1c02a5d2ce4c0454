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
    options = ["--streams", "5", "--seconds", "1", "--interval", "0.02", "--no-plot"]
    command = [sys.executable, str(BENCHMARK), *options, "--report", str(tmp_path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    report = json.loads((tmp_path / "gateway.json").read_text(encoding="utf-8"))
    ways = ["direct", "plain", "gateway", "gateway+format"]
    assert [way["way"] for way in report["ways"]] == ways
    assert all(way["errors"] == 0 for way in report["ways"])
    assert all(way["streams"] > 0 for way in report["ways"])
