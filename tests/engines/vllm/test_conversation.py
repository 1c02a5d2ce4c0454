"""One scripted conversation on a real server: the same answers, byte for byte, on every release.

`./scripts/matrix` runs it on several; `conversation` says what is expected. The server is the one whose
settings are in a file and whose template is for another format, so none of that gets in the way of a
request.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from conversation import GO, TURNS, check_turns, leave, told
from engine_cases import TOOLS, block, tool
from engine_client import WAYS, Answer, Asker, body
from engine_server import EngineServer
from messages_client import ALL_WAYS
from tokenizers import Tokenizer


def ids(tokenizer: Tokenizer, text: str) -> list[int]:
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return found


def ask(server: EngineServer, requests: list[dict[str, Any]], ways: Any = WAYS) -> list[Answer]:
    """Each request in each way."""
    jobs = [
        (lambda client, way=way, request=request: ALL_WAYS[way](client, GO, **request))
        for request in requests
        for way in ways
    ]
    return [answer for (answer,) in Asker(server.url).all(jobs)]


def test_the_turns(mismatched_server: EngineServer, tokenizer: Tokenizer) -> None:
    requests = [body(TOOLS, ids(tokenizer, text)) for text, _, _ in TURNS.values()]
    keys = [(turn, way) for turn in TURNS for way in ALL_WAYS]
    got = dict(zip(keys, ask(mismatched_server, requests, ALL_WAYS), strict=True))
    leave("server", {f"{turn}, {way}": told(one) for (turn, way), one in got.items()})
    check_turns(got)


def test_a_call_of_a_tool_that_is_not_declared(
    mismatched_server: EngineServer, tokenizer: Tokenizer
) -> None:
    text = block('{"name": "forecast", "arguments": {"city": "Oslo"}}')
    for answer in ask(mismatched_server, [body(TOOLS, ids(tokenizer, text))]):
        assert (answer.content or None, answer.calls) == (None, [("forecast", '{"city": "Oslo"}')])


@pytest.mark.parametrize("more", [{}, {"parallel_tool_calls": False}], ids=["any", "one"])
def test_the_form_of_an_answer(
    more: dict[str, Any], mismatched_server: EngineServer, tokenizer: Tokenizer
) -> None:
    """`response_format` beside tools that nobody has to call: it holds, whatever the model would do."""
    request = body(TOOLS, ids(tokenizer, '{"a": 1}'), **more)
    for answer in ask(
        mismatched_server,
        [{**request, "response_format": {"type": "json_object"}}],
        ("chat", "chat-stream"),
    ):
        assert (answer.content, answer.calls) == ('{"a": 1}', [])


def test_forced(mismatched_server: EngineServer) -> None:
    """A random model is left no choice."""
    weather = tool("get_weather", city={"type": "string", "enum": ["Bergen"]})
    weather["function"]["parameters"]["additionalProperties"] = False
    named = {"type": "function", "function": {"name": "get_weather"}}
    for choice in ("required", named):
        request = body([weather], None, tool_choice=choice, parallel_tool_calls=False)
        for answer in ask(mismatched_server, [request], ("chat", "chat-stream")):
            ((name, arguments),) = answer.calls
            assert (name, json.loads(arguments)) == ("get_weather", {"city": "Bergen"})
            assert not answer.content
