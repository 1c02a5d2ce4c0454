"""Formats whose calls are JSON objects, alone or in an array, with or without tags around them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..core.format import COMMON_ENDS, Format, Wrapper
from ..core.layout import CallId, Layout
from ..core.reasoning import ReasoningStyle
from ..shapes import JsonCalls


def _object(name: str = "name", arguments: str = "arguments", **around: Any) -> Layout:
    """A call as a JSON object; `around` is what stands around each call, and around all of them."""
    return Layout(
        name_begin=f'{{"{name}": "',
        name_end='"',
        arguments_begin=f', "{arguments}": ',
        arguments_end="}",
        **around,
    )


def _array(begin: str = "", end: str = "") -> Layout:
    """All calls in one array."""
    return _object(section_begin=f"{begin}[", section_end=f"]{end}", separator=", ")


HERMES = Format(
    name="hermes",
    shape=JsonCalls(),
    wrappers=(Wrapper(("<tool_call>",), ("</tool_call>",)),),
    aliases=("qwen25", "qwen3", "reka", "kolibri1"),
    models="Hermes 2 and 3, Qwen 2.5, Qwen 3, Reka, Kolibri",
    model_names=("hermes", "qwen", "qwq", "reka", "kolibri"),
    family="Qwen",
    year=2024,
    layout=_object(call_begin="<tool_call>\n", call_end="\n</tool_call>", separator="\n"),
)

TRINITY = replace(
    HERMES,
    name="trinity",
    aliases=(),
    models="Trinity",
    model_names=("trinity",),
    family="Trinity",
    year=2025,
    reasoning=ReasoningStyle("trinity"),
    always_reasons=True,
)

ERNIE45 = replace(
    HERMES,
    name="ernie45",
    aliases=(),
    models="Ernie 4.5",
    model_names=("ernie4.5",),
    family="Ernie",
    year=2025,
    reasoning=ReasoningStyle("ernie45"),
)

JSON = Format(
    name="json",
    shape=JsonCalls(),
    bare=True,
    aliases=("json_mode",),
    models="any model in JSON mode",
    layout=_object(section_begin='{"tool_calls": [', section_end="]}", separator=", "),
)

LLAMA3_JSON = Format(
    name="llama3_json",
    shape=JsonCalls(),
    wrappers=(Wrapper(("<|python_tag|>",)),),
    bare=True,
    aliases=("llama3", "llama4_json"),
    models="Llama 3.1, 3.2 and 3.3",
    model_names=("llama3.1", "llama3.2", "llama3.3"),
    family="Llama",
    year=2024,
    layout=_object(arguments="parameters", separator="; "),
)

XLAM = Format(
    name="xlam",
    shape=JsonCalls(),
    wrappers=(Wrapper(("[TOOL_CALLS]", "<tool_call>"), ("</tool_call>", "[/TOOL_CALLS]")),),
    bare=True,
    models="xLAM",
    model_names=("xlam",),
    family="xLAM",
    year=2024,
    layout=_array(),
)

LONGCAT = replace(
    HERMES,
    name="longcat",
    wrappers=(Wrapper(("<longcat_tool_call>",), ("</longcat_tool_call>",)),),
    aliases=(),
    models="LongCat Flash",
    model_names=("longcat",),
    family="LongCat",
    end_of_turn=(*COMMON_ENDS, "</longcat_s>"),
    year=2025,
    layout=_object(
        call_begin="<longcat_tool_call>", call_end="</longcat_tool_call>", separator="\n"
    ),
)

GRANITE4 = replace(
    HERMES,
    name="granite4",
    aliases=(),
    models="Granite 4",
    model_names=("granite4",),
    family="Granite",
    year=2025,
)

GRANITE_20B_FC = Format(
    name="granite_20b_fc",
    shape=JsonCalls(),
    wrappers=(Wrapper(("<function_call>",)),),
    models="Granite 20B function calling",
    model_names=("granite20bfunctioncalling",),
    family="Granite",
    year=2024,
    layout=_object(call_begin="<function_call> ", separator="\n"),
)

INTERNLM = Format(
    name="internlm",
    shape=JsonCalls(),
    wrappers=(
        Wrapper(("<|action_start|>",), ("<|action_end|>",)),
        Wrapper(("<|plugin|>",)),
    ),
    aliases=("internlm2",),
    models="InternLM 2 and 2.5",
    model_names=("internlm2",),
    family="InternLM",
    year=2024,
    layout=_object(call_begin="<|action_start|><|plugin|>\n", call_end="<|action_end|>"),
    dialects=(
        _object(
            arguments="parameters",
            call_begin="<|action_start|><|plugin|>\n",
            call_end="<|action_end|>",
        ),
    ),
)

GIGACHAT3 = Format(
    name="gigachat3",
    shape=JsonCalls(),
    wrappers=(
        Wrapper(
            (
                "<|function_call|>",
                "function call<|role_sep|>",
                # what ends the text before it, as some checkpoints write it
                "<|message_sep|>\n\nfunction call<|role_sep|>",
                "<|message_sep|>\nfunction call<|role_sep|>",
                "<|message_sep|>function call<|role_sep|>",
            )
        ),
    ),
    models="GigaChat 3 and 3.1",
    model_names=("gigachat3",),
    family="GigaChat",
    end_of_turn=(*COMMON_ENDS, "<|message_sep|>", "</s>"),
    year=2025,
    layout=_object(call_begin="<|function_call|>"),
    dialects=(
        _object(call_begin="function call<|role_sep|>\n"),
        _object(call_begin="<|message_sep|>\n\nfunction call<|role_sep|>\n"),
    ),
)

GRANITE = Format(
    name="granite",
    shape=JsonCalls(),
    wrappers=(Wrapper(("<|tool_call|>", "<tool_call>")),),
    models="Granite 3.0 and 3.1",
    model_names=("granite3",),
    family="Granite",
    year=2024,
    reasoning=ReasoningStyle("granite"),
    layout=_array("<|tool_call|> "),
)

JAMBA = Format(
    name="jamba",
    shape=JsonCalls(),
    wrappers=(Wrapper(("<tool_calls>",), ("</tool_calls>",)),),
    aliases=("minimax_m1",),
    models="Jamba 1.5 and 1.6, MiniMax M1",
    model_names=("jamba", "minimaxm1"),
    family="Jamba",
    end_of_turn=(*COMMON_ENDS, "<|eom|>", "<end_of_sentence>"),
    year=2024,
    layout=_array("<tool_calls>", "</tool_calls>"),
    dialects=(
        _object(section_begin="<tool_calls>\n", section_end="\n</tool_calls>", separator="\n"),
    ),
)

HUNYUAN = replace(
    JAMBA,
    name="hunyuan",
    aliases=("hunyuan_a13b",),
    models="Hunyuan A13B",
    model_names=("hunyuana13b",),
    family="Hunyuan",
    end_of_turn=(*COMMON_ENDS, "<|eos|>"),
    year=2025,
    reasoning=ReasoningStyle("hunyuan_a13b"),
    dialects=(),
)
APRIEL = replace(
    JAMBA,
    name="apriel",
    aliases=(),
    models="Apriel",
    model_names=("apriel",),
    family="Apriel",
    year=2025,
    reasoning=ReasoningStyle("apriel"),
    dialects=(),
)

PANGU_V2 = Format(
    name="pangu_v2",
    shape=JsonCalls(),
    wrappers=(Wrapper(("<|tool_call_start|>",), ("<|tool_call_end|>",)),),
    models="Pangu v2",
    model_names=("panguv2",),
    family="Pangu",
    year=2026,
    layout=_array("<|tool_call_start|>", "<|tool_call_end|>"),
)

NEMOTRON = Format(
    name="nemotron",
    shape=JsonCalls(),
    wrappers=(Wrapper(("<TOOLCALL>",), ("</TOOLCALL>",)),),
    models="Nemotron Nano v2, Llama Nemotron",
    model_names=("nemotron", "llama3.1nemotron", "llama3.3nemotron"),
    family="Nemotron",
    end_of_turn=(*COMMON_ENDS, "<SPECIAL_12>"),
    year=2025,
    layout=_array("<TOOLCALL>", "</TOOLCALL>"),
)

PHI4 = Format(
    name="phi4",
    shape=JsonCalls(),
    wrappers=(Wrapper(("functools[",)),),
    aliases=("phi4_mini_json", "firefunction"),
    models="Phi 4 mini, Firefunction",
    model_names=("phi4mini", "firefunction"),
    family="Phi",
    year=2025,
    layout=_array("functools"),
)

COHERE = Format(
    name="cohere",
    shape=JsonCalls(name_keys=("tool_name", "name")),
    wrappers=(Wrapper(("<|START_ACTION|>",), ("<|END_ACTION|>",)),),
    aliases=("command", "cohere_command3", "cohere_command4"),
    models="Cohere Command A, R7B and 4",
    model_names=("commanda", "commandr7b", "command4"),
    family="Cohere",
    end_of_turn=(*COMMON_ENDS, "<|END_OF_TURN_TOKEN|>"),
    year=2024,
    reasoning=ReasoningStyle("cohere"),
    text_wrapper=Wrapper(
        ("<|START_RESPONSE|>", "<|START_TEXT|>"), ("<|END_RESPONSE|>", "<|END_TEXT|>")
    ),
    annotations=("<co>", "</co: …>"),
    layout=Layout(
        section_begin="<|START_ACTION|>[\n    ",
        section_end="\n]<|END_ACTION|>",
        separator=",\n    ",
        call_begin="{",
        id=CallId('"tool_call_id": "', '", ', "before_name", first=0),
        name_begin='"tool_name": "',
        name_end='"',
        arguments_begin=', "parameters": ',
        arguments_end="}",
    ),
)

COMMAND_R = Format(
    name="command_r",
    shape=JsonCalls(
        name_keys=("tool_name", "name"), no_call=("directly-answer", "directly_answer")
    ),
    wrappers=(Wrapper(("Action:",)),),
    models="Cohere Command R and R+",
    model_names=("commandr",),
    family="Cohere",
    end_of_turn=(*COMMON_ENDS, "<|END_OF_TURN_TOKEN|>"),
    year=2024,
    layout=Layout(
        section_begin="Action:\n```json\n[\n    ",
        section_end="\n]```",
        separator=",\n    ",
        call_begin="{\n        ",
        name_begin='"tool_name": "',
        name_end='"',
        arguments_begin=',\n        "parameters": ',
        call_end="\n    }",
    ),
)

SARASHINA = Format(
    name="sarashina",
    shape=JsonCalls(python=True),
    wrappers=(Wrapper(("<|tool_calls|>",)),),
    bare=True,
    models="Sarashina",
    model_names=("sarashina",),
    family="Sarashina",
    end_of_turn=(*COMMON_ENDS, "</s>"),
    year=2025,
    layout=Layout(
        section_begin="<|tool_calls|>[",
        section_end="]",
        separator=", ",
        name_begin="{'name': '",
        name_end="'",
        arguments_begin=", 'arguments': ",
        arguments_end="}",
    ),
)

APERTUS = Format(
    name="apertus",
    shape=JsonCalls(name_is_key=True),
    wrappers=(Wrapper(("<|tools_prefix|>",), ("<|tools_suffix|>",)),),
    models="Apertus",
    model_names=("apertus",),
    family="Apertus",
    end_of_turn=(*COMMON_ENDS, "<|assistant_end|>"),
    year=2025,
    reasoning=ReasoningStyle("apertus"),
    layout=Layout(
        section_begin="<|tools_prefix|>[",
        section_end="]<|tools_suffix|>",
        separator=", ",
        name_begin='{"',
        name_end='": ',
        arguments_end="}",
    ),
)

FORMATS = (
    HERMES,
    TRINITY,
    ERNIE45,
    JSON,
    LLAMA3_JSON,
    XLAM,
    LONGCAT,
    GRANITE4,
    GRANITE_20B_FC,
    INTERNLM,
    GIGACHAT3,
    GRANITE,
    JAMBA,
    HUNYUAN,
    APRIEL,
    NEMOTRON,
    PHI4,
    COHERE,
    COMMAND_R,
    SARASHINA,
    APERTUS,
)
