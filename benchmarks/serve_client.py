"""A client that watches the clock: one streamed answer, and when each piece of it arrived.

Nothing of vLLM is needed: any server that speaks Chat Completions can be asked.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2
from toolwire.errors import ToolwireError

#: What arrives within this time (seconds) arrives together: one read may bring several events.
TOGETHER = 0.0005


@dataclass
class Answer:
    """One streamed answer; the times are those of `time.perf_counter`."""

    started: float
    ended: float = 0.0
    begun: float | None = None  # the first token, whatever a parser made of it
    #: When something of the message arrived: text, or a piece of a call.
    arrivals: list[float] = field(default_factory=list)
    named: float | None = None  # … the first call's name
    content: str = ""
    calls: list[list[str]] = field(default_factory=list)  # name and arguments
    tokens: int | None = None
    finish: str | None = None
    error: str | None = None
    stopped: bool = False  # by the one who asked: it took too long
    _last: float = 0.0

    @property
    def gaps(self) -> list[float]:
        pairs = zip(self.arrivals, self.arrivals[1:], strict=False)
        return [later - earlier for earlier, later in pairs]

    def take(self, event: dict[str, Any], now: float) -> None:
        if "error" in event:
            self.error = f"error in the stream: {_message(event)}"
        if event.get("usage"):
            self.tokens = event["usage"].get("completion_tokens")
        for choice in event.get("choices") or []:
            self.begun = self.begun or now
            self.finish = choice.get("finish_reason") or self.finish
            self._take_delta(choice.get("delta") or {}, now)

    def _take_delta(self, delta: dict[str, Any], now: float) -> None:
        entries = delta.get("tool_calls") or []
        text = delta.get("content") or ""
        self.content += text
        for entry in entries:
            self._take_call(entry, now)
        if entries or text or delta.get("reasoning") or delta.get("reasoning_content"):
            if now - self._last > TOGETHER:
                self.arrivals.append(now)
            self._last = now

    def _take_call(self, entry: dict[str, Any], now: float) -> None:
        function = entry.get("function") or {}
        while len(self.calls) <= entry.get("index", 0):
            self.calls.append(["", ""])
        call = self.calls[entry.get("index", 0)]
        call[0] += function.get("name") or ""
        call[1] += function.get("arguments") or ""
        if call[0] and self.named is None:
            self.named = now


class Client:
    """Asks one server. Errors of a request are in its answer; `check` raises them as a sentence."""

    def __init__(self, base_url: str, api_key: str | None = None, timeout: float = 600) -> None:
        self.base_url = base_url.rstrip("/")
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        # A connection for each request, as many clients have; no proxy on the way to this machine.
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=0)
        local = self.base_url.startswith(("http://127.0.0.1", "http://localhost"))
        self._http = httpx2.AsyncClient(
            timeout=timeout, limits=limits, headers=headers, trust_env=not local
        )

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def first_model(self) -> str:
        """The name of the model that the server lists first."""
        answer = await self._models()
        try:
            return str(answer.json()["data"][0]["id"])
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise ToolwireError(
                f"{self.base_url}/models lists no model (status {answer.status_code}). "
                "Name one with --model."
            ) from error

    async def check(self, body: dict[str, Any]) -> None:
        """One short request, so that what would fail a thousand times is said once."""
        await self._models()
        answer = await self.ask({**body, "max_tokens": 1})
        if answer.error:
            raise ToolwireError(f"{self.base_url} does not serve this: {answer.error}")

    async def _models(self) -> httpx2.Response:
        try:
            return await self._http.get(f"{self.base_url}/models")
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise ToolwireError(f"No server answers at {self.base_url}: {error}") from error

    async def ask(self, body: dict[str, Any], within: float | None = None) -> Answer:
        """The answer, or as much of it as came `within` so many seconds."""
        answer = Answer(time.perf_counter())
        try:
            await asyncio.wait_for(self._stream(body, answer), within)
        except asyncio.TimeoutError:
            answer.stopped = True
        except (httpx2.HTTPError, ValueError) as error:
            answer.error = f"{type(error).__name__}: {error}"
        answer.ended = time.perf_counter()
        return answer

    async def _stream(self, body: dict[str, Any], answer: Answer) -> None:
        body = {**body, "stream": True, "stream_options": {"include_usage": True}}
        url = f"{self.base_url}/chat/completions"
        async with self._http.stream("POST", url, json=body) as response:
            if response.status_code != 200:
                answer.error = f"status {response.status_code}: {_said(await response.aread())}"
                return
            ended = False
            async for line in response.aiter_lines():
                field_name, _, value = line.partition(":")
                if field_name != "data":
                    continue
                if value.strip() == "[DONE]":
                    ended = True
                else:
                    answer.take(json.loads(value), time.perf_counter())
            if not ended and answer.error is None:
                answer.error = "the stream broke off"


def _said(raw: bytes) -> str:
    """The sentence in an error's body, or the body's beginning."""
    text = raw.decode(errors="replace")
    try:
        return _message(json.loads(text))
    except ValueError:
        return text[:200]


def _message(told: Any) -> str:
    error = told.get("error", told) if isinstance(told, dict) else told
    return str(error.get("message", error) if isinstance(error, dict) else error)[:300]


async def keep_busy(
    client: Client, bodies: Sequence[dict[str, Any]], seconds: float
) -> list[Answer]:
    """A stream for each body: it asks again and again until the time is over, then ends its last."""
    until = time.perf_counter() + seconds
    answers: list[Answer] = []

    async def one(body: dict[str, Any]) -> None:
        while True:
            answers.append(await client.ask(body))
            if time.perf_counter() >= until:
                return

    await asyncio.gather(*(one(body) for body in bodies))
    return answers


def percentile(values: Sequence[float], share: float) -> float | None:
    """By the nearest rank; nothing of nothing."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else None


def percentiles(seconds: Sequence[float]) -> dict[str, float | None]:
    """The middle and the slow end, in milliseconds."""
    found = {"p50": percentile(seconds, 0.5), "p99": percentile(seconds, 0.99)}
    return {key: None if value is None else round(1000 * value, 2) for key, value in found.items()}
