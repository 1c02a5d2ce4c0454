"""The six ways to ask SGLang: what `engine_client` has, and Messages, with Anthropic's client."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import engine_client
from anthropic import AsyncAnthropic
from anthropic.types import Message
from engine_client import MODEL, Answer
from openai import AsyncOpenAI

LONGEST = 400  # tokens of an answer
#: Of a request's body, for a server with a reasoning parser: the model answers at once.
WITHOUT_THOUGHTS = {"chat_template_kwargs": {"enable_thinking": False}}


def scripted(text: str) -> dict[str, Any]:
    """A request for this text: a regular expression that matches it only, in xgrammar's dialect.

    Where the model thinks in it, that is part of the text.
    """
    literally = re.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\1", text).replace("\n", "\\n")
    return {"regex": literally, **WITHOUT_THOUGHTS}


def use(format_name: str, script: str = "") -> dict[str, Any]:
    """The tool that tells the tests' server the format, and what the model is to write."""
    return {
        "type": "function",
        "function": {
            "name": f"use_{format_name}",
            "description": script,
            "parameters": {"type": "object", "properties": {}},
        },
    }


def request_for(
    way: str, tools: Any, format_name: str | None = None, script: str = "", **more: Any
) -> dict[str, Any]:
    """One request. Without a format it is for a server that has one of its own."""
    tools = [*tools, use(format_name, script)] if format_name else tools
    limit = "max_output_tokens" if way.startswith("responses") else "max_tokens"
    return {"model": MODEL, "temperature": 0, "tools": tools, limit: LONGEST, **more}


def job(way: str, messages: Any, *arguments: Any, **more: Any) -> Callable[[AsyncOpenAI], Any]:
    """Makes the request that the arguments say."""
    request = request_for(way, *arguments, **more)
    return lambda client: WAYS[way](client, messages, **request)


def named(way: str, name: str) -> dict[str, Any]:
    """A tool choice that names a tool, as each API spells it."""
    if way.startswith("chat"):
        return {"type": "function", "function": {"name": name}}
    return {"type": "tool" if way.startswith("messages") else "function", "name": name}


def required(way: str) -> dict[str, Any]:
    """The parts of a request for exactly one call of any tool."""
    if way.startswith("messages"):
        return {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}}
    return {"tool_choice": "required", "parallel_tool_calls": False}


# -- Messages -------------------------------------------------------------------------------------


def anthropic_client(client: AsyncOpenAI) -> AsyncAnthropic:
    """Anthropic's own client, for the server that the other one asks."""
    url = str(client.base_url).removesuffix("v1/")
    return AsyncAnthropic(base_url=url, api_key="none", timeout=600, max_retries=2)


def messages_body(messages: Any, **request: Any) -> dict[str, Any]:
    tools = [
        {
            "name": tool["function"]["name"],
            "description": tool["function"].get("description", ""),
            "input_schema": tool["function"]["parameters"],
        }
        for tool in request.pop("tools")
    ]
    extra = {"temperature": request.pop("temperature")}  # the client has no name for it
    return {"messages": messages, "tools": tools, "extra_body": extra, **request}


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
    assert answer.finish == final.finish
    return [answer]


def read_message(message: Message) -> Answer:
    answer = Answer(finish=message.stop_reason)
    for block in message.content:
        if block.type == "text":
            answer.content = (answer.content or "") + block.text or None
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
        else:
            name, arguments = answer.calls[-1]
            answer.calls[-1] = (name, arguments + event.delta.partial_json)
    elif event.type == "message_delta":
        answer.finish = event.delta.stop_reason


WAYS: dict[str, Callable[..., Any]] = {
    **engine_client.WAYS,
    "messages": messages_whole,
    "messages-stream": messages_stream,
}
