"""TRL's own `parse_response`, with a tokenizer that reads as toolwire does."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import toolwire
from toolwire.rollouts.trl import with_parser
from trl.chat_template_utils import parse_response


def get_weather(city: str, days: int = 1) -> str:
    """The weather.

    Args:
        city: Where.
        days: For how many days.
    """
    return f"{city} {days}"


@pytest.mark.parametrize("name", toolwire.list_formats())
def test_the_calls_of_the_server_path(name: str, tokenizer: Any) -> None:
    reading = with_parser(copy.deepcopy(tokenizer), name)
    call = {"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}
    text = toolwire.write(name, [call])
    ids = reading.encode(text + reading.eos_token, add_special_tokens=False)
    prompt = reading.encode("user\nHi\nassistant\n")
    found = parse_response(reading, ids, prefix=prompt, tools=[get_weather])
    assert found["role"] == "assistant"
    assert found["content"] == ""
    (one,) = found["tool_calls"]
    assert one == {"type": "function", "function": call}
    assert get_weather(**one["function"]["arguments"]) == "Oslo 3"


@pytest.mark.short
def test_one_bad_call_costs_no_other(tokenizer: Any) -> None:
    reading = with_parser(copy.deepcopy(tokenizer), "hermes")
    good = toolwire.write("hermes", [{"name": "get_weather", "arguments": {"city": "Oslo"}}])
    bad = '<tool_call>{"name": "get_weather", "arguments": {"city": }}</tool_call>'
    ids = reading.encode(good + bad, add_special_tokens=False)
    first, second = parse_response(reading, ids, prefix=[1])["tool_calls"]
    assert first["function"]["arguments"] == {"city": "Oslo"}
    assert isinstance(second["function"]["arguments"], str)
