"""What a choice of an engine's request costs once its tools were read for another one: counted in the
steps that Python takes. vLLM's adapter needs no vLLM for that, but its classes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from toolwire.engines.vllm import adapter
from toolwire.openai import request as openai_request

from .work import most


def as_given(*parts: Any) -> Any:
    return parts


MESSAGES = SimpleNamespace(message=as_given, piece=as_given, start=as_given)


class ToolParser:
    """As vLLM's own, as far as a stream needs it."""

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        self.model_tokenizer = tokenizer


class Parser(adapter.Adapter, ToolParser):
    toolwire_format = "hermes"
    _api: Any = SimpleNamespace(
        messages=MESSAGES, envs=SimpleNamespace(VLLM_ENFORCE_STRICT_TOOL_CALLING=True)
    )


@pytest.fixture(autouse=True)
def no_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    contract = SimpleNamespace(function_tools=lambda tools: None)
    monkeypatch.setattr(adapter.vllm_api, "load", lambda: SimpleNamespace(contract=contract))
    monkeypatch.setattr(adapter, "check_tokenizer", lambda format, tokenizer: None)


def begin(asked: Any) -> Any:
    """Another choice of this request: its parser, and the first token."""
    return Parser(None).extract_tool_calls_streaming("", "", "Well", [], [], [], asked)


def request(count: int, choice: str, tag: str = "") -> Any:
    city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tools = [
        {"type": "function", "function": {"name": f"find_{number}", "parameters": city}}
        for number in range(count)
    ]
    return SimpleNamespace(
        tools=tools,
        tool_choice=choice,
        parallel_tool_calls=True,
        structured_outputs=SimpleNamespace(structural_tag=tag) if tag else None,
        messages=[],
    )


def steps_of_another_choice(asked: Any) -> int:
    begin(asked)
    return most(lambda: (None, begin), [asked]).steps


@pytest.mark.parametrize("choice", ["auto", "required"])
def test_it_costs_the_same_with_many_tools(choice: str) -> None:
    few, many = (steps_of_another_choice(request(count, choice)) for count in (1, 200))
    assert many <= few


def test_a_requests_tools_are_read_for_its_first_choice_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = []
    known = openai_request.KnownTools

    def counted(tools: Any) -> Any:
        read.append(len(tools))
        return known(tools)

    monkeypatch.setattr(openai_request, "KnownTools", counted)
    asked = request(3, "auto")
    for _ in range(4):
        assert begin(asked) == ("Well", [])
    assert read == [3]


def test_a_long_tag_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tag = '{"type": "structural_tag", "format": {"type": "or", "elements": []}}'
    loads, read = adapter.json.loads, []

    def counted(text: str) -> Any:
        read.append(text)
        return loads(text)

    monkeypatch.setattr(adapter.json, "loads", counted)
    asked = request(3, "auto", tag)
    for _ in range(4):
        begin(asked)
    assert read.count(tag) == 1
