"""The chat templates on the real server: it renders each of them as we do, and the model gets it."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from engine_client import MODEL, Asker, body, chat, chat_stream
from engine_server import EngineServer
from forced_calls import after_an_example
from test_unscripted import WEATHER
from tokenizers import Tokenizer
from toolwire.templates import get_template, list_templates, render

CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": {"city": "Zürich"}},
}
CONVERSATION = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "What is the weather in Zürich?"},
    {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": '{"celsius": 21}'},
    {"role": "user", "content": "And in Oslo?"},
]


def rendered_by(server: EngineServer, tokenizer: Tokenizer, template: str) -> str:
    """The prompt that vLLM makes of the conversation."""
    # The API takes arguments as a string; vLLM hands them to the template as an object.
    call = {**CALL, "function": {"name": "get_weather", "arguments": '{"city": "Zürich"}'}}
    messages = [
        {**message, "tool_calls": [call]} if "tool_calls" in message else message
        for message in CONVERSATION
    ]
    request = {"model": MODEL, "messages": messages, "tools": [WEATHER], "chat_template": template}
    asked = urllib.request.Request(
        f"{server.url}/v1/chat/completions/render",
        json.dumps(request).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(asked, timeout=600) as answer:
        tokens: list[int] = json.load(answer)["token_ids"]
    return tokenizer.decode(tokens, skip_special_tokens=False)


@pytest.fixture(scope="session")
def special_tokens(model: Path) -> dict[str, Any]:
    config = json.loads((model / "tokenizer_config.json").read_text(encoding="utf-8"))
    return {key: config[key] for key in ("bos_token", "eos_token")}


@pytest.mark.parametrize("name", [template.name for template in list_templates()])
def test_vllm_renders_what_we_render(
    name: str, server: EngineServer, tokenizer: Tokenizer, special_tokens: dict[str, Any]
) -> None:
    ours = render(name, CONVERSATION, [WEATHER], add_generation_prompt=True, **special_tokens)
    assert rendered_by(server, tokenizer, get_template(name).text()) == ours


@pytest.mark.parametrize("style", ["hermes", "call_text"])
def test_the_model_calls_after_one_example(style: str, real_asker: Asker) -> None:
    messages = after_an_example()
    request = body([WEATHER], None, format=style, max_tokens=60)
    request["extra_body"]["chat_template"] = get_template(f"chatml-{style}").text()
    for (answer,) in real_asker.all(
        [
            lambda client: chat(client, messages, **request),
            lambda client: chat_stream(client, messages, **request),
        ]
    ):
        assert [(n, json.loads(a)) for n, a in answer.calls] == [("get_weather", {"city": "Oslo"})]
        assert answer.finish == "tool_calls"
