"""Texts on which toolwire was wrong once, from a collection that may lie beside the checkout.

Where it does not, nothing is lost: tests/core/test_second_list_*.py have cases of our own for each row.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from toolwire import Parser
from toolwire.openai.message import collect

from .support import cut_at

SHARED = Path(__file__).parents[2] / "shared" / "corpus" / "round2.jsonl"
_LINES = SHARED.read_text(encoding="utf-8").splitlines() if SHARED.exists() else []
RUN: list[dict[str, Any]] = [json.loads(line) for line in _LINES]


def ways(text: str) -> Iterator[list[str]]:
    yield [text]
    yield list(text)
    for i in range(1, len(text)):
        yield [text[:i], text[i:]]
    chance = random.Random(text)  # the same for the same text
    for _ in range(20):
        yield cut_at(text, [chance.randint(0, len(text)) for _ in range(chance.randint(2, 9))])


def read(case: dict[str, Any], chunks: list[str]) -> dict[str, Any]:
    """What the case compares, of the message in these chunks."""
    parser = Parser(case["format"], case["tools"] or None)
    message = collect([*(e for chunk in chunks for e in parser.feed(chunk)), *parser.finish()])
    calls = [(call.name, call.arguments, call.complete) for call in message.tool_calls]
    found = {
        "content": message.content,
        "content_loose": "".join((message.content or "").split()),
        "calls": [
            {"name": name, "arguments": json.loads(arguments), "complete": complete}
            for name, arguments, complete in calls
        ],
    }
    return {aspect: found[aspect] for aspect in case["expect"]}


@pytest.mark.skipif(not RUN, reason="the collection is not here")
@pytest.mark.parametrize("case", RUN, ids=[case["id"] for case in RUN])
def test_a_case_of_the_collection(case: dict[str, Any]) -> None:
    expected = dict(case["expect"])
    if "content_loose" in expected:
        expected["content_loose"] = "".join(expected["content_loose"].split())
    for chunks in ways(case["text"]):
        assert read(case, chunks) == expected, chunks
