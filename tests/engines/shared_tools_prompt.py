"""A small model that never heard of tools, behind a real server without any flag for them: it makes a
call, gets its result and answers, through the gateway that docs/gateway.md says to start.

The model is SmolLM2 with its own chat template. It needs one example of a call in the conversation.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anthropic
from engine_client import MODEL, Asker, chat, chat_stream, flat
from engine_server import BOOT_SECONDS
from forced_calls import closed_tool
from openai import AsyncOpenAI
from page_blocks import block_with

from tests.ports import free_port

WEATHER = closed_tool(
    "get_weather", {"city": {"type": "string"}}, description="The weather in a city"
)
ROME = {"name": "get_weather", "arguments": json.dumps({"city": "Rome"})}
OSLO = ("get_weather", json.dumps({"city": "Oslo"}))
RESULT = "Rainy, 12 degrees."
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "What is the weather in Rome?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": ROME}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "Sunny, 25 degrees."},
    {"role": "assistant", "content": "It is sunny in Rome, 25 degrees."},
    {"role": "user", "content": "What is the weather in Oslo?"},
]
ITEMS: list[dict[str, Any]] = [
    MESSAGES[0],
    {"type": "function_call", "call_id": "c1", **ROME},
    {"type": "function_call_output", "call_id": "c1", "output": "Sunny, 25 degrees."},
    {"type": "message", "role": "assistant", "content": "It is sunny in Rome, 25 degrees."},
    MESSAGES[4],
]
CLAUDES: list[Any] = [
    MESSAGES[0],
    {
        "role": "assistant",
        "content": [
            {"type": "tool_use", "id": "c1", "name": "get_weather", "input": {"city": "Rome"}}
        ],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "Sunny, 25 degrees."}],
    },
    MESSAGES[3],
    MESSAGES[4],
]
REQUEST: dict[str, Any] = {"model": MODEL, "temperature": 0}


@contextmanager
def pasted_gateway(upstream: str, *more: str) -> Iterator[str]:
    """The gateway of the page's first block in front of this server, with more flags behind."""
    pasted = block_with("docs/gateway.md", "toolwire gateway").strip()
    port = free_port()
    line = pasted.replace("http://127.0.0.1:11434", upstream).replace("8080", str(port))
    assert line != pasted
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # Where much else runs, all of this may take longer than it is given by itself.
    timeouts = ("connect", "read", "header", "body")
    patience = " ".join(f"--{name}-timeout {BOOT_SECONDS}" for name in timeouts)
    command = f"exec {line} {patience} {' '.join(more)}"
    process = subprocess.Popen(["bash", "-c", command], env={**os.environ, "PATH": path})
    try:
        url = f"http://127.0.0.1:{port}"
        while not _answers(f"{url}/healthz"):
            assert process.poll() is None, "the gateway ended before it listened"
            time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=30):
            return True
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False


def check_chat(url: str) -> None:
    """A call, whole and streamed; then its result, and an answer."""
    tools = {"tools": [WEATHER], "max_tokens": 60}
    ways = [
        lambda client: chat(client, MESSAGES, **REQUEST, **tools),
        lambda client: chat_stream(client, MESSAGES, **REQUEST, **tools),
    ]
    for (answer,) in Asker(url).all(ways):
        assert answer.calls == [OSLO]
        assert (answer.content, answer.finish) == (None, "tool_calls")
    call = {"id": "c2", "type": "function", "function": dict(zip(ROME, OSLO, strict=True))}
    result = {"role": "tool", "tool_call_id": "c2", "content": RESULT}
    told = [*MESSAGES, {"role": "assistant", "content": None, "tool_calls": [call]}, result]
    ((answer,),) = Asker(url).all([lambda client: chat(client, told, **REQUEST, **tools)])
    assert (answer.calls, answer.finish) == ([], "stop")
    assert "12" in (answer.content or "")


def check_responses(url: str) -> None:
    asked: dict[str, Any] = {**REQUEST, "tools": flat([WEATHER]), "max_output_tokens": 60}

    async def whole(client: AsyncOpenAI) -> Any:
        return await client.responses.create(input=ITEMS, **asked)

    async def streamed(client: AsyncOpenAI) -> Any:
        async with client.responses.stream(input=ITEMS, **asked) as stream:
            return await stream.get_final_response()

    for answer in Asker(url).all([whole, streamed]):
        calls = [item for item in answer.output if item.type == "function_call"]
        assert [(call.name, call.arguments) for call in calls] == [OSLO]
        assert not answer.output_text


def check_messages(url: str) -> None:
    client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0, timeout=BOOT_SECONDS)
    function = WEATHER["function"]
    tool = {"name": function["name"], "description": function["description"]}
    tools: Any = [tool | {"input_schema": function["parameters"]}]
    asked: Any = {"model": MODEL, "max_tokens": 60, "tools": tools, "messages": CLAUDES}
    asked["extra_body"] = {"temperature": 0}
    with client.messages.stream(**asked) as stream:
        streamed = stream.get_final_message()
    for answer in (client.messages.create(**asked), streamed):
        calls = [block for block in answer.content if block.type == "tool_use"]
        assert [(call.name, call.input) for call in calls] == [("get_weather", {"city": "Oslo"})]
        assert answer.stop_reason == "tool_use"
