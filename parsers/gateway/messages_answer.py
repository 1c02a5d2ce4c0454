"""An answer of Chat Completions, as one of Anthropic's Messages API. Its stream is in `messages_stream`.

Calls are normalised on the Chat side, before they are translated: calls in the text, broken arguments,
ids and the finish reason are decided there, for both APIs alike. What is decided here is what only the
Messages API asks for: an `input` is always an object, and a block of text is never blank.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..openai import exact_json
from ..openai.answers import CUT_REASONS
from ..openai.normalize import Finding, normalize_response
from ..openai.policy import Policy
from ..openai.sizes import shortened
from ..schema.json_schema import too_deep
from ..schema.kinds import json_type
from .messages_errors import as_messages_error
from .sse import MAX_DEPTH

Json = dict[str, Any]

#: Thoughts have a signature, and some clients only send back those that do. It is not looked at.
SIGNATURE = "toolwire"


def translated_answer(response: Json, policy: Policy) -> tuple[Json, list[Finding], int]:
    """A whole answer of Chat Completions as a message, what was found, and how many calls it has."""
    normal, findings, calls = normalize_response(response, policy)
    choices = normal.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return as_messages_error(response), findings, 0
    content, found = _content(message)
    usage = read_usage(normal.get("usage"))
    translated = message_start(normal) | {"content": content, "usage": usage}
    return translated | stop_of(choice), findings + found, calls


def message_start(answer: Json) -> Json:
    """A message without its content, from an answer or from the first chunk of one."""
    id, model = answer.get("id"), answer.get("model")
    return {
        "id": f"msg_{id}" if isinstance(id, str) and id else f"msg_{os.urandom(12).hex()}",
        "type": "message",
        "role": "assistant",
        "model": model if isinstance(model, str) else "",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": read_usage(None),
    }


def _content(message: Json) -> tuple[list[Json], list[Finding]]:
    blocks: list[Json] = []
    findings: list[Finding] = []
    thoughts, text = reasoning_in(message), text_in(message)
    if thoughts.strip():
        blocks.append(thinking_block(thoughts))
    if text.strip():
        blocks.append({"type": "text", "text": text})
    for call in message.get("tool_calls") or ():
        about = call_in(call)
        if about is not None:
            id, name, arguments = about
            given, found = read_input(name, arguments)
            blocks.append({"type": "tool_use", "id": id, "name": name, "input": given})
            findings += found
    return blocks, findings


def thinking_block(thoughts: str) -> Json:
    return {"type": "thinking", "thinking": thoughts, "signature": SIGNATURE}


def reasoning_in(message: Json) -> str:
    """The thoughts in a message or a delta, under whichever of its names."""
    for key in ("reasoning_content", "reasoning"):
        if isinstance(message.get(key), str) and message[key]:
            return str(message[key])
    return ""


def text_in(message: Json) -> str:
    """The text in a message or a delta; that of a refusal, too."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(part for part in parts if isinstance(part, str))
    refusal = message.get("refusal")
    said = (content if isinstance(content, str) else "", refusal)
    return "".join(text for text in said if isinstance(text, str))


def call_in(call: Any) -> tuple[str, str, str] | None:
    """The id, the name and the arguments of a call, or of the piece that begins one."""
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        return None
    return str(call.get("id")), str(function.get("name")), str(function.get("arguments") or "")


def read_input(name: str, arguments: str) -> tuple[Json, list[Finding]]:
    """A call's arguments as an object; what is none is put into one."""
    value = load_json(arguments)
    if isinstance(value, dict):
        return value, []
    if value is None and arguments.strip() in ("", "null"):
        return {}, []
    return {"input": arguments if value is None else value}, [no_object(name)]


def no_object(name: str) -> Finding:
    """Arguments that are no object (which was told) were put into one."""
    detail = f"the arguments of {shortened(name)!r} were put into an object"
    return Finding(None, "wrapped", detail)


def load_json(text: str) -> Any:
    """JSON with its numbers as they were written; None for what is none, or can't be written again."""
    if json_type(text) is None:
        return None
    try:
        value = exact_json.loads(text)
    except (ValueError, RecursionError):  # too deep, or an endless number
        return None
    return None if isinstance(value, (dict, list)) and too_deep(value, MAX_DEPTH) else value


def stop_of(choice: Json) -> Json:
    """Why the answer ended. Servers name the stop text that was found in fields of their own."""
    reason = choice.get("finish_reason")
    if reason in ("tool_calls", "function_call"):
        return {"stop_reason": "tool_use", "stop_sequence": None}
    if reason == "content_filter":
        return {"stop_reason": "refusal", "stop_sequence": None}
    if reason in CUT_REASONS:
        return {"stop_reason": "max_tokens", "stop_sequence": None}
    for key in ("stop_reason", "matched_stop"):  # vLLM's, SGLang's; a number is a token
        if isinstance(choice.get(key), str):
            return {"stop_reason": "stop_sequence", "stop_sequence": choice[key]}
    return {"stop_reason": "end_turn", "stop_sequence": None}


def read_usage(usage: Any) -> Json:
    """Token counts. What came from the server's cache is counted apart from the rest of the input."""
    given = usage if isinstance(usage, Mapping) else {}
    details = given.get("prompt_tokens_details")
    cached = _count(details if isinstance(details, Mapping) else {}, "cached_tokens")
    return {
        "input_tokens": max(0, _count(given, "prompt_tokens") - cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": _count(given, "completion_tokens"),
    }


def _count(counts: Mapping[str, Any], key: str) -> int:
    value = counts.get(key)
    return value if isinstance(value, int) and value >= 0 else 0
