"""The benchmark of stored completions: its rows, and what it makes of figures."""

from __future__ import annotations

import json
from typing import Any

import batch
import part
import pytest
from toolwire.batch import ParseCalls
from workloads import TOOLS


def test_rows_are_the_same_every_time_and_most_have_a_call() -> None:
    rows = list(batch.rows(200))
    assert rows == list(batch.rows(200))
    parse = ParseCalls(batch.FORMAT, TOOLS)
    outcomes = [parse.outcome(json.loads(row)) for row in rows]
    assert [outcome.problems for outcome in outcomes] == [()] * 200
    assert 120 < sum(len(outcome.tool_calls) for outcome in outcomes) < 200


def figures(many: float, megabytes: float = 210.0) -> dict[str, Any]:
    cpu = {"cpu": 22.04, "own_cpu": 1.56}
    run = {"rate": 1000.0, "megabytes": 50.0, **cpu}
    loop = {"theirs": 100.0, "ours": 900.0, "same": 9, "rows": 10}
    return {
        "cores": 4,
        "sizes": {"few": 10_000, "many": 1_000_000},
        "one": run,
        "many_one": run,
        "few": {"rate": 3000.0, "megabytes": 200.0, **cpu},
        "many": {"rate": many, "megabytes": megabytes, **cpu},
        "loops": {"vllm": loop, "sglang": None},
    }


@pytest.mark.parametrize(("many", "wrong"), [(3600.0, 1), (3000.0, 2)])
def test_the_part(many: float, wrong: int) -> None:
    found = batch.as_part(figures(many), part.now(), 1.0)
    assert found.tables[0].rows[3] == ["1,000,000", 4, round(many), 22.0, 1.6, 210]
    assert found.tables[1].rows == [["vllm", 100, 900, "9 of 10"]]
    assert len(found.wrong) == wrong
    assert found.wrong[0] == "sglang is not here."
    assert found.ratios["batch cores"].value == many / 4000


def test_memory_that_grows_is_told() -> None:
    found = batch.as_part(figures(3600.0, 400.0), part.now(), 1.0)
    assert found.wrong[1:] == ["Memory grows: 200 MB, and 400 MB for many rows."]
