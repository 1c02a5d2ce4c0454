"""One scripted conversation on a real server: the same answers, byte for byte, on every release.

`./scripts/matrix` runs it on several. What is expected is written out here, once for all of them; ids
are all that may differ. The server is the one whose settings are in a file and whose template is for
another format, so none of that gets in the way of a request.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from engine_cases import ADD_ONE_TWO, ONE_TWO, TOOLS, block, tool
from engine_client import WAYS, Answer, Asker, body
from engine_server import EngineServer
from tokenizers import Tokenizer

GO = [{"role": "user", "content": "Go."}]
LONG = json.dumps({"path": "a.py", "content": 'print("</tool_call>")\n' * 20})
WRITE = block(f'{{"name": "write_file", "arguments": {LONG}}}')
UNDECLARED = block('{"name": "forecast", "arguments": {"city": "Oslo"}}')
CALL = ("add", ONE_TWO)
#: What the model writes, and what a client has in the end.
TURNS: dict[str, tuple[str, str | None, list[tuple[str, str]]]] = {
    "a call": (f"Sure.\n{ADD_ONE_TWO}", "Sure.", [CALL]),
    "two calls, and text around them": (
        f"One.\n{ADD_ONE_TWO}\nTwo.\n{ADD_ONE_TWO}",
        "One.\n\nTwo.",
        [CALL, CALL],
    ),
    "a long argument": (WRITE, None, [("write_file", LONG)]),
    "a call of a tool that is not declared": (UNDECLARED, None, [("forecast", '{"city": "Oslo"}')]),
    "text that ends like a marker": ("1 <", "1 <", []),
    "no call": ("Nothing to do.", "Nothing to do.", []),
}


def ids(tokenizer: Tokenizer, text: str) -> list[int]:
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return found


def ask(server: EngineServer, requests: list[dict[str, Any]], ways: Any = WAYS) -> list[Answer]:
    """Each request in each way."""
    jobs = [
        (lambda client, way=way, request=request: WAYS[way](client, GO, **request))
        for request in requests
        for way in ways
    ]
    return [answer for (answer,) in Asker(server.url).all(jobs)]


def test_the_turns(mismatched_server: EngineServer, tokenizer: Tokenizer) -> None:
    requests = [body(TOOLS, ids(tokenizer, text)) for text, _, _ in TURNS.values()]
    got = ask(mismatched_server, requests)
    expected = [(content, calls) for _, content, calls in TURNS.values() for _ in WAYS]
    assert [(answer.content or None, answer.calls) for answer in got] == expected
    for answer in got:
        assert all(answer.ids)
        assert answer.finish in (None, "tool_calls" if answer.calls else "stop")


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
