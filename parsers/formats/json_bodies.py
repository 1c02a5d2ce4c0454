"""Formats whose calls are JSON objects, alone or in an array, with or without tags around them."""

from __future__ import annotations

from dataclasses import replace

from ..core.shapes import JsonCalls
from ..core.spec import Format, Wrapper

HERMES = Format(
    name="hermes",
    shape=JsonCalls(),
    wrappers=(Wrapper(("<tool_call>",), ("</tool_call>",)),),
    aliases=("qwen25", "qwen3", "ernie45", "reka"),
    models="Hermes 2 and 3, Qwen 2.5, Qwen 3, Ernie 4.5, Reka",
    example='<tool_call>\n{"name": "NAME", "arguments": {…}}\n</tool_call>',
)

JSON = Format(
    name="json",
    shape=JsonCalls(),
    bare=True,
    aliases=("json_mode",),
    models="any model in JSON mode",
    example='{"tool_calls": [{"name": "NAME", "arguments": {…}}]}',
)

LLAMA3_JSON = Format(
    name="llama3_json",
    shape=JsonCalls(),
    wrappers=(Wrapper(("<|python_tag|>",)),),
    bare=True,
    aliases=("llama3", "llama4_json"),
    models="Llama 3.1, 3.2 and 3.3",
    example='<|python_tag|>{"name": "NAME", "parameters": {…}}',
)

XLAM = Format(
    name="xlam",
    shape=JsonCalls(),
    wrappers=(Wrapper(("[TOOL_CALLS]", "<tool_call>"), ("</tool_call>", "[/TOOL_CALLS]")),),
    bare=True,
    models="xLAM",
    example='[{"name": "NAME", "arguments": {…}}]',
)

LONGCAT = replace(
    HERMES,
    name="longcat",
    wrappers=(Wrapper(("<longcat_tool_call>",), ("</longcat_tool_call>",)),),
    aliases=(),
    models="LongCat Flash",
    example='<longcat_tool_call>{"name": "NAME", "arguments": {…}}</longcat_tool_call>',
)

GRANITE4 = replace(
    HERMES,
    name="granite4",
    aliases=(),
    models="Granite 4",
)

GRANITE_20B_FC = Format(
    name="granite_20b_fc",
    shape=JsonCalls(),
    wrappers=(Wrapper(("<function_call>",)),),
    models="Granite 20B function calling",
    example='<function_call> {"name": "NAME", "arguments": {…}}',
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
    example='<|action_start|><|plugin|>{"name": "NAME", "parameters": {…}}<|action_end|>',
)

GIGACHAT3 = Format(
    name="gigachat3",
    shape=JsonCalls(),
    wrappers=(Wrapper(("function call<|role_sep|>", "<|function_call|>")),),
    models="GigaChat 3 and 3.1",
    example='function call<|role_sep|>\n{"name": "NAME", "arguments": {…}}',
)

GRANITE = Format(
    name="granite",
    shape=JsonCalls(),
    wrappers=(Wrapper(("<|tool_call|>", "<tool_call>")),),
    models="Granite 3.0 and 3.1",
    example='<|tool_call|> [{"name": "NAME", "arguments": {…}}]',
)

JAMBA = Format(
    name="jamba",
    shape=JsonCalls(),
    wrappers=(Wrapper(("<tool_calls>",), ("</tool_calls>",)),),
    models="Jamba 1.5 and 1.6",
    example='<tool_calls>[{"name": "NAME", "arguments": {…}}]</tool_calls>',
)

HUNYUAN = replace(JAMBA, name="hunyuan", aliases=("hunyuan_a13b",), models="Hunyuan A13B")
APRIEL = replace(JAMBA, name="apriel", models="Apriel")

NEMOTRON = Format(
    name="nemotron",
    shape=JsonCalls(),
    wrappers=(Wrapper(("<TOOLCALL>",), ("</TOOLCALL>",)),),
    models="Nemotron Nano v2, Llama Nemotron",
    example='<TOOLCALL>[{"name": "NAME", "arguments": {…}}]</TOOLCALL>',
)

PHI4 = Format(
    name="phi4",
    shape=JsonCalls(),
    wrappers=(Wrapper(("functools[",)),),
    aliases=("phi4_mini_json", "firefunction"),
    models="Phi 4 mini, Firefunction",
    example='functools[{"name": "NAME", "arguments": {…}}]',
)

COHERE = Format(
    name="cohere",
    shape=JsonCalls(name_keys=("tool_name", "name")),
    wrappers=(Wrapper(("<|START_ACTION|>",), ("<|END_ACTION|>",)),),
    aliases=("command",),
    models="Cohere Command",
    example=(
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "NAME", "parameters": {…}}]'
        "<|END_ACTION|>"
    ),
)

APERTUS = Format(
    name="apertus",
    shape=JsonCalls(name_is_key=True),
    wrappers=(Wrapper(("<|tools_prefix|>",), ("<|tools_suffix|>",)),),
    models="Apertus",
    example='<|tools_prefix|>[{"NAME": {…}}]<|tools_suffix|>',
)

FORMATS = (
    HERMES,
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
    APERTUS,
)
