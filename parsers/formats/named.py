"""Formats that write the name in markup and the arguments as JSON, and the labelled one."""

from __future__ import annotations

from dataclasses import replace

from ..core.shapes import Labels, NamedJson
from ..core.spec import Format, Wrapper

SPECIAL_TOKEN = Format(
    name="special_token",
    shape=NamedJson(),
    wrappers=(Wrapper(("<|tool_call|>",), ("<|end_tool_call|>",)),),
    models="models with tokens of their own for calls",
    example="<|tool_call|>NAME\n{…}<|end_tool_call|>",
)

LABELED = Format(
    name="labeled",
    shape=Labels(),
    wrappers=(Wrapper(("<tool_call>",), ("</tool_call>",)),),
    aliases=("labelled",),
    models="any model that is told so",
    example="<tool_call>\nname: NAME\narguments: {…}\n</tool_call>",
)

DEEPSEEK_V3 = Format(
    name="deepseek_v3",
    shape=NamedJson(),
    wrappers=(
        Wrapper(("<｜tool▁calls▁begin｜>",), ("<｜tool▁calls▁end｜>",)),
        Wrapper(
            ("<｜tool▁call▁begin｜>function<｜tool▁sep｜>", "<｜tool▁call▁begin｜>"),
            ("<｜tool▁call▁end｜>",),
        ),
    ),
    aliases=("deepseek_r1",),
    models="DeepSeek V3 and R1",
    example=(
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>NAME\n"
        "```json\n{…}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
)

DEEPSEEK_V3_1 = replace(
    DEEPSEEK_V3,
    name="deepseek_v3_1",
    shape=NamedJson(separator=("<｜tool▁sep｜>",)),
    wrappers=(
        DEEPSEEK_V3.wrappers[0],
        Wrapper(("<｜tool▁call▁begin｜>",), ("<｜tool▁call▁end｜>",)),
    ),
    aliases=("deepseek_v31",),
    models="DeepSeek V3.1",
    example=(
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{…}"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    ),
)

KIMI_K2 = Format(
    name="kimi_k2",
    shape=NamedJson(
        separator=("<|tool_call_argument_begin|>",),
        header=r"(?:functions\.)?(?P<name>.+?)(?::[0-9]+)?",
    ),
    wrappers=(
        Wrapper(
            ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"),
            ("<|tool_calls_section_end|>", "<|tool_call_section_end|>"),
        ),
        Wrapper(("<|tool_call_begin|>",), ("<|tool_call_end|>",)),
    ),
    models="Kimi K2",
    example=(
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.NAME:0"
        "<|tool_call_argument_begin|>{…}<|tool_call_end|><|tool_calls_section_end|>"
    ),
)

MISTRAL = Format(
    name="mistral",
    shape=NamedJson(separator=("[ARGS]",), id_separator=("[CALL_ID]",)),
    wrappers=(Wrapper(("[TOOL_CALLS]",), ("[/TOOL_CALLS]",)),),
    models="Mistral, before v11 (array) and since (name and arguments)",
    example="[TOOL_CALLS]NAME[ARGS]{…}",
)

FUNCTIONARY = Format(
    name="functionary",
    shape=NamedJson(separator=(">",)),
    wrappers=(Wrapper(("<function=", ">>>"), ("</function>",)),),
    models="Functionary v3.1 and v3.2",
    example="<function=NAME>{…}</function>",
)

FORMATS = (
    SPECIAL_TOKEN,
    LABELED,
    DEEPSEEK_V3,
    DEEPSEEK_V3_1,
    KIMI_K2,
    MISTRAL,
    FUNCTIONARY,
)
