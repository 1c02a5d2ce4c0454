"""Whole answers of an upstream that speaks Anthropic's Messages API itself, normalised.

The rules are those for Chat Completions: an `input` that is no JSON is wrapped, a call without a name
is dropped, missing and repeated ids are made, calls in the text are read where a format is set and there
are no others, and `stop_reason` says what really goes out. What needs no change stays as it is.
"""

from __future__ import annotations

from typing import Any

from ..openai import exact_json
from ..openai.exact_json import Number
from ..openai.message import ToolCall
from ..openai.normalize import CallNormalizer, Finding, found_in_text, read_text
from ..openai.policy import Policy
from .messages_answer import read_input, thinking_block
from .responses import MAX_TEXTS

Json = dict[str, Any]

#: How an answer ends that was not cut off.
DONE_REASONS = ("end_turn", "tool_use", "stop_sequence", "pause_turn")


def normalize_message(message: Json, policy: Policy) -> tuple[Json, list[Finding], int]:
    """A whole message as it may be sent, what was found, and how many calls it has.

    The very same object comes back where nothing had to change.
    """
    content = message.get("content")
    if not isinstance(content, list):
        return message, [], 0
    calls = MessageCalls(policy)
    cut = message.get("stop_reason") not in DONE_REASONS
    native = any(is_call(block) for block in content)
    looks = policy.splits_thoughts or (policy.reads_text and not native)
    kept: list[Any] = []
    found: list[ToolCall] = []
    texts = 0
    for block in content:
        if is_call(block):
            kept += calls.take(block, block.get("input"), cut and block is content[-1])
        elif looks and is_text(block) and texts < MAX_TEXTS:
            texts += 1
            read = read_text(policy, block["text"], calls=not native)
            found += read.tool_calls
            if read.reasoning is not None:
                kept.append(thinking_block(read.reasoning))
            unchanged = not read.tool_calls and read.reasoning is None
            kept += [block] if unchanged else _with_text(block, read.content)
        else:
            kept.append(block)
    kept += calls.from_text(found, cut)
    stop = calls.stop_reason(message.get("stop_reason"))
    if kept == content and stop == message.get("stop_reason"):
        return message, calls.findings, calls.count
    return message | {"content": kept, "stop_reason": stop}, calls.findings, calls.count


def is_call(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_use"


def is_text(block: Any) -> bool:
    return (
        isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    )


def _with_text(block: Json, text: str | None) -> list[Json]:
    return [block | {"text": text}] if text is not None and text.strip() else []


class MessageCalls:
    """The calls of one message."""

    def __init__(self, policy: Policy) -> None:
        self.count = 0
        self.normalizer = CallNormalizer(policy)

    @property
    def findings(self) -> list[Finding]:
        return self.normalizer.findings

    def take(self, block: Json, given: Any, cut: bool) -> list[Json]:
        """A call's block as it may be sent; nothing for one that may not. `given` is its input."""
        if isinstance(given, (list, int, float, Number)):  # JSON, but no object; text may be either
            given = exact_json.dumps(given)
        function = {"name": block.get("name"), "arguments": given}
        taken = self.normalizer.take({"id": block.get("id"), "function": function}, cut=cut)
        if taken is None:
            return []
        self.count += 1
        name = taken["function"]["name"]
        value = self._object(name, taken["function"]["arguments"])
        return [block | {"id": taken["id"], "name": name, "input": value}]

    def read(self, name: str, arguments: str) -> Json:
        """The input of a call whose beginning was sent: an object, whatever it was."""
        function = {"name": name, "arguments": arguments}
        return self._object(name, self.normalizer.taken_arguments(function, cut=False) or "")

    def _object(self, name: str, arguments: str) -> Json:
        value, found = read_input(name, arguments)
        for finding in found:
            self.normalizer.note(finding.reason, finding.action, finding.detail)
        return value

    def from_text(self, found: list[ToolCall], cut: bool) -> list[Json]:
        """The blocks of calls that were found in the text."""
        blocks = []
        for call in found:
            id = self.normalizer.text_id(call.id, call.name)
            start = {"type": "tool_use", "id": id, "name": call.name}
            taken = self.take(start, call.arguments, cut and call is found[-1])
            if taken:
                self.normalizer.note(None, "text_parsed", found_in_text(call.name))
            blocks += taken
        return blocks

    def stop_reason(self, reason: Any) -> Any:
        if self.count and reason in ("end_turn", "stop_sequence"):
            return "tool_use"
        if not self.count and reason == "tool_use":
            return "max_tokens" if self.normalizer.lost_one else "end_turn"
        return "max_tokens" if reason is None and self.normalizer.lost_one else reason
