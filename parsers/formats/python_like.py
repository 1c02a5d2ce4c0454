"""Formats that write calls as code: Python's, an object with bare keys, or text."""

from __future__ import annotations

from dataclasses import replace

from ..core.format import COMMON_ENDS, Format, Wrapper
from ..core.layout import Layout
from ..core.reasoning import ReasoningStyle
from ..shapes import BareKeys, CallText, Pythonic
from .json_bodies import PANGU_V2

PYTHONIC = Format(
    name="pythonic",
    shape=Pythonic(),
    wrappers=(Wrapper(("<|python_start|>",), ("<|python_end|>",)),),
    bare=True,
    aliases=("llama3_pythonic", "toolace"),
    models="Llama 3.2, ToolACE",
    model_names=("toolace",),
    family="Llama",
    year=2024,
    layout=Layout(
        section_begin="[",
        section_end="]",
        separator=", ",
        arguments_begin="(",
        arguments_end=")",
        python_words=True,
    ),
)

LLAMA4_PYTHONIC = replace(
    PYTHONIC,
    name="llama4_pythonic",
    aliases=(),
    models="Llama 4",
    model_names=("llama4",),
    family="Llama",
    year=2025,
    layout=replace(
        PYTHONIC.written, section_begin="<|python_start|>[", section_end="]<|python_end|>"
    ),
    end_of_turn=(*COMMON_ENDS, "<|eom|>"),
)

LFM2 = replace(
    PYTHONIC,
    name="lfm2",
    aliases=(),
    wrappers=(Wrapper(("<|tool_call_start|>",), ("<|tool_call_end|>",)),),
    models="LFM 2 and 2.5",
    model_names=("lfm2",),
    family="LFM",
    year=2025,
    layout=replace(
        PYTHONIC.written, section_begin="<|tool_call_start|>[", section_end="]<|tool_call_end|>"
    ),
)

OLMO3 = replace(
    LFM2,
    name="olmo3",
    bare=False,
    wrappers=(Wrapper(("<function_calls>",), ("</function_calls>",)),),
    models="OLMo 3",
    model_names=("olmo3",),
    family="OLMo",
    year=2025,
    layout=replace(
        PYTHONIC.written,
        section_begin="<function_calls>\n",
        section_end="\n</function_calls>",
        separator="\n",
    ),
)

GEMMA4 = Format(
    name="gemma4",
    shape=BareKeys(quote='<|"|>'),
    wrappers=(Wrapper(("<|tool_call>",), ("<tool_call|>", "</tool_call>")),),
    models="Gemma 4",
    model_names=("gemma4",),
    family="Gemma",
    end_of_turn=(*COMMON_ENDS, "<turn|>", "<|tool_response>", "<eos>"),
    year=2026,
    reasoning=ReasoningStyle("gemma4"),
    special=("<|tool_call>",),
    layout=Layout(
        call_begin="<|tool_call>", name_begin="call:", call_end="<tool_call|>", sorted_keys=True
    ),
)

FUNCTIONGEMMA = Format(
    name="functiongemma",
    shape=BareKeys(quote="<escape>"),
    wrappers=(Wrapper(("<start_function_call>",), ("<end_function_call>",)),),
    models="FunctionGemma",
    model_names=("functiongemma",),
    family="Gemma",
    end_of_turn=(*COMMON_ENDS, "<start_function_response>", "<eos>"),
    year=2025,
    layout=Layout(
        call_begin="<start_function_call>", name_begin="call:", call_end="<end_function_call>"
    ),
)

CALL_TEXT = Format(
    name="call_text",
    shape=CallText(),
    aliases=("ollama",),
    models="any model, also those never trained on tools",
    layout=Layout(arguments_begin="(", arguments_end=")", separator="\n"),
)

FORMATS = (
    PYTHONIC,
    LLAMA4_PYTHONIC,
    LFM2,
    PANGU_V2,  # it has the tokens of LFM 2: where nothing else tells, that is the more likely one
    OLMO3,
    GEMMA4,
    FUNCTIONGEMMA,
    CALL_TEXT,
)
