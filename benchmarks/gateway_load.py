"""What the gateway bears: each load is put on a real process, and nothing may be lost, hang, or grow.

    python benchmarks/gateway_load.py                        all of them, at full size
    python benchmarks/gateway_load.py --only deltas half_open
    python benchmarks/gateway_load.py --scale 0.1            a tenth of each

| load | what | what must hold |
|---|---|---|
| requests | 2,000 requests, 50 at once | every one is answered whole |
| streams | 500 streams, again and again for 60 seconds | every one comes whole and ends with its call |
| kills | the upstream is killed 50 times under 20 clients | every client gets a proper end |
| vanish | 300 clients leave in mid-stream | no stream stays open |
| open_calls | 20,000 calls open at once in one stream | a call for each, or an error event |
| deltas | 1 GB of one call's arguments, in pieces | it passes, or ends with an error event |
| silence | a call that takes 60 seconds; clients give up after 20 without a byte | none does |
| half_open | 5,000 connections with half a request | new clients are served once they had their time |

For each, the memory of the gateway before and at its most, and its CPU seconds. The exit code is 1 where
something does not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2

sys.path.insert(0, str(Path(__file__).parents[1]))
from gateway_servers import cpu_of, memory_of

from tests.gateway.conftest import Server, gateway_server, upstream_server
from tests.gateway.support_gateway import ask, ask_for, call_event, chat_event, metric

CHAT = "/v1/chat/completions"
DONE = b"data: [DONE]\n\n"
Outcomes = Counter[str]


async def gathered(count: int, at_once: int, one: Callable[[int], Awaitable[str]]) -> Outcomes:
    """What became of each."""
    turns = asyncio.Semaphore(at_once)

    async def in_turn(number: int) -> str:
        async with turns:
            return await one(number)

    return Counter(await asyncio.gather(*map(in_turn, range(count))))


def end_of(text: bytes) -> str:
    return "whole" if text.endswith(DONE) else "error event" if b'"error"' in text else "cut off"


class Load:
    """A gateway in front of a scripted upstream, and the loads."""

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self.upstream = upstream_server().start()
        options = (
            "--format",
            "hermes",
            "--breaker-failures",
            "1000000",
            "--max-connections",
            "8000",
        )
        timeouts = ("--header-timeout", "20", "--keep-alive", "0", "--log", "json")
        log = Path("/dev/null")
        self.gateway: Server = gateway_server(self.upstream, *options, *timeouts, log=log).start()
        # Each request has a connection of its own: where the machine is busy, one that waits may be
        # closed by the server just when the client uses it again.
        limits = httpx2.Limits(max_connections=2000, max_keepalive_connections=0)
        self.client = httpx2.AsyncClient(
            base_url=self.gateway.url, timeout=600, limits=limits, trust_env=False
        )

    def sized(self, count: float) -> int:
        return max(1, round(count * self.scale))

    async def whole(self, model: str) -> str:
        answer = await self.client.post(CHAT, json=ask(model))
        return (
            "whole" if answer.is_success and answer.json()["choices"] else str(answer.status_code)
        )

    async def streamed(self, request: Any) -> str:
        try:
            async with self.client.stream("POST", CHAT, json=request) as answer:
                if answer.status_code != 200:
                    return str(answer.status_code)
                tail, failed = b"", False
                async for piece in answer.aiter_raw():
                    tail = (tail + piece)[-2000:]
                    failed = failed or b'"error"' in tail
                return "error event" if failed else end_of(tail)
        except httpx2.TransportError as error:
            return type(error).__name__

    async def requests(self) -> tuple[Outcomes, bool]:
        got = await gathered(self.sized(2000), 50, lambda _: self.whole("simple"))
        return got, set(got) == {"whole"}

    async def streams(self) -> tuple[Outcomes, bool]:
        stop = time.monotonic() + 60 * self.scale
        got: Outcomes = Counter()

        async def visitor(_: int) -> str:
            while time.monotonic() < stop:
                got[await self.streamed(ask("chunked+slow", stream=True))] += 1
            return ""

        await gathered(500, 500, visitor)
        return got, set(got) == {"whole"}

    async def kills(self) -> tuple[Outcomes, bool]:
        got: Outcomes = Counter()
        over = asyncio.Event()

        async def visitor(_: int) -> str:
            while not over.is_set():
                got[await self.streamed(ask("chunked+slow", stream=True))] += 1
            return ""

        visitors = asyncio.create_task(gathered(20, 20, visitor))
        for _ in range(self.sized(50)):
            await asyncio.sleep(0.2)
            self.upstream.kill()
            await asyncio.to_thread(self.upstream.start)
        over.set()
        await visitors
        return got, set(got) <= {"whole", "error event", "502", "503"}

    async def vanish(self) -> tuple[Outcomes, bool]:
        async def leave(_: int) -> str:
            asked = ask("chunked+slow", stream=True)
            async with self.client.stream("POST", CHAT, json=asked) as answer:
                async for _piece in answer.aiter_raw():
                    break
            return "left"

        got = await gathered(self.sized(300), 100, leave)
        open_streams = 1.0
        give_up = time.monotonic() + 120
        while open_streams and time.monotonic() < give_up:
            with httpx2.Client(base_url=self.gateway.url, timeout=600) as client:
                open_streams = await asyncio.to_thread(metric, client, "manager_open_streams")
        return got + Counter({"still open": int(open_streams)}), not open_streams

    async def open_calls(self) -> tuple[Outcomes, bool]:
        count = self.sized(20_000)
        begun = [call_event("{", id=f"c{i}", index=i) for i in range(count)]
        ended = [call_event("}", None, index=i) for i in range(count)]
        body = b"".join([*begun, *ended, chat_event({}, "tool_calls"), DONE])
        pieces = [body[i : i + 65536] for i in range(0, len(body), 65536)]
        got = Counter([await self.streamed(ask_for(*pieces, stream=True))])
        return got, set(got) <= {"whole", "error event"}

    async def deltas(self) -> tuple[Outcomes, bool]:
        """One `endless` answer has 400 MB; the budget ends each, or it would be held."""
        got = await gathered(3, 3, lambda _: self.streamed(ask("x+endless", stream=True)))
        return got, set(got) == {"error event"}

    async def silence(self) -> tuple[Outcomes, bool]:
        """With `--keep-alive` as it is by default: the call stops in the middle, or comes late."""
        seconds = 60 * self.scale
        ended = (call_event("1}", None), chat_event({}, "tool_calls"), DONE)
        held = ask_for(call_event('{"a": '), seconds, *ended, stream=True)
        late = ask_for(call_event('{"a": '), *ended, head=seconds, stream=True)
        gateway = await asyncio.to_thread(gateway_server(self.upstream).start)
        patience = httpx2.Timeout(20, connect=60)

        async def wait(asked: Any) -> str:
            try:
                async with httpx2.AsyncClient(timeout=patience, trust_env=False) as client:
                    answer = await client.post(f"{gateway.url}{CHAT}", json=asked)
            except httpx2.TransportError as error:
                return type(error).__name__
            return end_of(answer.content)

        try:
            got = Counter(await asyncio.gather(*map(wait, [held, late] * 5)))
        finally:
            gateway.kill()
        return got, set(got) == {"whole"}

    async def half_open(self) -> tuple[Outcomes, bool]:
        head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"

        async def half(_: int) -> str:
            port = self.gateway.port
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(head)
                answer = await reader.read()
                writer.close()
            except OSError as error:
                return type(error).__name__
            return answer.split(b" ", 2)[1].decode() if answer else "closed"

        count = self.sized(5000)
        got = await gathered(count, count, half)
        after = await self.whole("simple")
        return got + Counter({f"afterwards {after}": 1}), after == "whole" and got["408"] == count


async def measured(load: Load, name: str) -> bool:
    pid = load.gateway.pid
    before, cpu, started = memory_of(pid), cpu_of(pid), time.monotonic()
    most = before
    work = asyncio.create_task(getattr(load, name)())
    while not work.done():
        most = max(most, memory_of(pid))
        await asyncio.wait([work], timeout=0.1)
    got, holds = await work
    row = {
        "load": name,
        "holds": holds,
        "outcomes": dict(got),
        "memory_mib": [round(before / 2**20), round(most / 2**20)],
        "cpu_seconds": round(cpu_of(pid) - cpu, 1),
        "seconds": round(time.monotonic() - started, 1),
    }
    print(json.dumps(row), flush=True)
    return bool(holds)


async def run(names: list[str], scale: float) -> bool:
    load = Load(scale)
    try:
        return all([await measured(load, name) for name in names])
    finally:
        await load.client.aclose()
        load.gateway.kill()
        load.upstream.kill()


def main() -> int:
    loads = [
        "requests",
        "streams",
        "kills",
        "vanish",
        "open_calls",
        "deltas",
        "silence",
        "half_open",
    ]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", nargs="+", choices=loads, default=loads)
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 20_000)), hard))
    return 0 if asyncio.run(run(options.only, options.scale)) else 1


if __name__ == "__main__":
    sys.exit(main())
