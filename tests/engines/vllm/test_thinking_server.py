"""A real server with one of toolwire's reasoning parsers in front of one of its tool parsers."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from engine_cases import ADD, ADD_ONE_TWO, ONE_TWO, TOOLS
from engine_client import MODEL, WAYS, Asker, body, thoughts_and_answer
from engine_server import EngineServer
from shared_reasoning import CALL, SERVED
from tokenizers import Tokenizer

QUESTION = [{"role": "user", "content": "Go."}]


@pytest.fixture
def asked(tokenizer: Tokenizer) -> Any:
    def ask(stream: bool, text: str, tools: Any = TOOLS, **more: Any) -> Any:
        script = tokenizer.encode(text, add_special_tokens=False).ids
        request = body(tools, script, **more)
        if not tools:
            del request["tools"]  # vLLM refuses an empty list
        return lambda client: thoughts_and_answer(client, QUESTION, stream, **request)

    return ask


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_thoughts_and_calls(stream: bool, asked: Any, thinking_server: EngineServer) -> None:
    jobs = [asked(stream, text) for text, _ in SERVED.values()]
    got = Asker(thinking_server.url).all(jobs)
    assert dict(zip(SERVED, got, strict=True)) == {name: end for name, (_, end) in SERVED.items()}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_request_without_tools(stream: bool, asked: Any, thinking_server: EngineServer) -> None:
    """`<think>` is a special token of this model: vLLM would leave it out of the text."""
    text = "<think>Hm.</think>\n\nYes.<think>Well.</think> No."
    (got,) = Asker(thinking_server.url).all([asked(stream, text, tools=[])])
    assert got == ("Hm.Well.", "Yes.No.", [])


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_forced_call_after_thoughts(
    stream: bool, asked: Any, thinking_server: EngineServer
) -> None:
    """The grammar begins where the thoughts end: it would not allow them."""
    text = f"<think>Let me see.</think>{ADD_ONE_TWO}"
    (got,) = Asker(thinking_server.url).all([asked(stream, text, [ADD], tool_choice="required")])
    assert got == ("Let me see.", "", [CALL])


def test_responses(tokenizer: Tokenizer, thinking_server: EngineServer) -> None:
    text, (_, content, calls) = SERVED["between"]
    script = tokenizer.encode(text, add_special_tokens=False).ids
    jobs = [
        lambda client, way=way: WAYS[way](client, QUESTION, **body(TOOLS, script))
        for way in ("responses", "responses-stream")
    ]
    for (answer,) in Asker(thinking_server.url).all(jobs):
        assert (answer.content or "", answer.calls) == (content, calls)


def test_a_cut_call_does_not_cost_the_answer(
    tokenizer: Tokenizer, thinking_server: EngineServer
) -> None:
    """Anthropic's Messages, not streamed: vLLM decodes the arguments, and would answer with 400."""
    script = tokenizer.encode(f"<think>Hm.</think>Well.\n{ADD_ONE_TWO}").ids
    limit = len(tokenizer.encode(f"<think>Hm.</think>Well.\n{ADD_ONE_TWO}").ids) - 8
    function = ADD["function"]
    tool = {"name": function["name"], "input_schema": function["parameters"]}
    request = {"model": MODEL, "messages": QUESTION, "tools": [tool], "max_tokens": limit}
    got = httpx.post(
        f"{thinking_server.url}/v1/messages",
        json={**request, "vllm_xargs": {"script": script}},
        timeout=600,
    )
    assert got.status_code == 200, got.text
    answer = got.json()
    assert [part["type"] for part in answer["content"]] == ["thinking", "text"]
    assert (answer["content"][1]["text"], answer["stop_reason"]) == ("Well.", "max_tokens")
    assert ONE_TWO not in got.text
