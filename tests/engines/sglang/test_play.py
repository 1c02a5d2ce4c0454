"""`toolwire play` shows SGLang's own parser beside ours."""

from __future__ import annotations

import json
from pathlib import Path

from shared_play import check_page
from toolwire.play.engine_parsers import engine_answer, engines

TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
TEXT = 'Hi. <tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'


def test_its_own_parser_is_asked() -> None:
    assert engines()["sglang"]["there"]
    asked = {"engine": "sglang", "format": "hermes", "text": TEXT, "tools": json.dumps([TOOL])}
    told = engine_answer(asked, None)
    assert told["problem"] == ""
    assert told["calls"] == [{"name": "add", "arguments": '{"a": 1}', "problem": ""}]
    assert told["content"].strip() == "Hi."


def test_a_format_that_it_has_no_parser_for_is_said() -> None:
    told = engine_answer({"engine": "sglang", "format": "call_text", "text": TEXT}, None)
    assert "no parser of its own" in told["problem"]


def test_on_the_page(playwright: Path, tmp_path: Path) -> None:
    check_page("SGLang", "hermes", playwright, tmp_path)
