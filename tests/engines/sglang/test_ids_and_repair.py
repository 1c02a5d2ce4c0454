"""Ids as the format has them, and repair where the environment asks for it."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from sglang.srt.entrypoints.openai.serving_chat import OpenAIServingChat
from sglang.srt.function_call.core_types import ToolCallItem
from sglang_driving import make_parser, stream, whole
from toolwire.engines.sglang import plugin
from toolwire.engines.sglang.ids import make_ids_our_way

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"days": {"type": "integer"}}},
        },
    }
]
TEXT = '<tool_call>{"name": "functions.Get-Weather", "arguments": {"days": "5"}}</tool_call>'


@pytest.fixture(autouse=True, scope="module")
def registered() -> None:
    plugin.register()
    make_ids_our_way()


@pytest.mark.parametrize(
    ("parser", "look"),
    [
        ("toolwire_mistral", "[A-Za-z0-9]{9}"),
        ("toolwire_kimi_k2", r"functions\.get_weather:5"),
        ("toolwire_solar_open", "[a-z0-9]{10}"),
        ("toolwire_hermes", "call_[0-9a-f]{24}"),
        ("kimi_k2", r"functions\.get_weather:5"),
        ("hermes", "call_[0-9a-f]{24}"),
    ],
)
def test_ids_look_as_the_format_has_them(parser: str, look: str) -> None:
    item = ToolCallItem(tool_index=2, name="get_weather", parameters="")
    serving: Any = SimpleNamespace(tool_call_parser=parser)
    assert re.fullmatch(look, OpenAIServingChat._process_tool_call_id(serving, item, 3))


@pytest.mark.parametrize("asked", ["", "coerce,names"])
def test_repair_where_the_environment_asks(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLWIRE_REPAIR", asked)
    wanted = [("get_weather", '{"days": 5}')] if asked else []  # SGLang leaves unknown tools out
    assert whole(make_parser("toolwire_hermes", TOOLS), TEXT).calls == wanted
    for size in range(1, 20):
        pieces = [TEXT[i : i + size] for i in range(0, len(TEXT), size)]
        assert stream(make_parser("toolwire_hermes", TOOLS), pieces).calls == wanted


def test_a_wrong_repair_is_said_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLWIRE_REPAIR", "nmes")
    with pytest.raises(Exception, match="There is no repair 'nmes'"):
        plugin.register()
