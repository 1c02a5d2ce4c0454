"""A tokenizer that reads messages, as TRL asks for them. With TRL itself: tests/engines/rollouts."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from toolwire import ToolwireError, write
from toolwire.rollouts.trl import with_parser
from transformers import AutoTokenizer, PreTrainedTokenizerBase

from ..support import TOOLS
from .byte_tokenizer import byte_tokenizer

CALL = write("hermes", [{"name": "add", "arguments": {"a": 1}}], TOOLS)
FOUND = [{"type": "function", "function": {"name": "add", "arguments": {"a": 1}}}]


@pytest.fixture
def tokenizer() -> Any:
    return with_parser(byte_tokenizer("<tool_call>", "</tool_call>"), "hermes", reasoning=True)


def test_a_message(tokenizer: Any) -> None:
    assert isinstance(tokenizer, PreTrainedTokenizerBase)
    assert tokenizer.response_template is not None, "TRL would not ask"
    ids = tokenizer.encode(f"So. {CALL}<|im_end|>")
    expected = {"role": "assistant", "content": "So.", "tool_calls": FOUND}
    assert tokenizer.parse_response(ids) == expected
    assert tokenizer.parse_response(f"So. {CALL}", prefix="", tools=TOOLS) == expected
    assert tokenizer.parse_response([ids, ids]) == [expected, expected]
    assert tokenizer.parse_response("Hi") == {"role": "assistant", "content": "Hi"}


def test_the_prompt_may_have_opened_the_thoughts(tokenizer: Any) -> None:
    ids, prompt = tokenizer.encode(f"hm</think>{CALL}"), tokenizer.encode("user: hi\n<think>\n")
    found = tokenizer.parse_response(ids, prefix=prompt)
    assert (found["reasoning_content"], found["content"]) == ("hm", "")
    closed = tokenizer.encode("<think></think>")
    assert tokenizer.parse_response(ids, prefix=closed)["content"].startswith("hm")


def test_arguments_that_are_no_object_cost_no_other_call(tokenizer: Any) -> None:
    found = tokenizer.parse_response(CALL + CALL[:-15])["tool_calls"]
    assert found[0] == FOUND[0]
    assert found[1]["function"]["arguments"] == '{"a": 1'


def test_tools_that_are_functions(tokenizer: Any) -> None:
    def add(a: int) -> int:
        """Adds.

        Args:
            a: A number.
        """
        return a

    reading = with_parser(tokenizer, "qwen3_coder")
    text = "<tool_call><function=add><parameter=a>7</parameter></function></tool_call>"
    (call,) = reading.parse_response(text, tools=[add])["tool_calls"]
    assert call["function"]["arguments"] == {"a": 7}


def test_copies_read_too_and_files_are_those_of_the_plain_one(
    tokenizer: Any, tmp_path: Path
) -> None:
    tokenizer.padding_side = "left"
    for copied in (copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        assert copied.parse_response(CALL)["tool_calls"] == FOUND
        assert copied.padding_side == "left"
    tokenizer.save_pretrained(tmp_path)
    saved = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert "response_template" not in saved
    assert "toolwire" not in json.dumps(saved)
    assert AutoTokenizer.from_pretrained(tmp_path).encode("<tool_call>") == tokenizer.encode(
        "<tool_call>"
    )
    assert tokenizer.parse_response(CALL)["tool_calls"] == FOUND


def test_wrong_use(tokenizer: Any) -> None:
    with pytest.raises(ToolwireError, match="give no schema"):
        tokenizer.parse_response("x", {"fields": {}})
    with pytest.raises(ToolwireError):
        with_parser(byte_tokenizer(), "no_such_format")
