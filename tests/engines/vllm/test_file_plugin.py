"""A second server: the plugin as a file of the checkout, behind a reasoning parser, many tokens a step.

The entry point of the installed package is switched off, so what runs is what lies in the checkout.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import template
from engine_cases import ADD_ONE_TWO, ONE_TWO, TOOLS
from engine_client import WAYS, Asker, body
from tokenizers import Tokenizer
from vllm_server import Server

QUESTION = [{"role": "user", "content": "Go."}]
TEXTS = {
    "after": f"Let me see.</think>\n\n{ADD_ONE_TWO}",
    "around": f"Hm.</think>Sure.\n{ADD_ONE_TWO}\n{ADD_ONE_TWO}\nThat is all there is to it.",
    "none": "Nothing to do.</think>\n\nHello.",
}


@pytest.fixture(scope="module")
def file_server(
    model: Path, checkout: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    started = Server(
        model,
        tmp_path_factory.mktemp("file_server") / "vllm.log",
        [
            *("--tool-parser-plugin", str(checkout / "parsers" / "engines" / "vllm_plugin.py")),
            *("--tool-call-parser", "toolwire_hermes"),
            *("--chat-template", template("chatml-hermes")),
            *("--reasoning-parser", "deepseek_r1", "--stream-interval", "4"),
        ],
        {"VLLM_PLUGINS": ""},
    )
    try:
        started.wait()
        yield started
    finally:
        started.stop()


def test_reasoning_then_calls(file_server: Server, tokenizer: Tokenizer) -> None:
    def job(text: str, way: Any) -> Any:
        script = tokenizer.encode(text, add_special_tokens=False).ids
        return lambda client: way(client, QUESTION, **body(TOOLS, script))

    jobs = {(name, label): job(TEXTS[name], WAYS[label]) for name in TEXTS for label in WAYS}
    got = dict(zip(jobs, Asker(file_server.url).all(jobs.values()), strict=True))
    call = ("add", ONE_TWO)
    for way in WAYS:
        (after,), (around,), (none,) = (got[name, way] for name in TEXTS)
        assert (after.calls, after.content) == ([call], None), way
        assert around.calls == [call, call], way
        assert around.content == "Sure.\n\n\nThat is all there is to it.", way
        assert (none.calls, (none.content or "").strip()) == ([], "Hello."), way
