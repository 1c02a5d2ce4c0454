"""The way to the upstream, against a raw server: what goes out to the letter, and what may go wrong."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx2
import pytest
from toolwire.gateway.transport import (
    Broken,
    Connections,
    NotConnected,
    Request,
    Response,
    TookTooLong,
    TransportError,
    address,
)

from .conftest import PATIENCE

Made = TypeVar("Made")
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Raw:
    """A server that answers with these bytes, and keeps what it was sent. Where it is to break off, it
    does so when it is told to."""

    def __init__(self, answer: bytes, *, keeps: bool = True) -> None:
        self.heard: list[bytes] = []
        self.connections = 0
        self.may_break = asyncio.Event()
        self.broken = asyncio.Event()
        self._answer = answer
        self._keeps = keeps

    async def visited(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while head := await reader.read(65536):
            self.heard.append(head)
            writer.write(self._answer)
            await writer.drain()
            if not self._keeps:
                await self.may_break.wait()
                linger = struct.pack("ii", 1, 0)  # nothing more than a reset
                connection = writer.get_extra_info("socket")
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                writer.transport.abort()
                self.broken.set()
                return
        writer.close()


def asked(
    raw: Callable[[], Raw], client: Callable[[Raw, Connections, httpx2.URL], Awaitable[Made]]
) -> Made:
    """What a client makes of such a server."""

    async def both() -> Made:
        server = raw()
        async with await asyncio.start_server(server.visited, "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            connections = Connections(10, PATIENCE, PATIENCE)
            try:
                return await client(server, connections, httpx2.URL(f"http://127.0.0.1:{port}/v1"))
            finally:
                await connections.close()

    return asyncio.run(both())


async def pieces_of(response: Response) -> bytes:
    return b"".join([piece async for piece in response.body()])


async def read_into(read: list[bytes], response: Response) -> None:
    async for piece in response.body():
        read.append(piece)


def test_what_goes_out_is_what_was_given() -> None:
    target = b"/v1/models/org%2Fname/..;/x?q=a+b%20c&d"

    async def client(raw: Raw, connections: Connections, base: httpx2.URL) -> list[bytes]:
        headers = [
            (b"host", base.netloc),
            (b"X-One", "ü".encode()),
            (b"X-One", b"two"),
            (b"cookie", b"a=b"),
        ]
        for method, body in (("GET", b""), ("POST", b""), ("POST", b"{}")):
            response = await connections.ask(Request(method, address(base, target), headers, body))
            assert await pieces_of(response) == b""
        assert raw.connections == 1  # it is kept
        return [heard.replace(base.netloc, b"HOST") for heard in raw.heard]

    head = (
        b" %b HTTP/1.1\r\nhost: HOST\r\nX-One: \xc3\xbc\r\nX-One: two\r\ncookie: a=b\r\n" % target
    )
    assert asked(lambda: Raw(EMPTY), client) == [
        b"GET" + head + b"\r\n",
        b"POST" + head + b"Content-Length: 0\r\n\r\n",
        b"POST" + head + b"Content-Length: 2\r\n\r\n{}",
    ]


def test_an_answer_comes_as_it_is() -> None:
    """Not decoded, no cookie of it kept, no redirect followed, with a long header, behind a 100."""
    long = b"x" * 60_000
    answer = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nSet-Cookie: a=b\r\n"
        b"Content-Encoding: gzip\r\nX-Long: %b\r\nX-Two: 1\r\nx-two: 2\r\nContent-Length: 4\r\n\r\nnope"
    ) % long

    async def client(raw: Raw, connections: Connections, base: httpx2.URL) -> None:
        for _ in range(2):
            response = await connections.ask(Request("POST", address(base, b"/"), []))
            assert (response.status, await pieces_of(response)) == (302, b"nope")
            assert response.header(b"x-long") == long.decode()
            assert response.header(b"x-two") == "1, 2"
            assert response.header(b"x-three") is None
        assert len(raw.heard) == 2
        assert not any(b"ookie" in heard or b"elsewhere" in heard for heard in raw.heard)

    asked(lambda: Raw(answer), client)


def test_what_came_before_it_broke_is_read_first_also_by_who_reads_late() -> None:
    async def client(raw: Raw, connections: Connections, base: httpx2.URL) -> bytes:
        response = await connections.ask(Request("POST", address(base, b"/"), [], b"{}"))
        raw.may_break.set()
        await raw.broken.wait()
        await asyncio.sleep(0.1)  # it is noticed meanwhile, or later: that makes no difference
        read: list[bytes] = []
        with pytest.raises(Broken, match=r"^the connection broke$"):
            await read_into(read, response)
        return b"".join(read)

    assert asked(lambda: Raw(CHUNKED + b"5\r\nfirst\r\n", keeps=False), client) == b"first"


@pytest.mark.parametrize(
    "answer", [b"nonsense\r\n\r\n", CHUNKED + b"zz\r\n", b"HTTP/1.1 200\r\n\x00: 1\r\n\r\n"]
)
def test_what_is_no_http(answer: bytes) -> None:
    async def client(_: Raw, connections: Connections, base: httpx2.URL) -> None:
        with pytest.raises(Broken, match=r"^the connection broke$"):
            await pieces_of(await connections.ask(Request("GET", address(base, b"/"), [])))

    asked(lambda: Raw(answer), client)


def test_nobody_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as once:
        base = httpx2.URL(f"http://127.0.0.1:{once.getsockname()[1]}")

    async def ask() -> None:
        connections = Connections(10, PATIENCE, PATIENCE)
        with pytest.raises(NotConnected, match=r"^no connection$"):
            await connections.ask(Request("POST", address(base, b"/"), [], b"{}"))
        await connections.close()

    asyncio.run(ask())


@pytest.mark.parametrize("size", [2, 50_000_000])
def test_a_server_that_says_nothing_and_one_that_does_not_even_read(size: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        base = httpx2.URL(f"http://127.0.0.1:{silent.getsockname()[1]}")

        async def ask() -> None:
            connections = Connections(10, PATIENCE if size == 2 else 1, 0.1)
            # A machine so busy that there is no connection in a second says so, which is as good.
            with pytest.raises(TookTooLong if size == 2 else TransportError):
                await connections.ask(Request("POST", address(base, b"/"), [], b"x" * size))
            await connections.close()

        asyncio.run(ask())


@pytest.mark.slow
def test_no_free_connection_is_none() -> None:
    async def client(_: Raw, connections: Connections, base: httpx2.URL) -> None:
        few = Connections(1, 3, PATIENCE)
        response = await few.ask(Request("GET", address(base, b"/"), []))
        with pytest.raises(NotConnected, match=r"^no connection in time$"):
            await few.ask(Request("GET", address(base, b"/"), []))
        response.close()
        await few.ask(Request("GET", address(base, b"/"), []))
        await few.close()

    asked(lambda: Raw(CHUNKED), client)
