"""What the tests of the gateway share: requests, metrics, and what every client must get."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2

from ..support import ADD, NOARGS
from .conftest import PATIENCE, Server
from .scripted_answers import ONE

TOOLS = [ADD, NOARGS]
FLAT_TOOLS = [{"type": "function", **tool["function"]} for tool in TOOLS]
ASK = [{"role": "user", "content": "1+1?"}]
ID = re.compile(r"call_[0-9a-f]{24}")
WRAPPED = json.dumps({"input": '{"a": oops'})

#: What a client must get, streamed or whole: text, calls (name, arguments), finish reason.
EXPECTED: dict[str, tuple[str | None, list[tuple[str, str]], str]] = {
    "simple": (None, [("add", ONE)], "tool_calls"),
    "chunked": (None, [("add", ONE)], "tool_calls"),
    "empty": (None, [("noargs", "{}")], "tool_calls"),
    "malformed": (None, [("add", WRAPPED)], "tool_calls"),
    "missing": ("Hm.", [], "stop"),
    "parallel": (None, [("add", ONE), ("noargs", "{}")], "tool_calls"),
    "kilo": (None, [("add", '{"a": 1}'), ("noargs", "{}"), ("add", ONE)], "tool_calls"),
    "text": ("Let me look.", [("add", ONE)], "tool_calls"),
    "plain": ("Grüße, 世界!", [], "stop"),
    "cut": (None, [], "length"),
}

#: The same for the Responses API: text and calls.
EXPECTED_OUTPUT: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "simple": ("", [("add", ONE)]),
    "chunked": ("Well.", [("add", ONE)]),
    "empty": ("", [("noargs", "{}")]),
    "malformed": ("", [("add", WRAPPED)]),
    "missing": ("Hm.", []),
    "parallel": ("", [("add", ONE), ("noargs", "{}")]),
    "kilo": ("", [("add", '{"a": 1}'), ("noargs", "{}")]),
    "text": ("Let me look.", [("add", ONE)]),
    "plain": ("Grüße, 世界!", []),
}


def ask(model: str, **more: Any) -> dict[str, Any]:
    return {"model": model, "messages": ASK, "tools": TOOLS} | more


def ask_for(*body: bytes | float, **how: Any) -> dict[str, Any]:
    """A request that the scripted upstream answers with these bytes, and waits of so many seconds."""
    parts = [part.decode("latin-1") if isinstance(part, bytes) else part for part in body]
    more = {k: how.pop(k) for k in list(how) if k not in ("head", "status", "type", "picky")}
    given = how | {"body": parts}
    return {"model": "given", "messages": ASK, "tools": TOOLS, "x_given": given} | more


def chat_event(delta: Any, reason: str | None = None, **more: Any) -> bytes:
    """One event of a Chat Completions stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return (
        f"data: {json.dumps(head | {'choices': [choice]} | more, ensure_ascii=False)}\n\n".encode()
    )


def call_event(arguments: Any, name: str | None = "add", id: Any = "c1", index: Any = 0) -> bytes:
    """An event with a piece of a call."""
    function = {"arguments": arguments} | ({"name": name} if name else {})
    entry = {"index": index, "function": function} | ({"id": id} if name else {})
    return chat_event({"tool_calls": [entry]})


def events(text: str) -> list[Any]:
    """The JSON of the events in a stream's text, without [DONE]."""
    lines = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def seen(upstream: Server, model: str) -> int:
    """How often the scripted upstream was asked for a model."""
    told = httpx2.get(f"{upstream.url}/v1/seen", timeout=PATIENCE).json()["seen"]
    return int(told.get(model, 0))


def metric(client: httpx2.Client, name: str, **labels: str) -> float:
    """A metric's value, 0 where it was never counted."""
    for line in client.get("/metrics").text.splitlines():
        found = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
        if found and found[1] == name:
            pairs = dict(re.findall(r'(\w+)="([^"]*)"', found[2] or ""))
            if pairs == labels:
                return float(found[3])
    return 0.0
