"""Cases on which three other implementations agree, where that collection is at hand.

It is not part of this repository: the test reads it from beside the checkout.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from toolwire import parse

from .support import events_of

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "parity.jsonl"

#: Where we give more than they do, and why.
ARGUMENTS_WERE_FINISHED = "the arguments were finished; a missing closer changes nothing"
NO_ARGUMENTS_ARE_EMPTY = "a block that closes without arguments is a call without any"
DIFFERENT = {
    "deepseek_v3/TOOLCALLING.batch.5.a": ARGUMENTS_WERE_FINISHED,
    "deepseek_v3/TOOLCALLING.batch.5.d": ARGUMENTS_WERE_FINISHED,
    "deepseek_v3/TOOLCALLING.batch.6.c": NO_ARGUMENTS_ARE_EMPTY,
    "deepseek_v3_1/TOOLCALLING.batch.4.d": ARGUMENTS_WERE_FINISHED,
    "deepseek_v3_1/TOOLCALLING.batch.5.d": ARGUMENTS_WERE_FINISHED,
    "gemma4/TOOLCALLING.batch.6.c": NO_ARGUMENTS_ARE_EMPTY,
    "glm47/TOOLCALLING.batch.4.d": "an outer closer implies the inner one (row X3)",
    "glm47/TOOLCALLING.batch.5.a": ARGUMENTS_WERE_FINISHED,
    "kimi_k2/TOOLCALLING.batch.5.d": ARGUMENTS_WERE_FINISHED,
    "llama3_json/TOOLCALLING.batch.5.a": ARGUMENTS_WERE_FINISHED,
    "qwen3_coder/TOOLCALLING.batch.5.c": "a value that was cut off is not finished (row X5)",
}


def load() -> list[dict[str, Any]]:
    if not CORPUS.exists():
        return []
    return [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]


CASES = load()


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_agrees_with_the_others(case: dict[str, Any]) -> None:
    chunks = [c["delta_text"] for c in case.get("chunks", ())] or [case["text"]]
    text = "".join(chunks)
    message = parse(case["format"], text, case["tools"])
    calls = [{"name": c.name, "arguments": c.load()} for c in message.tool_calls if c.complete]
    assert (calls == case["calls"]) != (case["id"] in DIFFERENT)
    whole = events_of(case["format"], [text], case["tools"])
    assert events_of(case["format"], chunks, case["tools"]) == whole
    assert events_of(case["format"], list(text), case["tools"]) == whole


def test_the_list_of_differences_is_no_longer_than_it_must_be() -> None:
    assert not CASES or set(DIFFERENT) <= {case["id"] for case in CASES}
