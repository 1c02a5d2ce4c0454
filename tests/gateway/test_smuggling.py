"""Requests whose end two servers could see in different places: nothing behind them is a request."""

from __future__ import annotations

import json

import pytest

from .conftest import Server
from .support_gateway import ask, seen
from .test_abuse import status
from .test_slow_clients import connected, rest

POST = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
BODY = json.dumps(ask("plain")).encode()
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
TE = b"Transfer-Encoding: chunked\r\n"


def smuggled(name: str) -> bytes:
    hidden = json.dumps(ask(f"plain+{name}")).encode()
    return POST + b"Content-Length: %d\r\n\r\n" % len(hidden) + hidden


REFUSED = {
    "length_and_chunked": POST + LENGTH + TE + b"\r\n" + CHUNKED,
    "chunked_and_length": POST + TE + b"Content-Length: 4\r\n\r\n" + CHUNKED,
    "chunked_in_capitals": POST + LENGTH + b"TRANSFER-ENCODING: CHUNKED\r\n\r\n" + CHUNKED,
    "folded_chunked": POST + LENGTH + b"Transfer-Encoding:\r\n chunked\r\n\r\n" + CHUNKED,
    "two_lengths": POST + LENGTH + b"Content-Length: 3\r\n\r\n" + BODY,
    "a_list_of_lengths": POST + b"Content-Length: 3, 4\r\n\r\n" + BODY,
    "a_length_with_a_sign": POST + b"Content-Length: +5\r\n\r\n" + BODY,
    "a_length_in_hex": POST + b"Content-Length: 0x5\r\n\r\n" + BODY,
    "a_negative_length": POST + b"Content-Length: -1\r\n\r\n" + BODY,
    "two_encodings": POST + TE + b"Transfer-Encoding: identity\r\n\r\n" + CHUNKED,
    "chunked_twice": POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + CHUNKED,
    "another_encoding": POST + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNKED,
    "a_space_before_the_colon": POST + b"Transfer-Encoding : chunked\r\n\r\n" + CHUNKED,
    "a_vertical_tab": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + CHUNKED,
    "a_chunk_size_that_is_none": POST + TE + b"\r\nxyz\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a_chunk_size_with_a_sign": POST + TE + b"\r\n+%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY),
    "a_chunk_size_with_0x": POST + TE + b"\r\n0x%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY),
    "a_chunk_size_too_long": POST + TE + b"\r\n" + b"f" * 40 + b"\r\n",
    "a_chunk_without_its_end": POST + TE + b"\r\n%x\r\n%sxx0\r\n\r\n" % (len(BODY), BODY),
    "a_line_without_a_name": POST + b": x\r\n" + LENGTH + b"\r\n" + BODY,
    "a_zero_byte": POST + b"X-A: a\x00b\r\n" + LENGTH + b"\r\n" + BODY,
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_and_the_connection_closed(
    gateway: Server, upstream: Server, name: str
) -> None:
    with connected(gateway) as connection:
        connection.sendall(REFUSED[name] + smuggled(name))
        answer = rest(connection)  # to the end: the gateway closes
    assert status(answer) in (400, 501)
    assert answer.count(b"HTTP/1.1 ") == 1
    assert seen(upstream, f"plain+{name}") == 0


def test_a_folded_line_is_one_line(gateway: Server) -> None:
    """RFC 9112, 5.2: a server refuses it, or puts a space there. The upstream gets no such line."""
    head = (
        b"GET /v1/headers HTTP/1.1\r\nHost: x\r\nX-A: a\r\n X-Evil: 1\r\nConnection: close\r\n\r\n"
    )
    with connected(gateway) as connection:
        connection.sendall(head)
        answer = rest(connection)
    headers = dict(json.loads(answer.partition(b"\r\n\r\n")[2])["headers"])
    assert headers["x-a"] == "a X-Evil: 1"
    assert "x-evil" not in headers


def test_two_requests_in_one_connection_are_two(gateway: Server, upstream: Server) -> None:
    """What is no trick: the tests above could not fail if nothing behind a request were read."""
    both = (
        POST
        + LENGTH
        + b"\r\n"
        + BODY
        + smuggled("pipelined").replace(b"Host: x\r\n", b"Host: x\r\nConnection: close\r\n")
    )
    with connected(gateway) as connection:
        connection.sendall(both)
        answer = rest(connection)
    assert answer.count(b"HTTP/1.1 200 ") == 2
    assert seen(upstream, "plain+pipelined") == 1
