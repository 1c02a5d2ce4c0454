"""What is known of the models behind a gateway: formats by their names, and who takes no tools."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from toolwire import ToolwireError
from toolwire.gateway import Settings, ToolCallMiddleware
from toolwire.gateway.by_model import FormatChoice, Models, prompt_words, says_no_tools

from .support_gateway import ask

PATTERNS = "qwen3*=hermes, kimi*=kimi_k2,*=any"


@pytest.mark.parametrize(
    ("format", "model", "wanted"),
    [
        (None, "qwen3", None),
        ("", "qwen3", None),
        ("hermes", "anything", "hermes"),
        (PATTERNS, "qwen3-8b", "hermes"),
        (PATTERNS, "Qwen/Qwen3-8B", "hermes"),
        (PATTERNS, "kimi-k2", "kimi_k2"),
        (PATTERNS, "my-qwen3", "any"),
        ("qwen3*=hermes", "llama", None),
        ("auto", "Qwen/Qwen3-Coder-30B", "qwen3_coder"),
        ("auto", "somebody/new", "any"),
        ("gemma*=call_text,*=auto", "gemma3:4b", "call_text"),
        ("gemma*=call_text,*=auto", "gpt-oss:20b", "harmony"),
    ],
)
def test_the_first_pattern_that_fits_counts(
    format: str | None, model: str, wanted: str | None
) -> None:
    assert Models(format, "auto").format(model) == wanted


@pytest.mark.parametrize(
    ("format", "sentence"),
    [
        ("hermse", "hermes"),
        ("qwen*=hermse", "hermes"),
        ("qwen*=", "PATTERN=FORMAT"),
        ("hermes,*=any", "PATTERN=FORMAT"),
    ],
)
def test_what_is_wrong_is_said_at_the_start(format: str, sentence: str) -> None:
    with pytest.raises(ToolwireError, match=sentence.replace("*", r"\*")):
        Settings(format=format)


def test_the_upstreams_own_name_counts_for_auto() -> None:
    models = Models("auto", "auto")
    assert models.format("default") == "any"
    models.learn_names({"data": [{"id": "default", "root": "Qwen/Qwen3-8B"}, {"id": 1}, "x"]})
    assert models.format("default") == "hermes"
    models.learn_names({"data": "nothing"})
    assert models.format("default") == "any"


def test_a_pattern_is_for_the_name_that_clients_use() -> None:
    models = Models("default=kimi_k2,*=auto", "auto")
    models.learn_names({"data": [{"id": "default", "root": "Qwen/Qwen3-8B"}]})
    assert models.format("default") == "kimi_k2"


@pytest.mark.parametrize(
    ("error", "no_tools"),
    [
        (
            '{"error":{"message":"registry.ollama.ai/library/gemma3:latest does not support tools"}}',
            1,
        ),
        (
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            1,
        ),
        ("tools param requires --jinja flag", 1),
        ("This model doesn't support function calling", 1),
        ("Unsupported parameter: 'tools' is not supported with this model.", 1),
        ("tool use is not supported", 1),
        ("Function calling is not enabled for this model", 1),
        ("extra fields not permitted: tools", 1),
        ("tools[0].function.name must be a string", 0),
        ("Invalid schema for function 'add': 'strin' is not a valid type", 0),
        ("The model does not support images. Use tools to look at them", 0),
        ("context length exceeded", 0),
        ("messages with role 'tool' must follow a message with tool_calls", 0),
        ("", 0),
    ],
)
def test_how_servers_say_that_they_take_no_tools(error: str, no_tools: int) -> None:
    assert says_no_tools(error) is bool(no_tools)


def test_a_refusal_is_remembered_for_a_model_and_not_for_endless_many() -> None:
    models = Models("hermes", "auto")
    assert (models.way("gemma3"), models.may_refuse("gemma3")) == ("native", True)
    models.learn_refusal("gemma3")
    assert (models.way("gemma3"), models.may_refuse("gemma3")) == ("prompt", False)
    assert models.way("qwen3") == "native"
    for number in range(2000):
        models.learn_refusal(f"made up {number}")
    assert models.way("gemma3") == "native"
    assert models.way("made up 1999") == "prompt"


def test_what_is_read_in_any_format_is_asked_for_in_one() -> None:
    words = prompt_words("any")
    assert words is not None
    assert words.format.name == "hermes"
    assert prompt_words(None) is None


def test_calls_in_the_text_need_a_format() -> None:
    for tools in ("prompt", "none"):
        with pytest.raises(ToolwireError, match="set a format"):
            Models(None, tools)
    assert FormatChoice.parse("auto").asks_upstream


def test_auto_asks_the_upstream_what_it_calls_its_models() -> None:
    """Only its list says that `default` is a Llama, whose calls have no marker that `any` would know."""
    seen: list[tuple[str, str | None]] = []

    async def models(request: Request) -> Response:
        seen.append((request.url.path, request.headers.get("authorization")))
        entry = {"id": "default", "root": "meta-llama/Llama-3.3-70B-Instruct"}
        return JSONResponse({"data": [entry]})

    async def chat(_: Request) -> Response:
        content = '{"name": "add", "parameters": {"a": 1}}'
        choice = {"index": 0, "message": {"content": content}, "finish_reason": "stop"}
        return JSONResponse({"choices": [choice]})

    routes = [Route("/v1/models", models), Route("/v1/chat/completions", chat, methods=["POST"])]
    app = ToolCallMiddleware(Starlette(routes=routes), Settings(format="auto"))

    async def run() -> list[Any]:
        headers = {"authorization": "Bearer k"}
        transport = httpx2.ASGITransport(app)
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://x", headers=headers
        ) as client:
            asked = [("/v1/chat/completions", ask("default"))] * 2
            return [(await client.post(path, json=body)).json() for path, body in asked]

    for answer in asyncio.run(run()):
        (call,) = answer["choices"][0]["message"]["tool_calls"]
        assert call["function"] == {"name": "add", "arguments": '{"a": 1}'}
    assert seen == [("/v1/models", "Bearer k")]
