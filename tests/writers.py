"""How each format writes calls, spelled out by hand, as the models' own templates do.

`WRITERS[name](calls)` is the text of one or several calls. It is a second opinion on `toolwire.write`.
A format that has none here is tested with what `toolwire.write` makes, and its second opinion is its
cases in `corpus_cases/`: no format goes untested.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import toolwire

Call = tuple[str, dict[str, Any]]
Writer = Callable[[list[Call]], str]


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def objects(name: str = "name", arguments: str = "arguments") -> Callable[[list[Call]], list[str]]:
    return lambda calls: [dumps({name: n, arguments: a}) for n, a in calls]


def each(before: str, after: str, between: str = "\n", **keys: str) -> Writer:
    """Every call an object between delimiters of its own."""
    return lambda calls: between.join(before + o + after for o in objects(**keys)(calls))


def array(before: str, after: str, **keys: str) -> Writer:
    """All calls in one array."""
    return lambda calls: f"{before}[{', '.join(objects(**keys)(calls))}]{after}"


def named(
    one: Callable[[int, str, str], str], before: str = "", after: str = "", between: str = ""
) -> Writer:
    """The name in markup, the arguments as JSON."""

    def write(calls: list[Call]) -> str:
        written = [one(i, n, dumps(a)) for i, (n, a) in enumerate(calls)]
        return before + between.join(written) + after

    return write


def text_of(value: Any, other: Callable[[Any], str] = dumps) -> str:
    """A value between tags: strings as they are, anything else as `other` writes it."""
    return value if isinstance(value, str) else other(value)


def tags(
    call: str,
    parameter: str,
    end: str,
    before: str = "",
    after: str = "",
    between: str = "",
    other: Callable[[Any], str] = dumps,
) -> Writer:
    """`call` and `parameter` are filled in by str.format; `other` writes what is no string."""

    def one(name: str, arguments: dict[str, Any]) -> str:
        body = "".join(
            parameter.format(k=k, v=text_of(v, other), string=dumps(isinstance(v, str)))
            for k, v in arguments.items()
        )
        return call.format(name=name) + body + end

    return lambda calls: before + between.join(one(n, a) for n, a in calls) + after


def with_words(value: Any) -> str:
    """A value by itself, as templates write it that turn it into a string: True, False, None."""
    return str(value) if value is None or isinstance(value, bool) else dumps(value)


def python_call(name: str, arguments: dict[str, Any], value: Any = with_words) -> str:
    if not all(key.isascii() and key.isidentifier() for key in arguments):
        return f"{name}({dumps(arguments)})"
    return f"{name}({', '.join(f'{k}={value(v)}' for k, v in arguments.items())})"


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


def bare_keys(before: str, after: str, quote: str, order: Any = lambda value: value) -> Writer:
    return lambda calls: "".join(
        f"{before}call:{n}{bare_value(order(a), quote)}{after}" for n, a in calls
    )


def in_order(value: Any) -> Any:
    """With the keys of all objects in alphabetical order."""
    return json.loads(json.dumps(value, sort_keys=True))


def marked_invokes(mark: str, section: str) -> Writer:
    """DeepSeek's tags, with its mark in each."""
    return tags(
        f'<{mark}invoke name="{{name}}">\n',
        f'<{mark}parameter name="{{k}}" string="{{string}}">{{v}}</{mark}parameter>\n',
        f"</{mark}invoke>\n",
        f"<{mark}{section}>\n",
        f"</{mark}{section}>",
    )


def elements(value: Any, tag: Callable[[str, str, Any], str]) -> str:
    """A value as elements; `tag` writes one, of a name ("" for an item) and what is inside it."""
    if isinstance(value, dict):
        return "".join(tag(k, elements(v, tag), v) for k, v in value.items())
    if isinstance(value, list):
        return "".join(tag("", elements(v, tag), v) for v in value)
    return text_of(value)


NS = "]<]minimax[>["


def minimax_m3(calls: list[Call]) -> str:
    def tag(name: str, inside: str, value: Any) -> str:
        return f"{NS}<{name or 'item'}>{inside}{NS}</{name or 'item'}>"

    written = (f'{NS}<invoke name="{n}">{elements(a, tag)}{NS}</invoke>\n' for n, a in calls)
    return f"{NS}<tool_call>\n{''.join(written)}{NS}</tool_call>"


def cohere_command5(calls: list[Call]) -> str:
    def tag(name: str, inside: str, value: Any) -> str:
        type = {str: "raw", list: "list", dict: "dict"}.get(value.__class__, "json")
        named = f' name="{name}"' if name else ""
        return f'<cofl:value{named} type="{type}">{inside}</cofl:value>'

    written = (
        f'<cofl:tool_call id="{i}" name="{n}">{elements(a, tag)}</cofl:tool_call>'
        for i, (n, a) in enumerate(calls)
    )
    return f"<cofl:tool_calls>{''.join(written)}</cofl:tool_calls>"


INVOKES = tags(
    '<invoke name="{name}">\n',
    '<parameter name="{k}">{v}</parameter>\n',
    "</invoke>\n",
    "<minimax:tool_call>\n",
    "</minimax:tool_call>",
)


def xtml(calls: list[Call]) -> str:
    """Kimi K3's tags, made of three tokens."""
    words = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null",
             list: "array", dict: "object"}  # fmt: skip

    def quoted(text: str) -> str:
        return text.replace("&", "&amp;").replace('"', "&quot;")

    def argument(key: str, value: Any) -> str:
        tag = f'<|open|>argument key="{quoted(key)}" type="{words[type(value)]}"<|sep|>'
        return f"{tag}{text_of(value)}<|close|>argument<|sep|>"

    return (
        "<|open|>tools<|sep|>"
        + "".join(
            f'<|open|>call tool="{quoted(name)}" index="{i}"<|sep|>'
            + "".join(argument(key, value) for key, value in arguments.items())
            + "<|close|>call<|sep|>"
            for i, (name, arguments) in enumerate(calls, 1)
        )
        + "<|close|>tools<|sep|>"
    )


HERMES = each("<tool_call>\n", "\n</tool_call>")
TOOL_CALLS_ARRAY = array("<tool_calls>", "</tool_calls>")

BY_HAND: dict[str, Writer] = {
    "harmony": named(
        lambda i, n, a: (
            f"<|channel|>commentary to=functions.{n} <|constrain|>json<|message|>{a}<|call|>"
        ),
        between="<|start|>assistant",
    ),
    "inkling": lambda calls: "<|message_model|>".join(
        "<|content_invoke_tool_json|>"
        + compact({"name": n, "args": in_order(a)})
        + "<|end_message|>"
        for n, a in calls
    ),
    "beam": lambda calls: (
        "<|end|><|start|>assistant".join(
            f" to={n}<|channel|>analysis <|constrain|>xml<|message|>"
            + "".join(
                f'<rfl:parameter name="{k}">\n{text_of(a[k])}\n</rfl:parameter>' for k in sorted(a)
            )
            for n, a in calls
        )
        + "<|call|>"
    ),
    "muse_glimmer": lambda calls: (
        "<|eom|><|start|>assistant".join(
            f' to={n}<|message|><atem:function_calls>\n<atem:invoke name="{n}">\n'
            + "".join(
                f'<atem:parameter name="{k}">{text_of(v)}</atem:parameter>\n' for k, v in a.items()
            )
            + "</atem:invoke>\n</atem:function_calls>"
            for n, a in calls
        )
        + "<|eot|>"
    ),
    "hermes": HERMES,
    "granite4": HERMES,
    "trinity": HERMES,
    "ernie45": HERMES,
    "longcat": each("<longcat_tool_call>", "</longcat_tool_call>"),
    "granite_20b_fc": each("<function_call> ", ""),
    "llama3_json": each("", "", between="; ", arguments="parameters"),
    "internlm": each("<|action_start|><|plugin|>\n", "<|action_end|>", between=""),
    "gigachat3": each("<|function_call|>", "", between=""),
    "json": lambda calls: '{"tool_calls": ' + array("", "")(calls) + "}",
    "granite": array("<|tool_call|> ", ""),
    "jamba": TOOL_CALLS_ARRAY,
    "hunyuan": TOOL_CALLS_ARRAY,
    "apriel": TOOL_CALLS_ARRAY,
    "pangu_v2": array("<|tool_call_start|>", "<|tool_call_end|>"),
    "nemotron": array("<TOOLCALL>", "</TOOLCALL>"),
    "phi4": array("functools", ""),
    "cohere": lambda calls: (
        "<|START_ACTION|>[\n    "
        + ",\n    ".join(
            dumps({"tool_call_id": str(i), "tool_name": n, "parameters": a})
            for i, (n, a) in enumerate(calls)
        )
        + "\n]<|END_ACTION|>"
    ),
    "command_r": lambda calls: (
        "Action:\n```json\n[\n    "
        + ",\n    ".join(
            f'{{\n        "tool_name": {dumps(n)},\n        "parameters": {dumps(a)}\n    }}'
            for n, a in calls
        )
        + "\n]```"
    ),
    "sarashina": lambda calls: (
        "<|tool_calls|>" + str([{"name": n, "arguments": a} for n, a in calls])
    ),
    "apertus": lambda calls: (
        "<|tools_prefix|>" + dumps([{n: a} for n, a in calls]) + "<|tools_suffix|>"
    ),
    "xlam": array("", ""),
    "special_token": named(lambda i, n, a: f"<|tool_call|>{n}\n{a}<|end_tool_call|>", between="\n"),
    "labeled": named(
        lambda i, n, a: f"<tool_call>\nname: {n}\narguments: {a}\n</tool_call>", between="\n"
    ),
    "deepseek_v3": named(
        lambda i, n, a: (
            f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{n}\n```json\n{a}\n```<｜tool▁call▁end｜>"
        ),
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁calls▁end｜>",
        between="\n",
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
    "plamo3": named(
        lambda i, n, a: (
            f"<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>{n}"
            "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>"
            f"<|plamo:constrain|>json<|plamo:msg|>{a}<|plamo:end_tool_arguments:plamo|>"
            "<|plamo:end_tool_request:plamo|>"
        ),
        "<|plamo:begin_tool_requests:plamo|>",
        "<|plamo:end_tool_requests:plamo|>",
    ),
    "solar_open": named(
        lambda i, n, a: (
            f"<|tool_call:begin|><|tool_call:name|>{n}<|tool_call:args|>{a}<|tool_call:end|>"
        ),
        "<|tool_calls|>",
        "<|calls|>",
    ),
    "functionary": named(lambda i, n, a: f"<function={n}>{a}</function>"),
    "qwen3_coder": tags(
        "<tool_call>\n<function={name}>\n",
        "<parameter={k}>\n{v}\n</parameter>\n",
        "</function>\n</tool_call>",
        between="\n",
        other=with_words,
    ),
    "seed_oss": tags(
        "<seed:tool_call>\n<function={name}>\n",
        "<parameter={k}>{v}</parameter>\n",
        "</function>\n</seed:tool_call>",
        between="\n",
        other=with_words,
    ),
    "minimax_m2": INVOKES,
    "dots": lambda calls: INVOKES(calls).replace("minimax:tool_call", "dots_function_call"),
    "deepseek_v3_2": marked_invokes("｜DSML｜", "function_calls"),
    "deepseek_v4": marked_invokes("｜DSML｜", "tool_calls"),
    "deepseek_v41": marked_invokes("｜DSML｜ ", "calls"),
    "gigachat35": marked_invokes("｜GCML｜", "tool_calls"),
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
    "spark25": tags(
        "<tool_call>{name}\n",
        "<arg_key>{k}</arg_key><arg_value>{v}</arg_value>\n",
        "</tool_call>",
        between="\n",
    ),
    "glm47": tags(
        "<tool_call>{name}", "<arg_key>{k}</arg_key><arg_value>{v}</arg_value>", "</tool_call>"
    ),
    "iquest_q1": tags(
        "<iquest_tool_call>{name}",
        "<arg_key>{k}</arg_key><arg_value>{v}</arg_value>",
        "</iquest_tool_call>",
    ),
    "iquest_coder": tags(
        "<iquestcoder_tool_call>{name}",
        "<arg_key>{k}</arg_key><arg_value>{v}</arg_value>",
        "</iquestcoder_tool_call>",
    ),
    "solar_open2": tags(
        "<|tool_call:start|>{name}\n",
        "<|tool_arg:start|>{k}<|tool_arg:value|>{v}<|tool_arg:end|>\n",
        "<|tool_call:end|>",
        between="\n",
    ),
    "hy3": tags(
        "<tool_call:opensource>{name}<tool_sep:opensource>\n",
        "<arg_key:opensource>{k}</arg_key:opensource>\n"
        "<arg_value:opensource>{v}</arg_value:opensource>\n",
        "</tool_call:opensource>\n",
        "<tool_calls:opensource>\n",
        "</tool_calls:opensource>",
    ),
    "hy4": tags(
        "<tool_call>{name}",
        "<arg_key>{k}</arg_key><arg_value>{v}</arg_value>",
        "</tool_call>",
        "<tool_calls>",
        "</tool_calls>",
    ),
    "k2_horizon": tags(
        "<ifm|tool_call>{name}\n",
        "<ifm|arg_key>{k}</ifm|arg_key>\n<ifm|arg_value>{v}</ifm|arg_value>\n",
        "</ifm|tool_call>\n",
        "<ifm|tool_calls>\n",
        "</ifm|tool_calls>",
    ),
    "kimi_k3": xtml,
    "minimax_m3": minimax_m3,
    "cohere_command5": cohere_command5,
    "pythonic": python_list(),
    "llama4_pythonic": python_list("<|python_start|>", "<|python_end|>"),
    "lfm2": python_list("<|tool_call_start|>", "<|tool_call_end|>"),
    "olmo3": lambda calls: (
        "<function_calls>\n"
        + "\n".join(python_call(n, a) for n, a in calls)
        + "\n</function_calls>"
    ),
    "gemma4": bare_keys("<|tool_call>", "<tool_call|>", '<|"|>', order=in_order),
    "functiongemma": bare_keys("<start_function_call>", "<end_function_call>", "<escape>"),
    "call_text": lambda calls: "\n".join(python_call(n, a, dumps) for n, a in calls),
}


def own(name: str) -> Writer:
    """The format's own opinion."""
    return lambda calls: toolwire.write(name, [{"name": n, "arguments": a} for n, a in calls])


WRITERS: dict[str, Writer] = {name: own(name) for name in toolwire.list_formats()} | BY_HAND

#: Formats that only they write like: no other is inferred from what they write. (A part's header is
#: nothing that could be told from prose.)
ALONE = ("kimi_k3", "sarashina", "harmony", "inkling", "beam", "muse_glimmer")
#: What stands in the gaps of a format's tags, if anything.
GAPS = {"hy3": "opensource"}
#: Formats that also find a call without any marker: only declared names are calls there.
BARE = ("json", "llama3_json", "xlam", "sarashina", "pythonic", "llama4_pythonic", "call_text")
