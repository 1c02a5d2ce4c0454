"""Every style with every way of calling, and every format, through real servers: what clients of three
APIs get is what `toolwire.parse` reads."""

from __future__ import annotations

from typing import Any

import pytest
from engine_client import body
from engine_server import EngineServer
from openai import OpenAI
from served_cases import FORMATS, REQUIRED, THOUGHTS, TOOLLESS, Row
from shared_served import QUESTION, Answers, Served, check, choice_for
from tokenizers import Tokenizer


def ids(tokenizer: Tokenizer, text: str) -> list[int]:
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return found


class Asking(Served):
    def __init__(self, tokenizer: Tokenizer, switching: bool) -> None:
        self.tokenizer = tokenizer
        self.switching = switching

    def request(self, row: Row, way: str) -> dict[str, Any]:
        script = [*ids(self.tokenizer, row.before), *ids(self.tokenizer, row.behind)]
        more = choice_for(row, way)
        if not self.switching:
            return body(row.tools, script, format=row.format, **more)
        template: dict[str, Any] = {
            "format": row.format,
            "style": row.style,
            "prefill": row.prefill,
        }
        if row.off and way.startswith("messages"):
            more["thinking"] = {"type": "disabled"}
        elif row.off:
            template["enable_thinking"] = False
        return body(row.tools, script, template=template, **more)


@pytest.fixture(scope="session")
def thoughts(switching_server: EngineServer, tokenizer: Tokenizer) -> Answers:
    rows = [row for rows in THOUGHTS.values() for row in rows]
    rows += [*REQUIRED.values(), *TOOLLESS]
    return Asking(tokenizer, True).ask(switching_server.url, rows)


@pytest.fixture(scope="session")
def formats(server: EngineServer, tokenizer: Tokenizer) -> Answers:
    rows = [row for rows in FORMATS.values() for row in rows]
    return Asking(tokenizer, False).ask(server.url, rows)


@pytest.mark.parametrize("pair", THOUGHTS)
def test_thoughts(pair: str, thoughts: Answers) -> None:
    check([*THOUGHTS[pair], REQUIRED[pair]], thoughts)


def test_requests_without_tools(thoughts: Answers) -> None:
    check(TOOLLESS, thoughts)


@pytest.mark.parametrize("format", FORMATS)
def test_formats(format: str, formats: Answers) -> None:
    check(FORMATS[format], formats)


# -- how much is thought --------------------------------------------------------------------------


def opened(**more: Any) -> dict[str, Any]:
    """A request whose prompt has opened the thoughts."""
    template = {"format": "hermes", "style": "think", "prefill": "<think>\n"}
    script = more.pop("script", None)
    return {"messages": QUESTION, **body([], script, template=template, **more)}


def test_tokens_of_thoughts_are_counted(
    switching_server: EngineServer, tokenizer: Tokenizer
) -> None:
    thought, answer = ids(tokenizer, "Let me see."), ids(tokenizer, "</think>Yes.")
    request = opened(script=[*thought, *answer])
    with OpenAI(base_url=f"{switching_server.url}/v1", api_key="none", timeout=600) as client:
        chat = client.chat.completions.create(**request)
        responses = client.responses.create(input=request.pop("messages"), **request)
    assert chat.usage.completion_tokens_details.reasoning_tokens == len(thought)
    assert responses.usage.output_tokens_details.reasoning_tokens == len(thought)


def test_a_budget_ends_the_thoughts(switching_server: EngineServer) -> None:
    """vLLM writes the closer by itself, which it has from the parser. Here the model babbles."""
    request = opened(max_tokens=20)
    request["extra_body"]["thinking_token_budget"] = 5
    with OpenAI(base_url=f"{switching_server.url}/v1", api_key="none", timeout=600) as client:
        got = client.chat.completions.create(**request)
    (choice,) = got.choices
    assert 0 < got.usage.completion_tokens_details.reasoning_tokens <= 5
    assert choice.message.model_dump()["reasoning"]
    assert choice.message.content
    assert "think>" not in choice.message.content
