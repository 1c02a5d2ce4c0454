"""`parse_ids`: the same message from tokens as from their text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import ToolwireError, get_format, list_formats, parse, parse_ids, write
from toolwire.models.special_tokens import special_tokens
from toolwire.openai.message import Message
from toolwire.rollouts.ids import stop_token_ids

from ..support import TOOLS
from .byte_tokenizer import byte_tokenizer

PLAIN = byte_tokenizer("<tool_call>", "</tool_call>")
CALLS = [
    {"name": "get_weather", "arguments": {"city": "Oslo,  ' don 't"}},
    {"name": "add", "arguments": {"a": 1}},
]


def without_ids(message: Message) -> tuple[Any, ...]:
    calls = [(call.name, call.arguments, call.complete) for call in message.tool_calls]
    return message.content, message.reasoning, calls


@pytest.mark.parametrize("name", list_formats())
def test_the_same_as_from_text(name: str) -> None:
    tokenizer = byte_tokenizer(*special_tokens(get_format(name)))
    text = write(name, CALLS[:1], TOOLS)
    ids = tokenizer.encode(text, add_special_tokens=False)
    for end in (
        [],
        [tokenizer.eos_token_id],
        [tokenizer.eos_token_id] + [tokenizer.pad_token_id] * 3,
    ):
        message = parse_ids(name, [*ids, *end], tokenizer, TOOLS)
        assert without_ids(message) == without_ids(parse(name, text, TOOLS))
    assert len(message.tool_calls) == 1


@given(st.text(), st.integers(0, 60))
def test_any_tokens(text: str, size: int) -> None:
    """Also those that end in the middle of a character."""
    call = write("hermes", CALLS, TOOLS)
    ids = PLAIN.encode(text.encode(errors="replace").decode() + call)[:size]
    message = parse_ids("hermes", ids, PLAIN, TOOLS)
    decoded = PLAIN.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    assert without_ids(message) == without_ids(parse("hermes", decoded, TOOLS))


def test_thoughts_and_rows_of_numbers() -> None:
    class Row(list):  # as numpy and torch have them
        def tolist(self) -> list[int]:
            return list(self)

    text = "hm</think>Hello."
    message = parse_ids("hermes", Row(PLAIN.encode(text)), PLAIN, None, True, True)
    assert (message.reasoning, message.content) == ("hm", "Hello.")


def test_a_token_that_ends_a_call_stays() -> None:
    tokenizer = byte_tokenizer("<|tool_call>", "<tool_call|>")
    tokenizer.eos_token = "<tool_call|>"
    text = write("gemma4", CALLS[:1], TOOLS)
    message = parse_ids("gemma4", tokenizer.encode(text), tokenizer, TOOLS)
    assert [call.complete for call in message.tool_calls] == [True]


def test_where_sampling_has_to_stop() -> None:
    tokenizer = byte_tokenizer("<|tool_call>", "<tool_call|>")
    assert stop_token_ids("gemma4", tokenizer) == tokenizer.convert_tokens_to_ids(["<tool_call|>"])
    assert stop_token_ids("gemma4", PLAIN) == [], "it has no such token"
    assert stop_token_ids("hermes", tokenizer) == []


def test_a_tokenizer_that_gives_no_text() -> None:
    class Odd:
        def decode(self, ids: list[int], **options: Any) -> list[str]:
            return ["x"]

    with pytest.raises(ToolwireError, match="gave a list, not a str"):
        parse_ids("hermes", [1], Odd())
