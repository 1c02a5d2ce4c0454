"""Counters in the engine's own `/metrics`, next to its own.

| name | labels | |
|---|---|---|
| `toolwire_messages_total` | `format`, `kind` | messages that were read, with `calls` or just `text` |
| `toolwire_calls_total` | `format`, `outcome` | `complete`, `incomplete`, `unknown_tool`, `repaired` |
| `toolwire_drift_total` | `format`, `what` | messages that are not spelled as the format is |

vLLM and SGLang show what prometheus_client has registered, and put all their processes together where
there are several (`PROMETHEUS_MULTIPROC_DIR`, which they set by themselves; SGLang with
`--enable-metrics`). The counters are made with the first message: by then that is decided.

What drift there is: `marker_without_call` (text that was nearly a call), `no_marker`, `code_fence`,
`opening`, `closing`; `core/spelling.py` says what each is.

A message is counted when it is over: what its calls came to is known then, and a token costs nothing.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any

from .tally import REPAIRED, Tally

_log = logging.getLogger("toolwire")


@cache
def _counters() -> dict[str, Any]:
    try:
        from prometheus_client import Counter
    except ImportError:  # an engine without it has no /metrics either
        return {}
    return {
        "messages": Counter(
            "toolwire_messages", "Messages read for tool calls", ["format", "kind"]
        ),
        "calls": Counter(
            "toolwire_calls", "Tool calls, by what became of them", ["format", "outcome"]
        ),
        "drift": Counter(
            "toolwire_drift", "Messages that are not spelled as the format is", ["format", "what"]
        ),
    }


@cache
def _counter(name: str, format: str, label: str) -> Any:
    """The one counter of these labels: to look for it takes longer than to count."""
    return _counters()[name].labels(format, label)


def count(tally: Tally) -> None:
    """Counts a message that is over. Nobody loses an answer for it."""
    try:
        _count(tally)
    except Exception:  # noqa: BLE001 - whatever a registry may raise
        _log.exception("toolwire could not count a message.")


def _count(tally: Tally) -> None:
    if not _counters():
        return
    _counter("messages", tally.format, "calls" if tally.has_calls else "text").inc()
    for outcome, number in [*tally.calls.items(), (REPAIRED, tally.repaired)]:
        if number:
            _counter("calls", tally.format, outcome).inc(number)
    for what in tally.drift:
        _counter("drift", tally.format, what).inc()
