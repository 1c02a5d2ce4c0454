"""What is counted. The names are a contract with dashboards: see `scripts/grafana/`."""

from __future__ import annotations

from collections.abc import Iterable

try:
    from prometheus_client import Counter, Gauge, Histogram
except ImportError as error:
    raise ImportError(
        'toolwire.gateway needs prometheus-client: pip install "toolwire[gateway]"', name=error.name
    ) from error

from ..openai.normalize import Finding

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)

MALFORMED = Counter(
    "manager_tool_calls_malformed_total", "Malformed tool calls", ["stage", "reason"]
)
FALLBACK = Counter(
    "manager_tool_calls_fallback_total", "What was done about tool calls", ["stage", "action"]
)
CALLS = Counter("manager_tool_calls_total", "Tool calls sent to clients", ["stage"])
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
OPEN_STREAMS = Gauge("manager_open_streams", "Streams being sent")
RETRIES = Counter("manager_upstream_retries_total", "Requests sent once more", ["reason"])
UPSTREAM_FAILURES = Counter(
    "manager_upstream_failures_total", "What went wrong with the upstream", ["reason"]
)
BREAKER = Gauge("manager_upstream_breaker_state", "0 closed, 1 half open, 2 open", ["upstream"])


def count(stage: str, findings: Iterable[Finding], calls: int) -> None:
    """Count one answer's findings and calls."""
    for finding in findings:
        if finding.reason is not None:
            MALFORMED.labels(stage, finding.reason).inc(finding.count)
        if finding.action is not None:
            FALLBACK.labels(stage, finding.action).inc(finding.count)
    if calls:
        CALLS.labels(stage).inc(calls)
