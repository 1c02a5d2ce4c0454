"""Formats that write calls as code: Python's, an object with bare keys, or text."""

from __future__ import annotations

from dataclasses import replace

from ..core.shapes import BareKeys, CallText, Pythonic
from ..core.spec import Format, Wrapper

PYTHONIC = Format(
    name="pythonic",
    shape=Pythonic(),
    bare=True,
    aliases=("llama3_pythonic", "toolace"),
    models="Llama 3.2, ToolACE",
    example='[NAME(k="v"), NAME2(n=1)]',
)

LLAMA4_PYTHONIC = replace(
    PYTHONIC,
    name="llama4_pythonic",
    aliases=(),
    wrappers=(Wrapper(("<|python_start|>",), ("<|python_end|>",)),),
    models="Llama 4",
    example='<|python_start|>[NAME(k="v")]<|python_end|>',
)

LFM2 = replace(
    PYTHONIC,
    name="lfm2",
    aliases=(),
    wrappers=(Wrapper(("<|tool_call_start|>",), ("<|tool_call_end|>",)),),
    bare=False,
    models="LFM 2",
    example='<|tool_call_start|>[NAME(k="v")]<|tool_call_end|>',
)

OLMO3 = replace(
    LFM2,
    name="olmo3",
    wrappers=(Wrapper(("<function_calls>",), ("</function_calls>",)),),
    models="OLMo 3",
    example='<function_calls>\nNAME(k="v")\nNAME2(n=1)\n</function_calls>',
)

GEMMA4 = Format(
    name="gemma4",
    shape=BareKeys(quote='<|"|>'),
    wrappers=(Wrapper(("<|tool_call>",), ("<tool_call|>",)),),
    models="Gemma 4",
    example='<|tool_call>call:NAME{k:<|"|>v<|"|>,n:42}<tool_call|>',
)

FUNCTIONGEMMA = Format(
    name="functiongemma",
    shape=BareKeys(quote="<escape>"),
    wrappers=(Wrapper(("<start_function_call>",), ("<end_function_call>",)),),
    models="FunctionGemma",
    example="<start_function_call>call:NAME{k:<escape>v<escape>}<end_function_call>",
)

CALL_TEXT = Format(
    name="call_text",
    shape=CallText(),
    aliases=("ollama",),
    models="any model, also those never trained on tools",
    example='NAME(k="v", n=10)',
)

FORMATS = (
    PYTHONIC,
    LLAMA4_PYTHONIC,
    LFM2,
    OLMO3,
    GEMMA4,
    FUNCTIONGEMMA,
    CALL_TEXT,
)
