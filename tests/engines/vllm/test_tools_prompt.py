"""vLLM without any flag for tools refuses them; the gateway in front writes them into the prompt."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest
from engine_client import Asker, chat
from engine_server import EngineServer
from shared_tools_prompt import (
    MESSAGES,
    REQUEST,
    WEATHER,
    check_chat,
    check_messages,
    check_responses,
    pasted_gateway,
)


@pytest.fixture(scope="module")
def url(bare_server: EngineServer) -> Iterator[str]:
    with pasted_gateway(bare_server.url) as url:
        yield url


def test_vllm_refuses_tools(bare_server: EngineServer) -> None:
    request = REQUEST | {"tools": [WEATHER]}
    with pytest.raises(openai.BadRequestError, match="--tool-call-parser to be set"):
        Asker(bare_server.url).all([lambda client: chat(client, MESSAGES, **request)])


def test_chat(url: str) -> None:
    check_chat(url)


def test_responses(url: str) -> None:
    check_responses(url)


def test_messages(url: str) -> None:
    check_messages(url)
