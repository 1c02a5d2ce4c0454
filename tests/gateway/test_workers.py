"""More than one process: workers on one machine, gateways behind a load balancer, a real Redis."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from os import kill
from pathlib import Path
from typing import Any

import httpx2
import pytest
from toolwire import ToolwireError
from toolwire.gateway.settings import Settings

from .conftest import ADMIN_KEY, PATIENCE, Server
from .redis_process import running_redis
from .support_gateway import TOOLS, ask, metric
from .test_operation import wait_until

pytestmark = pytest.mark.slow

Start = Callable[..., Server]
CHAT = "/v1/chat/completions"
KEY = {"x-admin-key": ADMIN_KEY}


redis = pytest.fixture(scope="module")(running_redis)


def items(server: Server, **query: Any) -> dict[str, Any]:
    url = f"{server.url}/proxy/debug/tool-calls"
    answer = httpx2.get(url, headers=KEY, params=query, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def post(server: Server, body: Any) -> httpx2.Response:
    """On a connection of its own, which any worker may take."""
    return httpx2.post(f"{server.url}{CHAT}", json=body, timeout=PATIENCE)


def processes(log: Path) -> set[int]:
    """Those that have answered a request."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return {line["process"] for line in lines if line.get("path") == CHAT}


def ask_until_both(server: Server, log: Path, model: str) -> int:
    """Asks until two workers have answered, and gives how often."""
    count = 0
    with ThreadPoolExecutor(8) as at_once:
        while len(processes(log)) < 2:
            answers = list(at_once.map(lambda _: post(server, ask(model)), range(8)))
            assert {answer.status_code for answer in answers} == {200}
            count += len(answers)
    return count


def test_workers_share_metrics_and_captures(
    start_gateway: Start, redis: Server, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    where = f"redis://127.0.0.1:{redis.port}/0"
    server = start_gateway("--workers", "2", "--log", "json", "--capture", where, log=log)
    count = ask_until_both(server, log, "malformed")
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        name = "manager_requests_total"
        assert metric(client, name, route=CHAT, status="200") == count
        wait_until(lambda: items(server, limit=1000)["count"] == min(count, 200))
        told = items(server, limit=1000)
        assert told["whose"] == "of every gateway that keeps them there"
        assert len({item["process"] for item in told["items"]}) == 2
        assert len({item["id"] for item in told["items"]}) == told["count"]
        assert told["items"][0]["reason"] == "invalid_json"
        # A worker dies: another one takes its place, and what it had counted stays.
        victim = min(processes(log))
        kill(victim, signal.SIGKILL)
        wait_until(lambda: "open_streams" in httpx2.get(f"{server.url}/metrics").text)
        while max(processes(log)) == max(told_of(told)) and len(processes(log)) < 3:
            post(server, ask("plain"))
        assert metric(client, name, route=CHAT, status="200") >= count
    items(server, clear="true")
    assert items(server)["items"] == []


def told_of(told: dict[str, Any]) -> list[int]:
    return [int(item["process"].split()[1]) for item in told["items"]]


def test_captures_in_redis_are_bounded_and_may_be_lost(
    start_gateway: Start, redis: Server, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    where = f"redis://127.0.0.1:{redis.port}/1"
    server = start_gateway("--debug-max", "3", "--capture", where, log=log)
    for _ in range(5):
        assert post(server, ask("simple")).status_code == 200
    wait_until(lambda: items(server)["count"] == 3)
    redis.kill()
    try:
        assert post(server, ask("simple")).status_code == 200
        wait_until(lambda: "exchanges can't be kept" in log.read_text())
        url = f"{server.url}/proxy/debug/tool-calls"
        gone = httpx2.get(url, headers=KEY, timeout=PATIENCE)
        assert gone.status_code == 503
        assert "does not answer" in gone.json()["error"]["message"]
    finally:
        redis.start()


def test_without_redis_each_says_whose_captures_it_shows(start_gateway: Start) -> None:
    one, other = start_gateway(), start_gateway()
    post(one, ask("simple"))
    assert items(one)["whose"].startswith(f"of process {one.pid} on ")
    assert items(other)["whose"].startswith(f"of process {other.pid} on ")
    assert (items(one)["count"], items(other)["count"]) == (1, 0)


def test_nothing_of_a_conversation_is_kept(start_gateway: Start) -> None:
    """Its turns go to two gateways in turn, and to one alone: the same comes of it."""

    def talk(servers: list[Server]) -> list[Any]:
        messages: list[Any] = [{"role": "user", "content": "1+1?"}]
        for turn in range(6):
            request = {"model": "simple>chunked>text>plain", "messages": messages, "tools": TOOLS}
            choice = post(servers[turn % len(servers)], request).json()["choices"][0]
            messages.append(choice["message"])
            calls = choice["message"].get("tool_calls") or []
            messages += [
                {"role": "tool", "tool_call_id": call["id"], "content": str(turn)} for call in calls
            ]
            if not calls:
                messages.append({"role": "user", "content": f"and {turn}?"})
        return messages

    options = ("--format", "hermes", "--requests", "strict", "--ids", "sequential")
    one, other = start_gateway(*options), start_gateway(*options)
    alone, both = talk([one]), talk([one, other])
    assert len(alone) > 10
    assert without_ids(alone) == without_ids(both)


def without_ids(messages: list[Any]) -> list[Any]:
    """Ids are made at random; what refers to one is numbered in the order in which they came."""
    numbers: dict[str, int] = {}

    def number(id: str) -> int:
        return numbers.setdefault(id, len(numbers))

    told = []
    for message in messages:
        calls = [call | {"id": number(call["id"])} for call in message.get("tool_calls") or ()]
        answers = number(message["tool_call_id"]) if "tool_call_id" in message else None
        told.append(message | {"tool_calls": calls, "tool_call_id": answers})
    return told


def test_a_place_that_is_none() -> None:
    with pytest.raises(ToolwireError, match="capture: exchanges can't be kept there: use memory"):
        Settings(capture="postgres://x")


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_workers_end_together(start_gateway: Start, how: str) -> None:
    """Also where nobody is left to tell them."""
    server = start_gateway("--workers", "2")
    assert post(server, ask("plain")).status_code == 200
    children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
    named = [Path(f"/proc/{pid}/cmdline") for pid in children]
    workers = [file for file in named if b"spawn_main" in file.read_bytes()]
    assert len(workers) == 2
    if how == "stop":
        assert server.stop() == 0
    else:
        server.kill()
    wait_until(lambda: not any(alive(file) for file in workers))


def test_workers_whose_parent_was_killed_early(start_gateway: Start) -> None:
    """While one listens, another is still starting: it must not hold the port afterwards."""
    server = start_gateway("--workers", "4")
    server.kill()
    wait_until(lambda: not listens(server.port))


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def alive(file: Path) -> bool:
    try:
        return bool(file.read_bytes())
    except FileNotFoundError:
        return False
