"""What the tests of the Messages API share: what every client must get, and an agent's requests."""

from __future__ import annotations

import base64
from typing import Any

import anthropic
from anthropic.lib.streaming._messages import accumulate_event

from .conftest import PATIENCE, Server
from .scripted_messages import ADD
from .support_gateway import TOOLS

Json = dict[str, Any]

USER: Any = [{"role": "user", "content": "1+1?"}]
USE_TOOLS: Any = [
    {"name": tool["function"]["name"], "input_schema": tool["function"]["parameters"]}
    for tool in TOOLS
]
ASKED: Any = {"max_tokens": 100, "messages": USER, "tools": USE_TOOLS}

#: What a client must get, streamed or whole, translated or not: thoughts, text, calls, stop reason.
EXPECTED_MESSAGE: dict[str, tuple[str, str, list[tuple[str, Json]], str]] = {
    "simple": ("", "", [("add", ADD)], "tool_use"),
    "chunked": ("", "", [("add", ADD)], "tool_use"),
    "empty": ("", "", [("noargs", {})], "tool_use"),
    "malformed": ("", "", [("add", {"input": '{"a": oops'})], "tool_use"),
    "missing": ("", "Hm.", [], "end_turn"),
    "parallel": ("", "", [("add", ADD), ("noargs", {})], "tool_use"),
    "kilo": ("", "", [("add", {"a": 1}), ("noargs", {}), ("add", ADD)], "tool_use"),
    "array": ("", "", [("add", {"input": [1, 2]})], "tool_use"),
    "text": ("", "Let me look.", [("add", ADD)], "tool_use"),
    "plain": ("", "Grüße, 世界!", [], "end_turn"),
    "think": ("Hm, well.", "So.", [("add", ADD)], "tool_use"),
    "cut": ("", "", [], "max_tokens"),
}
#: What live can't repair, because it was already sent.
NOT_LIVE = ("malformed", "missing", "cut")


def claude(server: Server, **more: Any) -> anthropic.Anthropic:
    """The official client, as an agent has it: nothing but the base URL differs."""
    given: Any = {"base_url": server.url, "api_key": "k", "max_retries": 0, "timeout": PATIENCE}
    return anthropic.Anthropic(**given | more)


def parts(content: list[Any]) -> tuple[str, str, list[tuple[str, Any]]]:
    """Thoughts, text and calls of a message's content, whether objects of the SDK or JSON."""
    blocks: list[Json] = [b if isinstance(b, dict) else b.to_dict() for b in content]
    thoughts = "".join(b["thinking"] for b in blocks if b["type"] == "thinking")
    text = "".join(b["text"] for b in blocks if b["type"] == "text")
    calls = [(b["name"], b["input"]) for b in blocks if b["type"] == "tool_use"]
    assert all(b["text"].strip() for b in blocks if b["type"] == "text"), "a blank block"
    ids = [b["id"] for b in blocks if b["type"] == "tool_use"]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    return thoughts, text, calls


def accumulated(events: list[Json]) -> Json:
    """The message that the SDK's own accumulation makes of a stream, its order checked on the way."""
    check_order(events)
    snapshot: Any = None
    buffers: dict[int, bytes] = {}
    for event in events:
        if event["type"] not in ("ping", "error"):
            given: Any = {"event": event, "current_snapshot": snapshot, "json_bufs": buffers}
            snapshot = accumulate_event(**given)
    made: Json = snapshot.to_dict()
    return made


def check_order(events: list[Json]) -> None:
    """One block at a time, numbered without holes, between the beginning and the end of a message."""
    kinds = [event["type"] for event in events if event["type"] != "ping"]
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert set(kinds[1:-2]) <= {
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    }
    blocks, still_open = 0, False
    for event in events:
        kind = event["type"].removeprefix("content_block_")
        if kind == "start":
            assert not still_open
            assert event["index"] == blocks
            blocks, still_open = blocks + 1, True
        elif kind in ("delta", "stop"):
            assert still_open
            assert event["index"] == blocks - 1
            still_open = kind == "delta"
    assert not still_open


def without_ids(message: Json) -> Json:
    """A message without what is made anew each time."""
    content = [{k: v for k, v in block.items() if k != "id"} for block in message["content"]]
    kept = ("role", "model", "stop_reason", "stop_sequence", "usage")
    return {key: message[key] for key in kept} | {"content": content}


PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n, and a pixel").decode()
_CACHED = {"cache_control": {"type": "ephemeral"}}


def agent_tools() -> list[Json]:
    """Twenty tools as a coding agent declares them, with descriptions of some thousand characters."""
    names = ["Read", "Write", "Edit", "Bash", "Grep", "Glob", "WebFetch", "TodoWrite", "Task"]
    names += [f"mcp__server-{i}__do_something" for i in range(11)]
    tools = [
        {
            "name": name,
            "description": f"{name} does this. " + "Use it whenever it is the right one. " * 100,
            "input_schema": {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "type": "object",
                "properties": {
                    "file_path": {"type": "string", "description": "An absolute path"},
                    "limit": {"type": ["integer", "null"], "exclusiveMinimum": 0},
                    "edits": {"type": "array", "items": {"type": "object", "properties": {}}},
                },
                "required": ["file_path"],
                "additionalProperties": False,
            },
        }
        for name in names
    ]
    tools[-1] |= _CACHED
    return tools


def agent_conversation() -> list[Json]:
    """A coding agent's third turn: thoughts, parallel calls, an error, an image, cache markers."""
    return [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "<system-reminder>Be brief.</system-reminder>"},
                {"type": "text", "text": "What is in the screenshot?", **_CACHED},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Two files.", "signature": "toolwire"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": "I look."},
                use_of("toolu_1", "Read", {"file_path": "/tmp/é.png"}),
                use_of("toolu_2", "Bash", {"file_path": "ls", "limit": 5.0}),
                use_of("toolu_3", "Glob", {}),
            ],
        },
        {
            "role": "user",
            "content": [
                result_of("toolu_1", [{"type": "text", "text": "1x1"}, image()]),
                result_of("toolu_2", "ls: not found") | {"is_error": True},
                {"type": "tool_result", "tool_use_id": "toolu_3", **_CACHED},
                {"type": "text", "text": "Go on.", **_CACHED},
            ],
        },
    ]


def use_of(id: str, name: str, given: Any) -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def result_of(id: str, content: Any) -> Json:
    return {"type": "tool_result", "tool_use_id": id, "content": content}


def image() -> Json:
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    return {"type": "image", "source": source}
