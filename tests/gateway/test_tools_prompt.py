"""Tools in the prompt say what the chat templates say: one source, compared word by word."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from toolwire import parse, templates
from toolwire.formats import list_formats
from toolwire.gateway.tools_prompt import (
    MUST_CALL,
    MUST_CALL_ONE,
    NO_CALL,
    ONE_CALL,
    ONLY_THESE,
    STRICT,
    in_prompt,
    remind,
)
from toolwire.openai.request import read_request

from ..chat_templates.template_conversations import Message, Tool, conversations, generated
from ..support import ADD, NOARGS

Json = dict[str, Any]

STYLES = ["hermes", "special_token", "json", "labeled", "qwen3_coder", "call_text", "pythonic"]
#: Those in which results stand in a turn of the user, as an ordinary server is told them.
FRAMES = ["chatml", "gemma", "mistral", "phi", "deepseek", "zephyr"]
TOOLS = [ADD, NOARGS]
ASK = {"role": "user", "content": "1+1?"}


def asked(body: Json, format: str = "hermes", api: str = "chat") -> Json:
    return in_prompt(body, api, templates.words_for(format))


def call(id: str, name: str, arguments: Any) -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def as_clients_send(messages: list[Message]) -> list[Message]:
    """Arguments as JSON text: that is how they come over the wire."""
    text = json.loads(json.dumps(messages))
    for message in text:
        calls = [c["function"] for c in message.get("tool_calls") or ()]
        for function in [*calls, *filter(None, [message.get("function_call")])]:
            if not isinstance(function["arguments"], str):
                function["arguments"] = json.dumps(function["arguments"], ensure_ascii=False)
    return text


def as_engines_hand_over(messages: list[Message]) -> list[Message]:
    """Arguments as objects: so a template writes them as the format does."""
    objects = as_clients_send(messages)
    for message in objects:
        calls = [c["function"] for c in message.get("tool_calls") or ()]
        for function in [*calls, *filter(None, [message.get("function_call")])]:
            function["arguments"] = json.loads(function["arguments"])
    return objects


def user_behind_results(messages: list[Message]) -> bool:
    pairs = zip(messages, messages[1:], strict=False)
    return any(a["role"] in ("tool", "function") and b["role"] == "user" for a, b in pairs)


@pytest.mark.parametrize("style", STYLES)
@generated(40)
@given(conversation=conversations())
def test_a_prompt_is_what_the_template_of_that_style_renders(
    style: str, conversation: tuple[list[list[Message]], list[Tool] | None]
) -> None:
    turns, tools = conversation
    messages = [message for turn in turns for message in turn]
    if user_behind_results(messages):
        return  # in one turn with the results, see below
    sent = asked({"messages": as_clients_send(messages), "tools": tools}, style)
    assert "tools" not in sent
    plain = [{"type": "function", "function": without_strict(t)} for t in tools or ()]
    about = {"messages": as_clients_send(messages), "tools": plain or None}
    sent = asked(about, style)
    for frame in FRAMES:
        name = f"{frame}-{style}"
        wanted = templates.render(name, as_engines_hand_over(messages), tools)
        assert templates.render(name, sent["messages"]) == wanted


def without_strict(tool: Tool) -> Json:
    return {key: value for key, value in tool["function"].items() if key != "strict"}
