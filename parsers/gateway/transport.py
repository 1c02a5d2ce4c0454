"""Connections to an upstream: requests go out as they are, answers come in as bytes.

aiohttp does it, because it reads HTTP in C: a chunk costs it a third of what it costs clients that are
written in Python. What it would do beyond that is switched off: it follows no redirects, keeps no
cookies, decodes nothing, and adds no headers that nobody has sent. What may go wrong has three names
here, whose words are fit for clients: no addresses are in them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import aiohttp
import anyio
import httpx2
from yarl import URL

Headers = list[tuple[bytes, bytes]]

#: Seconds. Less than the 5 after which many servers (uvicorn's) hang up: a request on a connection
#: that is just being closed fails, and can't be sent again.
_KEPT = 4.0
_LONGEST_LINE = 65_536  # of an answer's head
#: What aiohttp would add to a request.
_ADDED = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


class TransportError(Exception):
    """Something went wrong on the way."""


class NotConnected(TransportError):
    """There was no connection: nothing of the request has left."""


class Broken(TransportError):
    """The connection broke, or what came was no HTTP."""


class TookTooLong(TransportError):
    """Nothing came in time."""


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    url: URL
    headers: Headers
    body: bytes = b""


class Response:
    """An answer that has begun. Its connection is free when it is read to its end, or closed."""

    __slots__ = ("_answer", "headers", "status")

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._answer = answer
        self.status = answer.status
        self.headers: Headers = list(answer.raw_headers)

    def header(self, name: bytes) -> str | None:
        """A header, by its name in small letters; several of them as one."""
        found = [value for key, value in self.headers if key.lower() == name]
        return b", ".join(found).decode("latin-1") if found else None

    async def body(self) -> AsyncIterator[bytes]:
        """The body, in pieces as they come. Raises a `TransportError` behind all that did come."""
        content = self._answer.content
        broken: TransportError | None = None
        while broken is None:
            try:
                piece = await content.readany()
            except (aiohttp.ClientError, OSError, asyncio.TimeoutError) as error:
                broken = _named(error)
                piece = _left(content)
            if piece:
                yield piece
            elif broken is None:
                return
        raise broken

    def close(self) -> None:
        self._answer.close()


class Connections:
    """Those to one upstream. They are kept for the next request."""

    def __init__(self, most: int, connect_timeout: float, read_timeout: float) -> None:
        self._most = most
        self._timeout = aiohttp.ClientTimeout(
            total=None, connect=connect_timeout, sock_read=read_timeout
        )
        #: Until an answer begins: to connect, to send the request, for which aiohttp has no limit, and
        #: to wait.
        self._to_begin = connect_timeout + 2 * read_timeout
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, request: Request) -> Response:
        """The answer, its body still to be read."""
        session = self._session or self._open()
        try:
            with anyio.fail_after(self._to_begin):
                answer = await session.request(
                    request.method,
                    request.url,
                    headers=[(name.decode("latin-1"), _text(v)) for name, v in request.headers],
                    data=request.body if request.body or request.method in _WITH_BODY else None,
                    allow_redirects=False,
                )
        except (aiohttp.ClientError, OSError, asyncio.TimeoutError) as error:
            raise _named(error) from None
        return Response(answer)

    def _open(self) -> aiohttp.ClientSession:
        """Not before there is a loop."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=self._most,
                keepalive_timeout=_KEPT,
                # This machine's own settings are not for other people's requests.
                ssl=httpx2.create_ssl_context(trust_env=False),
            ),
            timeout=self._timeout,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=_ADDED,
            max_line_size=_LONGEST_LINE,
            max_field_size=_LONGEST_LINE,
        )
        return self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def address(base: httpx2.URL, path_and_query: bytes) -> URL:
    """An address at the upstream's host, to the letter: nothing in it is encoded anew."""
    host = base.netloc.decode("ascii")
    return URL(f"{base.scheme}://{host}{path_and_query.decode('latin-1')}", encoded=True)


def _named(error: Exception) -> TransportError:
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return NotConnected("no connection in time")
    if isinstance(error, aiohttp.ClientConnectorError):
        return NotConnected("no connection")
    if isinstance(error, (asyncio.TimeoutError, TimeoutError)):
        return TookTooLong("it took too long")
    return Broken("the connection broke")


def _left(content: aiohttp.StreamReader) -> bytes:
    """What came before the connection broke, and was not read yet: with the error, aiohttp gives none
    of it."""
    content.set_exception(None)  # type: ignore[arg-type]
    return content.read_nowait()


def _text(value: bytes) -> str:
    """A header's value, so that the same bytes go out: aiohttp writes UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
