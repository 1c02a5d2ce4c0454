"""The model's own words: it calls a tool because it wants to, or because it has to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from engine_client import WAYS, Answer, Asker, body, chat, chat_stream
from forced_calls import LOOK_UP, QUESTION, after_an_example, check, city, closed_tool, room

LONGEST = 20  # characters of a city's name
WEATHER = closed_tool("get_weather", {"city": city(LONGEST)}, description="The weather in a city")
BOOK = closed_tool("book_room", room(LONGEST), description="Books a room")
TOOLS = [WEATHER, BOOK]
NAMED = {"type": "function", "function": {"name": "book_room"}}
NAMED_FLAT = {"type": "function", "name": "book_room"}

#: One format of each shape, since each shape is constrained in its own way.
SHAPES = ["hermes", "labeled", "qwen3_coder", "glm45", "pythonic", "call_text", "gemma4", "cohere"]


Job = Callable[..., Any]


def job(way: Callable[..., Any], **request: Any) -> Job:
    tools = request.pop("tools", TOOLS)
    asked = body(tools, None, max_tokens=400, **request)
    if way not in (chat, chat_stream):
        asked["max_output_tokens"] = asked.pop("max_tokens")
    return lambda client: way(client, QUESTION, **asked)


def test_auto_after_one_example(real_asker: Asker) -> None:
    messages = after_an_example()
    request = body([WEATHER], None, max_tokens=60)
    for (answer,) in real_asker.all(
        [
            lambda client: chat(client, messages, **request),
            lambda client: chat_stream(client, messages, **request),
        ]
    ):
        assert answer.calls == [("get_weather", '{"city": "Oslo"}')]
        assert answer.finish == "tool_calls"


@pytest.fixture(scope="session")
def forced(real_asker: Asker) -> dict[tuple[str, str, str], Answer]:
    """Every shape, under `required` (one call) and with a named tool, in every way."""
    jobs: dict[tuple[str, str, str], Job] = {}
    for name in SHAPES:
        for label, way in WAYS.items():
            named = NAMED if label.startswith("chat") else NAMED_FLAT
            jobs[name, "required", label] = job(
                way, format=name, tool_choice="required", parallel_tool_calls=False
            )
            jobs[name, "named", label] = job(way, format=name, tool_choice=named)
    return dict(zip(jobs, (got[0] for got in real_asker.all(jobs.values())), strict=True))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SHAPES)
def test_required(name: str, way: str, forced: dict[tuple[str, str, str], Answer]) -> None:
    assert len(check(forced[name, "required", way], TOOLS)) == 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SHAPES)
def test_named(name: str, way: str, forced: dict[tuple[str, str, str], Answer]) -> None:
    assert check(forced[name, "named", way], TOOLS) == ["book_room"]


@pytest.mark.parametrize("name", SHAPES)
def test_streamed_or_not_is_the_same(name: str, forced: dict[tuple[str, str, str], Answer]) -> None:
    for choice in ("required", "named"):
        whole, streamed = forced[name, choice, "chat"], forced[name, choice, "chat-stream"]
        assert [call[0] for call in whole.calls] == [call[0] for call in streamed.calls]


def test_strict_in_auto(real_asker: Asker) -> None:
    """The model is free to talk; once it begins a call, the call fits the schema."""
    strict = {"type": "function", "function": {**WEATHER["function"], "strict": True}}
    messages = after_an_example()
    request = body([strict], None, max_tokens=60)
    for (answer,) in real_asker.all(
        [
            lambda client: chat(client, messages, **request),
            lambda client: chat_stream(client, messages, **request),
        ]
    ):
        assert check(answer, [strict]) == ["get_weather"]


def test_a_schema_that_tags_cannot_express(real_asker: Asker) -> None:
    """A least length: the call is asked for as JSON, and is a call all the same."""
    jobs = [
        job(
            way,
            tools=[LOOK_UP],
            format="qwen3_coder",
            tool_choice="required",
            parallel_tool_calls=False,
        )
        for way in WAYS.values()
    ]
    for (answer,) in real_asker.all(jobs):
        assert check(answer, [LOOK_UP]) == ["look_up"]
