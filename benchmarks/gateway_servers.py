"""What `gateway.py` measures, as processes of their own: the upstream, and each way to it.

    python benchmarks/gateway_servers.py KIND --port PORT --upstream-port PORT

`upstream` answers every request with timed chunks and one call; the seconds between two chunks are what
the user says. `plain` is a proxy that only passes bytes on, as one writes it with httpx2 and starlette.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ARGUMENTS = json.dumps({"a": 1, "text": "x" * 60})
CHUNKS = 20


# The upstream


def framed(data: bytes) -> bytes:
    """A chunk of HTTP's."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(delta: Any, reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps(body | {"choices": [choice]}).encode() + b"\n\n"


def ending() -> bytes:
    """A call in pieces, and the end."""
    first = {"index": 0, "id": "c1", "type": "function"}
    entries: list[Any] = [first | {"function": {"name": "add", "arguments": ""}}]
    for i in range(0, len(ARGUMENTS), 8):
        entries.append({"index": 0, "function": {"arguments": ARGUMENTS[i : i + 8]}})
    calls = [framed(event({"tool_calls": [entry]})) for entry in entries]
    last = [framed(event({}, "stop")), framed(b"data: [DONE]\n\n"), b"0\r\n\r\n"]
    return b"".join(calls + last)


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)
#: A chunk of text, around its number and its time.
_BEFORE, _BEHIND = event({"content": "#\0#"}).split(b"\\u0000")
_ENDING = ending()


class Upstream(asyncio.Protocol):
    """One connection, on which one request comes after the other. It costs next to nothing: what takes
    the cores is what is measured."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._asked = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._asked += data
        head, found, body = self._asked.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        size = int(length[1]) if length else 0
        if found and len(body) >= size:
            self._asked = body[size:]
            self._transport.write(_HEAD)
            self._say(0, float(json.loads(body[:size])["messages"][0]["content"]))

    def _say(self, number: int, interval: float) -> None:
        if self._transport.is_closing():
            return
        if number == CHUNKS:
            self._transport.write(_ENDING)
            return
        timed = b"%s%d %d%s" % (_BEFORE, number, time.monotonic_ns(), _BEHIND)
        self._transport.write(framed(timed))
        if interval:
            self._loop.call_later(interval, self._say, number + 1, interval)
        else:
            self._loop.call_soon(self._say, number + 1, interval)


async def upstream(port: int) -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Upstream(loop), "127.0.0.1", port, backlog=4096)
    await server.serve_forever()


# The ways to it


def plain_app(upstream_url: str) -> Any:
    """A proxy that only passes bytes on. (The gateway asks its upstream through aiohttp, whose HTTP is
    read in C: that is most of what it saves.)"""
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


#: What a gateway is told beside its addresses.
GATEWAYS: dict[str, dict[str, str]] = {
    "gateway": {},
    "gateway+format": {"format": "hermes"},
    "4 workers": {"workers": "4"},
}


def serve(kind: str, port: int, upstream_port: int) -> None:
    if kind == "upstream":
        import uvloop

        uvloop.run(upstream(port))
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
    serve_gateway(GatewaySettings.read(said | GATEWAYS[kind], {}))


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


# Processes


@dataclass(frozen=True)
class Way:
    """A server that runs."""

    name: str
    process: subprocess.Popen[bytes]
    port: int

    @property
    def pid(self) -> int:
        return self.process.pid


def start(name: str, upstream_port: int, folder: Path | None = None) -> Way:
    """`folder`: LiteLLM's environment, or the checkout of another commit (`before`)."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    addresses = ["--port", str(port), "--upstream-port", str(upstream_port)]
    command = [sys.executable, __file__, name, *addresses]
    environment = os.environ | {_NO_KEY: "true"}
    if name == "litellm" and folder is not None:
        command = litellm_command(folder, port, upstream_port)
    if name == "before" and folder is not None:  # as its own benchmark starts it
        script = str(folder / "benchmarks" / "gateway.py")
        command = [sys.executable, script, "--serve", "gateway", *addresses]
        environment["PYTHONPATH"] = package_of(folder)
    quiet = subprocess.DEVNULL  # a line for each request is written, and nobody reads it here
    process = subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment)
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return Way(name, process, port)
        if process.poll() is not None:
            raise SystemExit(f"{name} did not start")
        time.sleep(0.05)


def memory_of(pid: int) -> int:
    """The bytes of a process and of those that it has started."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    own = int(found[1]) * 1024 if found else 0
    return own + sum(map(memory_of, children_of(pid)))


def cpu_of(pid: int) -> float:
    """The seconds of a process and of those that it has started, to the nanosecond."""
    # The kernel's number for the clock of a process (clock_getcpuclockid, which Python lacks). Unlike
    # those of its threads, it does not lose what was used by threads that are over.
    own = time.clock_gettime((~pid << 3) | 2)
    return own + sum(map(cpu_of, children_of(pid)))


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["upstream", "plain", *GATEWAYS])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--upstream-port", type=int, default=0)
    asked = parser.parse_args()
    serve(asked.kind, asked.port, asked.upstream_port)


if __name__ == "__main__":
    main()
