"""`write` is what the families' own chat templates write, one call or two."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import toolwire
from toolwire.core.parser import EventParser
from toolwire.formats.tools_for import tools_for
from toolwire.models.rendering import template_renderer

FAMILIES = Path(__file__).parent / "families"
#: Templates that write another dialect of a format than the one that `write` chose.
OTHER_DIALECTS = {
    "gigachat3-gigachat3": "3.0 marks calls otherwise than 3.1",
    "granite3-granite": "without the blank that most have",
    "internlm25-internlm": "parameters instead of arguments",
    "lfm2-lfm2": "false instead of False",
    "mistral7b-mistral": "before v11, a JSON array",
    "mistralsmall32-mistral": "with the calls' ids",
    "seedoss-seed_oss": "false instead of False",
}
CALLS = [
    {"name": "look_up", "arguments": {"city": "Oslo", "days": 3, "options": {"units": ["m"]}}},
    {"name": "note", "arguments": {"text": "Take a coat", "pinned": False}},
]


def rendered(path: Path, calls: list[dict[str, Any]]) -> str:
    """What the template makes of the calls, in the first manner that it takes."""
    render = template_renderer(path.read_text(encoding="utf-8"), {})
    as_text = [{**call, "arguments": json.dumps(call["arguments"])} for call in calls]
    refused: toolwire.ToolwireError | None = None
    for some, ids in itertools.product((calls, as_text), ("functions.{}:{}", "abcdefgh{1}")):
        entries = [
            {"id": ids.format(call["name"], i), "type": "function", "function": call}
            for i, call in enumerate(some)
        ]
        answer = {"role": "assistant", "content": "", "tool_calls": entries}
        try:
            return render([{"role": "user", "content": "Hello."}, answer], None)
        except toolwire.ToolwireError as error:
            refused = error
    assert refused is not None
    raise refused


@pytest.mark.parametrize(
    "path", [p for p in sorted(FAMILIES.glob("*.jinja")) if not p.stem.startswith("none")],
    ids=lambda path: path.stem,
)  # fmt: skip
def test_it_is_what_the_template_writes(path: Path) -> None:
    name = path.stem.partition("-")[2]
    one = toolwire.write(name, CALLS[:1]) in rendered(path, CALLS[:1])
    other = toolwire.write(name, CALLS[1:]) in rendered(path, CALLS[1:])
    try:
        both = toolwire.write(name, CALLS) in rendered(path, CALLS)
    except toolwire.ToolwireError:
        both = True  # the template refuses two calls
    assert (one and other and both) is (path.stem not in OTHER_DIALECTS)


@pytest.mark.parametrize(
    "path", [p for p in sorted(FAMILIES.glob("*.jinja")) if not p.stem.startswith("none")],
    ids=lambda path: path.stem,
)  # fmt: skip
def test_what_a_template_writes_is_no_drift(path: Path) -> None:
    """Also in the dialects that `write` did not choose: nobody should be told that a model drifts which
    writes as its own template does."""
    tools = tools_for((call["name"], call["arguments"]) for call in CALLS)
    for calls in (CALLS[:1], CALLS):
        try:
            text = rendered(path, calls).partition("Hello.")[2]
        except toolwire.ToolwireError:
            continue  # one call at a time
        parser = EventParser(toolwire.get_format(path.stem.partition("-")[2]), tools)
        parser.feed(text)
        parser.finish()
        assert parser.drift == []
