"""What a client has in the end, from the bytes of an answer: thoughts, text, calls and how it ended.

Ids are left out: they are made anew each time. So is everything that says in how many pieces it came.
"""

from __future__ import annotations

from typing import Any

from ..gateway.messages_route import MESSAGES
from ..gateway.responses_stream import ENDS
from ..gateway.sse import stream_objects
from ..openai import Message, accumulate
from ..openai.deltas import REASONING_KEYS

Json = dict[str, Any]

#: The events of the Responses API that carry thoughts.
REASONING_DELTAS = ("response.reasoning_text.delta", "response.reasoning_summary_text.delta")


def client_result(sent: bytes, api: str) -> Json:
    """What a client makes of a stream. `api` is that of the exchange."""
    if api in MESSAGES:
        return _from_messages(sent)
    return _from_responses(sent) if api == "responses" else _from_chat(sent)


def message_result(message: Message) -> Json:
    calls = [{"name": call.name, "arguments": call.arguments} for call in message.tool_calls]
    return _with_thoughts({"content": message.content, "tool_calls": calls}, message.reasoning)


def _with_thoughts(result: Json, reasoning: str | None) -> Json:
    """Most answers have none, and say nothing of them."""
    return result if reasoning is None else {"reasoning": reasoning, **result}


def _from_chat(sent: bytes) -> Json:
    deltas: dict[str, list[Json]] = {}
    ends: dict[str, Any] = {}
    for chunk in stream_objects(sent):
        listed = chunk.get("choices")
        for choice in listed if isinstance(listed, list) else ():
            if isinstance(choice, dict):
                index = str(choice.get("index", 0))
                deltas.setdefault(index, []).append(_readable(choice.get("delta")))
                ends[index] = choice.get("finish_reason") or ends.get(index)
    choices = {
        i: message_result(accumulate(deltas[i])) | {"finish_reason": ends[i]} for i in deltas
    }
    return choices["0"] if list(choices) == ["0"] else choices


def _readable(delta: Any) -> Json:
    """A delta as far as a client can use it."""
    given = delta if isinstance(delta, dict) else {}
    texts = ("content", *REASONING_KEYS)
    return given | {key: None for key in texts if not isinstance(given.get(key), str)}


def _from_responses(sent: bytes) -> Json:
    text: list[str] = []
    thoughts: list[str] = []
    arguments: dict[str, str] = {}
    items: list[Any] = []
    end: Json = {}
    for event in stream_objects(sent):
        kind, delta = event.get("type"), event.get("delta")
        if kind == "response.output_text.delta" and isinstance(delta, str):
            text.append(delta)
        elif kind in REASONING_DELTAS and isinstance(delta, str):
            thoughts.append(delta)
        elif kind == "response.function_call_arguments.delta" and isinstance(delta, str):
            place = str(event.get("output_index"))
            arguments[place] = arguments.get(place, "") + delta
        elif kind == "response.output_item.done":
            items.append(_essence(event.get("item")))
        elif kind in ENDS:
            response = event.get("response")
            output = response.get("output") if isinstance(response, dict) else None
            listed = output if isinstance(output, list) else []
            end = {"type": kind, "output": [_essence(item) for item in listed]}
    result = {"content": "".join(text) or None, "arguments": arguments, "items": items, "end": end}
    return _with_thoughts(result, "".join(thoughts) or None)


def _from_messages(sent: bytes) -> Json:
    blocks: dict[str, Json] = {}
    end: Json = {}
    for event in stream_objects(sent):
        kind, index, delta = event.get("type"), str(event.get("index")), event.get("delta")
        block = event.get("content_block")
        if kind == "content_block_start" and isinstance(block, dict):
            blocks[index] = _essence(block)
        elif kind == "content_block_delta" and isinstance(delta, dict):
            grown = blocks.setdefault(index, {})
            for key in ("text", "thinking", "partial_json"):
                if isinstance(delta.get(key), str):
                    grown[key] = str(grown.get(key) or "") + delta[key]
        elif kind == "message_delta" and isinstance(delta, dict):
            end = {"stop_reason": delta.get("stop_reason")}
    return {"content": list(blocks.values()), "end": end}


def _essence(item: Any) -> Any:
    """An item of the output without its ids."""
    if not isinstance(item, dict):
        return item
    return {key: value for key, value in item.items() if key not in ("id", "call_id")}
