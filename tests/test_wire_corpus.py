"""Whole messages, thoughts and all, as each family writes them: what comes out, whole and cut.

The cases here are our own. Beside the checkout there may be a collection of messages that were run on
the engines' own parsers; where it is, those whose format is there are tried too.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import toolwire
from toolwire import parse
from toolwire.formats.reasoning import STYLES
from toolwire.openai.message import collect

from .support import TOOLS, check_all_splits, cut_at, whole_summary

# -- our own ---------------------------------------------------------------------------------------

ADD = ("add", '{"a": 1, "b": 2}', True)
HERMES = '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>'
CODER = (
    "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n2\n</parameter>\n"
    "</function>\n</tool_call>"
)
SEED = (
    "<seed:tool_call>\n<function=add>\n<parameter=a>1</parameter>\n<parameter=b>2</parameter>\n"
    "</function>\n</seed:tool_call>"
)
GLM = (
    "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n<arg_key>b</arg_key>\n"
    "<arg_value>2</arg_value>\n</tool_call>"
)
V31 = (
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{"a": 1, "b": 2}'
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
)
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>"
    '{"a": 1, "b": 2}<|tool_call_end|><|tool_calls_section_end|>'
)
APERTUS = '<|tools_prefix|>[{"add": {"a": 1, "b": 2}}]<|tools_suffix|>'
COHERE = (
    '<|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "add", "parameters": {"a": 1, "b": 2}}\n]'
    "<|END_ACTION|>"
)

#: format, style, whether the prompt has opened the thoughts, text; thoughts, content, calls
CASES: list[tuple[str, str, bool, str, str | None, str | None, list[Any]]] = [
    ("hermes", "think", False, f"<think>\nA sum.\n</think>\n\n{HERMES}", "A sum.", None, [ADD]),
    (
        "hermes",
        "think",
        True,
        f"A sum.\n</think>\n\nLet me add.\n{HERMES}",
        "A sum.",
        "Let me add.",
        [ADD],
    ),
    ("hermes", "think", False, "<think>\n\n</think>\n\nHello.", None, "Hello.", []),
    ("hermes", "think", True, f"I can call add with {HERMES}", "I can call add with", None, [ADD]),
    (
        "hermes",
        "trinity",
        True,
        f"First {HERMES} and then on.</think>Done.",
        "First  and then on.",
        "Done.",
        [ADD],
    ),
    ("qwen3_coder", "think", True, f"A sum.\n</think>\n\n{CODER}", "A sum.", None, [ADD]),
    ("qwen3_coder", "think", True, f"A sum.\n\n{CODER}\n", "A sum.", None, [ADD]),
    ("glm45", "think", False, f"\n<think>A sum.</think>\n{GLM}", "A sum.", None, [ADD]),
    ("deepseek_v3_1", "think", True, f"A sum.{V31}", "A sum.", None, [ADD]),
    ("deepseek_v3_1", "think", True, f"A sum.</think>I add.{V31}", "A sum.", "I add.", [ADD]),
    ("kimi_k2", "think", False, f"<think>A sum.</think>I add.{KIMI}", "A sum.", "I add.", [ADD]),
    ("hermes", "kimi", False, "◁think▷A sum.◁/think▷It is 3.", "A sum.", "It is 3.", []),
    (
        "seed_oss",
        "seed_oss",
        False,
        f"<seed:think>A sum.</seed:think>{SEED}",
        "A sum.",
        None,
        [ADD],
    ),
    (
        "gemma4",
        "gemma4",
        False,
        "<|channel>thought\nA sum.\n<channel|><|tool_call>call:add{a:1,b:2}<tool_call|>",
        "A sum.",
        None,
        [ADD],
    ),
    (
        "mistral",
        "mistral",
        False,
        '[THINK]A sum.[/THINK][TOOL_CALLS]add{"a": 1, "b": 2}',
        "A sum.",
        None,
        [ADD],
    ),
    (
        "mistral",
        "mistral",
        False,
        '[THINK]A sum.[TOOL_CALLS]add{"a": 1, "b": 2}',
        "A sum.",
        None,
        [ADD],
    ),
    (
        "mistral",
        "mistral",
        False,
        "Well. [THINK]A sum.[/THINK] It is 3.",
        "A sum.",
        "Well.It is 3.",
        [],
    ),
    (
        "hermes",
        "minimax_m3",
        False,
        "<mm:think>A sum.</mm:think>It is 3.",
        "A sum.",
        "It is 3.",
        [],
    ),
    ("hermes", "hy", False, "<think:x1>A sum.</think:x1>It is 3.", "A sum.", "It is 3.", []),
    (
        "hermes",
        "k2_horizon",
        False,
        "<ifm|think_fast>A sum.</ifm|think_fast>It is 3.",
        "A sum.",
        "It is 3.",
        [],
    ),
    (
        "cohere",
        "cohere",
        False,
        f"<|START_THINKING|>A sum.<|END_THINKING|>{COHERE}",
        "A sum.",
        None,
        [ADD],
    ),
    (
        "cohere",
        "cohere",
        True,
        "A sum.<|START_RESPONSE|>It is 3.<|END_RESPONSE|>",
        "A sum.",
        "It is 3.",
        [],
    ),
    (
        "hermes",
        "plamo3",
        False,
        "<|plamo:begin_think:plamo|>A sum.<|plamo:end_think:plamo|>It is 3.",
        "A sum.",
        "It is 3.",
        [],
    ),
    (
        "granite",
        "granite",
        False,
        "Here is my thought process: A sum.\n\nHere is my response: It is 3.",
        "A sum.",
        "It is 3.",
        [],
    ),
    (
        "hunyuan",
        "hunyuan_a13b",
        False,
        "<think>\nA sum.\n</think>\n<answer>\nIt is 3.\n</answer>",
        "A sum.",
        "It is 3.",
        [],
    ),
    (
        "hermes",
        "ernie45",
        False,
        f"<think>\nA sum.\n</think>\n\n<response>\nI add.\n</response>\n{HERMES}",
        "A sum.",
        "I add.",
        [ADD],
    ),
    (
        "apertus",
        "apertus",
        False,
        f"<|inner_prefix|>A sum.{APERTUS} So it is.<|inner_suffix|>It is 3.",
        "A sum. So it is.",
        "It is 3.",
        [ADD],
    ),
    (
        "apriel",
        "apriel",
        True,
        "A sum.\n[BEGIN FINAL RESPONSE]\nIt is 3.\n[END FINAL RESPONSE]",
        "A sum.",
        "It is 3.",
        [],
    ),
    (
        "kimi_k3",
        "kimi_k3",
        True,
        "A sum.<|close|>think<|sep|><|open|>response<|sep|>Hi.<|close|>response<|sep|>"
        '<|open|>tools<|sep|><|open|>call tool="add" index="1"<|sep|>'
        '<|open|>argument key="a" type="number"<|sep|>1<|close|>argument<|sep|>'
        '<|open|>argument key="b" type="number"<|sep|>2<|close|>argument<|sep|>'
        "<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|><|end_of_msg|>",
        "A sum.",
        "Hi.",
        [ADD],
    ),
    (
        "cohere",
        "cohere",
        False,
        "<|START_TEXT|>It is <co>cold</co: 0:[1,2]>.<|END_TEXT|><|END_OF_TURN_TOKEN|>",
        None,
        "It is cold.",
        [],
    ),
    # as older models cite: nothing of it is markup
    (
        "cohere",
        "cohere",
        False,
        "It <co: 0:[1]>is</co: 0:[1]> <co>cold</co: 1:[0]></co: 2>.",
        None,
        "It <co: 0:[1]>is</co: 0:[1]> cold</co: 2>.",
        [],
    ),
    (
        "mistral",
        "mistral",
        False,
        '<think>A sum.</think>I <think> so.[TOOL_CALLS]add[ARGS]{"a": 1, "b": 2}',
        "A sum.so.",
        "I",
        [ADD],
    ),
    (
        "mistral",
        "mistral",
        False,
        "I <think> so.[THINK]A sum.[/THINK]</s>",
        "A sum.",
        "I <think> so.",
        [],
    ),
    ("lfm2", "think", False, "<think>A sum.</think>[add(a=1, b=2)]", "A sum.", None, [ADD]),
    # the prompt may have written the thoughts, or closed them
    ("hunyuan", "hunyuan_a13b", False, "<answer>\nIt is 3.\n</answer>", None, "It is 3.", []),
    (
        "hunyuan",
        "hunyuan_a13b",
        False,
        "It <answer>is</answer> 3.",
        None,
        "It <answer>is</answer> 3.",
        [],
    ),
    (
        "solar_open",
        "solar_open",
        False,
        "<|content|>Hi.<|end|><|begin|>assistant<|think|>A sum.<|end|>",
        "A sum.",
        "Hi.",
        [],
    ),
    ("solar_open", "solar_open", False, "<|content|>Hi.<|end|>", None, "Hi.", []),
    (
        "solar_open",
        "solar_open",
        False,
        "<|think|>A sum.<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>ab12cd34ef"
        '<|tool_call:name|>add<|tool_call:args|>{"a": 1, "b": 2}<|tool_call:end|><|calls|>',
        "A sum.",
        None,
        [ADD],
    ),
]


@pytest.mark.parametrize(
    ("format", "style", "inside", "text", "reasoning", "content", "calls"), CASES
)
def test_a_message(
    format: str,
    style: str,
    inside: bool,
    text: str,
    reasoning: str | None,
    content: str | None,
    calls: list[Any],
) -> None:
    events = check_all_splits(format, text, TOOLS, style, inside, pairs_under=50)
    assert whole_summary(events) == (reasoning, content, calls)
    whole = parse(format, text, TOOLS, style, inside)
    assert (whole.reasoning, whole.content) == (reasoning, content)


def test_every_style_has_a_message() -> None:
    assert {style for _, style, *_ in CASES} == {style.name for style in STYLES}


# -- what engines were given -----------------------------------------------------------------------

SHARED = Path(__file__).parents[2] / "shared" / "corpus" / "wire.jsonl"
#: The engines' names for styles, where a format may be served with another one than its own.
THEIR_STYLES = {
    "apertus2509": "apertus", "apriel": "apriel", "ernie45": "ernie45", "granite": "granite",
    "hunyuan": "hy", "hunyuan_a13b": "hunyuan_a13b", "hy_v3": "hy", "hy_v4": "hy", "kimi": "kimi",
}  # fmt: skip


def load() -> list[dict[str, Any]]:
    if not SHARED.exists():
        return []
    cases = [json.loads(line) for line in SHARED.read_text(encoding="utf-8").splitlines()]
    known = toolwire.list_formats(aliases=True)
    return [case for case in cases if case["format"] in known or "response_template" in case]


RUN = load()
needs_the_collection = pytest.mark.skipif(not RUN, reason="the collection is not here")


def ways(text: str) -> Iterator[list[str]]:
    yield [text]
    yield list(text)
    chance = random.Random(text)  # the same for the same text
    for _ in range(8):
        yield cut_at(text, [chance.randint(0, len(text)) for _ in range(chance.randint(1, 20))])


def loaded(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:  # cut off: the text so far
        return arguments


def read(case: dict[str, Any], chunks: list[str]) -> tuple[str, str, list[Any]]:
    style = THEIR_STYLES.get(case["reasoning_parser"], True)
    inside = bool(case.get("starts_in_reasoning"))
    spec: Any = case["format"]
    if "response_template" in case:
        spec = toolwire.load_response_template(case["response_template"])
    parser = toolwire.Parser(spec, case["tools"], style, inside)
    message = collect([*(e for chunk in chunks for e in parser.feed(chunk)), *parser.finish()])
    calls = [(call.name, loaded(call.arguments)) for call in message.tool_calls]
    return (message.reasoning or "").strip(), (message.content or "").strip(), calls


@needs_the_collection
@pytest.mark.parametrize("case", RUN, ids=[case["id"] for case in RUN])
def test_a_message_of_the_collection(case: dict[str, Any]) -> None:
    right = case["expected"]
    calls = [(call["name"], call["arguments"]) for call in right["calls"]]
    expected = ((right["reasoning"] or "").strip(), (right["content"] or "").strip(), calls)
    results = [read(case, chunks) for chunks in ways(case["text"])]
    assert all(result == expected for result in results)
