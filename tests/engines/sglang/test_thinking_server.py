"""A real server with one of toolwire's reasoning parsers in front of one of its tool call parsers."""

from __future__ import annotations

from typing import Any

import pytest
from engine_cases import TOOLS
from engine_client import MODEL, Asker, thoughts_and_answer
from engine_server import EngineServer
from sglang_asking import scripted
from shared_reasoning import SERVED

QUESTION = [{"role": "user", "content": "Go."}]


def asked(stream: bool, text: str, **more: Any) -> Any:
    request = {"model": MODEL, "temperature": 0, "extra_body": scripted(text), **more}
    return lambda client: thoughts_and_answer(client, QUESTION, stream, **request)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_thoughts_and_calls(stream: bool, thinking_server: EngineServer) -> None:
    jobs = [asked(stream, text, tools=TOOLS) for text, _ in SERVED.values()]
    got = Asker(thinking_server.url).all(jobs)
    assert dict(zip(SERVED, got, strict=True)) == {name: end for name, (_, end) in SERVED.items()}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_request_without_tools(stream: bool, thinking_server: EngineServer) -> None:
    """`<think>` is a special token of this model: SGLang would leave it out of the text."""
    text = "<think>Hm.</think>\n\nYes.<think>Well.</think> No."
    (got,) = Asker(thinking_server.url).all([asked(stream, text)])
    assert got == ("Hm.Well.", "Yes.No.", [])
