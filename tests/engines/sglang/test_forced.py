"""Calls that the model has to make: they always fit the schema of their tool."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from engine_client import Answer, Asker
from engine_server import EngineServer
from sglang_asking import WAYS, WITHOUT_THOUGHTS, job, named, required

CITY = {"type": "string", "maxLength": 12}


def tool(name: str, **properties: Any) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


WEATHER = tool("get_weather", city=CITY)
BOOK = tool(
    "book_room",
    city=CITY,
    nights={"type": "integer", "minimum": 1, "maximum": 30},
    kind={"type": "string", "enum": ["single", "double"]},
    breakfast={"type": "boolean"},
)
TOOLS = [WEATHER, BOOK]
SCHEMAS = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
QUESTION = [{"role": "user", "content": "I need a room in Oslo for 2 nights."}]
#: The mission's formats, one of each other shape that is constrained in its own way, and one that
#: can't be constrained at all (see `switching_detector`): its calls are asked for as JSON.
FORMATS = ["hermes", "qwen3_coder", "special_token", "json", "labeled", "call_text", "pythonic"]
FORMATS += ["untold"]
REQUIRED_WAYS = ["chat", "chat-stream", "responses-stream", "messages-stream"]
NAMED_WAYS = ["chat-stream", "responses", "messages"]
Forced = dict[tuple[str, str, str], Answer]


def check(answer: Answer) -> list[str]:
    """All of it is calls, and all calls fit; gives their names."""
    assert answer.calls
    assert not answer.content
    for name, arguments in answer.calls:
        jsonschema.validate(json.loads(arguments), SCHEMAS[name])
    return [name for name, _ in answer.calls]


@pytest.fixture(scope="session")
def forced(asker: Asker) -> Forced:
    jobs = {}
    for name in FORMATS:
        for way in REQUIRED_WAYS:
            jobs[name, "required", way] = job(way, QUESTION, TOOLS, name, **required(way))
        for way in NAMED_WAYS:
            choice = {"tool_choice": named(way, "book_room")}
            jobs[name, "named", way] = job(way, QUESTION, TOOLS, name, **choice)
    return {key: one for key, (one,) in zip(jobs, asker.all(jobs.values()), strict=True)}


@pytest.mark.parametrize("way", REQUIRED_WAYS)
@pytest.mark.parametrize("name", FORMATS)
def test_required(name: str, way: str, forced: Forced) -> None:
    assert len(check(forced[name, "required", way])) == 1


@pytest.mark.parametrize("way", NAMED_WAYS)
@pytest.mark.parametrize("name", FORMATS)
def test_named(name: str, way: str, forced: Forced) -> None:
    assert check(forced[name, "named", way]) == ["book_room"]


def test_a_format_that_cannot_be_constrained_says_so(forced: Forced, server: EngineServer) -> None:
    log = server.log.read_text(errors="replace")
    assert "untold can't express these tools: the call is asked for as JSON." in log
    assert not any(f"{name} can't express" in log for name in FORMATS[:-1])


def test_a_schema_that_tags_cannot_express(asker: Asker) -> None:
    """A least length: the call is asked for as JSON, and is a call all the same."""
    look = tool("look_up", code={"type": "string", "minLength": 3, "maxLength": 6})
    schema = look["function"]["parameters"]
    for (answer,) in asker.all(
        job(way, QUESTION, [look], "qwen3_coder", **required(way)) for way in WAYS
    ):
        ((name, arguments),) = answer.calls
        assert name == "look_up"
        jsonschema.validate(json.loads(arguments), schema)


def example(city: str) -> list[dict[str, Any]]:
    """A question, and the call that answered it."""
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": json.dumps({"city": city})},
    }
    return [
        {"role": "user", "content": f"What is the weather in {city}?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
    ]


def test_strict_in_auto(plain_asker: Asker) -> None:
    """Free to talk, the model begins a call of its own; then it can't name a city that is not listed."""
    weather = tool("get_weather", city={"type": "string", "enum": ["Bergen", "Tromsø"]})
    weather["function"]["strict"] = True
    messages = [*example("Rome"), {"role": "user", "content": "What is the weather in Oslo?"}]
    for (answer,) in plain_asker.all(
        job(way, messages, [weather], max_tokens=60, extra_body=WITHOUT_THOUGHTS)
        for way in ("chat", "chat-stream")
    ):
        ((name, arguments),) = answer.calls
        assert name == "get_weather"
        jsonschema.validate(json.loads(arguments), weather["function"]["parameters"])
        assert answer.finish == "tool_calls"


def test_one_call_in_auto(plain_asker: Asker) -> None:
    """`parallel_tool_calls: false`: the text ends with the first call."""
    messages = [*example("Rome"), {"role": "user", "content": "What is the weather in Oslo?"}]
    more = {"parallel_tool_calls": False, "extra_body": WITHOUT_THOUGHTS}
    for (answer,) in plain_asker.all(
        job(way, messages, [WEATHER], max_tokens=90, **more) for way in ("chat", "chat-stream")
    ):
        assert [name for name, _ in answer.calls] == ["get_weather"]
        assert answer.finish == "tool_calls"
