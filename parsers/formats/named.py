"""Formats that write the name in markup and the arguments as JSON, and the labelled one."""

from __future__ import annotations

import string
from dataclasses import replace

from ..core.format import COMMON_ENDS, Format, Wrapper
from ..core.layout import CallId, IdStyle, Layout
from ..core.reasoning import ReasoningStyle
from ..shapes import Labels, NamedJson

SPECIAL_TOKEN = Format(
    name="special_token",
    shape=NamedJson(),
    wrappers=(Wrapper(("<|tool_call|>",), ("<|end_tool_call|>",)),),
    models="models with tokens of their own for calls",
    layout=Layout(
        call_begin="<|tool_call|>", name_end="\n", call_end="<|end_tool_call|>", separator="\n"
    ),
)

LABELED = Format(
    name="labeled",
    shape=Labels(),
    wrappers=(Wrapper(("<tool_call>",), ("</tool_call>",)),),
    aliases=("labelled",),
    models="any model that is told so",
    layout=Layout(
        call_begin="<tool_call>\n",
        name_begin="name: ",
        name_end="\n",
        arguments_begin="arguments: ",
        arguments_end="\n",
        call_end="</tool_call>",
        separator="\n",
    ),
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
    model_names=("deepseek", "deepseekv3", "deepseekr1"),
    family="DeepSeek",
    year=2024,
    layout=Layout(
        section_begin="<｜tool▁calls▁begin｜>",
        section_end="<｜tool▁calls▁end｜>",
        separator="\n",
        call_begin="<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
        name_end="\n",
        arguments_begin="```json\n",
        arguments_end="\n```",
        call_end="<｜tool▁call▁end｜>",
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
    model_names=("deepseekv3.1",),
    family="DeepSeek",
    year=2025,
    layout=Layout(
        section_begin="<｜tool▁calls▁begin｜>",
        section_end="<｜tool▁calls▁end｜>",
        call_begin="<｜tool▁call▁begin｜>",
        name_end="<｜tool▁sep｜>",
        call_end="<｜tool▁call▁end｜>",
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
    model_names=("kimi", "kimik2"),
    family="Kimi",
    year=2025,
    ids=IdStyle("functions.{name}:{index}"),
    layout=Layout(
        section_begin="<|tool_calls_section_begin|>",
        section_end="<|tool_calls_section_end|>",
        call_begin="<|tool_call_begin|>",
        name_begin="functions.",
        id=CallId(":", first=0),
        arguments_begin="<|tool_call_argument_begin|>",
        call_end="<|tool_call_end|>",
    ),
)

MISTRAL = Format(
    name="mistral",
    shape=NamedJson(separator=("[ARGS]",), id_separator=("[CALL_ID]",)),
    wrappers=(Wrapper(("[TOOL_CALLS]",), ("[/TOOL_CALLS]",)),),
    models="Mistral, before v11 (array) and since (name and arguments)",
    model_names=("mistral", "mixtral", "ministral", "magistral", "devstral", "codestral"),
    family="Mistral",
    end_of_turn=(*COMMON_ENDS, "</s>"),
    year=2024,
    # Its templates refuse others.
    ids=IdStyle("{random}", string.ascii_letters + string.digits, 9),
    reasoning=ReasoningStyle("mistral"),
    layout=Layout(call_begin="[TOOL_CALLS]", name_end="[ARGS]"),
    dialects=(
        # since v11, some with ids
        Layout(call_begin="[TOOL_CALLS]", id=CallId("[CALL_ID]"), arguments_begin="[ARGS]"),
        # before v11
        Layout(
            section_begin="[TOOL_CALLS] [",
            section_end="]",
            separator=", ",
            name_begin='{"name": "',
            name_end='"',
            arguments_begin=', "arguments": ',
            arguments_end="}",
        ),
    ),
)

FUNCTIONARY = Format(
    name="functionary",
    shape=NamedJson(separator=(">",), text_names=("all",)),
    wrappers=(Wrapper(("<function=", ">>>"), ("</function>",)),),
    prompt_opens=True,
    models="Functionary v3.1 and v3.2",
    model_names=("functionary",),
    family="Functionary",
    year=2024,
    layout=Layout(call_begin="<function=", name_end=">", call_end="</function>"),
)

SOLAR_OPEN = Format(
    name="solar_open",
    shape=NamedJson(separator=("<|tool_call:args|>",), name_separator=("<|tool_call:name|>",)),
    wrappers=(
        Wrapper(("<|tool_calls|>", "<|begin|>assistant<|tool_calls|>"), ("<|calls|>",)),
        Wrapper(("<|tool_call:begin|>",), ("<|tool_call:end|>",)),
    ),
    models="Solar Open",
    model_names=("solaropen",),
    family="Solar",
    year=2026,
    ids=IdStyle("{random}", string.ascii_lowercase + string.digits, 10),
    reasoning=ReasoningStyle("solar_open"),
    always_reasons=True,
    text_wrapper=Wrapper(("<|begin|>assistant<|content|>", "<|content|>"), ("<|end|>",)),
    layout=Layout(
        section_begin="<|tool_calls|>",
        section_end="<|calls|>",
        call_begin="<|tool_call:begin|>",
        id=CallId(place="before_name", pattern="[a-z0-9]{10}"),
        name_begin="<|tool_call:name|>",
        name_end="<|tool_call:args|>",
        call_end="<|tool_call:end|>",
    ),
)

_PLAMO3_NAME_END = "<|plamo:end_tool_name:plamo|>"
_PLAMO3_ARGUMENTS = "<|plamo:begin_tool_arguments:plamo|>"
_PLAMO3_IN_JSON = "<|plamo:constrain|>json<|plamo:msg|>"

PLAMO3 = Format(
    name="plamo3",
    shape=NamedJson(
        separator=(
            _PLAMO3_NAME_END + _PLAMO3_ARGUMENTS + _PLAMO3_IN_JSON,
            _PLAMO3_NAME_END + _PLAMO3_ARGUMENTS + "<|plamo:msg|>",
            _PLAMO3_NAME_END + _PLAMO3_ARGUMENTS,
            _PLAMO3_NAME_END,
        ),
    ),
    wrappers=(
        Wrapper(("<|plamo:begin_tool_requests:plamo|>",), ("<|plamo:end_tool_requests:plamo|>",)),
        Wrapper(("<|plamo:begin_tool_request:plamo|>",), ("<|plamo:end_tool_request:plamo|>",)),
        Wrapper(("<|plamo:begin_tool_name:plamo|>",), ("<|plamo:end_tool_arguments:plamo|>",)),
    ),
    models="PLaMo 3",
    model_names=("plamo3",),
    family="PLaMo",
    year=2026,
    reasoning=ReasoningStyle("plamo3"),
    text_wrapper=Wrapper(("<|plamo:tag|>",)),
    layout=Layout(
        section_begin="<|plamo:begin_tool_requests:plamo|>",
        section_end="<|plamo:end_tool_requests:plamo|>",
        call_begin="<|plamo:begin_tool_request:plamo|>",
        name_begin="<|plamo:begin_tool_name:plamo|>",
        name_end=_PLAMO3_NAME_END,
        arguments_begin=_PLAMO3_ARGUMENTS + _PLAMO3_IN_JSON,
        arguments_end="<|plamo:end_tool_arguments:plamo|>",
        call_end="<|plamo:end_tool_request:plamo|>",
    ),
)

FORMATS = (
    SPECIAL_TOKEN,
    LABELED,
    DEEPSEEK_V3,
    DEEPSEEK_V3_1,
    KIMI_K2,
    MISTRAL,
    FUNCTIONARY,
    PLAMO3,
    SOLAR_OPEN,
)
