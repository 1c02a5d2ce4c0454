"""When calls go out, and which: a real gateway, and the official SDKs as its clients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from .conftest import PATIENCE, Server
from .scripted_answers import ONE
from .scripted_upstream import event_bytes, message_events, response_events
from .support_gateway import ASK, FLAT_TOOLS, TOOLS, ask_for, call_event, chat_event, metric
from .support_messages import ASKED, claude
from .test_no_tools import client_of

Share = Callable[..., Server]

DONE = b"data: [DONE]\n\n"
DISOBEYED = "manager_tool_calls_malformed_total"


def given(*events: bytes) -> Any:
    """For an SDK: what the upstream is to answer."""
    return {"x_given": ask_for(*events)["x_given"]}


def emitting(emit: str, gateway: Server, shared_gateway: Share) -> Server:
    return gateway if emit == "finish" else shared_gateway("--emit", emit)


@pytest.mark.parametrize("emit", ["finish", "complete"])
def test_calls_go_out_with_the_finish_reason_or_once_complete(
    gateway: Server, shared_gateway: Share, emit: str
) -> None:
    """Between two calls and the finish reason comes a word: before it, or behind it."""
    sdk = client_of(emitting(emit, gateway, shared_gateway))
    body = [call_event(ONE, "add", "c1", 0), call_event("{}", "noargs", "c2", 1)]
    body += [chat_event({"content": "later"}), chat_event({}, "tool_calls"), DONE]
    asked: Any = {"model": "given", "messages": ASK, "tools": TOOLS, "stream": True}
    order: list[str] = []
    for chunk in sdk.chat.completions.create(**asked, extra_body=given(*body)):
        for choice in chunk.choices:
            order += [c.function.name for c in choice.delta.tool_calls or () if c.function.name]
            order += [choice.delta.content] if choice.delta.content else []
            order += [choice.finish_reason] if choice.finish_reason else []
    early, late = (["add"], ["noargs"]) if emit == "complete" else ([], ["add", "noargs"])
    assert order == [*early, "later", *late, "tool_calls"]


@pytest.mark.parametrize("emit", ["finish", "complete"])
def test_the_same_for_responses_and_messages(
    gateway: Server, shared_gateway: Share, emit: str
) -> None:
    server = emitting(emit, gateway, shared_gateway)
    call = {"type": "function_call", "id": "f", "call_id": "c", "name": "add", "arguments": ONE}
    text = {"type": "output_text", "text": "later", "annotations": []}
    said = {"type": "message", "id": "m", "role": "assistant", "content": [text]}
    events = response_events([call, said | {"status": "completed"}])
    asked: Any = {"model": "given", "input": "?", "tools": FLAT_TOOLS}
    with client_of(server).responses.stream(
        **asked, extra_body=given(*map(event_bytes, events))
    ) as stream:
        done = [e.item.type for e in stream if e.type == "response.output_item.done"]
        answer = stream.get_final_response()
    wanted = ["function_call", "message"]
    assert done == (wanted if emit == "complete" else wanted[::-1])
    assert sorted(item.type for item in answer.output) == wanted
    use = {"type": "tool_use", "id": "c", "name": "add", "input": {"a": 1}}
    blocks = message_events([use, {"type": "text", "text": "later"}], "tool_use")
    with claude(server).messages.stream(
        model="given", **ASKED, extra_body=given(*map(event_bytes, blocks))
    ) as native:
        kinds = [block.type for block in native.get_final_message().content]
    assert kinds == (["tool_use", "text"] if emit == "complete" else ["text", "tool_use"])


@pytest.mark.parametrize("stream", [False, True])
def test_a_choice_that_is_not_obeyed(gateway: Server, stream: bool) -> None:
    """With `none` a native call is not sent; another tool than the named one is. Both are counted."""
    other: Any = {"type": "function", "function": {"name": "noargs"}}
    labels = {"stage": "stream" if stream else "whole", "reason": "disobeyed"}
    client = client_of(gateway)
    with httpx2.Client(base_url=gateway.url, timeout=PATIENCE) as http:
        for choice, wanted, reason in (("none", [], "stop"), (other, ["add"], "tool_calls")):
            before = metric(http, DISOBEYED, **labels)
            asked: Any = {"model": "simple", "messages": ASK, "tools": TOOLS, "tool_choice": choice}
            if stream:
                with client.chat.completions.stream(**asked) as streamed:
                    for _ in streamed:
                        pass
                    (got,) = streamed.current_completion_snapshot.choices
            else:
                (got,) = client.chat.completions.create(**asked).choices
            assert [c.function.name for c in got.message.tool_calls or ()] == wanted
            assert got.finish_reason == reason
            assert metric(http, DISOBEYED, **labels) > before


def test_live_wraps_what_it_has_not_sent(live_gateway: Server) -> None:
    """Arguments that do not begin as an object wait for their end; others can only be counted."""
    client = client_of(live_gateway)
    labels = {"stage": "stream", "reason": "invalid_json"}
    asked: Any = {"model": "given", "messages": ASK, "tools": TOOLS, "stream": True}
    with httpx2.Client(base_url=live_gateway.url, timeout=PATIENCE) as http:
        for text, wanted in (("oops", '{"input": "oops"}'), ('{"a": oops', '{"a": oops')):
            before = metric(http, DISOBEYED, **labels)
            pieces = [call_event("", "add"), *(call_event(c, None) for c in text)]
            body = [*pieces, chat_event({}, "tool_calls"), DONE]
            chunks = list(client.chat.completions.create(**asked, extra_body=given(*body)))
            calls = [
                c for chunk in chunks for ch in chunk.choices for c in ch.delta.tool_calls or ()
            ]
            assert "".join(call.function.arguments or "" for call in calls) == wanted
            assert metric(http, DISOBEYED, **labels) == before + 1
