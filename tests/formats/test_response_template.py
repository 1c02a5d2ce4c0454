"""Response templates, translated: what they describe is read, and written as transformers reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest
import toolwire
from hypothesis import assume, given
from hypothesis import strategies as st
from toolwire import Format, ToolwireError, load_response_template
from toolwire.formats.tools_for import tools_for
from transformers.utils.chat_parsing import parse_response

from ..support import TOOLS, check_all_splits, printed_by, whole_summary
from .response_templates import (
    COHERE,
    ERNIE,
    FAMILIES,
    GEMMA4,
    GPT_OSS,
    INKLING,
    MINIMAX_M2,
    MISTRAL,
    MUSE,
    QWEN3,
    QWEN3_CODER,
    QWEN35,
    SMOLLM,
    THINK,
    TURNS,
    template,
    templates,
)

each_family = pytest.mark.parametrize("family", FAMILIES)

# -- what was written is read back, here and by transformers ---------------------------------------

NAMES = st.sampled_from(["add", "get_weather", "f"])
KEYS = st.sampled_from(["a", "city", "key_2"])
#: What a text is made of that no interpreter takes for a number, or for markup.
TEXT = st.text("abc deé日,.:!?'(", min_size=1, max_size=12).filter(
    lambda text: text == text.strip() and any(map(str.isalpha, text))
)
SCALARS = st.one_of(TEXT, st.integers(-9999, 9999), st.booleans())
VALUES = st.one_of(
    SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(KEYS, SCALARS, max_size=2)
)
CALLS = st.lists(
    st.builds(dict, name=NAMES, arguments=st.dictionaries(KEYS, VALUES, max_size=3)),
    min_size=1,
    max_size=3,
)


def pairs(calls: list[Any]) -> list[tuple[str, Any]]:
    return [(call["name"], call["arguments"]) for call in calls]


def theirs(given_template: Any, text: str, tools: Any) -> tuple[str, str, list[tuple[str, Any]]]:
    """Thoughts, content and calls, as transformers has them."""
    message = parse_response(text, given_template, prefix="", tools=tools)
    functions = [call["function"] for call in message.get("tool_calls", [])]
    thoughts = message.get("thinking") or message.get("reasoning_content") or ""
    return thoughts, message.get("content") or "", pairs(functions)


def ours(spec: Format, text: str, tools: Any) -> tuple[str, str, list[tuple[str, Any]]]:
    """The same, as we have them; and for every cut."""
    events = check_all_splits(spec, text, tools, pairs_under=0)
    thoughts, content, calls = whole_summary(events)
    assert all(complete for *_, complete in calls)
    read = [(name, json.loads(arguments)) for name, arguments, _ in calls]
    return thoughts or "", (content or "").strip(), read


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 is neither 1.0 nor true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@pytest.mark.slow
@each_family
@given(calls=CALLS)
def test_a_family_is_written_and_read(family: str, calls: list[dict[str, Any]]) -> None:
    spec = load_response_template(FAMILIES[family])
    tools = tools_for(pairs(calls))
    values = json.dumps([value for call in calls for value in call["arguments"].values()])
    # An element without anything in it may be a text, too, where that is declared beside a list.
    assume(family != "elements" or not ("[]" in values[1:-1] or "{}" in values))
    text = toolwire.write(spec, calls, tools)
    assert same(ours(spec, text, tools), ("", "", pairs(calls)))
    closed = {"close", "close_pattern"} & set(FAMILIES[family]["fields"]["tool_calls"])
    nested = any(isinstance(v, (list, dict)) for c in calls for v in c["arguments"].values())
    # Without a closer they read on to the end of the message; and elements have none in them.
    if (closed or len(calls) == 1) and not (nested and family == "elements"):
        assert same(theirs(FAMILIES[family], text, tools)[2], pairs(calls))


@given(any_template=templates(), calls=CALLS, thoughts=TEXT, said=TEXT)
def test_any_template_is_written_and_read(
    any_template: dict[str, Any], calls: list[dict[str, Any]], thoughts: str, said: str
) -> None:
    spec = load_response_template(any_template)
    tools = tools_for(pairs(calls))
    text = toolwire.write(spec, calls, tools)
    fields = any_template["fields"]
    content, thinking = fields["content"], fields.get("thinking")
    text = content.get("open", "") + said + content.get("close", "") + text
    if thinking:
        text = thinking["open"] + thoughts + thinking["close"] + text
    expected = (thoughts if thinking else "", said, pairs(calls))
    assert same(ours(spec, text, tools), expected)
    # Where nothing ends the name in the opener's pattern, they take what follows for a part of it.
    if not str(fields["tool_calls"].get("open_pattern", "")).endswith(")"):
        assert same(theirs(any_template, text, tools), expected)


@each_family
def test_a_family_can_be_constrained(family: str) -> None:
    spec = load_response_template(FAMILIES[family])
    found = toolwire.constrain(spec, TOOLS, "required")
    assert found.tag is not None


# -- whole messages ---------------------------------------------------------------------------------

ADD = ("add", {"a": 1, "b": 2})
HERMES = '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>'
CODER = (
    "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n2\n</parameter>\n"
    "</function>\n</tool_call>"
)
ACTION = (
    '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "add", "parameters": {"a": 1, "b": 2}}\n]'
    "<|END_ACTION|>"
)
INVOKE = (
    '<atem:function_calls>\n<atem:invoke name="add">\n<atem:parameter name="a">1</atem:parameter>\n'
    '<atem:parameter name="b">2</atem:parameter>\n</atem:invoke>\n</atem:function_calls>'
)
COMMENTARY = (
    "<|start|>assistant<|channel|>commentary to=functions.add <|constrain|>json<|message|>"
    '{"a": 1, "b": 2}<|call|>'
)
ANALYSIS = "<|channel|>analysis<|message|>A sum.<|end|>"
NO_ARGUMENTS = [("noargs", {})]

#: What came, and what it is: thoughts, content, calls. transformers agrees with each of these.
AGREED = [
    (QWEN3, f"<think>\nA sum.\n</think>\n\nI add.\n\n{HERMES}<|im_end|>", "A sum.", "I add.", [ADD]),
    (QWEN3, f"<think>A sum.</think>{HERMES}\n{HERMES}", "A sum.", "", [ADD, ADD]),
    (QWEN3, "It is 3.<|im_end|>\n<|endoftext|>", "", "It is 3.", []),
    (QWEN35, f"<think>\nA sum.\n</think>\n\nI add.\n{CODER}", "A sum.", "I add.", [ADD]),
    (QWEN3_CODER, f"{CODER}\n{CODER}", "", "", [ADD, ADD]),
    (SMOLLM, f"<think>\nA sum.\n</think>\n\n{HERMES}", "A sum.", "", [ADD]),
    (
        GEMMA4,
        "<|channel>thought\nA sum.\n<channel|>I add.<|tool_call>call:add{a:1,b:2}<tool_call|>",
        "A sum.",
        "I add.",
        [ADD],
    ),
    (GEMMA4, "It is 3.<turn|>", "", "It is 3.", []),
    (COHERE, f"<|START_THINKING|>A sum.<|END_THINKING|>{ACTION}", "A sum.", "", [ADD]),
    (COHERE, "<|START_RESPONSE|>It is 3.<|END_RESPONSE|>", "", "It is 3.", []),
    (
        GPT_OSS,
        f"{ANALYSIS}{COMMENTARY}",
        "A sum.",
        "",
        [ADD],
    ),
    (
        GPT_OSS,
        f"{ANALYSIS}<|start|>assistant<|channel|>final<|message|>It is 3.",
        "A sum.",
        "It is 3.",
        [],
    ),
    (
        INKLING,
        "<|content_thinking|>A sum.<|end_message|><|message_model|><|content_text|>I add.<|end_message|>"
        '<|message_model|>add<|content_invoke_tool_json|>{"name":"add","args":{"a":1,"b":2}}'
        "<|end_message|><|content_model_end_sampling|>",
        "A sum.",
        "I add.",
        [ADD],
    ),
    (
        MUSE,
        f" to=self<|message|>A sum.<|eom|><|start|>assistant to=add<|message|>{INVOKE}<|eot|>",
        "A sum.",
        "",
        [ADD],
    ),
    (
        MUSE,
        " to=self<|message|>A sum.<|eom|><|start|>assistant to=user<|message|>It is 3.<|eot|>",
        "A sum.",
        "It is 3.",
        [],
    ),
    (MISTRAL, 'I add.[TOOL_CALLS]add[ARGS]{"a": 1, "b": 2}', "", "I add.", [ADD]),
    (
        TURNS,
        "<|think|>A sum.<|done|><|turn|>bot<|say|>I add.<|done|>"
        '<|turn|>bot<|tool|>add<|args|><arg name="a">1</arg>\n<arg name="b">2</arg><|done|>',
        "A sum.",
        "I add.",
        [ADD],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("given_template", "text", "thoughts", "content", "calls"), AGREED)
def test_a_message(
    given_template: Any, text: str, thoughts: str, content: str, calls: list[Any]
) -> None:
    expected = (thoughts, content, calls)
    assert ours(load_response_template(given_template), text, TOOLS) == expected
    assert theirs(given_template, text, TOOLS) == expected


#: Where others lose something, or where our rules say otherwise. The last is whether calls are whole.
OURS = [
    # thoughts that were never closed may end in a call
    (QWEN3, f"<think>A sum. {HERMES}", "A sum.", "", [ADD], True),
    (QWEN35, f"<think>A sum.\n{CODER}\n", "A sum.", "", [ADD], True),
    (COHERE, f"<|START_THINKING|>A sum.{ACTION}", "A sum.", "", [ADD], True),
    # a call in thoughts that were closed is a thought
    (QWEN3, f"<think>{HERMES} no.</think>Hi.", f"{HERMES} no.", "Hi.", [], True),
    # a call without arguments, and one that is cut off
    (QWEN3, '<tool_call>{"name": "noargs"}</tool_call>', "", "", NO_ARGUMENTS, True),
    (QWEN35, "<tool_call>\n<function=noargs>\n</function>\n</tool_call>", "", "", NO_ARGUMENTS, True),
    (QWEN3_CODER, "<tool_call>\n<function=noargs>\n</tool_call>", "", "", NO_ARGUMENTS, True),
    (QWEN3, '<tool_call>{"name": "write_file", "arguments": {"path": "a', "", "",
     [("write_file", '{"path": "a')], False),
    # here they take the marker for a thought
    (ERNIE, f"<think>\nA sum.\n</think>\n\n{HERMES}\n", "A sum.", "", [ADD], True),
    (ERNIE, "<think>A sum.</think>\n\n<response>\nIt is 3.\n</response>\n", "A sum.", "It is 3.", [],
     True),
    # a marker that is only named
    (QWEN3, "Use `<tool_call>` for that.", "", "Use `<tool_call>` for that.", [], True),
    (ERNIE, "Say <response> first.", "", "Say <response> first.", [], True),
    # the declared type counts
    (QWEN35, CODER.replace("add", "write_file").replace("=a", "=path").replace("=b", "=content"), "", "",
     [("write_file", {"path": "1", "content": "2"})], True),
    # what is outside of all fields is not lost
    (COHERE, f"Hm.{ACTION}", "", "Hm.", [ADD], True),
    (COHERE, "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_RESPONSE|>Hi.<|END_RESPONSE|>", "",
     "Hi.", [], True),
    # the wrapper may be missing, or come once for all calls
    (MINIMAX_M2, 'I add. <invoke name="add"><parameter name="a">1</parameter>'
     '<parameter name="b">2</parameter></invoke>', "", "I add.", [ADD], True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("given_template", "text", "thoughts", "content", "calls", "complete"), OURS
)
def test_our_rules_hold(
    given_template: Any, text: str, thoughts: str, content: str, calls: Any, complete: bool
) -> None:
    events = check_all_splits(load_response_template(given_template), text, TOOLS)
    got_thoughts, got_content, got = whole_summary(events)
    assert (got_thoughts or "", (got_content or "").strip()) == (thoughts, content)
    read = [(name, json.loads(text) if whole else text) for name, text, whole in got]
    assert read == calls
    assert all(whole == complete for *_, whole in got)


@pytest.mark.parametrize("given_template", [SMOLLM, ERNIE])
def test_the_prompt_may_have_opened_the_thoughts(given_template: Any) -> None:
    spec = load_response_template(given_template)
    text = f"A sum.</think>{HERMES}"
    thoughts, content, calls = whole_summary(check_all_splits(spec, text, TOOLS, None, True))
    assert (thoughts, content, [name for name, *_ in calls]) == ("A sum.", None, ["add"])
    prompt = "" if given_template is ERNIE else "<think>"  # it takes any beginning for a thought
    assert theirs(given_template, prompt + text, TOOLS) == ("A sum.", "", [ADD])


def test_arguments_come_while_they_are_written() -> None:
    parser = toolwire.Parser(load_response_template(QWEN35), TOOLS)
    begun = parser.feed("<tool_call>\n<function=write_file>\n<parameter=content>\nlong text")
    assert [type(event).__name__ for event in begun] == ["CallStart", "Arguments"]
    assert parser.feed(" and more") == [toolwire.Arguments(0, " and more")]


REGISTERED = f"""
import toolwire
toolwire.register_format(toolwire.load_response_template({QWEN35!r}, name="from_a_checkpoint"))
print([call.name for call in toolwire.parse("from_a_checkpoint", {CODER!r}, {TOOLS!r}).tool_calls])
"""


def test_a_format_by_that_name_can_be_registered() -> None:
    assert printed_by(REGISTERED) == ["['add']"]


def test_a_template_without_calls_is_thoughts_and_text() -> None:
    spec = load_response_template(template(thinking=THINK, content={"close": "<|im_end|>"}))
    message = toolwire.parse(spec, f"<think>A sum.</think>{HERMES}<|im_end|>", TOOLS)
    assert (message.reasoning, message.content, message.tool_calls) == ("A sum.", HERMES, [])
    with pytest.raises(ToolwireError, match="does not say how its calls are laid out"):
        toolwire.write(spec, [{"name": "add", "arguments": {}}])
