"""What is counted. The names are a contract with dashboards: see `scripts/grafana/`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

try:
    from prometheus_client import (
        CollectorRegistry,
        Counter,
        Gauge,
        Histogram,
        generate_latest,
        multiprocess,
    )
except ImportError as error:
    raise ImportError(
        'toolwire.gateway needs prometheus-client: pip install "toolwire[gateway]"', name=error.name
    ) from error

from ..openai.deltas import REASONING_KEYS
from ..openai.normalize import Finding

_THOUGHTS = re.compile(rb"reasoning|thinking")
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)

MALFORMED = Counter(
    "manager_tool_calls_malformed_total", "Malformed tool calls", ["stage", "reason"]
)
FALLBACK = Counter(
    "manager_tool_calls_fallback_total", "What was done about tool calls", ["stage", "action"]
)
CALLS = Counter("manager_tool_calls_total", "Tool calls sent to clients", ["stage"])
REASONING = Counter(
    "manager_answers_with_reasoning_total", "Answers with thoughts in them", ["stage"]
)
REPAIRED = Counter("manager_requests_repaired_total", "What was put right in requests", ["what"])
REQUESTS = Counter("manager_requests_total", "Requests by route and status", ["route", "status"])
SECONDS = Histogram(
    "manager_request_seconds", "From the request to the last byte", ["route"], buckets=_SECONDS
)
FIRST_BYTE = Histogram(
    "manager_first_byte_seconds",
    "From the request to the first byte of the answer",
    ["route"],
    buckets=_SECONDS,
)
OPEN_STREAMS = Gauge("manager_open_streams", "Streams being sent", multiprocess_mode="livesum")
RETRIES = Counter("manager_upstream_retries_total", "Requests sent once more", ["reason"])
UPSTREAM_FAILURES = Counter(
    "manager_upstream_failures_total", "What went wrong with the upstream", ["reason"]
)
BREAKER = Gauge(
    "manager_upstream_breaker_state",
    "0 closed, 1 half open, 2 open",
    ["upstream"],
    multiprocess_mode="livemax",
)

LOST_CAPTURES = Counter("manager_captures_lost_total", "Exchanges that could not be kept")
WRONG_KEYS = Counter("manager_admin_keys_refused_total", "Wrong keys for the debug routes", ["why"])


#: The folder in which the workers of a gateway count. prometheus-client reads it when it is imported.
FOLDER = "PROMETHEUS_MULTIPROC_DIR"


def scrape() -> bytes:
    """All that was counted, by every worker."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return generate_latest()
    for file in Path(folder).glob("gauge_live*_*.db"):
        pid = file.stem.rpartition("_")[2]
        if not Path(f"/proc/{pid}").exists():
            # What it had open is open no more.
            multiprocess.mark_process_dead(int(pid), folder)  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


def count(stage: str, findings: Iterable[Finding], calls: int, reasoning: bool = False) -> None:
    """Count one answer's findings and calls, and whether it has thoughts."""
    if reasoning:
        REASONING.labels(stage).inc()
    for finding in findings:
        if finding.reason is not None:
            MALFORMED.labels(stage, finding.reason).inc(finding.count)
        if finding.action is not None:
            FALLBACK.labels(stage, finding.action).inc(finding.count)
    if calls:
        CALLS.labels(stage).inc(calls)


def have_reasoning(chunks: list[dict[str, Any]], came: dict[str, Any], raw: bytes) -> bool:
    """Whether there are thoughts in the chunks that go out for one that came. Most go out as they came,
    and its bytes are quickly looked through."""
    if len(chunks) == 1 and chunks[0] is came and not _THOUGHTS.search(raw):
        return False
    return any(map(has_reasoning, chunks))


def has_reasoning(answer: dict[str, Any]) -> bool:
    """Whether there are thoughts in a whole answer, or in a chunk of a stream, of any API."""
    kind = answer.get("type")
    if kind in ("message", "content_block_delta"):
        return _has_thinking(answer)
    if isinstance(kind, str):
        return kind.startswith("response.reasoning") and bool(answer.get("delta"))
    choices, items = answer.get("choices"), answer.get("output")
    for choice in choices if isinstance(choices, list) else ():
        said = choice.get("delta") or choice.get("message") if isinstance(choice, dict) else None
        if isinstance(said, dict) and any(said.get(key) for key in REASONING_KEYS):
            return True
    listed = items if isinstance(items, list) else ()
    return any(isinstance(item, dict) and item.get("type") == "reasoning" for item in listed)


def _has_thinking(answer: dict[str, Any]) -> bool:
    """The same for a message of Anthropic's API, or a piece of one."""
    content = answer.get("content")
    said = [*(content if isinstance(content, list) else ()), answer.get("delta")]
    return any(isinstance(one, dict) and bool(one.get("thinking")) for one in said)
