"""Clients that send half a request, and clients that are too many."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest

from .conftest import PATIENCE, Server
from .support_gateway import ask
from .test_abuse import status

Start = Callable[..., Server]

#: A gateway that waits for a second.
HASTY = ("--header-timeout", "1", "--body-timeout", "1")
HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
BODY = json.dumps(ask("plain")).encode()
WHOLE = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY


@contextmanager
def connected(server: Server) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as connection:
        yield connection


def rest(connection: socket.socket) -> bytes:
    """Everything until the server closes: the test waits for that, however long it takes."""
    answer = b""
    while chunk := connection.recv(65536):
        answer += chunk
    return answer


def error(answer: bytes) -> Any:
    return json.loads(answer.partition(b"\r\n\r\n")[2])["error"]


@pytest.mark.slow
@pytest.mark.parametrize("half", [b"", b"PO", HEAD, HEAD + b"X-Slow: "])
def test_half_a_head(shared_gateway: Start, half: bytes) -> None:
    server = shared_gateway("--header-timeout", "0.3")
    with connected(server) as connection:
        connection.sendall(half)
        answer = rest(connection)
    assert status(answer) == 408
    assert error(answer)["message"] == "The head of the request did not come within 0.3 seconds"
    while (after := httpx2.get(f"{server.url}/healthz", timeout=PATIENCE)).status_code == 408:
        continue  # where the machine is busy, this one was slow, too
    assert after.status_code == 200


def test_a_head_that_never_ends_although_it_goes_on(start_gateway: Start) -> None:
    server = start_gateway("--header-timeout", "0.5")
    with connected(server) as connection:
        connection.settimeout(0.05)
        connection.sendall(HEAD)
        answer = b""
        while not answer:
            connection.sendall(b"X-More: 1\r\n")
            try:
                answer = connection.recv(65536)
            except TimeoutError:
                continue
    assert status(answer) == 408


@pytest.mark.slow
@pytest.mark.parametrize(
    "half",
    [
        b"Content-Length: 1000\r\n\r\n{",
        b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
        b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n",
    ],
)
@pytest.mark.parametrize("path", [b"chat/completions", b"embeddings"])
def test_half_a_body(shared_gateway: Start, half: bytes, path: bytes) -> None:
    server = shared_gateway("--body-timeout", "0.3")
    with connected(server) as connection:
        connection.sendall(HEAD.replace(b"chat/completions", path) + half)
        answer = rest(connection)
    answer = answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    assert status(answer) == 408
    assert "The body of the request did not come" in error(answer)["message"]


@pytest.mark.slow
def test_half_a_second_request(shared_gateway: Start) -> None:
    """The clock runs anew for each request of a connection."""
    server = shared_gateway(*HASTY)
    answer = b"HTTP/1.1 408"
    while status(answer) == 408:  # where the machine is busy, the first one may be slow, too
        with connected(server) as connection:
            connection.sendall(WHOLE)
            answer = connection.recv(65536)
            while not answer.endswith(b"}"):
                answer += connection.recv(65536)
            connection.sendall(HEAD)
            behind = rest(connection)
    assert status(answer) == 200
    assert status(behind) == 408


@pytest.mark.slow
def test_a_body_that_nobody_wanted(shared_gateway: Start) -> None:
    """It was answered before it had come: the connection is closed all the same."""
    server = shared_gateway(*HASTY)
    answer = b"HTTP/1.1 408"
    while status(answer) == 408:  # where the machine is busy, the answer came too late
        with connected(server) as connection:
            connection.sendall(b"POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{")
            answer = rest(connection)
    assert status(answer) in (404, 405)


@pytest.mark.slow
def test_a_slow_answer_is_not_a_slow_request(shared_gateway: Start) -> None:
    server = shared_gateway(*HASTY)
    text = "word " * 15  # each character takes 20 ms
    body = {"model": "tell+slow", "stream": True, "messages": [{"role": "user", "content": text}]}
    url = f"{server.url}/v1/chat/completions"
    while (answer := httpx2.post(url, json=body, timeout=PATIENCE)).status_code == 408:
        continue  # where the machine is busy, the request was slow, too
    assert answer.status_code == 200
    assert answer.text.endswith("data: [DONE]\n\n")


def test_a_head_of_any_length_is_not_taken(shared_gateway: Start) -> None:
    with connected(shared_gateway()) as connection:
        connection.sendall(HEAD + b"X-Long: " + b"x" * 100_000)
        assert status(connection.recv(65536)) == 400


def test_too_many_connections(start_gateway: Start) -> None:
    server = start_gateway("--max-connections", "3", "--header-timeout", "600")
    waiting = [
        socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) for _ in range(3)
    ]
    with connected(server) as one_more:
        one_more.sendall(WHOLE)
        answer = rest(one_more)
    assert status(answer) == 503
    assert error(answer)["type"] == "too_many_connections"
    assert "3 connections" in error(answer)["message"]
    waiting[0].sendall(WHOLE)  # those that are there are served
    assert status(waiting[0].recv(65536)) == 200
    for connection in waiting:
        connection.close()
    give_up = time.monotonic() + PATIENCE
    first = answer
    while status(first) == 503 and time.monotonic() < give_up:  # they are gone, or about to be
        with connected(server) as again:
            again.sendall(WHOLE)
            first = again.recv(65536)
    assert status(first) == 200
