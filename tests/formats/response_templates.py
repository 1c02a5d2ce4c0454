"""Response templates: those of known families, as they come or might come with a checkpoint, and random
ones. Each is as transformers reads it, which is asked, too."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st

WHOLE = {"type": "function", "function": "{content}"}
NAMED = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
THINK = {"open": "<think>", "close": "</think>", "content": "text"}


def keyed(name: str, arguments: str) -> dict[str, Any]:
    """A transform that takes both from what was read."""
    return {"type": "function", "function": {"name": name, "arguments": arguments}}


def template(anchor: Any = "<|im_start|>assistant\n", **fields: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "defaults": {"role": "assistant"},
        "start_anchor": anchor,
        "fields": fields,
    }


def each(content: str, transform: Any, close: Any = None, **more: Any) -> dict[str, Any]:
    """A field for calls, one for each time it comes."""
    field = {"repeats": True, "content": content, "transform": transform, **more}
    return field if close is None else {**field, "close": close}


def tags(pattern: str, **more: Any) -> dict[str, Any]:
    return {"tag_pattern": pattern, **more}


LAX = {"value_parser": {"name": "json", "args": {"allow_non_json": True}}}
PARAMETER = r"<parameter=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</parameter>"


def _inkling(kind: str) -> str:
    return rf"(?:<\|message_model\|>)?[^<]*<\|content_{kind}\|>"


def _inkling_text(kind: str) -> dict[str, Any]:
    opener = {"open_pattern": _inkling(kind), "close": "<|end_message|>"}
    return {**opener, "repeats": True, "join": "", "content_args": {"strip": False}}


QWEN3 = template(
    reasoning_content=THINK,
    tool_calls=each("json", WHOLE, "</tool_call>", open_pattern=r"\s*<tool_call>"),
    content={"close_pattern": r"\s*(?:<\|im_end\|>|<\|endoftext\|>)", "content": "text"},
)
QWEN35 = template(
    reasoning_content=THINK,
    tool_calls=each(
        "xml-inline",
        NAMED,
        open_pattern=r"\s*<tool_call>\s*<function=(?P<name>[^>\n]+)>",
        close_pattern=r"</function>\s*</tool_call>",
        content_args=tags(PARAMETER),
    ),
    content={"close_pattern": r"\s*(?:<\|im_end\|>|<\|endoftext\|>)"},
)
QWEN3_CODER = template(
    thinking=THINK,
    tool_calls=each(
        "xml-inline",
        NAMED,
        "</tool_call>",
        open_pattern=r"<tool_call>\s*<function=(?P<name>\w+)>",
        content_args=tags(PARAMETER.replace(r"[^>\n]", r"\w"), **LAX),
    ),
)
GEMMA4 = template(
    ["<|turn>model\n", "<tool_response|>"],
    reasoning_content={"open": "<|channel>thought\n", "close": "<channel|>"},
    tool_calls=each(
        "json",
        NAMED,
        "<tool_call|>",
        open_pattern=r"<\|tool_call>call:(?P<name>\w+)",
        content_args={"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]},
    ),
    content={"close": ["<turn|>", "<|tool_response>", "<eos>"]},
)
COHERE = template(
    "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    content={"open": "<|START_RESPONSE|>", "close": "<|END_RESPONSE|>"},
    thinking={"open": "<|START_THINKING|>", "close": "<|END_THINKING|>"},
    tool_calls={
        "open": "<|START_ACTION|>",
        "close": "<|END_ACTION|>",
        "content": "json",
        "transform_each": True,
        "transform": keyed("{tool_name}", "{parameters}"),
    },
)
ERNIE = template(
    "Assistant:",
    thinking={"open_pattern": r"(?:^|<think>\s*)", "close": "</think>"},
    content={"open": "<response>\n", "close_pattern": r"\n?</response>"},
    tool_calls=each("json", WHOLE, "</tool_call>", open="<tool_call>"),
)
GPT_OSS = template(
    "<|start|>assistant",
    thinking={"open": "<|channel|>analysis<|message|>", "close": "<|end|>"},
    content={"open": "<|channel|>final<|message|>", "close": "<|end|>"},
    tool_calls=each(
        "json",
        NAMED,
        "<|call|>",
        open_pattern=r"<\|channel\|>commentary to=functions\.(?P<name>\w+).*?<\|message\|>",
    ),
)
INKLING = template(
    "<|message_model|>",
    thinking=_inkling_text("thinking"),
    content=_inkling_text("text"),
    tool_calls=each(
        "json",
        keyed("{content.name}", "{content.args}"),
        "<|end_message|>",
        open_pattern=_inkling("invoke_tool_json"),
    ),
)
MUSE = template(
    "<|start|>assistant",
    reasoning_content={"open_pattern": r"to=self<\|message\|>", "close": "<|eom|>"},
    content={"open_pattern": r"to=user<\|message\|>", "close": ["<|eot|>", "<|eom|>"]},
    tool_calls=each(
        "xml-inline",
        NAMED,
        "</atem:invoke>",
        open_pattern=r'<atem:invoke\b[^>]*?\bname="(?P<name>[^"]+)">',
        content_args=tags(
            r'<atem:parameter\b[^>]*?\bname="(?P<key>[^"]+)"[^>]*?>(?P<value>.*?)</atem:parameter>',
            **LAX,
        ),
    ),
)
SMOLLM = template(
    thinking=THINK,
    tool_calls=each("json", WHOLE, "</tool_call>", open="<tool_call>"),
    content={"close": "<|im_end|>"},
)
GLM = template(
    thinking=THINK,
    tool_calls=each(
        "xml-inline",
        NAMED,
        "</tool_call>",
        open_pattern=r"<tool_call>(?P<name>[^\n<]+)\n?",
        content_args=tags(
            r"<arg_key>(?P<key>.*?)</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>"
        ),
    ),
    content={},
)
MINIMAX_M2 = template(
    thinking=THINK,
    tool_calls=each(
        "xml-inline",
        NAMED,
        open_pattern=r'(?:<minimax:tool_call>\s*)?<invoke name="(?P<name>[^"]+)">',
        close_pattern=r"</invoke>(?:\s*</minimax:tool_call>)?",
        content_args=tags(r'<parameter name="(?P<key>[^"]+)">(?P<value>.*?)</parameter>'),
    ),
    content={},
)
KIMI_K2 = template(
    thinking=THINK,
    tool_calls=each(
        "json",
        NAMED,
        open_pattern=(
            r"(?:<\|tool_calls_section_begin\|>)?<\|tool_call_begin\|>functions\.(?P<name>\w+):\d+"
            r"<\|tool_call_argument_begin\|>"
        ),
        close_pattern=r"<\|tool_call_end\|>(?:<\|tool_calls_section_end\|>)?",
    ),
    content={},
)
DEEPSEEK_V3 = template(
    thinking=THINK,
    tool_calls=each(
        "json",
        NAMED,
        "\n```<｜tool▁call▁end｜>",
        open_pattern="<｜tool▁call▁begin｜>function<｜tool▁sep｜>(?P<name>[^\n]+)\n```json\n",
    ),
    content={},
)
MISTRAL = template(
    tool_calls=each("json", NAMED, open_pattern=r"\[TOOL_CALLS\](?P<name>[\w.-]+)\[ARGS\]"),
    content={"close": "</s>"},
)
TURNS = template(
    "<|turn|>bot",
    thinking={"open_pattern": r"<\|think\|>", "close": "<|done|>"},
    content={"open_pattern": r"<\|say\|>", "close": "<|done|>"},
    tool_calls=each(
        "xml-inline",
        NAMED,
        ["<|done|>", "<|eos|>"],
        open_pattern=r"(?:<\|turn\|>bot)?<\|tool\|>(?P<name>[A-Za-z_][A-Za-z0-9_.]*)<\|args\|>",
        content_args=tags(r'<arg name="(?P<key>[^"]+)">(?P<value>.*?)</arg>'),
    ),
)
LINES = template(
    tool_calls=each(
        "kv-lines",
        keyed("{content.tool}", "{content.with}"),
        "</do>",
        open="<do>",
        content_args=LAX,
    ),
    content={},
)
ELEMENTS = template(
    tool_calls=each(
        "xml-inline",
        NAMED,
        open_pattern=r'\]<\]minimax\[>\[<invoke name="(?P<name>[^"]+)">',
        close_pattern=r"\]<\]minimax\[>\[</invoke>",
        content_args=tags(
            r"\]<\]minimax\[>\[<(?P<key>\w+)>(?P<value>.*?)\]<\]minimax\[>\[</(?P=key)>"
        ),
    ),
    content={},
)

FAMILIES = {
    "qwen3": QWEN3, "qwen35": QWEN35, "qwen3_coder": QWEN3_CODER, "gemma4": GEMMA4, "cohere": COHERE,
    "ernie": ERNIE, "gpt_oss": GPT_OSS, "inkling": INKLING, "muse": MUSE, "smollm": SMOLLM, "glm": GLM,
    "minimax_m2": MINIMAX_M2, "kimi_k2": KIMI_K2, "deepseek_v3": DEEPSEEK_V3, "mistral": MISTRAL,
    "turns": TURNS, "lines": LINES, "elements": ELEMENTS,
}  # fmt: skip


# -- random ones -----------------------------------------------------------------------------------

#: What is around calls: each opens and closes in its own way.
PAIRS = [
    ("<call>", "</call>"),
    ("<|call|>", "<|/call|>"),
    ("<|do>", "<do|>"),
    ("[CALL]", "[/CALL]"),
    ("｜調｜", "｜終｜"),
    ("@@do ", "@@done"),
    ("<x:call>", "</x:call>"),
]
SECTIONS = [("<calls>", "</calls>"), ("<|calls|>", "<|/calls|>"), ("[ALL]", "[/ALL]")]
THOUGHTS = [("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("<|t|>", "<|/t|>")]
SAID = [("<|say|>", "<|said|>"), ("[SAY]", "[SAID]")]
KEYS = st.sampled_from(["name", "tool", "fn", "tool_name"])
ARGUMENTS = st.sampled_from(["arguments", "args", "parameters", "with"])
WORD = st.sampled_from([r"\w+", r"[^>\n]+", r"[A-Za-z_][\w.]*"])
SPACES = st.sampled_from(["", r"\s*", r"\n*", r"\n?"])


@st.composite
def delimited(draw: st.DrawFn, name: str = "", tail: str = "") -> dict[str, Any]:
    """What opens and closes a call: as literals, or as patterns; perhaps with something around all."""
    begin, end = draw(st.sampled_from(PAIRS))
    first, last = map(re.escape, (begin, end))
    if draw(st.booleans()):
        outer = [re.escape(text) for text in draw(st.sampled_from(SECTIONS))]
        return {
            "open_pattern": f"(?:{outer[0]})?{first}{name}{tail}",
            "close_pattern": f"{last}(?:{outer[1]})?",
        }
    if name or draw(st.booleans()):
        opener = {"open_pattern": f"{draw(SPACES)}{first}{draw(SPACES)}{name}{tail}"}
    else:
        opener = {"open": draw(st.sampled_from([begin, [begin], [begin, begin + "\n"]]))}
    if draw(st.booleans()):
        return {**opener, "close": draw(st.sampled_from([end, [end, "<|over|>"]]))}
    return {**opener, "close_pattern": draw(SPACES) + last}


@st.composite
def json_fields(draw: st.DrawFn) -> dict[str, Any]:
    """A name in JSON, in whichever keys; one call, or a list of them."""
    key, arguments = draw(KEYS), draw(ARGUMENTS)
    around = draw(delimited())
    if draw(st.booleans()):
        transform = keyed(f"{{{key}}}", f"{{{arguments}}}")
        return {**around, "content": "json", "transform_each": True, "transform": transform}
    dotted = keyed(f"{{content.{key}}}", f"{{content.{arguments}}}")
    return {**around, **each("json", draw(st.sampled_from([WHOLE, dotted])))}


@st.composite
def named_fields(draw: st.DrawFn) -> dict[str, Any]:
    """The opener captures the name, the arguments are JSON."""
    tail = draw(st.sampled_from(["", r"\[ARGS\]", ">", r"<\|args\|>", r"\n"]))
    return {**draw(delimited(r"(?P<name>\w+)", tail)), **each("json", NAMED)}


@st.composite
def bare_fields(draw: st.DrawFn) -> dict[str, Any]:
    quote = draw(st.sampled_from(['<|"|>', "<q>", "§§"]))
    prefix = draw(st.sampled_from(["", "call:", "to "]))
    arguments = {"unquoted_keys": True, "string_delims": [[quote, quote]]}
    around = draw(delimited(rf"{prefix}(?P<name>\w+)"))
    return {**around, **each("json", NAMED, content_args=arguments)}


@st.composite
def tag_fields(draw: st.DrawFn) -> dict[str, Any]:
    """The opener captures the name, perhaps in a tag of its own; each argument has tags."""
    space = draw(SPACES)
    begin, key_end, end = draw(
        st.sampled_from(
            [
                ("<parameter=", ">", "</parameter>"),
                ('<arg name="', '">', "</arg>"),
                ('<arg\\b[^>]*?\\bname="', '"[^>]*?>', "</arg>"),
                ("<k>", rf"</k>{space}<v>", "</v>"),
                (r"<\|k\|>", r"<\|v\|>", r"<\|/v\|>"),
            ]
        )
    )
    pattern = f'{begin}(?P<key>[^<>"]+?){key_end}{space}(?P<value>.*?){space}{end}'
    name = f"(?P<name>{draw(WORD)})"
    own, tail = draw(
        st.sampled_from(
            [
                ("<function=", ">"),
                ('<invoke name="', '">'),
                ("", r"\n"),
                ("", ""),
                ("", r"<\|sep\|>"),
            ]
        )
    )
    around = draw(delimited(f"{draw(SPACES) if own else ''}{own}{name}", tail))
    return {**around, **each("xml-inline", NAMED, content_args=tags(pattern))}


@st.composite
def templates(draw: st.DrawFn) -> dict[str, Any]:
    calls = draw(st.one_of(json_fields(), named_fields(), bare_fields(), tag_fields()))
    fields: dict[str, Any] = {"tool_calls": calls}
    if draw(st.booleans()):
        begin, end = draw(st.sampled_from(THOUGHTS))
        fields["thinking"] = {"open": begin, "close": end}
    begin, end = draw(st.sampled_from(SAID))
    fields["content"] = draw(
        st.sampled_from([{}, {"close": "<|over|>"}, {"open": begin, "close": end}])
    )
    return template("<|assistant|>", **fields)
