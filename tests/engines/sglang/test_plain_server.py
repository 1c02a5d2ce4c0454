"""A server as a user would start it: by docs/sglang.md, with two HTTP workers and a reasoning parser."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from engine_cases import ADD_ONE_TWO, ONE_TWO, TOOLS
from engine_client import MODEL, Asker, chat, chat_stream
from engine_server import EngineServer
from engine_workers import ask_one, others_stopped
from sglang_asking import job, required, scripted
from sglang_server import worker_pids
from tokenizers import Tokenizer

QUESTION = [{"role": "user", "content": "Go."}]
TEXT = f"Sure.\n{ADD_ONE_TWO}"


def test_auto_finds_the_parser_of_our_template(plain_server: EngineServer) -> None:
    log = plain_server.log.read_text(errors="replace")
    assert "Auto-detected --tool-call-parser as 'toolwire_hermes'" in log


# -- two HTTP workers -----------------------------------------------------------------------------


def test_every_worker_has_the_parser(plain_server: EngineServer) -> None:
    """SGLang would refuse the request in a worker that does not know the parser's name."""
    workers = set(worker_pids(plain_server))
    assert len(workers) == 2
    for worker in workers:
        with others_stopped(workers - {worker}):
            request = {"messages": QUESTION, "tools": TOOLS, "extra_body": scripted(TEXT)}
            answered, message = asyncio.run(ask_one(plain_server.url, sorted(workers), **request))
            assert answered == worker
            calls = [(c.function.name, c.function.arguments) for c in message.tool_calls or []]
            assert (calls, message.content) == ([("add", ONE_TWO)], "Sure.")


def test_a_stream_of_a_worker(plain_asker: Asker) -> None:
    ((answer,),) = plain_asker.all([job("chat-stream", QUESTION, TOOLS, extra_body=scripted(TEXT))])
    assert (answer.calls, answer.content) == ([("add", ONE_TWO)], "Sure.")
    assert answer.finish == "tool_calls"


def test_the_endpoint_that_only_parses(plain_server: EngineServer) -> None:
    got = httpx.post(
        f"{plain_server.url}/parse_function_call",
        json={"text": TEXT, "tools": TOOLS, "tool_call_parser": "toolwire_hermes"},
        timeout=600,
    )
    (call,) = got.json()["calls"]
    assert (call["name"], call["parameters"]) == ("add", ONE_TWO)
    assert got.json()["normal_text"] == "Sure."


# -- behind a reasoning parser --------------------------------------------------------------------


def asked(stream: bool, **more: Any) -> Any:
    request = {"model": MODEL, "tools": TOOLS, "temperature": 0, **more}
    way = chat_stream if stream else chat
    return lambda client: way(client, QUESTION, **request)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_calls_after_thoughts(stream: bool, plain_asker: Asker) -> None:
    """What the model thinks is no call, and what comes after its thoughts is read as ever."""
    thoughts = "I write add(1, 2) or so."
    text = f"<think>\n{thoughts}\n</think>\n\n{TEXT}"
    ((got,),) = plain_asker.all([asked(stream, extra_body=scripted(text))])
    assert ((got.reasoning or "").strip(), (got.content or "").strip()) == (thoughts, "Sure.")
    assert got.calls == [("add", ONE_TWO)]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_forced_call_after_thoughts(stream: bool, plain_asker: Asker, model: Path) -> None:
    """The model may think first, and ends that at once here; then the grammar holds it."""
    end = Tokenizer.from_file(str(model / "tokenizer.json")).token_to_id("</think>")
    forced = {**required("chat"), "tools": TOOLS[:1], "max_tokens": 100, "logit_bias": {end: 100}}
    forced["extra_body"] = {"chat_template_kwargs": {"enable_thinking": True}}
    ((got,),) = plain_asker.all([asked(stream, **forced)])
    ((name, arguments),) = got.calls
    assert (got.reasoning or "", got.content or "", name) == ("", "", "add")
    assert {key: type(value) for key, value in json.loads(arguments).items()} == {
        "a": int,
        "b": int,
    }
