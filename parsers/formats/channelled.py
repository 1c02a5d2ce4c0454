"""Formats in which a message is a row of parts: each has a header that says who it is for."""

from __future__ import annotations

from dataclasses import replace

from ..core.channels import Channels
from ..core.format import Format, Wrapper
from ..core.layout import Layout
from ..shapes import JsonCalls, NamedJson, Tag, Tags

_HARMONY = Channels(
    tokens=("<|start|>", "<|channel|>", "<|constrain|>"),
    body=("<|message|>",),
    end=("<|end|>", "<|call|>", "<|return|>"),
    thought=("<|channel|>analysis", "<|channel|> analysis"),
    recipient="to=",
    readers=("user", "assistant", "all"),
    prefix="functions.",
    name_in_header=True,
    thought_begin="<|channel|>analysis<|message|>",
    thought_end="<|end|><|start|>assistant",
    built_in=("python", "browser", "container"),
)

HARMONY = Format(
    name="harmony",
    shape=NamedJson(),
    channels=_HARMONY,
    aliases=("openai", "gpt_oss"),
    models="gpt-oss",
    model_names=("gptoss",),
    family="gpt-oss",
    year=2025,
    layout=Layout(
        call_begin="<|channel|>commentary",
        name_begin=" to=functions.",
        name_end=" ",
        arguments_begin="<|constrain|>json<|message|>",
        call_end="<|call|>",
        separator="<|start|>assistant",
    ),
)

BEAM = Format(
    name="beam",
    shape=Tags(
        call=None,
        parameter=Tag(("<rfl:parameter name=",)),
        parameter_close=("</rfl:parameter>",),
        value_on_own_lines=True,
    ),
    channels=replace(_HARMONY, prefix="", built_in=()),
    models="Beam",
    model_names=("beam",),
    family="Beam",
    year=2026,
    layout=Layout(
        name_begin=" to=",
        name_end="<|channel|>analysis <|constrain|>xml<|message|>",
        key_begin='<rfl:parameter name="',
        key_end='">',
        value_begin="\n",
        value_end="\n</rfl:parameter>",
        separator="<|end|><|start|>assistant",
        section_end="<|call|>",
        sorted_keys=True,
    ),
)

INKLING = Format(
    name="inkling",
    shape=JsonCalls(argument_keys=("args", "arguments")),
    channels=Channels(
        tokens=("<|message_model|>",),
        body=(
            "<|content_thinking|>",
            "<|content_text|>",
            "<|content_invoke_tool_json|>",
            "<|content_invoke_tool_text|>",
            "<|content_tool_error|>",
            "<|content_xml|>",
            "<|unused_200024|>",
        ),
        end=("<|end_message|>", "<|content_model_end_sampling|>"),
        thought=("<|content_thinking|>",),
        call=("<|content_invoke_tool_json|>",),
        thought_begin="<|content_thinking|>",
        thought_end="<|end_message|><|message_model|>",
    ),
    models="Inkling",
    model_names=("inkling",),
    family="Inkling",
    year=2026,
    layout=Layout(
        call_begin="<|content_invoke_tool_json|>{",
        name_begin='"name":"',
        name_end='",',
        arguments_begin='"args":',
        arguments_end="}",
        call_end="<|end_message|>",
        separator="<|message_model|>",
        compact=True,
        sorted_keys=True,
    ),
)

MUSE_GLIMMER = Format(
    name="muse_glimmer",
    shape=Tags(
        call=Tag(("<atem:invoke name=",)),
        parameter=Tag(("<atem:parameter name=",)),
        parameter_close=("</atem:parameter>",),
        close=("</atem:invoke>",),
    ),
    wrappers=(Wrapper(("<atem:function_calls>",), ("</atem:function_calls>",)),),
    bare=True,
    channels=Channels(
        tokens=("<|start|>",),
        body=("<|message|>",),
        end=("<|eom|>", "<|eot|>"),
        thought=("to=self<", "to=self <"),
        recipient="to=",
        readers=("self", "user", "commentary", "assistant"),
        thought_begin=" to=self<|message|>",
        thought_end="<|eom|><|start|>assistant",
    ),
    aliases=("muse", "glimmer"),
    models="Muse Glimmer",
    model_names=("museglimmer",),
    family="Muse",
    year=2026,
    layout=Layout(
        recipient_begin=" to=",
        recipient_end="<|message|><atem:function_calls>\n",
        name_begin='<atem:invoke name="',
        name_end='">\n',
        key_begin='<atem:parameter name="',
        key_end='">',
        value_end="</atem:parameter>\n",
        arguments_end="</atem:invoke>\n</atem:function_calls>",
        separator="<|eom|><|start|>assistant",
        section_end="<|eot|>",
    ),
)

FORMATS = (HARMONY, BEAM, INKLING, MUSE_GLIMMER)
