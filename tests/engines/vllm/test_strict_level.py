"""The operator's two switches: how far vLLM holds a model to the tools, and whether it does at all.

What a request asks of the sampler is looked at in vLLM's own request, after everything vLLM does to
it, and tried out with xgrammar. Then two servers are started with the switches.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import openai
import pytest
import toolwire
import xgrammar
from engine_client import WAYS, Answer, Asker, body, chat
from engine_grammar import make_compiler
from engine_server import EngineServer
from tokenizers import Tokenizer
from toolwire.engines.vllm import api as vllm_api
from toolwire.engines.vllm import since_0_24
from vllm.tool_parsers import utils
from vllm_driving import (
    HAS_LEVELS,
    chat_request,
    make_parser,
    responses_request,
    stream,
    whole,
)

pytestmark = pytest.mark.usefixtures("registered", "unchecked")

ENFORCE = "VLLM_ENFORCE_STRICT_TOOL_CALLING"


def weather(strict: bool) -> dict[str, Any]:
    """A tool that knows one city, and not the one that is asked for."""
    parameters = {
        "type": "object",
        "properties": {"city": {"type": "string", "enum": ["Bergen"]}},
        "required": ["city"],
        "additionalProperties": False,
    }
    function = {"name": "get_weather", "parameters": parameters, "strict": strict}
    return {"type": "function", "function": function}


def call(name: str, city: str) -> str:
    inside = json.dumps({"name": name, "arguments": {"city": city}})
    return f"<tool_call>\n{inside}\n</tool_call>"


FITS, MISFITS, UNKNOWN = (
    call("get_weather", "Bergen"),
    call("get_weather", "Oslo"),
    call("forecast", "Bergen"),
)
#: By the level and whether the tool is strict: what the model may write. None: whatever it likes.
ALLOWED = {
    ("auto", False): None,
    ("auto", True): {FITS},
    ("function", False): {FITS, MISFITS},
    ("function", True): {FITS},
    ("parameter", False): {FITS},
    ("parameter", True): {FITS},
}


def accepts(request: Any, text: str) -> bool:
    """Whether the request's constraint lets the model write the text."""
    tag = json.loads(request.structured_outputs.structural_tag)
    compiled = make_compiler().compile_structural_tag(xgrammar.StructuralTag.model_validate(tag))
    found: bool = xgrammar.GrammarMatcher(compiled).accept_string(text)
    return found


def allowed(tokenizer: Any, request: Any, level: str = "auto") -> set[str] | None:
    """Which of the three calls a request lets the model write; None where all is free."""
    make_parser(tokenizer, "toolwire_hermes", request, strict_level=level).adjust_request(request)
    if request.structured_outputs is None:
        return None
    return {text for text in (FITS, MISFITS, UNKNOWN) if accepts(request, text)}


def set_level(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator's level, in a release that has no flag for it."""
    if not HAS_LEVELS:
        monkeypatch.setenv(since_0_24.LEVEL, level)


@pytest.mark.parametrize("make", [chat_request, responses_request])
@pytest.mark.parametrize(("level", "strict"), ALLOWED)
def test_the_level(
    level: str, strict: bool, make: Any, hf_tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_level(level, monkeypatch)
    assert allowed(hf_tokenizer, make([weather(strict)]), level) == ALLOWED[level, strict]


@pytest.mark.parametrize("make", [chat_request, responses_request])
def test_one_call_only(make: Any, hf_tokenizer: Any) -> None:
    """In `auto`, a model that is to make one call can't begin another; it may write text."""
    request = make([weather(strict=False)], parallel_tool_calls=False)
    assert allowed(hf_tokenizer, request) == {FITS, MISFITS}
    assert accepts(request, "No call.")
    assert not accepts(request, f"{FITS}\n{FITS}")


@pytest.mark.parametrize("more", [{}, {"parallel_tool_calls": False}], ids=str)
def test_the_form_of_the_answer_stays(more: dict[str, Any], hf_tokenizer: Any) -> None:
    """A request for JSON, with tools that are not strict: its own constraint is the only one."""
    answer = {"type": "json_object"}
    request = chat_request([weather(strict=False)], response_format=answer, **more)
    request = make_parser(hf_tokenizer, "toolwire_hermes", request).adjust_request(request)
    assert request.response_format.type == "json_object"
    assert request.structured_outputs is None
    choice = {"choice": ["yes", "no"]}
    request = chat_request([weather(strict=True)], structured_outputs=choice, **more)
    request = make_parser(hf_tokenizer, "toolwire_hermes", request).adjust_request(request)
    if request.structured_outputs.choice is None:  # since 0.31 it may be either
        assert accepts(request, "yes")
        assert accepts(request, FITS)


def test_a_level_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(since_0_24.LEVEL, "most")
    with pytest.raises(toolwire.ToolwireError, match="it can be auto, function, parameter"):
        since_0_24.contract(vllm_api.load().ToolParser, utils)


@pytest.mark.parametrize("make", [chat_request, responses_request])
@pytest.mark.parametrize("off", ["0", "false"])
def test_switched_off(
    off: str, make: Any, hf_tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In `auto` nothing is asked of the model, whatever the level; a required call still fits."""
    monkeypatch.setenv(ENFORCE, off)
    for level, strict in ALLOWED:
        set_level(level, monkeypatch)
        assert allowed(hf_tokenizer, make([weather(strict)]), level) is None
        required = make([weather(strict)], tool_choice="required")
        assert allowed(hf_tokenizer, required, level) == {FITS}


def test_a_call_or_an_answer(hf_tokenizer: Any) -> None:
    """With `response_format`, vLLM asks in `auto` for a required call or else for the answer. Where
    a format can't express the schema, that call is JSON, as any required one would be."""
    parameters = {"type": "object", "properties": {"code": {"type": "string", "minLength": 3}}}
    function = {"name": "look_up", "parameters": parameters, "strict": True}
    schema = {"type": "object", "properties": {"code": {"type": "integer"}}, "required": ["code"]}
    answer = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    request = chat_request([{"type": "function", "function": function}], response_format=answer)
    arguments = '{"code": "abc"}'
    written = f'{{"tool_calls": [{{"name": "look_up", "arguments": {arguments}}}]}}'
    make_parser(hf_tokenizer, "toolwire_qwen3_coder", request).adjust_request(request)
    assert accepts(request, written)
    for text, calls in ((written, [("look_up", arguments)]), ('{"code": 5}', [])):
        for read in (whole, lambda parser, text, r: stream(parser, [(text, [])], r)):
            got = read(make_parser(hf_tokenizer, "toolwire_qwen3_coder", request), text, request)
            assert (got.calls, got.content) == (calls, None if calls else text)


# -- on servers ------------------------------------------------------------------------------------

GO = [{"role": "user", "content": "Go."}]


def ids(tokenizer: Tokenizer, text: str) -> list[int]:
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return found


def ask(asker: Asker, request: dict[str, Any], ways: Iterable[str] = WAYS) -> list[Answer]:
    jobs = [(lambda client, way=WAYS[way]: way(client, GO, **request)) for way in ways]
    return [answer for (answer,) in asker.all(jobs)]


def made_to_fit(asker: Asker, tokenizer: Tokenizer, tool: dict[str, Any]) -> list[bool]:
    """A call that is begun for the model, whose random weights go on: is it the one city?"""
    begun = FITS[: FITS.index("Bergen")]
    request = body([tool], ids(tokenizer, begun), max_tokens=60)
    request["extra_body"]["vllm_xargs"]["go_on"] = 1
    answers = ask(asker, request, ("chat", "chat-stream"))
    return [answer.calls[0][1].startswith('{"city": "Bergen"') for answer in answers]


def test_a_server_that_holds_every_call_to_its_schema(
    gateway_server: EngineServer, asker: Asker, tokenizer: Tokenizer
) -> None:
    strictest = Asker(gateway_server.url)
    assert made_to_fit(strictest, tokenizer, weather(strict=False)) == [True, True]
    # One with no such level: there it takes a strict tool.
    assert made_to_fit(asker, tokenizer, weather(strict=True)) == [True, True]
    assert made_to_fit(asker, tokenizer, weather(strict=False)) == [False, False]


def test_a_server_with_enforcement_switched_off(
    file_server: EngineServer, tokenizer: Tokenizer
) -> None:
    """The tool is strict, and the call that does not fit passes all the same."""
    request = body([weather(strict=True)], ids(tokenizer, f"Hm.</think>{MISFITS}"))
    for answer in ask(Asker(file_server.url), request):
        assert answer.calls == [("get_weather", '{"city": "Oslo"}')]


def test_the_same_with_enforcement(asker: Asker, tokenizer: Tokenizer) -> None:
    """What the script wants is not allowed, so there is no answer."""
    request = body([weather(strict=True)], ids(tokenizer, MISFITS))
    with pytest.raises(openai.InternalServerError):
        asker.all([lambda client: chat(client.with_options(max_retries=0), GO, **request)])
