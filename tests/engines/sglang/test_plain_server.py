"""A server as a user would start it: `--tool-call-parser auto`, our template, two HTTP workers."""

from __future__ import annotations

import re

import httpx
from engine_cases import ADD_ONE_TWO, ONE_TWO, TOOLS
from engine_client import Asker
from engine_server import EngineServer
from sglang_asking import job

QUESTION = [{"role": "user", "content": "Go."}]
TEXT = f"Sure.\n{ADD_ONE_TWO}"


def literally(text: str) -> str:
    """A regular expression that matches this text only, in xgrammar's dialect."""
    return re.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\1", text).replace("\n", "\\n")


def test_auto_finds_the_parser_of_our_template(plain_server: EngineServer) -> None:
    log = plain_server.log.read_text(errors="replace")
    assert "Auto-detected --tool-call-parser as 'toolwire_hermes'" in log


def test_every_worker_has_the_parser(plain_server: EngineServer) -> None:
    """SGLang would refuse the request in a worker that does not know the parser's name."""
    plain_server.wait_for_log("Router registered worker IPC: ")
    plain_server.wait_for_log("(total: 2)")
    script = {"extra_body": {"regex": literally(TEXT)}}
    # Every request has a connection of its own, so the workers share them.
    for (answer,) in Asker(plain_server.url).all(
        [
            *(job("chat", QUESTION, TOOLS, **script) for _ in range(6)),
            *(job("chat-stream", QUESTION, TOOLS, **script) for _ in range(6)),
        ]
    ):
        assert (answer.calls, answer.content) == ([("add", ONE_TWO)], "Sure.")
        assert answer.finish == "tool_calls"


def test_the_endpoint_that_only_parses(plain_server: EngineServer) -> None:
    for _ in range(6):
        got = httpx.post(
            f"{plain_server.url}/parse_function_call",
            json={"text": TEXT, "tools": TOOLS, "tool_call_parser": "toolwire_hermes"},
            timeout=60,
        )
        (call,) = got.json()["calls"]
        assert (call["name"], call["parameters"]) == ("add", ONE_TWO)
        assert got.json()["normal_text"] == "Sure."
