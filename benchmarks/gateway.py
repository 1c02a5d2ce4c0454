"""What the gateway costs: many streams at once, beside a plain pass-through proxy and LiteLLM's proxy.

    .venvs/dev/bin/python benchmarks/gateway.py --json FILE [--quick]
    … --streams 50 --seconds 5 --rounds 3      one size
    … --litellm .venvs/litellm                 LiteLLM's, from that environment
    … --before OLD_CHECKOUT                    and the gateway of another commit

An upstream writes the time into every chunk, a client compares it with its own clock, and between
the two stands nothing (`direct`), a proxy that only passes bytes on (`plain`), or the gateway, without a
format and with one. `paced` streams have a token now and then, as a model writes them; others come as
fast as they go. The ways take turns, so that a busy machine is busy for all of them; those that have no
bound to keep (`direct`, `litellm`) have one turn. What counts is the CPU time of a chunk, the least of
all rounds, as a ratio to the plain proxy's: a busy machine does not change that much. Every stream ends
with a tool call in pieces; whatever did not arrive once, in order and whole is an error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import part
import uvloop
from gateway_servers import ARGUMENTS, CHUNKS, Way, cpu_of, memory_of, start

STREAMS = (1, 50, 200, 500)
QUICK_STREAMS = (50,)
UNPACED = 50  # streams at once
#: How often the ways take turns. Of many streams each turn takes long, and says much.
ROUNDS = {1: 2, 50: 3, 200: 2, 500: 2}
WORKERS_TURNS = 9
#: They have no bound to keep: one turn.
ONCE = ("upstream", "litellm")
#: At most this many times the plain proxy's CPU time of a chunk; and what workers must carry of one.
PACED_MOST = {"gateway": 1.3, "gateway+format": 1.5}
UNPACED_MOST = {"gateway+format": 2.0}
WORKERS_LEAST = 1.7
CORES = 2  # that four workers run on; what the client and the upstream take of them is given back
FLAT = 1.25  # memory at the end, by that after a third

REQUEST = {
    "model": "m",
    "stream": True,
    "tools": [{"type": "function", "function": {"name": "add"}}],
}


def interval_of(streams: int) -> float:
    """Seconds between two chunks: some hundred chunks a second in all, for few streams and many."""
    return min(0.5, max(0.02, streams / 800))


@dataclass
class Result:
    """What one way gave."""

    latencies: list[float] = field(default_factory=list)
    streams: int = 0
    errors: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)  # seconds of a chunk, in each round
    rates: list[float] = field(default_factory=list)  # chunks a second, in each round


_TIMED = re.compile(rb"#(\d+) (\d+)#")
_CALL = re.compile(rb'"arguments": ?"((?:[^"\\]|\\.)*)"')


class Visitor(asyncio.Protocol):
    """A client's connection: what comes, and when. It is looked at when it is all there."""

    def __init__(self, request: bytes) -> None:
        self._request = request
        self.pieces: list[bytes] = []
        self.times: list[int] = []
        self.over = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        self.times.append(time.monotonic_ns())
        self.pieces.append(data)
        if data.endswith(b"0\r\n\r\n"):
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.over.done():
            self.over.set_result(None)


def request_of(interval: float) -> bytes:
    asked = REQUEST | {"messages": [{"role": "user", "content": str(interval)}]}
    body = json.dumps(asked).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
    kind = b"Content-Type: application/json\r\n"
    return head.encode() + kind + b"Connection: close\r\n\r\n" + body


async def one_stream(port: int, request: bytes, result: Result) -> None:
    loop = asyncio.get_running_loop()
    _, visitor = await loop.create_connection(lambda: Visitor(request), "127.0.0.1", port)
    await visitor.over
    everything = b"".join(visitor.pieces)
    check_end(everything, look_at(visitor, everything, result), result)
    result.streams += 1


def look_at(visitor: Visitor, everything: bytes, result: Result) -> int:
    """How many timed chunks came: their numbers, and when each was there."""
    seen = piece = 0
    there = len(visitor.pieces[0]) if visitor.pieces else 0  # with this piece
    for found in _TIMED.finditer(everything):
        while there < found.end():
            piece += 1
            there += len(visitor.pieces[piece])
        if int(found[1]) != seen:
            result.errors.append(f"chunk {found[1]!r} where {seen} was due")
        seen += 1
        result.latencies.append((visitor.times[piece] - int(found[2])) / 1e6)
    return seen


def check_end(everything: bytes, seen: int, result: Result) -> None:
    first, _, _ = everything.partition(b"\r\n")
    if b" 200 " not in first + b" ":
        result.errors.append(f"the answer is {first.decode(errors='replace')!r}")
        return
    if seen != CHUNKS:
        result.errors.append(f"{seen} chunks of {CHUNKS}")
    if b"data: [DONE]" not in everything:
        result.errors.append("no end")
    pieces = [json.loads(b'"' + found + b'"') for found in _CALL.findall(everything)]
    if "".join(pieces) != ARGUMENTS:
        result.errors.append("the call is not whole")


async def visit(way: Way, streams: int, interval: float, seconds: float, result: Result) -> None:
    """Keep `streams` streams open for `seconds`."""
    request = request_of(interval)
    began = time.monotonic()
    stop = began + seconds
    started, before = cpu_of(way.pid), len(result.latencies)

    async def visitor(number: int) -> None:
        await asyncio.sleep(min(2.0, seconds / 4) * number / streams)  # not all at the same moment
        while time.monotonic() < stop:
            try:
                await one_stream(way.port, request, result)
            except OSError as error:
                result.errors.append(repr(error))

    async def watch() -> None:
        while time.monotonic() < stop:
            result.memory.append(memory_of(way.pid))
            await asyncio.sleep(seconds / 10)

    await asyncio.gather(watch(), *(visitor(i) for i in range(streams)))
    chunks = max(1, len(result.latencies) - before)
    result.cpu.append((cpu_of(way.pid) - started) / chunks)
    result.rates.append(chunks / (time.monotonic() - began))


@dataclass(frozen=True)
class Measured:
    """One size of load: what each way gave."""

    streams: int
    paced: bool
    results: dict[str, Result]

    @property
    def title(self) -> str:
        return f"{self.streams}, {'paced' if self.paced else 'unpaced'}"

    def times(self, name: str) -> float:
        """The CPU time of a chunk, by the plain proxy's."""
        return min(self.results[name].cpu) / min(self.results["plain"].cpu)

    def row(self, name: str) -> list[part.Cell]:
        result = self.results[name]
        ordered = sorted(result.latencies)
        direct = statistics.median(self.results["direct"].latencies)
        began, ended = settled(result.memory)
        return [
            self.title,
            name,
            result.streams,
            len(result.errors),
            round(min(result.cpu) * 1e6, 1),
            round(self.times(name), 2),
            round(statistics.median(ordered) - direct, 2),
            round(ordered[int(len(ordered) * 0.99)] - direct, 2),
            round(max(result.rates)),
            f"{began / 2**20:.0f} → {ended / 2**20:.0f}",
        ]

    def wrong(self) -> list[str]:
        """What does not hold."""
        found = [
            f"{self.title}, {name}: {result.errors.count(error)} × {error}."
            for name, result in self.results.items()
            for error in sorted(set(result.errors))
        ]
        for name, most in (PACED_MOST if self.paced else UNPACED_MOST).items():
            if self.times(name) > most:
                found.append(f"{self.title}, {name}: {self.times(name):.2f} times the plain proxy.")
        for name in ("gateway", "gateway+format"):
            began, ended = settled(self.results[name].memory)
            if ended > began * FLAT:
                found.append(f"{self.title}, {name}: the memory grows.")
        return found


def settled(memory: Sequence[int]) -> tuple[int, int]:
    """After a third of the time, and at the end."""
    return memory[len(memory) // 3], memory[-1]


NAMES = {"gateway": "without a format", "gateway+format": "with one", "litellm": "LiteLLM's proxy"}
COLUMNS = (
    "streams",
    "way",
    "ended",
    "errors",
    "CPU µs a chunk",
    "by plain",
    "added ms, median",
    "added ms, p99",
    "chunks a second",
    "MB",
)


@contextmanager
def no_hurry(*pids: int) -> Iterator[None]:
    """The client and the upstream, who would be on other machines, push no worker off its core to read
    a few bytes: they wait for their turn. (Otherwise there are 9,000 switches a second, and each worker
    finds the caches full of somebody else's.)"""
    for pid in pids:
        os.sched_setscheduler(pid, os.SCHED_BATCH, os.sched_param(0))
    try:
        yield
    finally:
        for pid in pids:
            os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0))


class Measuring:
    """The ways that run, and what was measured of them."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.seconds = asked.seconds
        self._rounds: int | None = asked.rounds
        self.found: list[Measured] = []
        #: What four carry by what one does: beside the client and the upstream, and without these.
        self.workers: list[float] = []
        self.ways = [start("upstream", 0)]
        source = self.ways[0].port
        self.ways += [start(name, source) for name in ("plain", "gateway", "gateway+format")]
        if asked.litellm:
            self.ways.append(start("litellm", source, asked.litellm))
        if asked.before:
            self.ways.append(start("before", source, asked.before))
        self.several = start("4 workers", source)

    def close(self) -> None:
        for way in (*self.ways, self.several):
            way.process.terminate()

    def rounds(self, streams: int) -> int:
        return self._rounds or ROUNDS.get(streams, ROUNDS[UNPACED])

    def measure(self, streams: int, paced: bool = True) -> None:
        results = {"direct" if w.name == "upstream" else w.name: Result() for w in self.ways}
        interval = interval_of(streams) if paced else 0.0
        rounds = self.rounds(streams)
        for number in range(rounds):
            for way, result in zip(self.ways, results.values(), strict=True):
                if number and way.name in ONCE:
                    continue
                part.progress(f"{streams} streams, {way.name}, {number + 1} of {rounds}")
                uvloop.run(visit(way, streams, interval, self.seconds, result))
        self.found.append(Measured(streams, paced, results))

    def measure_workers(self) -> None:
        """As fast as they go: what four carry by what one does, each in the best of many short turns:
        what else the machine does can only make a turn worse."""
        (single,) = (way for way in self.ways if way.name == "gateway")
        one: list[tuple[float, float]] = []
        four: list[tuple[float, float]] = []
        rounds = self._rounds * 3 if self._rounds else WORKERS_TURNS
        with no_hurry(0, self.ways[0].pid):
            for number in range(rounds):
                part.progress(f"one worker and four, {number + 1} of {rounds}")
                one.append(self.carried(single))
                four.append(self.carried(self.several))
        alone = max(rate for rate, _ in one)
        beside = max(rate for rate, _ in four)
        self.workers = [beside / alone, max(rate * CORES / left for rate, left in four) / alone]

    def carried(self, way: Way) -> tuple[float, float]:
        """Chunks a second; and how many of `CORES` the client and the upstream left to it."""
        result, upstream = Result(), self.ways[0].pid
        began, used = time.monotonic(), time.process_time() + cpu_of(upstream)
        uvloop.run(visit(way, UNPACED, 0.0, self.seconds / 3, result))
        used = time.process_time() + cpu_of(upstream) - used
        return result.rates[0], CORES - used / (time.monotonic() - began)


def as_part(measuring: Measuring, started: str, seconds: float, interrupted: bool) -> part.Part:
    found, carried = measuring.found, measuring.workers
    wrong = [sentence for measured in found for sentence in measured.wrong()]
    ratios = {
        f"gateway {m.title} {name}": part.Ratio(
            round(m.times(name), 2),
            f"{m.title}, {name}: a chunk costs {m.times(name):.2f} times the plain proxy's CPU time.",
        )
        for m in found
        for name in m.results
        if name not in ("direct", "plain")
    }
    if carried:
        beside, alone = carried
        said = (
            f"Four workers carry {alone:.2f} times what one does, on {CORES} cores of their own "
            f"({beside:.2f} times with the client and the upstream on these cores too)."
        )
        ratios["gateway workers"] = part.Ratio(round(alone, 2), said)
        if alone < WORKERS_LEAST:
            wrong.append(said)
    return part.Part(
        part="gateway",
        title="What the gateway costs",
        about=" ".join((__doc__ or "").split("\n\n")[2].split()),
        command=part.command(),
        started=started,
        seconds=seconds,
        versions=part.versions("toolwire", "uvicorn", "httpx2"),
        machine=part.machine(),
        tables=[
            part.Table(
                "Streams through each way",
                COLUMNS,
                [m.row(name) for m in found for name in m.results],
                "CPU time: the least of all rounds. Memory: after a third of the time, and at its end.",
            )
        ],
        plots=[plot(found)] if found else [],
        wrong=wrong,
        ratios=ratios,
        summary=in_short(measuring),
        data=[{"streams": m.streams, "paced": m.paced, "ways": list(m.results)} for m in found],
        interrupted=interrupted,
    )


def in_short(measuring: Measuring) -> list[str]:
    """Of paced streams: by the plain proxy, at the least and at the most."""
    paced = [m for m in measuring.found if m.paced]
    ways = [
        name
        for name in ("gateway", "gateway+format", "litellm")
        if paced and name in paced[0].results
    ]
    said = []
    for name in ways:
        times = [m.times(name) for m in paced]
        said.append(f"{NAMES[name]} {min(times):.2f} to {max(times):.2f} times")
    if not said:
        return []
    costs = ", ".join(said)
    return [
        f"**In the gateway** a chunk costs, by the CPU time of a plain proxy on httpx2: {costs}."
    ]


def plot(found: Sequence[Measured]) -> part.Plot:
    kinds: dict[str, part.Kind] = {"plain": "floor", "litellm": "theirs"}
    names = [name for name in found[0].results if name != "direct"]
    series = [
        part.Series(
            name,
            kinds.get(name, "ours"),
            [m.title for m in found],
            [round(min(m.results[name].cpu) * 1e6, 1) for m in found],
        )
        for name in names
    ]
    title = "CPU time of a chunk, by streams at once"
    return part.Plot("gateway_cpu", title, "bars", "streams", "µs", series, y_log=True)


def show(found: part.Part) -> None:
    """The table, for whoever runs this part alone."""
    print(part.as_text(found.tables[0]))
    for sentence in (*(ratio.text for ratio in found.ratios.values()), *found.wrong):
        print(sentence)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FILE", required=True)
    parser.add_argument("--quick", action="store_true", help="fewer streams, for a shorter time")
    parser.add_argument("--streams", type=int, nargs="+", help="at once")
    parser.add_argument("--seconds", type=float, help="of each way in each round")
    parser.add_argument("--rounds", type=int, help="how often the ways take turns")
    parser.add_argument("--litellm", type=Path, help="an environment with litellm[proxy]")
    parser.add_argument("--before", type=Path, help="a checkout of another commit")
    asked = parser.parse_args()
    asked.seconds = asked.seconds or (2.0 if asked.quick else 5.0)
    asked.rounds = asked.rounds or (1 if asked.quick else None)
    started, clock = part.now(), time.perf_counter()
    measuring = Measuring(asked)
    interrupted = False
    try:
        measuring.measure(UNPACED, paced=False)
        measuring.measure_workers()
        for streams in asked.streams or (QUICK_STREAMS if asked.quick else STREAMS):
            measuring.measure(streams)
    except KeyboardInterrupt:  # what is finished stays
        interrupted = True
    finally:
        measuring.close()
    part.progress_done()
    found = as_part(measuring, started, time.perf_counter() - clock, interrupted)
    part.write(asked.json, found)
    show(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
