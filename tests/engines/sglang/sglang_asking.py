"""The six ways to ask SGLang: what `engine_client` has, and Anthropic's Messages endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import engine_client
import httpx
from engine_client import MODEL, Answer
from openai import AsyncOpenAI

LONGEST = 400  # tokens of an answer


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


def job(
    way: str,
    messages: Any,
    tools: Any,
    format_name: str | None = None,
    script: str = "",
    **more: Any,
) -> Callable[[AsyncOpenAI], Any]:
    """One request. Without a format it is for a server that has one of its own."""
    tools = [*tools, use(format_name, script)] if format_name else tools
    limit = "max_output_tokens" if way.startswith("responses") else "max_tokens"
    request = {"model": MODEL, "temperature": 0, "tools": tools, limit: LONGEST, **more}
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


def messages_body(messages: Any, **request: Any) -> dict[str, Any]:
    tools = [
        {
            "name": tool["function"]["name"],
            "description": tool["function"].get("description", ""),
            "input_schema": tool["function"]["parameters"],
        }
        for tool in request.pop("tools")
    ]
    return {"messages": messages, "tools": tools, **request}


async def messages_whole(client: AsyncOpenAI, messages: Any, **request: Any) -> list[Answer]:
    answer = Answer()
    async with httpx.AsyncClient(timeout=600) as http:
        got = await http.post(f"{client.base_url}messages", json=messages_body(messages, **request))
    got.raise_for_status()
    for block in got.json()["content"]:
        if block["type"] == "text":
            answer.content = (answer.content or "") + block["text"]
        else:
            answer.calls.append((block["name"], json.dumps(block["input"])))
            answer.ids.append(block["id"])
    answer.content = answer.content or None
    answer.finish = got.json()["stop_reason"]
    return [answer]


async def messages_stream(client: AsyncOpenAI, messages: Any, **request: Any) -> list[Answer]:
    answer = Answer()
    body = messages_body(messages, stream=True, **request)
    async with (
        httpx.AsyncClient(timeout=600) as http,
        http.stream("POST", f"{client.base_url}messages", json=body) as got,
    ):
        got.raise_for_status()
        async for line in got.aiter_lines():
            if line.startswith("data: "):
                take_in(answer, json.loads(line.removeprefix("data: ")))
    return [answer]


def take_in(answer: Answer, event: dict[str, Any]) -> None:
    """Each block is opened, filled and closed before the next one begins."""
    assert event["type"] != "error", event
    if event["type"] == "content_block_start" and event["content_block"]["type"] == "tool_use":
        answer.calls.append((event["content_block"]["name"], ""))
        answer.ids.append(event["content_block"]["id"])
    elif event["type"] == "content_block_delta":
        delta = event["delta"]
        if delta["type"] == "text_delta":
            answer.content = (answer.content or "") + delta["text"]
        else:
            name, arguments = answer.calls[-1]
            answer.calls[-1] = (name, arguments + delta["partial_json"])
    elif event["type"] == "message_delta":
        answer.finish = event["delta"]["stop_reason"]


WAYS: dict[str, Callable[..., Any]] = {
    **engine_client.WAYS,
    "messages": messages_whole,
    "messages-stream": messages_stream,
}
