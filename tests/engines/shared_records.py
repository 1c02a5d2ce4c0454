"""What an engine counts and keeps of the messages that its own classes have read, streamed and whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

CALL = '<tool_call>{"name": "ping", "arguments": {"a": 1}}</tool_call>'
UNKNOWN = CALL.replace("ping", "no_such_tool")
PING = {
    "type": "function",
    "function": {"name": "ping", "parameters": {"type": "object", "properties": {"a": {}}}},
}

#: Reads a message in the format hermes, with the tool above: in pieces, or whole where there is one.
Read = Callable[[list[str]], object]


def value(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"toolwire_{name}_total", {"format": "hermes", **labels}) or 0


def pieces_of(text: str, streamed: bool) -> list[str]:
    return [text[i : i + 4] for i in range(0, len(text), 4)] if streamed else [text]


CASES = pytest.mark.parametrize(
    ("text", "outcome", "off"),
    [
        (f"a{CALL}b{CALL}", "complete", None),
        (CALL[:-14], "incomplete", "incomplete"),
        (UNKNOWN, "unknown_tool", "unknown_tool"),
        ("no call", None, None),
        ("a <tool_call> in prose", None, "marker_without_call"),
        (f"a <tool_call> in prose, and {CALL}", "complete", "marker_without_call"),
        (CALL.replace("arguments", "parameters"), "complete", "opening"),
    ],
)
STREAMED = pytest.mark.parametrize("streamed", [True, False])


def check_counts_and_files(
    read: Read, text: str, streamed: bool, outcome: str | None, off: str | None, folder: Path
) -> None:
    kind = "calls" if outcome else "text"
    calls = text.count("</tool_call>") or 1

    def counted() -> list[float]:
        found = [value("messages", kind=kind), value("drift", what=off or "")]
        return [*found, value("calls", outcome=outcome)] if outcome else found

    before = counted()
    read(pieces_of(text, streamed))
    drifts = 0 if off in (None, "incomplete", "unknown_tool") else 1
    added = [1, drifts, calls] if outcome else [1, drifts]
    assert counted() == [b + a for b, a in zip(before, added, strict=True)]
    kept = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    assert [one["reason"] for one in kept] == ([off] if off else [])
    for one in kept:
        assert len(one["raw"]) == len(pieces_of(text, streamed)) + 2
