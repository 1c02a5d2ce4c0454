"""Asks a server through OpenAI's own client, in the four ways there are, and reads the answers. Those of
Anthropic's Messages are in `messages_client`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from token_gate import Gate

T = TypeVar("T")
#: The name under which the tests' servers serve their model.
MODEL = "model"
#: As many requests as the server runs at once.
AT_ONCE = 32


@dataclass
class Answer:
    """What a client ends up with, whichever way it asked."""

    content: str | None = None
    reasoning: str | None = None
    calls: list[tuple[str, str]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    finish: str | None = None
    deltas: list[dict[str, Any]] = field(default_factory=list)


def flat(tools: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tools in the shape of the Responses API."""
    return [{"type": "function", **tool["function"]} for tool in tools]


def flattened(request: dict[str, Any]) -> dict[str, Any]:
    return {**request, "tools": flat(request["tools"])} if "tools" in request else request


class Asker:
    def __init__(self, url: str) -> None:
        self._url = f"{url}/v1"

    def all(self, jobs: Iterable[Callable[[AsyncOpenAI], Awaitable[T]]]) -> list[T]:
        """Runs the jobs side by side and gives their results in order."""
        return asyncio.run(self._all(list(jobs)))

    async def _all(self, jobs: list[Callable[[AsyncOpenAI], Awaitable[T]]]) -> list[T]:
        places = asyncio.Semaphore(AT_ONCE)
        # A connection for each request: a server closes one that was idle for five seconds, and the
        # client keeps it for as long. Where both happen at once, the request fails.
        http = DefaultAsyncHttpxClient(limits=httpx.Limits(max_keepalive_connections=0))
        client = AsyncOpenAI(
            base_url=self._url, api_key="none", timeout=600, max_retries=2, http_client=http
        )

        async def run(job: Callable[[AsyncOpenAI], Awaitable[T]]) -> T:
            async with places:
                return await job(client)

        async with client:
            return await asyncio.gather(*(run(job) for job in jobs))


def body(tools: Any, script: list[int] | None, **more: Any) -> dict[str, Any]:
    """The parts of a request that all ways share. `format` names the parser to use, `gate` is the
    path of a gate that the script goes through, `template` goes to the chat template."""
    arguments = {name: more.pop(name) for name in ("format", "gate") if name in more}
    if script is not None:
        arguments["script"] = script
    extra = {"vllm_xargs": arguments} if arguments else {}
    if "template" in more:
        extra["chat_template_kwargs"] = more.pop("template")
    if tools:  # an empty list is refused
        more["tools"] = tools
    return {"model": MODEL, "temperature": 0, "extra_body": extra, **more}


def literally(text: str) -> str:
    """A regular expression, in xgrammar's dialect, that matches this text only."""
    return re.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\1", text).replace("\n", "\\n")


async def chat(client: AsyncOpenAI, messages: Any, **request: Any) -> list[Answer]:
    """Chat Completions, whole: one answer for each choice."""
    got = await client.chat.completions.create(messages=messages, **request)
    return [
        Answer(
            content=choice.message.content,
            reasoning=thoughts_of(choice.message.model_dump()),
            calls=[
                (c.function.name, c.function.arguments) for c in choice.message.tool_calls or []
            ],
            ids=[c.id for c in choice.message.tool_calls or []],
            finish=choice.finish_reason,
        )
        for choice in got.choices
    ]


async def chat_stream(client: AsyncOpenAI, messages: Any, **request: Any) -> list[Answer]:
    """Chat Completions, streamed."""
    answers = [Answer() for _ in range(request.get("n", 1))]
    stream = await client.chat.completions.create(messages=messages, stream=True, **request)
    async for chunk in stream:
        for choice in chunk.choices:
            answer = answers[choice.index]
            delta = choice.delta.model_dump(exclude_unset=True)
            answer.deltas.append(delta)
            answer.finish = choice.finish_reason or answer.finish
            take_in(answer, delta)
    return answers


def thoughts_of(message: dict[str, Any]) -> str | None:
    """Of a message or a delta: each engine has its own name for them."""
    found: str | None = message.get("reasoning_content") or message.get("reasoning")
    return found


def take_in(answer: Answer, delta: dict[str, Any]) -> None:
    if delta.get("content"):
        answer.content = (answer.content or "") + delta["content"]
    if thoughts := thoughts_of(delta):
        answer.reasoning = (answer.reasoning or "") + thoughts
    for piece in delta.get("tool_calls") or []:
        function = piece["function"]
        if piece["index"] == len(answer.calls):
            answer.calls.append((function["name"], ""))
            answer.ids.append(piece["id"])
        name, arguments = answer.calls[piece["index"]]
        answer.calls[piece["index"]] = (name, arguments + (function.get("arguments") or ""))


async def chat_in_stages(
    client: AsyncOpenAI, messages: Any, gate: Gate, stages: Sequence[int], **request: Any
) -> tuple[Answer, list[Answer]]:
    """Chat Completions, streamed, from a model that is held up: in each stage it writes so many tokens
    more, and then waits until something more of the answer has come. Where a server keeps back what it
    should stream, nothing ever comes, and the client gives up. After the last stage the model goes on.

    Gives the answer, and what there was of it at the end of each stage.
    """
    answer, looks = Answer(), [Answer()]
    gate.let(stages[0])
    stream = await client.chat.completions.create(messages=messages, stream=True, **request)
    async for chunk in stream:
        for choice in chunk.choices:
            answer.deltas.append(choice.delta.model_dump(exclude_unset=True))
            take_in(answer, answer.deltas[-1])
        if len(looks) <= len(stages) and (answer.content, answer.calls) != (
            looks[-1].content,
            looks[-1].calls,
        ):
            looks.append(deepcopy(answer))
            if len(looks) <= len(stages):
                gate.let(stages[len(looks) - 1])
            else:
                gate.open()
    return answer, looks[1:]


async def responses(client: AsyncOpenAI, messages: Any, **request: Any) -> list[Answer]:
    """Responses, whole."""
    request = flattened(request)
    got = await client.responses.create(input=messages, **request)
    return [read_items([item.model_dump() for item in got.output])]


async def responses_stream(client: AsyncOpenAI, messages: Any, **request: Any) -> list[Answer]:
    """Responses, streamed; the pieces must add up to the items that the events call done."""
    request = flattened(request)
    texts: list[str] = []
    thoughts: list[str] = []
    arguments: dict[str, str] = {}
    items: list[dict[str, Any]] = []
    stream = await client.responses.create(input=messages, stream=True, **request)
    async for event in stream:
        if event.type == "response.output_text.delta":
            texts.append(event.delta)
        elif event.type == "response.reasoning_text.delta":
            thoughts.append(event.delta)
        elif event.type == "response.function_call_arguments.delta":
            arguments[event.item_id] = arguments.get(event.item_id, "") + event.delta
        elif event.type == "response.output_item.done":
            items.append(event.item.model_dump())
    answer = read_items(items)
    assert "".join(texts) == (answer.content or "")
    assert "".join(thoughts) == (answer.reasoning or "")
    streamed = [arguments.get(i["id"], "") for i in items if i["type"] == "function_call"]
    assert streamed == [call[1] for call in answer.calls]
    return [answer]


def read_items(items: list[dict[str, Any]]) -> Answer:
    answer = Answer()
    for item in items:
        if item["type"] == "function_call":
            answer.calls.append((item["name"], item["arguments"]))
            answer.ids.append(item["call_id"])
        elif item["type"] == "message":
            text = "".join(part["text"] for part in item["content"])
            answer.content = (answer.content or "") + text
        elif item["type"] == "reasoning":
            text = "".join(part["text"] for part in item["content"] or [])
            answer.reasoning = (answer.reasoning or "") + text
    return answer


WAYS = {
    "chat": chat,
    "chat-stream": chat_stream,
    "responses": responses,
    "responses-stream": responses_stream,
}
