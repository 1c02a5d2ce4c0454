"""verl finds the parsers by itself, and they give what a server with them gives."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import toolwire
from verl.experimental.agent_loop.tool_parser import ToolParser
from verl.tools.schemas import OpenAIFunctionToolSchema

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
TOOLS = [OpenAIFunctionToolSchema.model_validate(WEATHER)]
ARGUMENTS = {"city": "Oslo </tool_call> \U0001f600", "days": 3}
END = "<|im_end|>"


def extract(name: str, text: str, tokenizer: Any) -> tuple[str, list[Any]]:
    parser = ToolParser.get_tool_parser(name, tokenizer)
    ids = tokenizer.encode(text, add_special_tokens=False)
    return asyncio.run(parser.extract_tool_calls(ids, TOOLS))


@pytest.mark.short
@pytest.mark.parametrize("name", toolwire.list_formats())
def test_the_calls_of_the_server_path(name: str, tokenizer: Any) -> None:
    call = {"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}
    text = toolwire.write(name, [call], [WEATHER])
    expected = toolwire.parse(name, text, [WEATHER])
    content, calls = extract(f"toolwire_{name}", text + END, tokenizer)
    assert content == (expected.content or "")
    assert [(c.name, c.arguments) for c in calls] == [
        (c.name, c.arguments) for c in expected.tool_calls
    ]
    assert len(calls) == 1


@pytest.mark.short
def test_a_call_that_verls_own_parser_loses(tokenizer: Any) -> None:
    text = "Look. " + toolwire.write("hermes", [{"name": "get_weather", "arguments": ARGUMENTS}])
    assert extract("hermes", text + END, tokenizer)[1] == []
    content, (call,) = extract("toolwire_hermes", text + END, tokenizer)
    assert (content, call.name) == ("Look.", "get_weather")
    assert toolwire.ToolCall("", call.name, call.arguments).load() == ARGUMENTS
    assert call.tool_call_id is None, "the model wrote none"


def test_an_id_that_the_model_wrote(tokenizer: Any) -> None:
    call = {"name": "get_weather", "arguments": {}, "id": "functions.get_weather:4"}
    text = toolwire.write("kimi_k2", [call])
    (found,) = extract("toolwire_kimi_k2", text, tokenizer)[1]
    assert found.tool_call_id == "functions.get_weather:4"


def test_a_call_that_was_cut_off(tokenizer: Any) -> None:
    text = toolwire.write("hermes", [{"name": "get_weather", "arguments": ARGUMENTS}])[:-20]
    (call,) = extract("toolwire_hermes", text, tokenizer)[1]
    assert call.arguments.startswith('{"city": "Oslo')


def test_stop_tokens(tokenizer: Any) -> None:
    assert ToolParser.get_tool_parser("toolwire_hermes", tokenizer).stop_token_ids == []
