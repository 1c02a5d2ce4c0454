"""`toolwire play` shows vLLM's own parser beside ours."""

from __future__ import annotations

import json
from pathlib import Path

from shared_play import check_page
from toolwire.play.engine_parsers import engine_answer, engines

TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
TEXT = 'Hi. <tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
ASKED = {"engine": "vllm", "format": "hermes", "text": TEXT, "tools": json.dumps([TOOL])}


def test_its_own_parser_is_asked(model: Path) -> None:
    assert engines()["vllm"]["there"]
    told = engine_answer(ASKED, model)
    assert told["problem"] == ""
    assert told["calls"] == [{"name": "add", "arguments": '{"a": 1}', "problem": ""}]
    assert told["content"].strip() == "Hi."


def test_without_a_tokenizer_it_is_said() -> None:
    assert "--model FOLDER" in engine_answer(ASKED, None)["problem"]


def test_on_the_page(model: Path, playwright: Path, tmp_path: Path) -> None:
    check_page("vLLM", "hermes", playwright, tmp_path, "--model", str(model))
