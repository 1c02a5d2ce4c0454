"""Asks a server through Anthropic's own client, Messages whole and streamed, and reads the answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from anthropic import AsyncAnthropic
from anthropic.types import Message
from engine_client import WAYS, Answer
from openai import AsyncOpenAI

LONGEST = 400  # tokens of an answer, where a request does not say


def anthropic_client(client: AsyncOpenAI) -> AsyncAnthropic:
    """Anthropic's own client, for the server that the other one asks."""
    url = str(client.base_url).removesuffix("v1/")
    return AsyncAnthropic(base_url=url, api_key="none", timeout=600, max_retries=2)


def messages_body(messages: Any, **request: Any) -> dict[str, Any]:
    if "tools" in request:
        request["tools"] = [anthropic_tool(tool["function"]) for tool in request["tools"]]
    extra = {"temperature": request.pop("temperature")}  # the client has no name for it
    extra |= request.pop("extra_body", {})
    return {"messages": messages, "max_tokens": LONGEST, "extra_body": extra, **request}


def anthropic_tool(function: dict[str, Any]) -> dict[str, Any]:
    names = {"name": "name", "description": "description", "parameters": "input_schema"}
    return {theirs: function[name] for name, theirs in names.items() if name in function}


async def messages_whole(client: AsyncOpenAI, messages: Any, **request: Any) -> list[Answer]:
    async with anthropic_client(client) as asking:
        got = await asking.messages.create(**messages_body(messages, **request))
    return [read_message(got)]


async def messages_stream(client: AsyncOpenAI, messages: Any, **request: Any) -> list[Answer]:
    """The pieces must add up to the message that the client puts together by itself."""
    answer = Answer()
    async with (
        anthropic_client(client) as asking,
        asking.messages.stream(**messages_body(messages, **request)) as stream,
    ):
        async for event in stream:
            take_in(answer, event)
        final = read_message(await stream.get_final_message())
    calls = [(name, json.dumps(json.loads(arguments))) for name, arguments in answer.calls]
    assert (calls, answer.content, answer.ids) == (final.calls, final.content, final.ids)
    assert answer.reasoning == final.reasoning
    assert answer.finish == final.finish
    return [answer]


def read_message(message: Message) -> Answer:
    answer = Answer(finish=message.stop_reason)
    for block in message.content:
        if block.type == "text":
            answer.content = (answer.content or "") + block.text or None
        elif block.type == "thinking":
            answer.reasoning = (answer.reasoning or "") + block.thinking
        else:
            assert block.type == "tool_use"
            answer.calls.append((block.name, json.dumps(block.input)))
            answer.ids.append(block.id)
    return answer


def take_in(answer: Answer, event: Any) -> None:
    """Each block is opened, filled and closed before the next one begins."""
    if event.type == "content_block_start" and event.content_block.type == "tool_use":
        answer.calls.append((event.content_block.name, ""))
        answer.ids.append(event.content_block.id)
    elif event.type == "content_block_delta":
        if event.delta.type == "text_delta":
            answer.content = (answer.content or "") + event.delta.text
        elif event.delta.type == "thinking_delta":
            answer.reasoning = (answer.reasoning or "") + event.delta.thinking
        elif event.delta.type == "input_json_delta":
            name, arguments = answer.calls[-1]
            answer.calls[-1] = (name, arguments + event.delta.partial_json)
    elif event.type == "message_delta":
        answer.finish = event.delta.stop_reason


#: All ways to ask: three APIs, each whole and streamed.
ALL_WAYS: dict[str, Callable[..., Any]] = {
    **WAYS,
    "messages": messages_whole,
    "messages-stream": messages_stream,
}
