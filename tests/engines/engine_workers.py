"""Servers of several processes: which of them answers, what each has counted, and what one scrape says.

All processes of a server listen at one socket, and which of them takes a connection is up to the
machine. So to hear one, the others are stopped for a while.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
from engine_client import MODEL, Answer
from openai import AsyncOpenAI
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.parser import text_string_to_metric_families

#: What toolwire counts in an engine: name and labels.
Counts = Counter[tuple[str, tuple[tuple[str, str], ...]]]
FORMAT = ("format", "hermes")


def processes(parent: int, name: str) -> list[int]:
    """The processes under this one whose name begins like this."""
    below = psutil.Process(parent).children(recursive=True)
    return sorted(one.pid for one in below if one.name().startswith(name))


@contextmanager
def others_stopped(others: Collection[int]) -> Iterator[None]:
    for pid in others:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in others:
            os.kill(pid, signal.SIGCONT)


async def ask_one(url: str, pids: Sequence[int], **request: Any) -> tuple[int, Any]:
    """Asks on a connection of its own; gives the process at its other end, which has answered, and the
    message."""
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none", timeout=600) as client:
        got = await client.chat.completions.with_raw_response.create(model=MODEL, **request)
        message = got.parse().choices[0].message
        address = got.http_response.extensions["network_stream"].get_extra_info("client_addr")
        (pid,) = (pid for pid in pids if holds(pid, address))
        return pid, message


def holds(pid: int, address: tuple[str, int]) -> bool:
    return any(one.raddr == address for one in psutil.Process(pid).net_connections("tcp"))


# -- what is counted ------------------------------------------------------------------------------


def scraped(url: str) -> Counts:
    """toolwire's counters in the server's own `/metrics`."""
    got = httpx.get(f"{url}/metrics", timeout=600, follow_redirects=True).raise_for_status()
    return _ours(text_string_to_metric_families(got.text))


def counted_by(pid: int, folder: Path) -> Counts:
    """What this process alone has counted: each has files of its own in `PROMETHEUS_MULTIPROC_DIR`."""
    files = [str(path) for path in folder.glob(f"counter_{pid}.db")]
    return _ours(MultiProcessCollector.merge(files, accumulate=True))


def _ours(families: Any) -> Counts:
    return Counter(
        {
            (sample.name, tuple(sorted(sample.labels.items()))): int(sample.value)
            for family in families
            for sample in family.samples
            if sample.name.startswith("toolwire_") and sample.name.endswith("_total")
        }
    )


def counts_of(answers: Iterable[Answer]) -> Counts:
    """What toolwire counts for these."""
    numbers = [len(one.calls) for one in answers]
    with_calls = sum(map(bool, numbers))
    return Counter(
        {
            ("toolwire_messages_total", (FORMAT, ("kind", "calls"))): with_calls,
            ("toolwire_messages_total", (FORMAT, ("kind", "text"))): len(numbers) - with_calls,
            ("toolwire_calls_total", (FORMAT, ("outcome", "complete"))): sum(numbers),
        }
    )
