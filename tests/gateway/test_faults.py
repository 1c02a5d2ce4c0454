"""An upstream in trouble: every client gets a proper end, and nothing twice."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import openai
import pytest
from toolwire.gateway import Settings
from toolwire.gateway.exchange import Plan
from toolwire.gateway.stream_session import StreamSession
from toolwire.gateway.upstream import retry_after
from toolwire.openai.policy import Policy

from ..ports import free_port
from .conftest import PATIENCE, Server, gateway_server, upstream_server
from .scripted_upstream import stream_bytes
from .support_gateway import ASK, FLAT_TOOLS, TOOLS, ask, events, metric, seen

Start = Callable[..., Server]
KILLS = 8


@pytest.mark.parametrize("model", ["simple+status429x1", "simple+bare429x2", "simple+status503x2"])
def test_it_tries_again_where_nothing_can_have_been_done(
    client: httpx2.Client, upstream: Server, model: str
) -> None:
    answer = client.post("/v1/chat/completions", json=ask(model))
    assert answer.status_code == 200
    assert answer.json()["choices"][0]["message"]["tool_calls"][0]["id"] == "c1"
    assert seen(upstream, model) == int(model[-1]) + 1
    reason = f"status {'503' if '503' in model else '429'}"
    assert metric(client, "manager_upstream_retries_total", reason=reason) >= 1


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        ("bare503", 503),
        ("status502", 502),
        ("status504", 504),
        ("refuse1", 502),
    ],
)
def test_a_post_that_may_have_been_processed_is_not_sent_again(
    client: httpx2.Client, upstream: Server, fault: str, status: int
) -> None:
    assert client.post("/v1/chat/completions", json=ask(f"simple+{fault}")).status_code == status
    assert seen(upstream, f"simple+{fault}") == 1


def test_it_gives_up_with_the_upstreams_own_answer(client: httpx2.Client, upstream: Server) -> None:
    answer = client.post("/v1/chat/completions", json=ask("simple+status503"))
    assert answer.status_code == 503
    assert answer.json() == {"error": {"message": "no"}}
    assert seen(upstream, "simple+status503") == 3


def test_it_does_not_try_again_what_is_no_use(client: httpx2.Client, upstream: Server) -> None:
    assert client.post("/v1/chat/completions", json=ask("simple+status404")).status_code == 404
    assert client.post("/v1/chat/completions", json=ask("simple+status500")).status_code == 500
    assert seen(upstream, "simple+status404") == seen(upstream, "simple+status500") == 1


def test_an_upstream_that_dies_in_mid_stream(client: httpx2.Client, upstream: Server) -> None:
    answer = client.post("/v1/chat/completions", json=ask("plain+die", stream=True))
    assert answer.status_code == 200
    *chunks, error = events(answer.text)
    text = "".join(c["choices"][0]["delta"].get("content") or "" for c in chunks)
    assert text
    assert "Grüße, 世界!".startswith(text)
    assert error["error"]["type"] == "upstream_error"
    assert "\nevent: error\n" in answer.text
    assert "[DONE]" not in answer.text
    assert seen(upstream, "plain+die") == 1


def test_half_a_call_is_not_sent(client: httpx2.Client) -> None:
    answer = client.post("/v1/chat/completions", json=ask("chunked+die", stream=True))
    assert '"tool_calls"' not in answer.text
    assert "upstream_error" in answer.text


@pytest.mark.parametrize("model", ["chunked+cutoff", "chunked+cutoff+done"])
def test_half_a_call_is_not_sent_where_the_stream_just_ends(
    client: httpx2.Client, model: str
) -> None:
    answer = client.post("/v1/chat/completions", json=ask(model, stream=True))
    *chunks, error = events(answer.text)
    choices = [choice for event in chunks for choice in event["choices"]]
    assert not any("tool_calls" in choice["delta"] for choice in choices)
    assert not any(choice["finish_reason"] for choice in choices)
    assert "without a finish reason" in error["error"]["message"]
    assert "[DONE]" not in answer.text


@pytest.mark.parametrize("model", ["chunked+cutoff", "chunked+cutoff+done"])
def test_live_says_that_a_call_was_cut_off(live_gateway: Server, model: str) -> None:
    url = f"{live_gateway.url}/v1/chat/completions"
    answer = httpx2.post(url, json=ask(model, stream=True), timeout=PATIENCE)
    *chunks, error = events(answer.text)
    choices = [choice for event in chunks for choice in event["choices"]]
    assert any("tool_calls" in choice["delta"] for choice in choices)
    assert not any(choice["finish_reason"] for choice in choices)
    assert error["error"]["type"] == "upstream_error"


@pytest.mark.parametrize("model", ["simple+cutoff", "simple+cutoff+done"])
def test_half_an_item_is_not_sent_where_the_stream_just_ends(
    client: httpx2.Client, model: str
) -> None:
    request = {"model": model, "input": "?", "stream": True, "tools": FLAT_TOOLS}
    answer = client.post("/v1/responses", json=request)
    assert "function_call" not in answer.text
    assert events(answer.text)[-1]["type"] == "error"
    assert "without its last event" in answer.text


def test_the_sdk_raises_when_the_upstream_dies(gateway: Server) -> None:
    sdk = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key="k", max_retries=0, timeout=PATIENCE)
    request: Any = {"messages": ASK, "tools": TOOLS, "stream": True}
    with pytest.raises(openai.APIError, match="broke off"):
        for _ in sdk.chat.completions.create(model="plain+die", **request):
            pass
    with pytest.raises(openai.APIError, match="broke off"):
        for _ in sdk.responses.create(model="plain+die", input="?", stream=True):
            pass


def test_an_upstream_that_dies_in_a_whole_answer(client: httpx2.Client) -> None:
    answer = client.post("/v1/chat/completions", json=ask("plain+die"))
    assert answer.status_code == 502
    assert answer.json()["error"]["type"] == "upstream_error"


def test_an_upstream_that_says_nothing(start_gateway: Start) -> None:
    server = start_gateway("--read-timeout", "0.3")
    answer = httpx2.post(
        f"{server.url}/v1/chat/completions", json=ask("plain+hang"), timeout=PATIENCE
    )
    assert answer.status_code == 504


def test_no_upstream_at_all(start_gateway: Start) -> None:
    nobody = Server([], free_port())
    options = ("--attempts", "2", "--breaker-failures", "5", "--breaker-seconds", "600")
    server = start_gateway(*options, to=nobody)
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        statuses = [client.post("/v1/chat/completions", json=ask("x")).status_code for _ in "1234"]
        assert statuses == [502, 502, 503, 503]
        upstream = f"127.0.0.1:{nobody.port}"
        assert metric(client, "manager_upstream_breaker_state", upstream=upstream) == 2
        refused = client.post("/v1/chat/completions", json=ask("x"))
        assert refused.json()["error"]["type"] == "upstream_error"
        assert 1 <= int(refused.headers["retry-after"]) <= 600
        assert client.get("/healthz").status_code == 200


def test_the_breaker_lets_one_request_test_the_upstream(start_gateway: Start) -> None:
    server = upstream_server()
    gateway = start_gateway(
        "--attempts", "1", "--breaker-failures", "2", "--breaker-seconds", "0.2", to=server
    )
    with httpx2.Client(base_url=gateway.url, timeout=PATIENCE) as client:
        upstream = f"127.0.0.1:{server.port}"
        for _ in range(2):
            assert client.post("/v1/chat/completions", json=ask("plain")).status_code == 502
        assert metric(client, "manager_upstream_breaker_state", upstream=upstream) == 2
        server.start()
        while client.post("/v1/chat/completions", json=ask("plain")).status_code == 503:
            time.sleep(0.05)
        assert metric(client, "manager_upstream_breaker_state", upstream=upstream) == 0
    server.kill()


@pytest.mark.parametrize("status", [400, 404, 429, 500])
def test_errors_that_a_request_provokes_do_not_shut_the_upstream(
    shared_gateway: Start, status: int
) -> None:
    server = shared_gateway("--attempts", "1", "--breaker-failures", "2")
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        for _ in range(5):
            answer = client.post("/v1/chat/completions", json=ask(f"plain+status{status}"))
            assert answer.status_code == status
        assert client.post("/v1/chat/completions", json=ask("plain")).status_code == 200


def test_an_answer_that_takes_too_long_does_not_shut_the_upstream(start_gateway: Start) -> None:
    server = start_gateway("--read-timeout", "1", "--breaker-failures", "2")
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:

        def post(model: str, stream: bool = False) -> httpx2.Response:
            return client.post("/v1/chat/completions", json=ask(model, stream=stream))

        with ThreadPoolExecutor(4) as at_once:
            list(at_once.map(post, ["plain+hang", "plain+stall"] * 2, [False, True] * 2))
        while (answer := post("plain")).is_error:
            # Where the machine is busy, this one took too long, too.
            assert answer.status_code == 504


@pytest.mark.parametrize("status", [502, 503, 504])
def test_an_upstream_that_says_it_is_down_is_left_alone(shared_gateway: Start, status: int) -> None:
    """… for that model: the others are asked."""
    options = ("--attempts", "1", "--breaker-failures", "2", "--breaker-seconds", "600")
    server = shared_gateway(*options)
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        for _ in range(2):
            client.post("/v1/chat/completions", json=ask(f"plain+status{status}"))
        refused = client.post("/v1/chat/completions", json=ask(f"plain+status{status}"))
        assert refused.status_code == 503
        assert "several times in a row" in refused.json()["error"]["message"]
        assert client.post("/v1/chat/completions", json=ask("plain")).status_code == 200


@pytest.mark.parametrize("stream", [True, False])
def test_an_upstream_whose_answers_break_off_is_left_alone(
    shared_gateway: Start, stream: bool
) -> None:
    server = shared_gateway("--breaker-failures", "3", "--breaker-seconds", "600")
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:

        def post(*faults: str, model: str = f"plain+{stream}") -> int:
            asked = ask(model, stream=stream, x_faults=faults)
            return client.post("/v1/chat/completions", json=asked).status_code

        for _ in range(2):
            post("die")
        assert post() == 200
        for _ in range(3):  # "in a row" begins anew
            post("die")
        assert post() == 503
        assert post(model="simple") == 200


@pytest.mark.parametrize(
    ("said", "seconds"),
    [(None, None), ("7", 7.0), ("soon", None), ("Mon, 01 Jan 2020 00:00:00 +99999999999999", None)],
)
def test_how_long_an_upstream_asks_to_wait(said: str | None, seconds: float | None) -> None:
    assert retry_after(said) == seconds


def test_a_client_that_leaves_frees_the_upstream(shared_gateway: Start) -> None:
    server = shared_gateway()
    with httpx2.Client(base_url=server.url, timeout=PATIENCE) as client:
        with client.stream(
            "POST", "/v1/chat/completions", json=ask("plain+slow", stream=True)
        ) as answer:
            next(answer.iter_raw())
        give_up = time.monotonic() + PATIENCE
        while metric(client, "manager_open_streams") and time.monotonic() < give_up:
            time.sleep(0.05)
        assert metric(client, "manager_open_streams") == 0


def test_an_upstream_that_hangs_up_at_once(start_gateway: Start) -> None:
    """It takes connections, and resets them: with uvloop, their socket may be gone before it is used."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:  # it is closed: the test is over
                    return
                linger = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                connection.close()

        threading.Thread(target=hang_up, daemon=True).start()
        nobody = Server([], listening.getsockname()[1])
        server = start_gateway("--attempts", "1", "--breaker-failures", "1000", to=nobody)
        url = f"{server.url}/v1/chat/completions"
        with ThreadPoolExecutor(10) as at_once:
            asked = [
                at_once.submit(httpx2.post, url, json=ask("x"), timeout=PATIENCE)
                for _ in range(100)
            ]
            assert {one.result().status_code for one in asked} == {502}
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.slow
def test_killed_again_and_again_under_load() -> None:
    """Every client gets a proper end: a whole answer, an error event, or an HTTP error.

    benchmarks/gateway_load.py does it fifty times.
    """
    upstream = upstream_server().start()
    gateway = gateway_server(
        upstream, "--attempts", "2", "--breaker-failures", "10", "--breaker-seconds", "0.1"
    ).start()
    stop, whole, broken = threading.Event(), threading.Event(), threading.Event()
    kills = 0

    def killer() -> None:
        nonlocal kills
        while (kills < KILLS or not broken.is_set()) and whole.wait(PATIENCE):
            # The upstream is well; others are in mid-stream.
            if stop.is_set():
                return
            upstream.kill()
            whole.clear()
            kills += 1
            upstream.start()
        stop.set()

    async def one(client: httpx2.AsyncClient) -> str:
        answer = await client.post("/v1/chat/completions", json=ask("plain+slow", stream=True))
        if answer.status_code != 200:
            assert answer.status_code in (502, 503, 504)
            assert answer.json()["error"]["message"]
            return "refused"
        text = "".join(
            choice["delta"].get("content") or ""
            for chunk in events(answer.text)
            for choice in chunk.get("choices", ())
        )
        assert "Grüße, 世界!".startswith(text), "something came twice, or out of order"
        ended, broke = "data: [DONE]" in answer.text, "event: error" in answer.text
        assert ended != broke
        return "whole" if ended else "broken"

    async def load() -> dict[str, int]:
        ends: dict[str, int] = {}
        # A connection that waits for long, on a busy machine, may be closed while it is used again.
        limits = httpx2.Limits(max_keepalive_connections=0)
        given: Any = {"base_url": gateway.url, "timeout": PATIENCE, "limits": limits}
        async with httpx2.AsyncClient(**given) as client:

            async def visitor() -> None:
                while not stop.is_set():
                    end = await one(client)
                    if end == "whole":
                        whole.set()
                    if end == "broken":
                        broken.set()
                    ends[end] = ends.get(end, 0) + 1
                    await asyncio.sleep(0.05 if end == "refused" else 0)

            await asyncio.gather(*(visitor() for _ in range(20)))
        return ends

    thread = threading.Thread(target=killer)
    thread.start()
    try:
        ends = asyncio.run(load())
    finally:
        stop.set()
        whole.set()
        thread.join()
        gateway.kill()
        upstream.kill()
    assert kills >= KILLS
    assert ends["whole"] > 0
    assert ends["broken"] > 0


@pytest.mark.parametrize(
    ("route", "api"), [("/v1/chat/completions", "chat"), ("/v1/responses", "responses")]
)
def test_a_death_after_the_end_is_no_error(route: str, api: str) -> None:
    plan = Plan(route, api, b"", Policy())
    session = StreamSession(plan, Settings(), None)
    given = b"".join(stream_bytes("plain", route))
    assert session.feed(given) == given
    assert session.die("too late") == b""
