"""A real server as a user starts it from a checkout: one of toolwire's reasoning parsers in front of one
of its tool parsers. Every style and way of calling is in `test_served`."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic import Anthropic
from engine_cases import ADD, ADD_ONE_TWO, ONE_TWO, TOOLS
from engine_client import MODEL, Answer, Asker, body
from engine_server import EngineServer
from messages_client import ALL_WAYS, anthropic_tool
from tokenizers import Tokenizer

QUESTION = [{"role": "user", "content": "Go."}]
CALL = ("add", ONE_TWO)
BETWEEN = f"<think>One.</think>\n\n{ADD_ONE_TWO}\n<think>Two.</think>\n{ADD_ONE_TWO}"


@pytest.fixture
def ask(tokenizer: Tokenizer, thinking_server: EngineServer) -> Any:
    """The answers to one text in every way."""

    def asked(text: str, **more: Any) -> dict[str, Answer]:
        script = tokenizer.encode(text, add_special_tokens=False).ids
        request = body(TOOLS, script, **more)
        jobs = [
            lambda client, way=way: way(client, QUESTION, **request) for way in ALL_WAYS.values()
        ]
        got = Asker(thinking_server.url).all(jobs)
        return {name: answer for name, (answer,) in zip(ALL_WAYS, got, strict=True)}

    return asked


def test_thoughts_between_calls(ask: Any) -> None:
    for way, got in ask(BETWEEN).items():
        assert (got.reasoning, got.content) == ("One.Two.", None), way
        assert got.calls == [CALL, CALL], way


def test_our_template_closes_the_block_where_thinking_is_off(ask: Any) -> None:
    for way, got in ask(f"Well.\n{ADD_ONE_TWO}", template={"enable_thinking": False}).items():
        assert (got.reasoning, got.content, got.calls) == (None, "Well.", [CALL]), way


def test_a_cut_call_does_not_cost_the_answer(
    tokenizer: Tokenizer, thinking_server: EngineServer
) -> None:
    """Anthropic's Messages, not streamed: vLLM decodes the arguments, and would answer with 400."""
    script = tokenizer.encode(f"<think>Hm.</think>Well.\n{ADD_ONE_TWO}").ids
    with Anthropic(base_url=thinking_server.url, api_key="none", timeout=600) as client:
        got = client.messages.create(
            model=MODEL,
            messages=QUESTION,
            tools=[anthropic_tool(ADD["function"])],
            max_tokens=len(script) - 8,
            extra_body={"vllm_xargs": {"script": script}},
        )
    assert [part.type for part in got.content] == ["thinking", "text"]
    assert (got.content[1].text, got.stop_reason) == ("Well.", "max_tokens")
