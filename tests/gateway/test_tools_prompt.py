"""Tools in the prompt say what the chat templates say: one source, compared word by word."""

from __future__ import annotations

import json
from itertools import pairwise
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
FRAMES = ["chatml", "mistral"]
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
    pairs = pairwise(messages)
    return any(a["role"] in ("tool", "function") and b["role"] == "user" for a, b in pairs)


@pytest.mark.parametrize("style", STYLES)
@generated(15)
@given(conversation=conversations())
def test_a_prompt_is_what_the_template_of_that_style_renders(
    style: str, conversation: tuple[list[list[Message]], list[Tool] | None]
) -> None:
    turns, tools = conversation
    messages = [message for turn in turns for message in turn]
    if user_behind_results(messages):
        return  # in one turn with the results, see below
    plain = [{"type": "function", "function": without_strict(t)} for t in tools or ()]
    about = {"messages": as_clients_send(messages), "tools": plain or None}
    sent = asked(about, style)
    for frame in FRAMES:
        name = f"{frame}-{style}"
        wanted = templates.render(name, as_engines_hand_over(messages), tools)
        assert templates.render(name, sent["messages"]) == wanted


def test_a_call_that_is_made_twice_is_written_twice() -> None:
    """`toolwire.write` can't: in `call_text`, a repeat is none."""
    calls = [call("c1", "noargs", "{}"), call("c2", "noargs", "{}")]
    body = {"messages": [ASK, {"role": "assistant", "content": None, "tool_calls": calls}]}
    said = asked(body | {"tools": TOOLS}, "call_text")["messages"][-1]
    assert said == {"role": "assistant", "content": "noargs()\nnoargs()"}


@pytest.mark.parametrize("style", STYLES)
def test_a_user_behind_results_speaks_in_their_turn(style: str) -> None:
    """Many models' own templates refuse two turns of one role."""
    calls = [call("c1", "add", '{"a": 1}'), call("c2", "noargs", "{}")]
    results = [
        {"role": "tool", "tool_call_id": "c2", "content": "second"},
        {"role": "tool", "tool_call_id": "c1", "content": "first"},
    ]
    history = [ASK, {"role": "assistant", "content": None, "tool_calls": calls}, *results]
    for content in ("Go on.", [{"type": "text", "text": "Go on."}]):
        body = {"messages": [*history, {"role": "user", "content": content}], "tools": TOOLS}
        sent = asked(body, style)["messages"]
        assert [message["role"] for message in sent] == ["system", "user", "assistant", "user"]
        alone = asked({"messages": history, "tools": TOOLS}, style)["messages"]
        assert sent[-1]["content"] == alone[-1]["content"] + "\n\nGo on."
        assert alone[-1]["content"].index("first") < alone[-1]["content"].index("second")


def test_an_image_behind_results_stays_one() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    messages = [
        ASK,
        {"role": "assistant", "content": "I look.", "tool_calls": [call("c1", "add", "{}")]},
        {"role": "tool", "tool_call_id": "c1", "content": "A picture."},
        {"role": "user", "content": [image]},
    ]
    sent = asked({"messages": messages, "tools": TOOLS})["messages"]
    text = {"type": "text", "text": "<tool_response>\nA picture.\n</tool_response>"}
    assert sent[-1]["content"] == [text, image]


# -- what a request says of its calls -------------------------------------------------------------


def said(body: Json, api: str = "chat") -> str:
    """What stands behind the tools' declaration."""
    sent = asked(body, api=api)
    words: str = sent["instructions"] if api == "responses" else sent["messages"][0]["content"]
    return words.partition("When you need no tool, answer in plain text.")[2].strip("\n")


NAMED = {"type": "function", "function": {"name": "add"}}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [NAMED]}}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, ""),
        ({"tool_choice": "auto"}, ""),
        ({"tool_choice": "none"}, NO_CALL),
        ({"tool_choice": "required"}, MUST_CALL),
        ({"tool_choice": NAMED}, MUST_CALL_ONE.format(name="add")),
        ({"tool_choice": ALLOWED}, f"{ONLY_THESE.format(names='add')}\n{MUST_CALL}"),
        ({"parallel_tool_calls": False}, ONE_CALL),
        ({"tool_choice": "required", "parallel_tool_calls": False}, f"{MUST_CALL}\n{ONE_CALL}"),
    ],
)
def test_choices_become_words(more: Json, words: str) -> None:
    assert said({"messages": [ASK], "tools": TOOLS} | more) == words
    sent = asked({"messages": [ASK], "tools": TOOLS, "x": 1} | more)
    assert set(sent) == {"messages", "x"}


def test_strict_becomes_words() -> None:
    strict = {"type": "function", "function": ADD["function"] | {"strict": True}}
    body = {"messages": [ASK], "tools": [strict, NOARGS]}
    assert said(body) == STRICT.format(names="add")


def test_old_functions_are_tools() -> None:
    body = {"messages": [ASK], "functions": [ADD["function"]], "function_call": {"name": "add"}}
    assert said(body) == f"{MUST_CALL_ONE.format(name='add')}\n{ONE_CALL}"
    assert '"add"' in asked(body)["messages"][0]["content"]


def test_without_tools_only_the_history_becomes_words() -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        ASK,
        {"role": "assistant", "content": None, "tool_calls": [call("c1", "add", '{"a": 1}')]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
    ]
    sent = asked({"messages": messages})["messages"]
    assert sent[:2] == messages[:2]
    assert sent[2]["content"].startswith("<tool_call>")
    assert sent[3] == {"role": "user", "content": "<tool_response>\n2\n</tool_response>"}


@pytest.mark.parametrize("format", list_formats())
def test_every_format_can_be_asked_for(format: str) -> None:
    """The example in the prompt, and an earlier call, are what the format reads."""
    if format == "any":
        return  # asked for in hermes, see `by_model.prompt_words`
    history = {"role": "assistant", "content": None, "tool_calls": [call("c1", "add", '{"a": 1}')]}
    sent = asked({"messages": [ASK, history], "tools": TOOLS}, format)["messages"]
    assert "add" in sent[0]["content"]
    (read,) = parse(format, sent[2]["content"], TOOLS).tool_calls
    assert (read.name, json.loads(read.arguments)) == ("add", {"a": 1})


# -- Responses ------------------------------------------------------------------------------------

FLAT = [{"type": "function", **tool["function"]} for tool in TOOLS]


def item(id: str, name: str, arguments: str) -> Json:
    return {"type": "function_call", "call_id": id, "name": name, "arguments": arguments}


def test_a_request_of_responses_says_the_same_as_one_of_chat() -> None:
    calls = [call("c1", "add", '{"a": 1}'), call("c2", "noargs", "{}")]
    chat = [
        {"role": "system", "content": "Be brief."},
        ASK,
        {"role": "assistant", "content": "I add.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c2", "content": "ok"},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
        {"role": "user", "content": "And now?"},
    ]
    text = {"type": "output_text", "text": "I add."}
    responses = [
        ASK,
        {"type": "message", "role": "assistant", "content": [text]},
        item("c1", "add", '{"a": 1}'),
        item("c2", "noargs", "{}"),
        {"type": "function_call_output", "call_id": "c2", "output": "ok"},
        {"type": "function_call_output", "call_id": "c1", "output": "2"},
        {"role": "user", "content": [{"type": "input_text", "text": "And now?"}]},
    ]
    head, *rest = asked({"messages": chat, "tools": TOOLS, "tool_choice": "required"})["messages"]
    body = {"input": responses, "tools": FLAT, "tool_choice": "required"}
    sent = asked(body | {"instructions": "Be brief."}, api="responses")
    assert sent["instructions"] == head["content"]
    assert [(m["role"], m["content"]) for m in sent["input"]] == [
        (m["role"], m["content"]) for m in rest
    ]
    assert set(sent) == {"instructions", "input"}


def test_a_text_alone_and_tools_that_the_server_runs() -> None:
    search = {"type": "web_search"}
    sent = asked({"input": "1+1?", "tools": [*FLAT, search]}, api="responses")
    assert (sent["input"], sent["tools"]) == ("1+1?", [search])
    assert sent["instructions"].startswith("# Tools")


def test_a_result_of_a_call_that_only_the_server_knows() -> None:
    output = {"type": "function_call_output", "call_id": "c9", "output": "2"}
    sent = asked({"input": [output], "previous_response_id": "r"}, "call_text", "responses")
    assert sent["input"] == [{"role": "user", "content": "Result of c9:\n2"}]


# -- asked again ----------------------------------------------------------------------------------


def test_who_did_not_call_is_reminded_in_the_users_turn() -> None:
    request = read_request({"tools": TOOLS, "tool_choice": "required"})
    told = f"You have not called a tool. {MUST_CALL}"
    sent = remind({"messages": [ASK], "tools": TOOLS}, "chat", request)
    assert sent["messages"] == [{"role": "user", "content": f"1+1?\n\n{told}"}]
    after = {"role": "tool", "tool_call_id": "c1", "content": "2"}
    sent = remind({"messages": [after]}, "chat", request)
    assert sent["messages"] == [after, {"role": "user", "content": told}]
    assert remind({"input": "1+1?"}, "responses", request)["input"] == f"1+1?\n\n{told}"


def without_strict(tool: Tool) -> Json:
    return {key: value for key, value in tool["function"].items() if key != "strict"}
