"""What the tests of the gateway share: requests, metrics, and what every client must get."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2

from ..support import ADD, NOARGS
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


def events(text: str) -> list[Any]:
    """The JSON of the events in a stream's text, without [DONE]."""
    lines = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def metric(client: httpx2.Client, name: str, **labels: str) -> float:
    """A metric's value, 0 where it was never counted."""
    for line in client.get("/metrics").text.splitlines():
        found = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
        if found and found[1] == name:
            pairs = dict(re.findall(r'(\w+)="([^"]*)"', found[2] or ""))
            if pairs == labels:
                return float(found[3])
    return 0.0
