"""An answer on its way to the client: takes what the app sends, and sends what the client should get.

A client that hears nothing gives up. So while a stream is held, or has not begun, it gets a comment now
and then. Before the upstream has said anything, that is a promise: the answer is a stream then, and
whatever else the upstream has to say comes as an error event.
"""

from __future__ import annotations

import asyncio
import time
from enum import Enum
from typing import Any

import anyio

from . import metrics
from .asgi import Message, Refused, Send, UpstreamDied, send_json
from .budget import Account, OverBudget
from .by_model import REFUSALS, says_no_tools
from .capture import Captures
from .exchange import (
    Plan,
    answer_error,
    answer_whole,
    error_answer,
    failure,
    late_error,
)
from .messages_route import MESSAGES, NO_ROUTE
from .settings import Settings
from .sse import dump
from .stream_session import StreamSession

KEEP_ALIVE = b": keep-alive\n\n"

_SLICE = 64 * 1024
_STREAM = b"text/event-stream"
_MAX_ERROR = 256 * 1024  # of an answer that is repeated in an error event


class Another(Enum):
    """In which other way the upstream is asked, because its answer is none for the client."""

    TRANSLATED = "it does not know the Messages API"
    IN_PROMPT = "it takes no tools"
    FEWER_TOOLS = "it may not know some kind of tool"
    AGAIN = "it did not call, and had to"


class Answer:
    """Takes what the app sends, and sends what the client should get."""

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        capture: Captures | None,
        send: Send,
        account: Account,
        started: float,
    ) -> None:
        self.plan = plan
        self._account = account
        self._settings = settings
        self._capture = capture
        self._send = send
        self._started = started
        self._start: Message = {}
        self.status = 0  # the upstream's
        self._how = self._pass  # what is done with the parts of the body
        self._whole = bytearray()
        self._stream: StreamSession | None = None
        self._is_stream = False
        self._begun = False  # whether the client has got anything
        self._ended = False
        self._promised: anyio.Event | None = None  # set once a stream was promised
        self._sending = False
        self._last_sent = time.monotonic()
        self._second = plan.second is not None  # it may be asked for with fewer tools
        self._fewer_tools = False  # … and was
        self._retries = plan.retries if plan.must_call else 0
        self.may_be_missing = False  # a 404 or 405 is no answer yet
        self.another: Another | None = None  # what was answered is no answer for the client

    async def take(self, message: Message) -> None:
        kind = message["type"]
        if kind == "http.response.start":
            await self._begin(message)
        elif kind == "http.response.body":
            await self._how(message.get("body", b""), bool(message.get("more_body")))
        else:
            await self._send(message)

    async def _begin(self, message: Message) -> None:
        self._start = message
        self.status = message["status"]
        if self.may_be_missing and self.status in NO_ROUTE:
            self._ask_otherwise(Another.TRANSLATED)
        elif (self.plan.may_prompt and self.status in REFUSALS) or self._may_be_odd_tools:
            self._how = self._collect_refusal
        else:
            await self._go_on(message)

    @property
    def _may_be_odd_tools(self) -> bool:
        return self._second and self.status == 400

    async def _go_on(self, message: Message) -> None:
        """The answer is one for the client."""
        if self._fewer_tools and self.status == 200:
            metrics.REPAIRED.labels("tools").inc()
        metrics.FIRST_BYTE.labels(self.plan.route).observe(time.perf_counter() - self._started)
        headers = {name.lower(): value for name, value in message.get("headers", ())}
        content = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        encoded = headers.get(b"content-encoding", b"identity").strip().lower() != b"identity"
        fit = self.status == 200 and not encoded
        self._how = self._pass
        if fit and content == _STREAM:
            retry = self._retries > 0
            self._stream = StreamSession(
                self.plan, self._settings, self._capture, self._account, retry
            )
            self._how = self._hold_stream if retry else self._pass_stream
            if not self._is_stream:
                metrics.OPEN_STREAMS.inc()
            self._is_stream = True
            self._start = message = _with_length(message, None)
            if retry:
                return
        elif self._promised is not None:
            self._how = self._collect_error
        elif content == b"application/json" and (fit or self._says_errors(encoded)):
            self._how = self._collect
            return
        await self._send_start(message)

    def _ask_otherwise(self, how: Another) -> None:
        """What was answered is no answer, and what comes of it is not wanted."""
        self.another = how
        self._let_go()

    async def _collect_refusal(self, body: bytes, more: bool) -> None:
        """An error that may be about tools. Any other goes on as it is."""
        self._whole += body
        if more and len(self._whole) < _MAX_ERROR:
            return
        told = bytes(self._whole)
        if self._may_be_odd_tools:
            self._second, self._fewer_tools = False, True
            self._ask_otherwise(Another.FEWER_TOOLS)
        elif self.plan.may_prompt and says_no_tools(told.decode(errors="replace")):
            self._ask_otherwise(Another.IN_PROMPT)
        else:
            self._whole.clear()
            await self._go_on(self._start)
            await self._how(told, more)

    def _says_errors(self, encoded: bool) -> bool:
        """Whether an error has to be said in the client's own way."""
        return self.plan.api in MESSAGES and self.status != 200 and not encoded

    def start_over(self, plan: Plan) -> None:
        """The app is asked in another way, and what it answered so far is none."""
        self.plan = plan
        self.may_be_missing = False

    async def _send_start(self, message: Message) -> None:
        self._begun = True
        if self._promised is not None:
            await self._promised.wait()  # the client has a head already, or is just getting it
            return
        await self._send(message)

    async def keep_alive(self) -> None:
        """Runs beside the answer: says something whenever the client has heard nothing for a while."""
        most = self._settings.keep_alive
        while True:
            silent = time.monotonic() - self._last_sent
            if silent < most:
                await anyio.sleep(most - silent)
                continue
            self._last_sent = time.monotonic()
            if self._may_comment():
                await self._comment()

    def _may_comment(self) -> bool:
        """Whether the client waits for a stream, and is not in the middle of an event."""
        if self._ended or self._sending:
            return False
        if self._stream is not None:
            return self._stream.between_events
        return not self._begun or self._promised is not None

    async def _comment(self) -> None:
        if not self._begun and self._promised is None:
            self._promised = anyio.Event()
            headers = [(b"content-type", _STREAM), (b"cache-control", b"no-cache")]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
            self._promised.set()
        await self._send({"type": "http.response.body", "body": KEEP_ALIVE, "more_body": True})

    async def _pass(self, body: bytes, more: bool) -> None:
        """Sends in slices: a server takes what it is given, also for a client that does not read."""
        self._ended = not more
        self._sending = True
        for start in range(0, len(body) - _SLICE, _SLICE):
            part = body[start : start + _SLICE]
            await self._send({"type": "http.response.body", "body": part, "more_body": True})
        rest = body[(len(body) - 1) // _SLICE * _SLICE :] if len(body) > _SLICE else body
        await self._send({"type": "http.response.body", "body": rest, "more_body": more})
        self._sending = False
        self._last_sent = time.monotonic()

    async def _pass_stream(self, body: bytes, more: bool) -> None:
        out, more = self._treated(body, more)
        if out or not more:
            await self._pass(out, more)
            if out is not body or not more:
                self._account.count(self._stream.held if self._stream is not None else 0)

    def _treated(self, body: bytes, more: bool) -> tuple[bytes, bool]:
        """What may be sent of a stream, and whether more may come."""
        assert self._stream is not None
        try:
            out = self._stream.feed(body) if body else b""
            if out is body and more:  # as nearly always: nothing is held of it
                return out, more
            if not more:
                out += self._stream.finish()
            # What waits for a call is held, too.
            self._account.hold(self._stream.held + len(self._whole) + len(out))
        except OverBudget as error:
            out, more = self._stream.give_up(str(error)), False
            self._let_go()
        return out, more

    async def _hold_stream(self, body: bytes, more: bool) -> None:
        """A stream in which a call must come: nothing is sent before there is one, or its end."""
        out, more = self._treated(body, more)
        self._whole += out
        stream = self._stream
        if stream is not None and more and not stream.calls:
            return
        if stream is not None and stream.disobeyed:
            self._retries -= 1
            self._ask_otherwise(Another.AGAIN)
            return
        out = bytes(self._whole)
        self._whole.clear()
        if stream is not None:  # else nobody wants to hear more
            self._how = self._pass_stream
        await self._send_start(self._start)
        await self._pass(out, more)

    async def _collect(self, body: bytes, more: bool) -> None:
        try:
            self._account.hold(len(self._whole) + len(body))
        except OverBudget as error:
            self._let_go()
            await self._answer_error(error.status, failure(str(error), "over_budget"))
            return
        self._whole += body
        if not more:
            whole = bytes(self._whole)
            if self.status == 200:
                retry = self._retries > 0
                out = answer_whole(self.plan, whole, self._capture, retry)
                if retry and not out:
                    self._retries -= 1
                    self._ask_otherwise(Another.AGAIN)
                    return
            else:
                out = answer_error(self.plan, self.status, whole)
            self._whole.clear()
            self._account.count(len(out))
            await self._send_start(_with_length(self._start, len(out)))
            await self._pass(out, False)

    def _let_go(self) -> None:
        """Nothing is held any more, and what the app still sends is not wanted."""
        self._how = self._ignore
        self._stream = None
        self._whole.clear()
        self._account.count(0)

    async def _ignore(self, body: bytes, more: bool) -> None:
        return

    async def _collect_error(self, body: bytes, more: bool) -> None:
        """Anything but the stream that was promised: the client is told what it was."""
        if len(self._whole) < _MAX_ERROR:
            self._whole += body
        if not more:
            await self._pass(late_error(self.plan, self.status, bytes(self._whole)), False)
            self._whole.clear()

    async def _answer_error(
        self, status: int, body: Any, headers: list[tuple[bytes, bytes]] | None = None
    ) -> None:
        self.status = status
        if self._promised is not None:
            await self._send_start({})
            await self._pass(late_error(self.plan, status, dump(body)), False)
            return
        self._begun = self._ended = True
        await send_json(self._send, status, error_answer(self.plan, status, body), headers)

    async def refuse(self, refused: Refused) -> None:
        """The request can't be asked in the only way that is left."""
        await self._answer_error(refused.status, refused.body, refused.headers)

    async def die(self, why: str) -> None:
        """The upstream broke off in the middle of its answer."""
        if self._stream is not None:
            await self._pass(self._stream.die(why), False)
        elif not self._begun or (self._promised is not None and not self._ended):
            await self._answer_error(502, failure(why))
        elif not self._ended:
            raise UpstreamDied(why)  # the server cuts the connection: the client must notice

    def close(self) -> None:
        """The exchange is over, however it ended."""
        if self._stream is not None:
            self._stream.abandon()
        if self._is_stream:
            metrics.OPEN_STREAMS.dec()
        metrics.REQUESTS.labels(self.plan.route, self.status or "none").inc()
        metrics.SECONDS.labels(self.plan.route).observe(time.perf_counter() - self._started)


class KeepAlive:
    """Has an answer say something in silence. That begins once there has been time for one: most answers
    are over by then, and it costs them next to nothing."""

    def __init__(self, answer: Answer, seconds: float) -> None:
        self._answer = answer
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._begin)

    def _begin(self) -> None:
        self._task = asyncio.create_task(self._answer.keep_alive())

    async def __aexit__(self, *raised: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        task = self._task
        if task is None:
            return
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():  # it has failed
            task.result()


def _with_length(start: Message, length: int | None) -> Message:
    headers = [(n, v) for n, v in start.get("headers", ()) if n.lower() != b"content-length"]
    if length is not None:
        headers.append((b"content-length", str(length).encode()))
    return dict(start) | {"headers": headers}
