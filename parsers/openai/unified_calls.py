"""One list of calls from any assistant message, wherever it has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..core.format import Format
from ..errors import ToolwireError
from ..formats.parser import Parser
from .message import Message, ToolCall, collect, parse
from .normalize import CallNormalizer, Finding, hand_over
from .policy import Policy


def unify(
    message: Any,
    format: str | Format | None = None,
    tools: Any = None,
    *,
    sequential_ids: bool = False,
    findings: list[Finding] | None = None,
) -> list[ToolCall]:
    """One list of calls from any assistant message: native calls, else those in its text.

    A broken call is skipped and reported: added to `findings`, or logged where there is no such list.
    `sequential_ids`: an id that has to be made is `add_0`, `add_1`, … and not `call_…`.
    """
    fields = _fields(message)
    policy = Policy(sequential_ids=sequential_ids)
    normalizer = CallNormalizer(policy, numbers_all=sequential_ids)
    found: list[Finding] = []
    calls = []
    for call in _native(fields):
        taken = normalizer.take(call)
        fresh = normalizer.take_findings()
        if any(finding.action == "wrapped" for finding in fresh):
            fresh, taken = [Finding("invalid_json", "dropped", fresh[0].detail)], None
        found += fresh
        if taken is not None and "function" in taken:
            function = taken["function"]
            calls.append(ToolCall(taken["id"], function["name"], function["arguments"]))
    hand_over(found, findings)
    text = fields.get("content")
    if calls or format is None or not isinstance(text, str):
        return calls
    if not sequential_ids:
        return parse(format, text, tools).tool_calls
    parser = Parser(format, tools)
    read = collect([*parser.feed(text), *parser.finish()], whose=lambda own, name: own or "")
    ids = CallNormalizer(policy, numbers_all=True)
    return [replace(call, id=_id_of(ids, call)) for call in read.tool_calls]


def _id_of(normalizer: CallNormalizer, call: ToolCall) -> str:
    return normalizer.id_for(normalizer.text_id(call.id, call.name), call.name)


def _native(fields: Mapping[str, Any]) -> list[Any]:
    """The message's own calls, in the new style or in the old one."""
    given = fields.get("tool_calls")
    if not given and isinstance(fields.get("function_call"), Mapping):
        given = [{"function": fields["function_call"]}]
    if isinstance(given, (list, tuple)):
        return list(given)
    return [given] if given else []


def _fields(message: Any) -> Mapping[str, Any]:
    """A message's fields, whether it is a dict, one of toolwire's, or an object of an SDK."""
    if isinstance(message, Mapping):
        return message
    if isinstance(message, Message):
        calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in message.tool_calls]
        return {"content": message.content, "tool_calls": calls}
    dump = getattr(message, "model_dump", None)
    if not callable(dump):
        raise ToolwireError(
            f"a message must be a dict or an object of an SDK, not {type(message).__name__}"
        )
    fields: Mapping[str, Any] = dump()
    return fields
