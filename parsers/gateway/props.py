"""What llama.cpp says of itself at `/props`: whether its model is shown the tools of a request.

llama.cpp takes `tools` also where the model's chat template knows none, and drops them without a word.
So an upstream is asked once for each model, before the first request with tools that could have them in
the prompt; where it hides them, they are refused in its place. Other servers have no such path, or say
nothing of tools there: they get the request as it is.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable

import anyio
import httpx2

from .sse import load_object
from .transport import Headers, NotConnected, Request, Response, TransportError, address

#: What the gateway answers in the upstream's place, in the words of servers that do so themselves.
NO_TOOLS = "The upstream does not support tools: it shows none to this model"

_MOST_BYTES = 4 * 1024 * 1024  # of the answer, which has the chat template in it
_MOST_ANSWERS = 1000  # clients may make up names and keys
_A_WHILE = 60.0  # seconds until it is asked again, where it did not say
_NOT_UP = frozenset({502, 503, 504})

#: A model, and the hash of a key: what one client is told is not for the others.
_Asker = tuple[str, int]
_Ask = Callable[[Request], Awaitable[Response]]

_log = logging.getLogger("toolwire.gateway")


def props_url(base: httpx2.URL, model: str = "") -> httpx2.URL:
    """Where to ask: at the server's root, not under its `/v1`. A router wants to hear of which model."""
    path = base.path.rstrip("/")
    above, _, last = path.rpartition("/")
    url = base.copy_with(path=(above if last.startswith("v") else path) + "/props", query=None)
    return url.copy_merge_params({"model": model}) if model else url


def hides_tools(answer: bytes) -> bool:
    """Whether this answer says that the model's chat template knows no tools."""
    caps = (load_object(answer) or {}).get("chat_template_caps")
    return isinstance(caps, dict) and caps.get("supports_tools") is False


class Props:
    """One upstream's answers, by model and by who asks."""

    def __init__(self, base: httpx2.URL, send: _Ask, seconds: float) -> None:
        self._base = base
        self._send = send
        self._seconds = seconds  # that it may take
        self._told: dict[_Asker, tuple[bool, float]] = {}  # … and until when that is believed
        self._asking: dict[_Asker, asyncio.Task[bool]] = {}

    async def hide_tools(self, model: str, key: Headers) -> bool:
        """Whether this model is shown no tools. All that want to know at once wait for one answer."""
        asker = model, hash(tuple(key))
        hides, until = self._told.get(asker, (False, 0.0))
        if time.monotonic() < until:
            return hides
        asking = self._asking.get(asker)
        if asking is None:
            asking = self._asking[asker] = asyncio.create_task(self._ask(asker, key))
            asking.add_done_callback(lambda _: self._asking.pop(asker))
        return await asyncio.shield(asking)  # the client that was first may leave

    async def _ask(self, asker: _Asker, key: Headers) -> bool:
        hides, lasts = False, _A_WHILE
        with anyio.move_on_after(self._seconds):
            hides, lasts = await self._answer(asker[0], key)
        if hides:
            where = self._base.netloc.decode()
            _log.info("%s shows this model no tools: they go into the prompt", where)
        self._told.pop(asker, None)
        if lasts:
            self._told[asker] = hides, time.monotonic() + lasts
        while len(self._told) > _MOST_ANSWERS:
            del self._told[next(iter(self._told))]
        return hides

    async def _answer(self, model: str, key: Headers) -> tuple[bool, float]:
        """What it says, and for how many seconds that holds: none where it is not up yet."""
        headers = [(b"host", self._base.netloc), *key, (b"accept-encoding", b"identity")]
        url = address(self._base, props_url(self._base, model).raw_path)
        try:
            response = await self._send(Request("GET", url, headers))
            try:
                said = await _body(response)
            finally:
                response.close()
        except NotConnected:
            return False, 0.0
        except TransportError:
            return False, _A_WHILE
        if response.status in _NOT_UP:
            return False, 0.0
        if response.status in (401, 403):  # to this client
            return False, _A_WHILE
        return hides_tools(said), math.inf


async def _body(response: Response) -> bytes:
    said = bytearray()
    async for chunk in response.body():
        said += chunk
        if len(said) > _MOST_BYTES:
            return b""
    return bytes(said)
