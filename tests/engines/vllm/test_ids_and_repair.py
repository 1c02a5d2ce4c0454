"""Ids as the format has them, and repair where the environment asks for it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from toolwire.engines.vllm import plugin
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm_driving import chat_request, make_parser, stream, whole, without_ids

pytestmark = pytest.mark.usefixtures("registered", "unchecked")

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}},
        },
    }
]
CALL = '{"name": "get_weather", "arguments": {}}'
TEXT = '<tool_call>{"name": "functions.Get-Weather", "arguments": {"days": "5"}}</tool_call>'


def conversation() -> Any:
    """With two calls in its history."""
    call = {"type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    calls = [call | {"id": "a"}, call | {"id": "b"}]
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": id, "content": "5"} for id in "ab"),
    ]
    return ChatCompletionRequest(messages=messages, model="model", tools=TOOLS)


@pytest.mark.parametrize(
    ("format", "text", "look"),
    [
        ("mistral", f"[TOOL_CALLS][{CALL}]", "[A-Za-z0-9]{9}"),
        ("mistral", f'[TOOL_CALLS][{{"id": "VvvODy9mT", {CALL[1:]}]', "VvvODy9mT"),
        ("kimi_k2", f"<|tool_calls_section_begin|>{CALL}", r"functions\.get_weather:2"),
        ("hermes", f"<tool_call>{CALL}</tool_call>", "call_[0-9a-f]{24}"),
    ],
)
def test_ids_look_as_the_format_has_them(
    hf_tokenizer: Any, format: str, text: str, look: str
) -> None:
    request = conversation()
    name = f"toolwire_{format}"
    found = whole(make_parser(hf_tokenizer, name, request), text, request)
    streamed = stream(make_parser(hf_tokenizer, name, request), without_ids(text), request)
    for answer in (found, streamed):
        (id,) = answer.ids
        assert re.fullmatch(look, id)


@pytest.mark.parametrize("asked", ["", "coerce,names"])
def test_repair_where_the_environment_asks(
    hf_tokenizer: Any, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOOLWIRE_REPAIR", asked)
    request = chat_request(TOOLS)
    wanted = [("get_weather", '{"days": 5}')]
    if not asked:
        wanted = [("functions.Get-Weather", '{"days": "5"}')]
    found = whole(make_parser(hf_tokenizer, "toolwire_hermes", request), TEXT, request)
    assert found.calls == wanted
    for size in range(1, 20):
        pieces = without_ids(TEXT[i : i + size] for i in range(0, len(TEXT), size))
        parser = make_parser(hf_tokenizer, "toolwire_hermes", request)
        assert stream(parser, pieces, request).calls == wanted


def test_a_wrong_repair_is_said_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLWIRE_REPAIR", "nmes")
    with pytest.raises(Exception, match="There is no repair 'nmes'"):
        plugin.register()
