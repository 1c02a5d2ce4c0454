"""The dashboard asks only for metrics that exist, by the labels that they have."""

from __future__ import annotations

import json
import re
from pathlib import Path

from prometheus_client import REGISTRY
from toolwire.gateway import metrics

DASHBOARD = Path(__file__).parents[2] / "scripts" / "grafana" / "tool_calls.json"


def test_the_dashboard_knows_the_metrics() -> None:
    metrics.count("whole", [], 0)
    known = {
        name
        for family in REGISTRY.collect()
        for name in (family.name, f"{family.name}_total", f"{family.name}_bucket")
    }
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    asked = {name for query in queries for name in re.findall(r"manager_\w+", query)}
    assert asked <= known
    assert {"manager_tool_calls_malformed_total", "manager_tool_calls_fallback_total"} <= asked


def test_the_names_of_the_contract() -> None:
    for counter, second in ((metrics.MALFORMED, "reason"), (metrics.FALLBACK, "action")):
        counter.labels("whole", "other")
        labels = [tuple(sample.labels) for family in counter.collect() for sample in family.samples]
        assert set(labels) == {("stage", second)}
