"""A real server as a user starts it: one of toolwire's reasoning parsers in front of one of its tool
call parsers. Every style and way of calling is in `test_served`."""

from __future__ import annotations

from typing import Any

from engine_cases import ADD_ONE_TWO, ONE_TWO, TOOLS
from engine_client import MODEL, Answer, Asker, chat, chat_stream
from engine_server import EngineServer
from sglang_asking import scripted

QUESTION = [{"role": "user", "content": "Go."}]
CALL = ("add", ONE_TWO)
BETWEEN = f"<think>One.</think>\n\n{ADD_ONE_TWO}\n<think>Two.</think>\n{ADD_ONE_TWO}"


def asked(server: EngineServer, text: str, **more: Any) -> list[Answer]:
    request = {"model": MODEL, "temperature": 0, "extra_body": scripted(text), **more}
    jobs = [lambda client, way=way: way(client, QUESTION, **request) for way in (chat, chat_stream)]
    return [answer for (answer,) in Asker(server.url).all(jobs)]


def test_thoughts_between_calls(thinking_server: EngineServer) -> None:
    for got in asked(thinking_server, BETWEEN, tools=TOOLS):
        assert (got.reasoning, got.content or None, got.calls) == ("One.Two.", None, [CALL, CALL])


def test_a_request_without_tools(thinking_server: EngineServer) -> None:
    """`<think>` is a special token of this model: SGLang would leave it out of the text."""
    text = "<think>Hm.</think>\n\nYes.<think>Well.</think> No."
    for got in asked(thinking_server, text):
        assert (got.reasoning, got.content, got.calls) == ("Hm.Well.", "Yes.No.", [])
