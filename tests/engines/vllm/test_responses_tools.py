"""Custom tools, namespaces and allowed tools of the Responses API, streamed and not; and text after a
call in a stream's very last step."""

from __future__ import annotations

import json
from typing import Any

import pytest
import vllm
from conversation import GO
from engine_cases import ADD, ADD_ONE_TWO, NOARGS, ONE_TWO, TOOLS
from engine_client import WAYS, Asker, body, flat
from engine_server import EngineServer
from responses_tools import (
    INPUT,
    MATHS,
    NOTHING,
    RUN,
    RUN_TEXT,
    Item,
    allowed,
    ask,
    maths_text,
)
from tokenizers import Tokenizer
from vllm.entrypoints.openai.responses import serving
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm_driving import DeltaMessage, make_parser, responses_request, stream, whole, without_ids

STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])


# -- inside vLLM's classes -------------------------------------------------------------------------


def asked(mode: str, streamed: bool, **more: Any) -> Any:
    return ResponsesRequest(
        input="Go.",
        model="model",
        tools=flat([ADD, NOARGS]),
        tool_choice=allowed(mode, "add"),
        stream=streamed,
        **more,
    )


@pytest.mark.usefixtures("registered", "unchecked")
@STREAMED
@pytest.mark.parametrize("mode", ["auto", "required"])
def test_a_list_of_allowed_tools_is_read(mode: str, streamed: bool, hf_tokenizer: Any) -> None:
    request = asked(mode, streamed)
    request = make_parser(hf_tokenizer, "toolwire_hermes", request).adjust_request(request)
    tag = request.structured_outputs and request.structured_outputs.structural_tag
    if mode == "required":
        assert '"add' in json.dumps(json.loads(tag)).replace("\\", "")
        assert "noargs" not in tag
    else:
        assert tag is None
    parser = make_parser(hf_tokenizer, "toolwire_hermes", request)
    if streamed:
        got = stream(parser, without_ids([ADD_ONE_TWO[:40], ADD_ONE_TWO[40:]]), request)
    else:
        got = whole(parser, ADD_ONE_TWO, request)
    assert (got.calls, got.content) == ([("add", ONE_TWO)], None)
    assert request.tool_choice.type == "allowed_tools"  # as the answer tells the client


@pytest.mark.usefixtures("registered", "unchecked")
@pytest.mark.parametrize("strict", [False, True])
def test_one_of_a_list_in_auto(strict: bool, hf_tokenizer: Any) -> None:
    """The model is held to the list where only one call is wanted, or a tool of it is strict."""
    for more in ({"parallel_tool_calls": False}, {}):
        request = asked("auto", True, **more)
        request.tools[0].strict = strict
        request = make_parser(hf_tokenizer, "toolwire_hermes", request).adjust_request(request)
        held = bool(request.structured_outputs and request.structured_outputs.structural_tag)
        assert held == (strict or bool(more))


@pytest.mark.usefixtures("registered", "unchecked")
@pytest.mark.parametrize(
    "entry",
    [
        {"type": "function", "name": "add", "namespace": "maths"},
        {"type": "namespace", "name": "maths"},
    ],
)
def test_allowed_tools_in_a_namespace(entry: dict[str, str], hf_tokenizer: Any) -> None:
    choice = {"type": "allowed_tools", "mode": "required", "tools": [entry]}
    request = ResponsesRequest(
        input="Go.", model="model", tools=[MATHS, NOTHING], tool_choice=choice
    )
    request = make_parser(hf_tokenizer, "toolwire_hermes", request).adjust_request(request)
    asked_for = request.structured_outputs
    tag = (asked_for and asked_for.structural_tag) or ""
    # Before 0.26, no namespace is shown to the model.
    assert ("maths__add" in tag) == hasattr(vllm.tool_parsers.utils, "flat_namespace_tool_name")
    assert "noargs" not in tag


@pytest.mark.usefixtures("registered", "unchecked")
def test_the_rest_of_an_open_call_goes_before_text(hf_tokenizer: Any) -> None:
    """vLLM's own order would end the call, and then begin one without a name."""
    request = responses_request(TOOLS)
    cut = ADD_ONE_TWO.index("2}")
    ended = f"{ADD_ONE_TWO[cut:]}\nThen.\n{ADD_ONE_TWO}\nDone."
    got = stream(
        make_parser(hf_tokenizer, "toolwire_hermes", request),
        without_ids([ADD_ONE_TWO[:cut], ended]),
        request,
    )
    assert got.calls == [("add", ONE_TWO)] * 2
    parts = serving.split_delta(DeltaMessage(**got.deltas[-1]))
    assert [bool(part.tool_calls) for part in parts] == [True, False, True]
    assert (parts[1].content, parts[2].tool_calls[0].index) == ("Then.\n\nDone.", 1)
    # What needs no other order has vLLM's own.
    (alone,) = serving.split_delta(DeltaMessage(content="Hi."))
    assert alone.content == "Hi."


# -- on a real server ------------------------------------------------------------------------------


def items(
    server: EngineServer, script: list[int] | None, streamed: bool, tools: Any, **more: Any
) -> tuple[list[Item], Any]:
    request = {**body([], script, **more), "tools": tools, "input": "Go."}
    (got,) = Asker(server.url).all([lambda client: ask(client, streamed, **request)])
    return got


def ids(tokenizer: Tokenizer, text: str) -> list[int]:
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return found


@STREAMED
def test_a_custom_tool_gets_its_input_as_text(
    streamed: bool, server: EngineServer, tokenizer: Tokenizer
) -> None:
    got, _ = items(server, ids(tokenizer, RUN_TEXT), streamed, [RUN, *flat([ADD])])
    assert got == [("custom_tool_call", None, "run", INPUT)]


@STREAMED
def test_a_tool_in_a_namespace(streamed: bool, server: EngineServer, tokenizer: Tokenizer) -> None:
    got, _ = items(server, ids(tokenizer, maths_text("__")), streamed, [MATHS])
    assert got == [("function_call", "maths", "add", ONE_TWO)]


@STREAMED
def test_a_list_of_allowed_tools(streamed: bool, server: EngineServer) -> None:
    """One of them has to be called: a model that babbles is left no other."""
    choice = allowed("required", "noargs")
    got, told = items(
        *(server, None, streamed, [*flat([ADD]), NOTHING]),
        tool_choice=choice,
        parallel_tool_calls=False,
        max_output_tokens=200,
    )
    ((*item, arguments),) = got
    assert (*item, json.loads(arguments)) == ("function_call", None, "noargs", {})
    assert told.model_dump(exclude_none=True) == choice


@STREAMED
def test_allowed_tools_in_auto(streamed: bool, server: EngineServer, tokenizer: Tokenizer) -> None:
    choice = allowed("auto", "add")
    script = ids(tokenizer, f"Sure.\n{ADD_ONE_TWO}")
    got, told = items(server, script, streamed, [*flat([ADD]), NOTHING], tool_choice=choice)
    assert got == [("function_call", None, "add", ONE_TWO)]
    assert told.model_dump(exclude_none=True) == choice


def test_text_after_a_call_in_the_very_last_step(
    mismatched_server: EngineServer, tokenizer: Tokenizer
) -> None:
    """It comes in steps of 16 tokens. One of these texts is cut so that the last step has the end of a
    call that is open, and the text behind it."""
    texts = [f"{'so ' * number}{ADD_ONE_TWO}\nDone." for number in range(16)]
    requests = [body(TOOLS, ids(tokenizer, text)) for text in texts]
    jobs = [
        (lambda client, way=way, request=request: WAYS[way](client, GO, **request))
        for request in requests
        for way in WAYS
    ]
    got = [answer for (answer,) in Asker(mismatched_server.url).all(jobs)]
    for number, answer in enumerate(got):
        said = ("so " * (number // len(WAYS))).rstrip(" ")
        assert (answer.content or "").startswith(said)
        assert (answer.content or "").endswith("Done.")
        assert answer.calls == [("add", ONE_TWO)]
        assert answer.content == got[number - number % len(WAYS)].content
