"""What an operator sees and can do: the start, the log, health, several upstreams, keys, the end."""

from __future__ import annotations

import json
import logging
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from toolwire.gateway.serve import describe, doubts, hidden_tools
from toolwire.gateway.settings import GatewaySettings, Settings

from ..ports import free_port
from .conftest import ADMIN_KEY, PATIENCE, Server, upstream_server
from .support_gateway import ASK, ask, seen

Start = Callable[..., Server]
CHAT = "/v1/chat/completions"


def wait_until(told: Callable[[], bool]) -> None:
    give_up = time.monotonic() + PATIENCE
    while not told():
        assert time.monotonic() < give_up
        time.sleep(0.02)


@pytest.fixture(scope="module")
def second_upstream() -> Iterator[Server]:
    server = upstream_server().start()
    yield server
    server.kill()


# The start


def test_it_says_what_it_does() -> None:
    said = {"upstream": ["http://a/v1", "http://b/v1"], "format": "hermes", "requests": "repair"}
    settings = GatewaySettings.read(said, {"TOOLWIRE_ADMIN_KEY": "secret"})
    told = "\n".join(describe(settings, "http://127.0.0.1:8080"))
    for part in ("http://127.0.0.1:8080/v1", "http://a/v1, http://b/v1", "hermes", "repair"):
        assert part in told
    assert "http://127.0.0.1:8080/proxy/debug" in told
    assert "secret" not in told
    assert "off" in "\n".join(describe(GatewaySettings.read(said, {}), "http://x"))


def test_it_says_what_looks_wrong(upstream: Server) -> None:
    with httpx2.Client(timeout=PATIENCE) as client:
        assert doubts(f"{upstream.url}/v1", client) == []
        nobody = f"http://127.0.0.1:{free_port()}"
        no_v1, silent = doubts(nobody, client)
        assert "has no /v1" in no_v1
        assert f"{nobody} does not answer (ConnectError)" in silent
        *_, lost = doubts(f"{upstream.url}/v1/moved/404", client)
        assert "answered with 404" in lost


@pytest.mark.parametrize("says", [False, True, None])
def test_it_says_that_llama_cpp_keeps_the_tools_to_itself(says: bool | None) -> None:
    def llama_cpp(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/props" and says is not None:
            return httpx2.Response(200, json={"chat_template_caps": {"supports_tools": says}})
        return httpx2.Response(200 if request.url.path == "/v1/models" else 404, json={})

    with httpx2.Client(transport=httpx2.MockTransport(llama_cpp)) as client:
        done, missing = (
            hidden_tools("http://llama/v1", client, Settings(format=format))
            for format in ("call_text", None)
        )
        assert (len(done), len(missing)) == ((1, 1) if says is False else (0, 0))
        for level, sentence in done:
            assert (level, "will be put into the prompt" in sentence) == (logging.INFO, True)
        for level, sentence in missing:
            assert (level, "with a --format" in sentence) == (logging.WARNING, True)
        prompted = Settings(format="call_text", tools="prompt")
        assert hidden_tools("http://llama/v1", client, prompted) == []


def test_it_says_that_its_port_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "toolwire.cli", "gateway", "--upstream", "http://a/v1"]
        done = subprocess.run(
            [*command, "--port", str(port)], capture_output=True, text=True, check=False
        )
    assert done.returncode == 2
    assert f"Nothing can listen on 127.0.0.1, port {port}: choose another --port" in done.stderr
    assert "Traceback" not in done.stderr


# The log and the id of a request


@pytest.mark.parametrize("form", ["json", "text"])
def test_the_log(start_gateway: Start, upstream: Server, tmp_path: Path, form: str) -> None:
    log = tmp_path / "log"
    server = start_gateway("--log", form, "--requests", "repair", log=log)
    secrets = {"authorization": "Bearer very-secret", "x-api-key": "very-secret"}
    with httpx2.Client(base_url=server.url, timeout=PATIENCE, headers=secrets) as client:
        mine = client.get("/v1/headers?key=very-secret", headers={"x-request-id": "mine-1"})
        assert dict(mine.json()["headers"])["x-request-id"] == "mine-1"
        assert mine.headers["x-request-id"] == "mine-1"
        broken = ask("malformed") | {"tool_choice": "any", "user": "very-secret"}
        answer = client.post(CHAT, json=broken, headers={"x-request-id": "no good\tid"})
        made = answer.headers["x-request-id"]
        assert len(made) == 32
        key = {"x-admin-key": ADMIN_KEY}
        (item,) = client.get("/proxy/debug/tool-calls", headers=key).json()["items"]
        assert item["request_id"] == made
    # A request is told of when its answer is out.
    wait_until(lambda: all(path in log.read_text() for path in (CHAT, "/v1/headers")))
    told = log.read_text()
    assert "very-secret" not in told
    assert ADMIN_KEY not in told
    assert "1+1?" not in told  # nor what was asked
    about = [line for line in told.splitlines() if made in line]
    if form == "text":
        assert any("tool_choice put right" in line for line in about)
        assert any(f" POST {CHAT} 200 " in line for line in about)
        return
    lines = [json.loads(line) for line in told.splitlines()]
    repaired, *others = [line for line in lines if line["request_id"] == made]
    assert (repaired["level"], repaired["message"]) == (
        "info",
        "request: tool_choice put right, 1 times",
    )
    (access,) = [line for line in others if "method" in line]
    assert (access["method"], access["path"], access["status"]) == ("POST", CHAT, 200)
    assert access["bytes"] == len(answer.content)
    assert {line["logger"] for line in lines} == {"toolwire.gateway", "toolwire.access"}
    (first,) = [line for line in lines if line["request_id"] == "mine-1"]
    assert first["path"] == "/v1/headers"


# Health


def test_healthy_and_ready(start_gateway: Start) -> None:
    upstream = upstream_server()
    server = start_gateway("--connect-timeout", "60", to=upstream)
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        refused = client.get("/readyz")
        assert refused.status_code == 503
        assert refused.json() == {"status": "no upstream answers", "upstreams": 1, "answering": 0}
        upstream.start()
        wait_until(lambda: client.get("/readyz").status_code == 200)
        assert client.get("/readyz").json() == {"status": "ok", "upstreams": 1, "answering": 1}
        upstream.kill()
        wait_until(lambda: client.get("/readyz").status_code == 503)
        assert client.get("/healthz").status_code == 200


# Several upstreams


def test_the_least_busy_is_asked(
    start_gateway: Start, upstream: Server, second_upstream: Server
) -> None:
    server = start_gateway("--upstream", f"{second_upstream.url}/v1")
    both = (upstream, second_upstream)
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        stalled = threading.Thread(target=client.post, args=(CHAT,), kwargs={"json": ask("x+hang")})
        stalled.daemon = True
        stalled.start()
        wait_until(lambda: sum(seen(one, "x+hang") for one in both) == 1)
        busy, idle = sorted(both, key=lambda one: -seen(one, "x+hang"))
        before = seen(busy, "plain"), seen(idle, "plain")
        for _ in range(6):
            assert client.post(CHAT, json=ask("plain")).status_code == 200
        assert (seen(busy, "plain"), seen(idle, "plain")) == (before[0], before[1] + 6)
        busy.kill()  # ends the stalled request
        stalled.join()
        busy.start()


def test_one_that_fails_is_left_out(start_gateway: Start, upstream: Server) -> None:
    nobody = f"http://127.0.0.1:{free_port()}/v1"
    options = ("--upstream", nobody, "--attempts", "2", "--breaker-seconds", "600")
    server = start_gateway(*options, to=upstream)
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        statuses = {client.post(CHAT, json=ask("plain")).status_code for _ in range(12)}
        assert statuses == {200}
        failures = client.get("/metrics").text
        assert 'manager_upstream_failures_total{reason="connection"} 1.0' in failures
        assert client.get("/readyz").json() == {"status": "ok", "upstreams": 2, "answering": 1}


# Keys, CORS, paths


def test_the_upstream_gets_a_key_of_its_own(start_gateway: Start, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("right\n")
    server = start_gateway("--upstream-key-file", str(file), "--messages", "native")
    theirs = {"authorization": "Bearer theirs", "x-api-key": "theirs"}
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        for headers in ({}, theirs):
            assert client.post(CHAT, json=ask("plain+key"), headers=headers).status_code == 200
        told = client.get("/v1/headers", headers=theirs).json()["headers"]
        assert ["authorization", "Bearer right"] in told
        assert ["x-api-key", "right"] in told
        assert "theirs" not in json.dumps(told)


def test_pages_of_an_origin_may_ask(start_gateway: Start) -> None:
    server = start_gateway("--cors", "https://app.example", "--cors", "https://b.example")
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "x-y"}
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        for origin, allowed in (("https://b.example", True), ("https://evil.example", False)):
            before = client.options(CHAT, headers=asked | {"origin": origin})
            assert before.is_success == allowed
            answer = client.post(CHAT, json=ask("plain"), headers={"origin": origin})
            said = answer.headers.get("access-control-allow-origin")
            assert said == (origin if allowed else None)


def test_without_cors_nothing_is_said_of_it(client: httpx2.Client) -> None:
    answer = client.post(CHAT, json=ask("plain"), headers={"origin": "https://app.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_paths_without_v1(client: httpx2.Client) -> None:
    without = CHAT.removeprefix("/v1")
    assert (
        client.post(without, json=ask("simple")).json()
        == client.post(CHAT, json=ask("simple")).json()
    )
    bad: dict[str, Any] = {"model": "x", "messages": 1}
    for path in ("/chat/completions", "/responses"):
        assert client.post(path, json=bad | {"input": 5}).status_code == 400
    assert (
        client.post("/messages", json={"model": "plain", "max_tokens": 9, "messages": ASK}).json()[
            "type"
        ]
        == "message"
    )
    assert client.get("/models").json()["target"] == "/v1/models"
    assert client.get("/models/x").json()["target"] == "/v1/models/x"
    assert client.get("/files").status_code == 404


# The end


def test_it_lets_answers_end(start_gateway: Start) -> None:
    server = start_gateway("--drain-seconds", str(PATIENCE))
    url = f"{server.url}{CHAT}"
    codes: list[int] = []
    asked = ask("plain+slow", stream=True)
    with httpx2.stream("POST", url, json=asked, timeout=PATIENCE) as answer:
        chunks = answer.iter_raw()
        text = next(chunks)
        stopping = threading.Thread(target=lambda: codes.append(server.stop()))
        stopping.start()
        text += b"".join(chunks)
    stopping.join()
    assert text.endswith(b"data: [DONE]\n\n")
    assert codes in ([0], [-15])


def test_it_does_not_wait_for_ever(start_gateway: Start) -> None:
    server = start_gateway("--drain-seconds", "1")
    asked = ask("plain+stall", stream=True)
    with httpx2.stream("POST", f"{server.url}{CHAT}", json=asked, timeout=PATIENCE) as answer:
        next(answer.iter_raw())
        assert server.stop() in (0, -15)  # the test ends, although the answer never would
