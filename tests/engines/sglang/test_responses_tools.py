"""Custom tools, namespaces and allowed tools of the Responses API on a real server, streamed and not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from engine_cases import ADD, ONE_TWO
from engine_client import MODEL, Asker, flat
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
from sglang_asking import use

STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def items(asker: Asker, stream: bool, tools: list[Any], text: str = "", **more: Any) -> list[Item]:
    told = flat([use("hermes", text)])  # in which format the model writes, and what
    request = {"model": MODEL, "input": "Go.", "temperature": 0, "tools": [*tools, *told], **more}
    ((calls, _),) = asker.all(
        [lambda client: ask(client, stream, max_output_tokens=200, **request)]
    )
    return calls


@STREAMED
def test_a_custom_tool_gets_its_input_as_text(stream: bool, asker: Asker) -> None:
    got = items(asker, stream, [RUN, *flat([ADD])], RUN_TEXT)
    assert got == [("custom_tool_call", None, "run", INPUT)]


@STREAMED
def test_a_tool_in_a_namespace(stream: bool, asker: Asker) -> None:
    got = items(asker, stream, [MATHS], maths_text("."))
    assert got == [("function_call", "maths", "add", ONE_TWO)]


@STREAMED
def test_a_list_of_allowed_tools(stream: bool, asker: Asker) -> None:
    """One of them has to be called: a model that babbles is left no other."""
    choice = allowed("required", "noargs", "use_hermes")
    tools = [*flat([ADD]), NOTHING]
    got = items(asker, stream, tools, tool_choice=choice, parallel_tool_calls=False)
    ((*call, arguments),) = got
    assert (call, json.loads(arguments)) == (["function_call", None, "noargs"], {})


@STREAMED
def test_allowed_tools_in_auto(stream: bool, asker: Asker) -> None:
    choice = allowed("auto", "add", "use_hermes")
    text = 'Sure.\n<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>'
    got = items(asker, stream, [*flat([ADD]), NOTHING], text, tool_choice=choice)
    assert got == [("function_call", None, "add", ONE_TWO)]
