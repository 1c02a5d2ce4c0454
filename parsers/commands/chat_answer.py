"""One streamed answer in `toolwire chat`: what its events say, put together as they come."""

from __future__ import annotations

import json
from typing import Any

from ..errors import ToolwireError
from ..gateway.sse import load_object
from ..openai import Message, accumulate
from ..openai.deltas import REASONING_KEYS
from ..openai.policy import Policy
from ..openai.stream_normalize import ChatStream

Json = dict[str, Any]

_MAX_SHOWN = 300  # characters of an error that a server explains at length


class Answer:
    """One streamed answer, put together as it comes.

    Servers number calls from 1, leave ids out, send arguments as objects: the gateway's normaliser
    brings them into the one shape that `accumulate` takes, and knows what was odd.
    """

    def __init__(self) -> None:
        self.events = 0
        self.reason: str | None = None
        self.usage: Json | None = None
        self.reasoning_key = ""  # what the server calls thoughts, as soon as there are some
        self._stream = ChatStream(Policy(), mode="live")
        self._deltas: list[Json] = []

    def take(self, chunk: Json) -> list[Json]:
        """Takes one event in; gives the deltas that it is worth."""
        self.events += 1
        if chunk.get("error") or chunk.get("object") == "error":
            raise ToolwireError(f"The server reported an error: {error_words(_dump(chunk))}")
        if isinstance(chunk.get("usage"), dict):
            self.usage = chunk["usage"]
        choice = first_choice(chunk)
        delta = choice.get("delta")
        given = delta if isinstance(delta, dict) else {}
        said = [k for k in REASONING_KEYS if isinstance(given.get(k), str) and given[k]][:1]
        thoughts = [{"reasoning_content": given[key]} for key in said]
        self.reasoning_key = self.reasoning_key or "".join(said)
        kept = {k: v for k, v in given.items() if k in ("content", "tool_calls", "function_call")}
        if not isinstance(kept.get("content"), str):
            kept.pop("content", None)
        self.reason = finish_reason(chunk) or self.reason
        new = {"index": 0, "delta": kept, "finish_reason": finish_reason(chunk)}
        self._deltas += thoughts
        return thoughts + self._keep(self._stream.feed({"choices": [new]}))

    def finish(self) -> Message:
        """The stream is over: the message. Raises `ToolwireError` where a call was cut off."""
        rest = self._stream.finish(done=True)
        for chunk in rest:
            if chunk.get("error"):
                raise ToolwireError(f"The stream broke off: {chunk['error']['message']}")
        self._keep(rest)
        return accumulate(self._deltas)

    @property
    def oddities(self) -> list[str]:
        """What was wrong with the calls as the server sent them, and was put right."""
        return [finding.detail for finding in self._stream.findings if finding.action]

    def _keep(self, chunks: list[Json]) -> list[Json]:
        deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
        self._deltas += deltas
        return deltas


def error_words(body: bytes) -> str:
    """What a server says about an error: its own sentence, or the beginning of what it sent."""
    told = load_object(body) or {}
    error = told.get("error") or told
    said = error.get("message") if isinstance(error, dict) else error
    if not isinstance(said, str):
        said = body.decode(errors="replace") or "no explanation"
    said = " ".join(said.split())
    return said if len(said) <= _MAX_SHOWN else said[:_MAX_SHOWN] + "…"


def first_choice(chunk: Json) -> Json:
    """The first choice of a chunk: this client never asks for more than one."""
    choices = chunk.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def finish_reason(chunk: Json) -> str | None:
    reason = first_choice(chunk).get("finish_reason")
    return reason if isinstance(reason, str) else None


def essence(data: str, chunk: Json | None) -> str:
    """What an event says, without the id, the model and the time that every event repeats."""
    choice = first_choice(chunk or {})
    if not isinstance(choice.get("delta"), dict):
        return data
    said = dict(choice["delta"])
    if choice.get("finish_reason") is not None:
        said["finish_reason"] = choice["finish_reason"]
    return json.dumps(said, ensure_ascii=False)


def _dump(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode(errors="replace")
