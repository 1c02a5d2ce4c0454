"""How each format writes calls, spelled out by hand, as the models' own templates do.

`WRITERS[name](calls)` is the text of one or several calls. A format without a writer fails the test
that walks the registry: no format goes untested.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

Call = tuple[str, dict[str, Any]]
Writer = Callable[[list[Call]], str]


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def objects(name: str = "name", arguments: str = "arguments") -> Callable[[list[Call]], list[str]]:
    return lambda calls: [dumps({name: n, arguments: a}) for n, a in calls]


def each(before: str, after: str, between: str = "\n", **keys: str) -> Writer:
    """Every call an object between delimiters of its own."""
    return lambda calls: between.join(before + o + after for o in objects(**keys)(calls))


def array(before: str, after: str, **keys: str) -> Writer:
    """All calls in one array."""
    return lambda calls: f"{before}[{', '.join(objects(**keys)(calls))}]{after}"


def named(one: Callable[[int, str, str], str], before: str = "", after: str = "") -> Writer:
    """The name in markup, the arguments as JSON."""

    def write(calls: list[Call]) -> str:
        return before + "".join(one(i, n, dumps(a)) for i, (n, a) in enumerate(calls)) + after

    return write


def text_of(value: Any) -> str:
    """A value between tags: strings as they are, anything else as JSON."""
    return value if isinstance(value, str) else dumps(value)


def tags(
    call: str, parameter: str, end: str, before: str = "", after: str = "", between: str = ""
) -> Writer:
    """`call` and `parameter` are filled in by str.format."""

    def one(name: str, arguments: dict[str, Any]) -> str:
        body = "".join(
            parameter.format(k=k, v=text_of(v), string=dumps(isinstance(v, str)))
            for k, v in arguments.items()
        )
        return call.format(name=name) + body + end

    return lambda calls: before + between.join(one(n, a) for n, a in calls) + after


def python_call(name: str, arguments: dict[str, Any]) -> str:
    return f"{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})"


def python_list(before: str = "", after: str = "") -> Writer:
    return lambda calls: f"{before}[{', '.join(python_call(n, a) for n, a in calls)}]{after}"


def bare_value(value: Any, quote: str) -> str:
    if isinstance(value, str):
        return quote + value + quote
    if isinstance(value, dict):
        members = ",".join(f"{k}:{bare_value(v, quote)}" for k, v in value.items())
        return "{" + members + "}"
    if isinstance(value, list):
        return "[" + ",".join(bare_value(v, quote) for v in value) + "]"
    return dumps(value)


def bare_keys(before: str, after: str, quote: str) -> Writer:
    return lambda calls: "".join(f"{before}call:{n}{bare_value(a, quote)}{after}" for n, a in calls)


DSML = tags(
    '<｜DSML｜invoke name="{name}">\n',
    '<｜DSML｜parameter name="{k}" string="{string}">{v}</｜DSML｜parameter>\n',
    "</｜DSML｜invoke>\n",
    "<｜DSML｜function_calls>\n",
    "</｜DSML｜function_calls>",
)
INVOKES = tags(
    '<invoke name="{name}">\n',
    '<parameter name="{k}">{v}</parameter>\n',
    "</invoke>\n",
    "<minimax:tool_call>\n",
    "</minimax:tool_call>",
)
HERMES = each("<tool_call>\n", "\n</tool_call>")
TOOL_CALLS_ARRAY = array("<tool_calls>", "</tool_calls>")

WRITERS: dict[str, Writer] = {
    "hermes": HERMES,
    "granite4": HERMES,
    "longcat": each("<longcat_tool_call>", "</longcat_tool_call>"),
    "granite_20b_fc": each("<function_call> ", ""),
    "llama3_json": each("", "", between="; ", arguments="parameters"),
    "internlm": each("<|action_start|><|plugin|>\n", "<|action_end|>\n", arguments="parameters"),
    "gigachat3": each("function call<|role_sep|>\n", ""),
    "json": lambda calls: '{"tool_calls": ' + array("", "")(calls) + "}",
    "granite": array("<|tool_call|> ", ""),
    "jamba": TOOL_CALLS_ARRAY,
    "hunyuan": TOOL_CALLS_ARRAY,
    "apriel": TOOL_CALLS_ARRAY,
    "nemotron": array("<TOOLCALL>", "</TOOLCALL>"),
    "phi4": array("functools", ""),
    "cohere": array("<|START_ACTION|>", "<|END_ACTION|>", name="tool_name", arguments="parameters"),
    "apertus": lambda calls: (
        "<|tools_prefix|>" + dumps([{n: a} for n, a in calls]) + "<|tools_suffix|>"
    ),
    "xlam": array("", ""),
    "special_token": named(lambda i, n, a: f"<|tool_call|>{n}\n{a}<|end_tool_call|>"),
    "labeled": named(lambda i, n, a: f"<tool_call>\nname: {n}\narguments: {a}\n</tool_call>\n"),
    "deepseek_v3": named(
        lambda i, n, a: (
            f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{n}\n```json\n{a}\n```<｜tool▁call▁end｜>"
        ),
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜>",
    ),
    "deepseek_v3_1": named(
        lambda i, n, a: f"<｜tool▁call▁begin｜>{n}<｜tool▁sep｜>{a}<｜tool▁call▁end｜>",
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜>",
    ),
    "kimi_k2": named(
        lambda i, n, a: (
            f"<|tool_call_begin|>functions.{n}:{i}<|tool_call_argument_begin|>{a}<|tool_call_end|>"
        ),
        "<|tool_calls_section_begin|>",
        "<|tool_calls_section_end|>",
    ),
    "mistral": named(lambda i, n, a: f"[TOOL_CALLS]{n}[ARGS]{a}"),
    "functionary": named(lambda i, n, a: f"<function={n}>{a}</function>"),
    "qwen3_coder": tags(
        "<tool_call>\n<function={name}>\n",
        "<parameter={k}>\n{v}\n</parameter>\n",
        "</function>\n</tool_call>",
        between="\n",
    ),
    "seed_oss": tags(
        "<function={name}>\n",
        "<parameter={k}>{v}</parameter>\n",
        "</function>\n",
        "<seed:tool_call>\n",
        "</seed:tool_call>",
    ),
    "minimax_m2": INVOKES,
    "dots": lambda calls: INVOKES(calls).replace("minimax:tool_call", "dots_function_call"),
    "deepseek_v3_2": DSML,
    "deepseek_v4": lambda calls: DSML(calls).replace("function_calls", "tool_calls"),
    "minicpm5": tags('<function name="{name}">', '<param name="{k}">{v}</param>', "</function>"),
    "step3": tags(
        '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="{name}">',
        '<steptml:parameter name="{k}">{v}</steptml:parameter>',
        "</steptml:invoke><｜tool_call_end｜>",
        "<｜tool_calls_begin｜>",
        "<｜tool_calls_end｜>",
    ),
    "glm45": tags(
        "<tool_call>{name}\n",
        "<arg_key>{k}</arg_key>\n<arg_value>{v}</arg_value>\n",
        "</tool_call>",
        between="\n",
    ),
    "glm47": tags(
        "<tool_call>{name}", "<arg_key>{k}</arg_key><arg_value>{v}</arg_value>", "</tool_call>"
    ),
    "hy3": tags(
        "<tool_call>{name}<tool_sep>",
        "<arg_key>{k}</arg_key><arg_value>{v}</arg_value>",
        "</tool_call>",
        "<tool_calls>",
        "</tool_calls>",
    ),
    "pythonic": python_list(),
    "llama4_pythonic": python_list("<|python_start|>", "<|python_end|>"),
    "lfm2": python_list("<|tool_call_start|>", "<|tool_call_end|>"),
    "olmo3": lambda calls: (
        "<function_calls>\n"
        + "\n".join(python_call(n, a) for n, a in calls)
        + "\n</function_calls>"
    ),
    "gemma4": bare_keys("<|tool_call>", "<tool_call|>", '<|"|>'),
    "functiongemma": bare_keys("<start_function_call>", "<end_function_call>", "<escape>"),
    "call_text": lambda calls: "\n".join(python_call(n, a) for n, a in calls),
}

#: Formats whose calls are JSON objects, so that the order of the keys is free.
JSON_OBJECTS = (
    "hermes", "granite4", "longcat", "granite_20b_fc", "llama3_json", "internlm", "gigachat3",
    "json", "granite", "jamba", "hunyuan", "apriel", "nemotron", "phi4", "cohere", "xlam",
)  # fmt: skip
#: Formats whose arguments are JSON in the model's own bytes.
JSON_ARGUMENTS = (
    *JSON_OBJECTS,
    "apertus", "special_token", "labeled", "deepseek_v3", "deepseek_v3_1", "kimi_k2", "mistral",
    "functionary",
)  # fmt: skip
#: Formats whose values stand between tags.
TAGGED = (
    "qwen3_coder", "seed_oss", "minimax_m2", "dots", "deepseek_v3_2", "deepseek_v4", "minicpm5",
    "step3", "glm45", "glm47", "hy3",
)  # fmt: skip
#: Formats that also find a call without any marker: only declared names are calls there.
BARE = ("json", "llama3_json", "xlam", "pythonic", "llama4_pythonic", "call_text")
