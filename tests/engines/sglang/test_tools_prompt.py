"""SGLang without any flag for tools takes them, and SmolLM2's template never shows them to the model:
`--tools prompt` writes them into the prompt."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from engine_server import EngineServer
from shared_tools_prompt import check_chat, check_messages, check_responses, pasted_gateway


@pytest.fixture(scope="module")
def url(bare_server: EngineServer) -> Iterator[str]:
    with pasted_gateway(bare_server.url, "--tools", "prompt") as url:
        yield url


def test_chat(url: str) -> None:
    check_chat(url)


def test_responses(url: str) -> None:
    check_responses(url)


def test_messages(url: str) -> None:
    check_messages(url)
