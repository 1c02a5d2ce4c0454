"""The Responses API: its whole answers, normalised. Its stream is in `responses_stream`.

A call is an item of the output here: `{"type": "function_call", "call_id", "name", "arguments"}`.
"""

from __future__ import annotations

import os
from typing import Any

from ..openai.message import ToolCall
from ..openai.normalize import (
    MAX_CHOICES,
    CallNormalizer,
    Finding,
    found_in_text,
    read_text,
)
from ..openai.policy import Policy
from .responses_thoughts import thought_item

Json = dict[str, Any]

#: Of more texts than this, the rest is not read for calls.
MAX_TEXTS = MAX_CHOICES


def normalize_output(response: Json, policy: Policy) -> tuple[Json, list[Finding], int]:
    """A whole answer as it may be sent, what was found, and how many calls it has."""
    output = response.get("output")
    if not isinstance(output, list):
        return response, [], 0
    normalizer = CallNormalizer(policy)
    cut = response.get("status") != "completed"
    items = [normal_item(normalizer, it, cut and it is output[-1]) for it in output]
    kept = [item for item in items if item is not None]
    native = any(is_call(item) for item in output)
    if policy.splits_thoughts or (policy.reads_text and not native):
        kept = _items_with_text_read(normalizer, kept, policy, cut, native)
    changed = response if kept == output else response | {"output": kept}
    return changed, normalizer.findings, sum(is_call(item) for item in kept)


def is_call(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == "function_call"


def normal_item(normalizer: CallNormalizer, item: Any, cut: bool) -> Any:
    """The item as it may be sent; None for a call that may not."""
    if not is_call(item):
        return item
    function = {k: item[k] for k in ("name", "arguments") if k in item}
    taken = normalizer.take({"id": item.get("call_id"), "function": function}, cut=cut)
    if taken is None:
        return None
    return item | {"call_id": taken["id"]} | taken["function"]


def _items_with_text_read(
    normalizer: CallNormalizer, items: list[Any], policy: Policy, cut: bool, native: bool
) -> list[Any]:
    """The items with thoughts before the text they stood in, and calls behind it (no `native` ones)."""
    kept: list[Any] = []
    calls: list[ToolCall] = []
    texts = 0
    for item in items:
        parts = item.get("content") if isinstance(item, dict) else None
        if not isinstance(parts, list) or item.get("type") != "message":
            kept.append(item)
            continue
        new_parts = []
        for part in parts:
            found = None
            if is_text(part) and texts < MAX_TEXTS:
                texts += 1
                found = read_text(policy, part["text"], calls=not native)
            if found is not None and found.reasoning is not None:
                kept.append(thought_item(found.reasoning))
            if found is None or not (found.tool_calls or found.reasoning is not None):
                new_parts.append(part)
                continue
            calls += found.tool_calls
            if found.content is not None:
                new_parts.append(part | {"text": found.content})
        if new_parts or not parts:
            kept.append(item | {"content": new_parts})
    return kept + text_items(normalizer, calls, cut)


def is_text(part: Any) -> bool:
    return (
        isinstance(part, dict)
        and part.get("type") == "output_text"
        and isinstance(part.get("text"), str)
    )


def text_items(normalizer: CallNormalizer, calls: list[ToolCall], cut: bool) -> list[Json]:
    """The calls found in the text, as items of the output."""
    items = []
    for call in calls:
        raw = {
            "type": "function_call",
            "id": f"fc_{os.urandom(12).hex()}",
            "call_id": normalizer.text_id(call.id, call.name),
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        }
        item = normal_item(normalizer, raw, cut and call is calls[-1])
        if item is not None:
            normalizer.note(None, "text_parsed", found_in_text(call.name))
            items.append(item)
    return items
