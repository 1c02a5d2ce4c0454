"""Tools as only the Responses API has them: custom ones, namespaces, a list of those allowed."""

from __future__ import annotations

from typing import Any

from engine_cases import ADD, NOARGS, block
from engine_client import flat
from openai import AsyncOpenAI

INPUT = 'print("hi")\nprint("</tool_call>")\n'
RUN = {"type": "custom", "name": "run", "description": "Runs Python."}
RUN_TEXT = block(
    '{"name": "run", "arguments": {"input": "print(\\"hi\\")\\nprint(\\"</tool_call>\\")\\n"}}'
)
MATHS = {"type": "namespace", "name": "maths", "description": "Numbers.", "tools": flat([ADD])}
NOTHING = flat([NOARGS])[0]
Item = tuple[str, str | None, str, str]


def maths_text(separator: str) -> str:
    """A call of the tool in the namespace, by the name that the model is shown."""
    return block(f'{{"name": "maths{separator}add", "arguments": {{"a": 1, "b": 2}}}}')


def allowed(mode: str, *names: str) -> dict[str, Any]:
    tools = [{"type": "function", "name": name} for name in names]
    return {"type": "allowed_tools", "mode": mode, "tools": tools}


async def ask(client: AsyncOpenAI, stream: bool, **request: Any) -> tuple[list[Item], Any]:
    """The calls of an answer: what they are, their namespaces, names, and arguments or input; and the
    tool choice that the answer repeats. What was streamed adds up to them."""
    if not stream:
        got = await client.responses.create(**request)
        return calls_of(got.output), got.tool_choice
    pieces: dict[str, str] = {}
    async for event in await client.responses.create(stream=True, **request):
        if event.type in (
            "response.custom_tool_call_input.delta",
            "response.function_call_arguments.delta",
        ):
            pieces[event.item_id] = pieces.get(event.item_id, "") + event.delta
        elif event.type in ("response.completed", "response.incomplete"):
            got = event.response
    calls = calls_of(got.output)
    assert list(pieces.values()) == [text for *_, text in calls]
    return calls, got.tool_choice


def calls_of(items: Any) -> list[Item]:
    return [
        (
            item.type,
            getattr(item, "namespace", None),
            item.name,
            item.input if item.type == "custom_tool_call" else item.arguments,
        )
        for item in items
        if item.type in ("custom_tool_call", "function_call")
    ]
