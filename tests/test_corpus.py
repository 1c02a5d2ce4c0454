"""The corpus: what comes out of each text, whole and cut in many ways.

The cases of this repository are in `corpus_cases`. Beside the checkout there may be a collection of
cases on which three other implementations agree; where it is, they are tried too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import toolwire

from .corpus_cases import CASES, Case
from .support import check_all_splits, events_of, summary

# -- our own ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_calls_and_the_content(case: Case) -> None:
    """Every single cut, one character at a time, some random ways, and of short texts every two cuts."""
    events = check_all_splits(case.format, case.text, case.tools, pairs_under=50)
    assert summary(events) == (case.content, list(case.calls))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_not_streamed_is_the_same(case: Case) -> None:
    message = toolwire.parse(case.format, case.text, case.tools)
    calls = [(call.name, call.arguments, call.complete) for call in message.tool_calls]
    assert (message.content, calls) == (case.content, list(case.calls))


@pytest.mark.parametrize("shape", toolwire.shapes.ALL, ids=lambda shape: shape.kind())
def test_every_shape_has_plain_cases_and_nasty_ones(shape: type[toolwire.shapes.Shape]) -> None:
    """What holds for each single format is tested with what `writers` makes."""
    names = [
        case.name for case in CASES if isinstance(toolwire.get_format(case.format).shape, shape)
    ]
    assert "plain" in names
    assert len(set(names)) > 1


def test_no_case_is_there_twice() -> None:
    for many in ([str(case) for case in CASES], [(case.format, case.text) for case in CASES]):
        assert len(set(many)) == len(many)


# -- where three others agree ----------------------------------------------------------------------

SHARED = Path(__file__).parents[2] / "shared" / "corpus" / "parity.jsonl"

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
    if not SHARED.exists():
        return []
    return [json.loads(line) for line in SHARED.read_text(encoding="utf-8").splitlines()]


AGREED = load()
needs_the_collection = pytest.mark.skipif(not AGREED, reason="the collection is not here")


@needs_the_collection
@pytest.mark.parametrize("case", AGREED, ids=[case["id"] for case in AGREED])
def test_agrees_with_the_others(case: dict[str, Any]) -> None:
    chunks = [c["delta_text"] for c in case.get("chunks", ())] or [case["text"]]
    text = "".join(chunks)
    message = toolwire.parse(case["format"], text, case["tools"])
    calls = [{"name": c.name, "arguments": c.load()} for c in message.tool_calls if c.complete]
    assert (calls == case["calls"]) != (case["id"] in DIFFERENT)
    whole = events_of(case["format"], [text], case["tools"])
    assert events_of(case["format"], chunks, case["tools"]) == whole
    assert events_of(case["format"], list(text), case["tools"]) == whole


@needs_the_collection
def test_the_list_of_differences_is_no_longer_than_it_must_be() -> None:
    assert set(DIFFERENT) <= {case["id"] for case in AGREED}
