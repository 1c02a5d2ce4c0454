"""How much the gateway costs: many streams at once, beside a plain pass-through proxy and LiteLLM's.

    python benchmarks/gateway.py                       1, 50, 200 and 500 streams, 60 seconds each
    python benchmarks/gateway.py --streams 50 --seconds 5
    python benchmarks/gateway.py --interval 0 --workers 4   as fast as it goes, also with 4 workers
    python benchmarks/gateway.py --litellm .venvs/litellm   … and LiteLLM's, from that environment
    python benchmarks/gateway.py --before OLD_CHECKOUT      … and the gateway of another commit

An upstream writes the time into every chunk, a client compares it with its own clock, and between
the two stands nothing (`direct`), a proxy that only passes bytes on (`plain`), or the gateway, without a
format and with one. The proxies are one process with one busy thread each, so one core at most (`--pin`
ties them to it). The ways take turns (`--rounds`), so that a busy machine is busy for all of them. What
counts is the CPU time of a chunk, the least of all rounds, as a ratio to the plain proxy's: a busy
machine does not change that much. What a proxy adds to a chunk's latency is its latency minus the
direct one. Every stream ends with a tool call in pieces; whatever did not arrive once, in order and
whole is an error. The table goes to stdout; JSON and a plot go to `benchmarks/report/`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

REPORT = Path(__file__).parent / "report"
ARGUMENTS = json.dumps({"a": 1, "text": "x" * 60})
CHUNKS = 20
WAYS = ("plain", "gateway", "gateway+format", "workers", "litellm", "before")
REQUEST = {
    "model": "m",
    "stream": True,
    "messages": [{"role": "user", "content": "?"}],
    "tools": [{"type": "function", "function": {"name": "add"}}],
}


# The servers


async def upstream(port: int, interval: float) -> None:
    """Answers every request with timed chunks and one call."""

    def chunk(delta: Any, reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        data = b"data: " + json.dumps(body | {"choices": [choice]}).encode() + b"\n\n"
        return b"%x\r\n%s\r\n" % (len(data), data)

    def call_pieces() -> list[bytes]:
        first = {"index": 0, "id": "c1", "type": "function"}
        entries: list[Any] = [first | {"function": {"name": "add", "arguments": ""}}]
        for i in range(0, len(ARGUMENTS), 8):
            entries.append({"index": 0, "function": {"arguments": ARGUMENTS[i : i + 8]}})
        return [chunk({"tool_calls": [entry]}) for entry in entries]

    ending = [*call_pieces(), chunk({}, "stop"), b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            await reader.readexactly(int(length[1]) if length else 0)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
            writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
            for i in range(CHUNKS):
                writer.write(chunk({"content": f"#{i} {time.monotonic_ns()}#"}))
                await writer.drain()
                await asyncio.sleep(interval)
            for piece in ending:
                writer.write(piece)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


def plain_app(upstream_url: str) -> Any:
    """A proxy that only passes bytes on, with the same libraries."""
    import httpx2
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import StreamingResponse
    from starlette.routing import Route

    limits = httpx2.Limits(max_connections=2000, max_keepalive_connections=2000)
    client = httpx2.AsyncClient(timeout=60, limits=limits, trust_env=False)

    async def proxy(request: Request) -> StreamingResponse:
        asked = client.build_request("POST", upstream_url, content=await request.body())
        answer = await client.send(asked, stream=True)

        async def body() -> AsyncIterator[bytes]:
            try:
                async for piece in answer.aiter_raw():
                    yield piece
            finally:
                await answer.aclose()

        return StreamingResponse(body(), media_type="text/event-stream")

    return Starlette(routes=[Route("/v1/chat/completions", proxy, methods=["POST"])])


def serve(kind: str, port: int, upstream_port: int, interval: float, workers: int) -> None:
    if kind == "upstream":
        asyncio.run(upstream(port, interval))
        return
    base = f"http://127.0.0.1:{upstream_port}/v1"
    if kind == "plain":
        import uvicorn

        app = plain_app(f"{base}/chat/completions")
        uvicorn.run(app, port=port, log_level="error", access_log=False, backlog=4096)
        return
    from toolwire.gateway.serve import serve as serve_gateway
    from toolwire.gateway.settings import GatewaySettings

    said = {"upstream": [base], "port": str(port), "max_connections": "5000"}
    if kind == "gateway+format":
        said["format"] = "hermes"
    if kind == "workers":
        said["workers"] = str(workers)
    serve_gateway(GatewaySettings.read(said, {}))


#: Without this, LiteLLM's proxy does not start without a key.
_NO_KEY = "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"
#: What it is told.
_LITELLM = """
model_list:
  - model_name: m
    litellm_params: {{model: openai/m, api_base: "http://127.0.0.1:{port}/v1", api_key: none}}
litellm_settings: {{telemetry: false, num_retries: 0}}
"""


def litellm_command(folder: Path, port: int, upstream_port: int) -> list[str]:
    """LiteLLM's proxy, from a virtual environment of its own: it pins much that others need newer."""
    config = Path(tempfile.mkdtemp(prefix="litellm-")) / "config.yaml"
    config.write_text(_LITELLM.format(port=upstream_port))
    program = str(folder / "bin" / "litellm")
    return [program, "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]


def package_of(checkout: Path) -> str:
    """A folder in which another checkout's package has its name."""
    folder = Path(tempfile.mkdtemp(prefix="before-"))
    (folder / "toolwire").symlink_to(checkout / "parsers")
    return str(folder)


# The client


@dataclass
class Result:
    """What one way gave."""

    latencies: list[float] = field(default_factory=list)
    streams: int = 0
    errors: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)  # of a chunk, in each round


_TIMED = re.compile(rb"#(\d+) (\d+)#")
_CALL = re.compile(rb'"arguments": ?"((?:[^"\\]|\\.)*)"')


async def one_stream(port: int, result: Result) -> None:
    body = json.dumps(REQUEST).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(head.encode() + b"Connection: close\r\n\r\n" + body)
        seen, tail, everything = 0, b"", bytearray()
        while piece := await reader.read(65536):
            now = time.monotonic_ns()
            everything += piece
            text = tail + piece
            end = 0
            for found in _TIMED.finditer(text):
                if int(found[1]) != seen:
                    result.errors.append(f"chunk {found[1]!r} where {seen} was due")
                seen += 1
                end = found.end()
                result.latencies.append((now - int(found[2])) / 1e6)
            tail = text[max(end, len(text) - 60) :]
            if b"data: [DONE]" in text and everything.endswith(b"0\r\n\r\n"):
                break
        check_end(bytes(everything), seen, result)
        result.streams += 1
    finally:
        writer.close()


def check_end(everything: bytes, seen: int, result: Result) -> None:
    if seen != CHUNKS:
        result.errors.append(f"{seen} chunks of {CHUNKS}")
    if b"data: [DONE]" not in everything:
        result.errors.append("no end")
    pieces = [json.loads(b'"' + found + b'"') for found in _CALL.findall(everything)]
    if "".join(pieces) != ARGUMENTS:
        result.errors.append("the call is not whole")


async def visit(port: int, streams: int, seconds: float, pid: int, result: Result) -> None:
    """Keep `streams` streams open for `seconds`."""
    stop = time.monotonic() + seconds
    started, before = cpu_of(pid), len(result.latencies)

    async def visitor(number: int) -> None:
        await asyncio.sleep(2 * number / streams)  # not all at the same moment
        while time.monotonic() < stop:
            try:
                await one_stream(port, result)
            except OSError as error:
                result.errors.append(repr(error))

    async def watch() -> None:
        while time.monotonic() < stop:
            result.memory.append(memory_of(pid))
            await asyncio.sleep(1)

    await asyncio.gather(watch(), *(visitor(i) for i in range(streams)))
    chunks = max(1, len(result.latencies) - before)
    result.cpu_seconds.append((cpu_of(pid) - started) / chunks)


def memory_of(pid: int) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+)", text)
    return int(found[1]) * 1024 if found else 0


def cpu_of(pid: int) -> float:
    """The seconds of a process and of those that it has started."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(cpu_of(int(child)) for child in children)


def start(
    kind: str, upstream_port: int, core: int | None, options: argparse.Namespace
) -> tuple[Any, int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, __file__, "--serve", kind, "--port", str(port)]
    command += ["--upstream-port", str(upstream_port), "--interval", str(options.interval)]
    command += ["--workers", str(options.workers)]
    if kind == "litellm":
        command = litellm_command(options.litellm, port, upstream_port)
    environment = os.environ | {_NO_KEY: "true"}
    if kind == "before":
        command[1:4] = [str(options.before / "benchmarks" / "gateway.py"), "--serve", "gateway"]
        command = command[: command.index("--workers")]  # which it may not know
        environment["PYTHONPATH"] = package_of(options.before)
    quiet = subprocess.DEVNULL  # a line for each request is written, and nobody reads it here
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment)
    if core is not None:
        os.sched_setaffinity(process.pid, {core})
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return process, port
        if process.poll() is not None:
            raise SystemExit(f"{kind} did not start")
        time.sleep(0.05)


# The report


def summary(name: str, size: int, results: dict[str, Result], seconds: float) -> dict[str, Any]:
    result = results[name]
    direct = statistics.median(results["direct"].latencies)
    ordered = sorted(result.latencies)
    settled = result.memory[len(result.memory) // 3 :]
    cost = min(result.cpu_seconds)
    return {
        "at_once": size,
        "way": name,
        "streams": result.streams,
        "chunks": len(ordered),
        "errors": len(result.errors),
        "median_ms": round(statistics.median(ordered), 3),
        "p99_ms": round(ordered[int(len(ordered) * 0.99)], 3),
        "added_median_ms": round(statistics.median(ordered) - direct, 3),
        "memory_mib": [round(settled[0] / 2**20, 1), round(settled[-1] / 2**20, 1)],
        "chunks_a_second": round(len(ordered) / seconds),
        "cpu_us_a_chunk": round(cost * 1e6, 1),
        "cpu_to_plain": round(cost / min(results["plain"].cpu_seconds), 2),
    }


def plot(results: dict[str, Result], file: Path) -> None:
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4))
    for name, result in results.items():
        ordered = sorted(result.latencies)
        left.plot(ordered, [i / len(ordered) for i in range(len(ordered))], label=name)
        right.plot([size / 2**20 for size in result.memory], label=name)
    left.set(xscale="log", xlabel="latency of a chunk (ms)", ylabel="share of chunks")
    right.set(xlabel="seconds", ylabel="memory of the process (MiB)")
    left.legend()
    right.legend()
    figure.tight_layout()
    figure.savefig(file, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 50, 200, 500])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--litellm", type=Path, help="an environment with litellm[proxy]")
    parser.add_argument("--before", type=Path, help="a checkout of another commit")
    parser.add_argument("--workers", type=int, default=1, help="also a gateway with so many")
    parser.add_argument("--interval", type=float, default=0.5, help="between a stream's chunks")
    parser.add_argument("--rounds", type=int, default=1, help="how often the ways take turns")
    parser.add_argument("--pin", action="store_true", help="the proxies on a core of their own")
    parser.add_argument("--report", type=Path, default=REPORT, help="the folder for the results")
    parser.add_argument("--no-plot", action="store_true")
    parser.add_argument("--serve", choices=["upstream", *WAYS])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--upstream-port", type=int, default=0)
    options = parser.parse_args()
    if options.serve:
        asked = (options.port, options.upstream_port, options.interval, options.workers)
        serve(options.serve, *asked)
        return
    ways: list[tuple[str, Any, int]] = []
    sizes: dict[int, dict[str, Result]] = {}
    try:
        start_all(ways, options)
        for size in options.streams:
            results = sizes[size] = {name: Result() for name, _, _ in ways}
            for _ in range(options.rounds):
                for name, process, port in ways:
                    asyncio.run(visit(port, size, options.seconds, process.pid, results[name]))
    finally:
        for _, process, _ in ways:
            process.terminate()
    report(sizes, options)


def start_all(ways: list[tuple[str, Any, int]], options: argparse.Namespace) -> None:
    first, last = None, None
    if options.pin:
        first, *_, last = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {last})
    ways.append(("direct", *start("upstream", 0, last, options)))
    source = ways[0][2]
    names = ["plain", "gateway", "gateway+format"]
    names += ["workers"] if options.workers > 1 else []
    names += ["litellm"] if options.litellm else []
    names += ["before"] if options.before else []
    for name in names:
        ways.append((name, *start(name, source, first, options)))


def report(sizes: dict[int, dict[str, Result]], options: argparse.Namespace) -> None:
    seconds = options.seconds * options.rounds
    rows = [
        summary(name, size, results, seconds) for size, results in sizes.items() for name in results
    ]
    columns = list(rows[0])
    widths = [max(len(c), *(len(str(row[c])) for row in rows)) for c in columns]
    for row in ({c: c for c in columns}, *rows):
        print("  ".join(str(row[c]).rjust(w) for c, w in zip(columns, widths, strict=True)))
    for size, results in sizes.items():
        for name, result in results.items():
            for error in sorted(set(result.errors)):
                print(f"{size} × {name}: {result.errors.count(error)} × {error}")
    options.report.mkdir(exist_ok=True)
    kept = ("streams", "seconds", "interval", "rounds", "pin", "workers")
    data = {"setup": {k: vars(options)[k] for k in kept}, "ways": rows}
    (options.report / "gateway.json").write_text(json.dumps(data, indent=2) + "\n")
    if not options.no_plot:
        plot(sizes[max(sizes)], options.report / "gateway.png")


if __name__ == "__main__":
    main()
