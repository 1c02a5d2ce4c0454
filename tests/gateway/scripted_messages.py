"""What the scripted upstream answers on `/v1/messages`: whole, and as the events of a stream."""

from __future__ import annotations

import json
from typing import Any

from .scripted_answers import LINE_CALL, ONE, TEXT_CALL, WRITTEN

Json = dict[str, Any]


def use(id: Any, name: Any, given: Any) -> Json:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def text(said: str) -> Json:
    return {"type": "text", "text": said}


def thought(said: str) -> Json:
    return {"type": "thinking", "thinking": said, "signature": "c2ln"}


ADD = json.loads(ONE)

#: The content and how it ended.
MESSAGES: dict[str, tuple[list[Json], Any]] = {
    "simple": ([use("c1", "add", ADD)], "tool_use"),
    "chunked": ([use("c1", "add", ADD)], "end_turn"),
    "empty": ([use("c1", "noargs", "")], "tool_use"),
    "malformed": ([use("c1", "add", '{"a": oops')], "tool_use"),
    "missing": ([text("Hm."), {"type": "tool_use", "id": "c1", "input": {}}], "tool_use"),
    "parallel": ([use("c1", "add", ADD), use("c1", "noargs", {})], "tool_use"),
    "kilo": (
        [use("", "add", '{"a": 1}'), use(None, "noargs", {}), use("c3", "add", ADD)],
        "end_turn",
    ),
    "array": ([use("c1", "add", [1, 2])], "tool_use"),
    "text": ([text(TEXT_CALL)], "end_turn"),
    "plain": ([text("Grüße, 世界!")], "end_turn"),
    "think": ([thought("Hm, well."), text("So."), use("c1", "add", ADD)], "tool_use"),
    "cut": ([use("c1", "add", '{"a": ')], "max_tokens"),
    "line": ([text(LINE_CALL)], "end_turn"),
    **{name: ([text(said)], "end_turn") for name, said in WRITTEN.items()},
}

_DELTAS = {"text": "text_delta", "thinking": "thinking_delta"}


def whole_message(content: list[Any], stop: Any) -> Json:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 2},
        "x_unknown": [1],
    }


def echoed(said: str) -> Json:
    return whole_message([text(said)], "end_turn")


def message_events(content: list[Any], stop: Any) -> list[Json]:
    """The events of the Messages API for some content, as a server sends them."""
    events: list[Json] = [
        {"type": "message_start", "message": whole_message([], None)},
        {"type": "ping"},
    ]
    for index, block in enumerate(content):
        events += _block_events(index, block)
    delta = {"stop_reason": stop, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 2}})
    return [*events, {"type": "message_stop"}]


def _block_events(index: int, block: Json) -> list[Json]:
    kind = block["type"]
    if kind == "tool_use":
        given = block["input"]
        written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        start, pieces = block | {"input": {}}, list(written)
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    else:
        start = block | {kind: ""}
        deltas = [{"type": _DELTAS[kind], kind: piece} for piece in block[kind]]
        if kind == "thinking":
            start["signature"] = ""
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
    about = {"index": index}
    return [
        {"type": "content_block_start", **about, "content_block": start},
        *({"type": "content_block_delta", **about, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", **about},
    ]
