"""Calls that the model has to make: they always fit the schema of their tool."""

from __future__ import annotations

import pytest
from engine_client import Answer, Asker
from engine_server import EngineServer
from forced_calls import LOOK_UP, QUESTION, after_an_example, check, city, closed_tool, room
from sglang.srt.entrypoints.anthropic.protocol import AnthropicToolChoice
from sglang_asking import WAYS, job, named, required

LONGEST = 12  # characters of a city's name
WEATHER = closed_tool("get_weather", {"city": city(LONGEST)})
BOOK = closed_tool("book_room", room(LONGEST))
TOOLS = [WEATHER, BOOK]
#: The mission's formats, one of each other shape that is constrained in its own way, and one that
#: can't be constrained at all (see `switching_detector`): its calls are asked for as JSON.
FORMATS = ["hermes", "qwen3_coder", "special_token", "json", "labeled", "call_text", "pythonic"]
FORMATS += ["untold"]
REQUIRED_WAYS = ["chat", "chat-stream", "responses-stream", "messages-stream"]
#: Before 0.5.23, SGLang's Messages do not know that there may be one call only.
ONE_CALL_WAYS = [
    way
    for way in WAYS
    if not way.startswith("messages")
    or "disable_parallel_tool_use" in AnthropicToolChoice.model_fields
]
NAMED_WAYS = ["chat-stream", "responses", "messages"]
Forced = dict[tuple[str, str, str], Answer]


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
    assert len(check(forced[name, "required", way], TOOLS)) == 1


@pytest.mark.parametrize("way", NAMED_WAYS)
@pytest.mark.parametrize("name", FORMATS)
def test_named(name: str, way: str, forced: Forced) -> None:
    assert check(forced[name, "named", way], TOOLS) == ["book_room"]


def test_a_format_that_cannot_be_constrained_says_so(forced: Forced, server: EngineServer) -> None:
    log = server.log.read_text(errors="replace")
    assert "untold can't express these tools: the call is asked for as JSON." in log
    assert not any(f"{name} can't express" in log for name in FORMATS[:-1])


def test_a_schema_that_tags_cannot_express(asker: Asker) -> None:
    """A least length: the call is asked for as JSON, and is a call all the same."""
    for (answer,) in asker.all(
        job(way, QUESTION, [LOOK_UP], "qwen3_coder", **required(way)) for way in ONE_CALL_WAYS
    ):
        assert check(answer, [LOOK_UP]) == ["look_up"]


def test_strict_in_auto(plain_asker: Asker) -> None:
    """Free to talk, the model begins a call of its own; then it can't name a city that is not listed."""
    listed = {"city": {"type": "string", "enum": ["Bergen", "Tromsø"]}}
    weather = closed_tool("get_weather", listed)
    weather["function"]["strict"] = True
    for (answer,) in plain_asker.all(
        job(way, after_an_example(), [weather], max_tokens=60) for way in ("chat", "chat-stream")
    ):
        assert len(answer.calls) == 1
        assert check(Answer(calls=answer.calls), [weather]) == ["get_weather"]
        assert answer.finish == "tool_calls"


def test_one_call_in_auto(plain_asker: Asker) -> None:
    """`parallel_tool_calls: false`: the text ends with the first call."""
    more = {"parallel_tool_calls": False}
    for (answer,) in plain_asker.all(
        job(way, after_an_example(), [WEATHER], max_tokens=90, **more)
        for way in ("chat", "chat-stream")
    ):
        assert [name for name, _ in answer.calls] == ["get_weather"]
        assert answer.finish == "tool_calls"
