"""The plugin as a file of the checkout, behind a reasoning parser, many tokens a step."""

from __future__ import annotations

from typing import Any

from engine_cases import ADD_ONE_TWO, ONE_TWO, TOOLS
from engine_client import WAYS, Asker, body
from engine_server import EngineServer
from tokenizers import Tokenizer

QUESTION = [{"role": "user", "content": "Go."}]
TEXTS = {
    "after": f"Let me see.</think>\n\n{ADD_ONE_TWO}",
    "around": f"Hm.</think>Sure.\n{ADD_ONE_TWO}\n{ADD_ONE_TWO}\nThat is all there is to it.",
    "none": "Nothing to do.</think>\n\nHello.",
}


def test_reasoning_then_calls(file_server: EngineServer, tokenizer: Tokenizer) -> None:
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
