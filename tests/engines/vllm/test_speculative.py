"""Speculative decoding for real: several tokens come in a step, and the answers are as without it.

The drafts are what the prompt has: the model is asked to copy a text, and held to it by a regular
expression, since vLLM takes no script here.
"""

from __future__ import annotations

import re
import urllib.request
from typing import Any

import pytest
from conversation import TURNS, check_turns
from engine_cases import TOOLS
from engine_client import Answer, Asker, body, literally
from engine_server import EngineServer
from messages_client import ALL_WAYS

#: Messages can't be told what the model is to write.
WAYS = [way for way in ALL_WAYS if not way.startswith("messages")]
#: A long text takes the model long, and says no more.
SAID = [turn for turn in TURNS if turn != "a long argument"]


@pytest.fixture(scope="session")
def answers(speculative_server: EngineServer) -> dict[tuple[str, str], Answer]:
    def job(turn: str, way: str) -> Any:
        text = TURNS[turn][0]
        messages = [{"role": "user", "content": f"Repeat this:\n{text}\n\nAgain:\n{text}"}]
        request = {
            **body(TOOLS, None),
            "extra_body": {"structured_outputs": {"regex": literally(text)}},
        }
        return lambda client: ALL_WAYS[way](client, messages, **request)

    asked = [(turn, way) for turn in SAID for way in WAYS]
    got = Asker(speculative_server.url).all(job(turn, way) for turn, way in asked)
    return {key: one for key, (one,) in zip(asked, got, strict=True)}


def test_the_answers_are_the_same(answers: dict[tuple[str, str], Answer]) -> None:
    check_turns(answers)


@pytest.mark.usefixtures("answers")
def test_drafts_were_taken(speculative_server: EngineServer) -> None:
    """Else nothing of this was tested: over a token of each draft was right."""
    with urllib.request.urlopen(f"{speculative_server.url}/metrics", timeout=600) as page:
        text = page.read().decode()
    drafts, taken = (
        float(re.search(rf"^vllm:spec_decode_num_{name}_total\{{.*?\}} (\S+)$", text, re.M)[1])
        for name in ("drafts", "accepted_tokens")
    )
    assert taken > drafts > 0


def test_streams_come_in_steps_of_several_tokens(answers: dict[tuple[str, str], Answer]) -> None:
    deltas = answers["two calls, and text around them", "chat-stream"].deltas
    text = TURNS["two calls, and text around them"][0]
    assert 2 < len(deltas) < len(text) / 8
