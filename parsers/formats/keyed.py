"""Formats with a tag for each key and one for each value: `<key>K</key><value>V</value>`."""

from __future__ import annotations

from dataclasses import replace

from ..core.format import COMMON_ENDS, Format, Wrapper
from ..core.layout import Layout
from ..core.reasoning import ReasoningStyle
from ..shapes import Tag, Tags

_KEY_VALUE = Tags(
    call=None,
    parameter=Tag(("<arg_key>",), end="<arg_value>", key_close="</arg_key>"),
    parameter_close=("</arg_value>",),
)

GLM45 = Format(
    name="glm45",
    shape=_KEY_VALUE,
    wrappers=(Wrapper(("<tool_call>",), ("</tool_call>",)),),
    models="GLM 4.5 and 4.6",
    model_names=("glm4.5", "glm4.6"),
    family="GLM",
    end_of_turn=(*COMMON_ENDS, "<|user|>", "<|observation|>", "<|role_end|>", "</assistant>"),
    year=2025,
    layout=Layout(
        call_begin="<tool_call>",
        name_end="\n",
        key_begin="<arg_key>",
        key_end="</arg_key>\n",
        value_begin="<arg_value>",
        value_end="</arg_value>\n",
        call_end="</tool_call>",
        separator="\n",
    ),
)

SPARK25 = replace(
    GLM45,
    name="spark25",
    models="Spark 2.5",
    model_names=("spark2.5",),
    family="Spark",
    year=2026,
    layout=replace(GLM45.written, key_end="</arg_key>"),
)

GLM47 = replace(
    GLM45,
    name="glm47",
    aliases=("ling3", "poolside"),
    models="GLM 4.7, Ling 3, Poolside",
    model_names=("glm4.7", "glm5", "ling3", "poolside"),
    family="GLM",
    year=2025,
    layout=replace(
        GLM45.written,
        name_end="",
        key_end="</arg_key>",
        value_end="</arg_value>",
        separator="",
    ),
)

IQUEST_Q1 = replace(
    GLM47,
    name="iquest_q1",
    wrappers=(Wrapper(("<iquest_tool_call>",), ("</iquest_tool_call>",)),),
    aliases=(),
    models="iQuest Q1",
    model_names=("iquestq1",),
    family="iQuest",
    year=2026,
    layout=replace(GLM47.written, call_begin="<iquest_tool_call>", call_end="</iquest_tool_call>"),
)

IQUEST_CODER = replace(
    IQUEST_Q1,
    name="iquest_coder",
    wrappers=(Wrapper(("<iquestcoder_tool_call>",), ("</iquestcoder_tool_call>",)),),
    models="iQuest Coder v2",
    model_names=("iquestcoder",),
    family="iQuest",
    year=2026,
    layout=replace(
        GLM47.written,
        call_begin="<iquestcoder_tool_call>",
        call_end="</iquestcoder_tool_call>",
    ),
)

SOLAR_OPEN2 = Format(
    name="solar_open2",
    shape=Tags(
        call=None,
        parameter=Tag(("<|tool_arg:start|>",), end="<|tool_arg:value|>"),
        parameter_close=("<|tool_arg:end|>",),
    ),
    wrappers=(Wrapper(("<|tool_call:start|>",), ("<|tool_call:end|>",)),),
    models="Solar Open 2",
    model_names=("solaropen2",),
    family="Solar",
    year=2026,
    layout=Layout(
        call_begin="<|tool_call:start|>",
        name_end="\n",
        key_begin="<|tool_arg:start|>",
        key_end="<|tool_arg:value|>",
        value_end="<|tool_arg:end|>\n",
        call_end="<|tool_call:end|>",
        separator="\n",
    ),
)

HY4 = Format(
    name="hy4",
    shape=Tags(
        call=None,
        separator=("<tool_sep{:…}>",),
        parameter=Tag(
            ("<arg_key{:…}>",),
            end="<arg_value{:…}>",
            key_close="</arg_key{:…}>",
        ),
        parameter_close=("</arg_value{:…}>",),
    ),
    wrappers=(
        Wrapper(("<tool_calls{:…}>",), ("</tool_calls{:…}>",)),
        Wrapper(("<tool_call{:…}>",), ("</tool_call{:…}>",)),
    ),
    models="Hunyuan 4, with any suffix in its tags",
    model_names=("hunyuan4", "hy4"),
    family="Hunyuan",
    year=2026,
    reasoning=ReasoningStyle("hy"),
    layout=replace(GLM47.written, section_begin="<tool_calls>", section_end="</tool_calls>"),
)

HY3 = replace(
    HY4,
    name="hy3",
    models="Hunyuan 3, with any suffix in its tags",
    model_names=("hunyuan3", "hy3"),
    family="Hunyuan",
    end_of_turn=(*COMMON_ENDS, "<｜hy_eos｜>", "<｜hy_eos:opensource｜>"),
    year=2026,
    layout=Layout(
        section_begin="<tool_calls:opensource>\n",
        section_end="\n</tool_calls:opensource>",
        separator="\n",
        call_begin="<tool_call:opensource>",
        name_end="<tool_sep:opensource>\n",
        key_begin="<arg_key:opensource>",
        key_end="</arg_key:opensource>\n",
        value_begin="<arg_value:opensource>",
        value_end="</arg_value:opensource>\n",
        call_end="</tool_call:opensource>",
    ),
)

K2_HORIZON = Format(
    name="k2_horizon",
    shape=Tags(
        call=None,
        parameter=Tag(
            ("<ifm|arg_key>",),
            end="<ifm|arg_value>",
            key_close="</ifm|arg_key>",
            type_begin="<ifm|arg_type>",
            type_end="</ifm|arg_type>",
        ),
        parameter_close=("</ifm|arg_value>",),
    ),
    wrappers=(
        Wrapper(("<ifm|tool_calls>",), ("</ifm|tool_calls>",)),
        Wrapper(("<ifm|tool_call>",), ("</ifm|tool_call>",)),
    ),
    models="K2 Horizon, whichever of its three forms is asked for",
    model_names=("k2horizon",),
    family="K2",
    year=2026,
    reasoning=ReasoningStyle("k2_horizon"),
    layout=Layout(
        section_begin="<ifm|tool_calls>\n",
        section_end="\n</ifm|tool_calls>",
        separator="\n",
        call_begin="<ifm|tool_call>",
        name_end="\n",
        key_begin="<ifm|arg_key>",
        key_end="</ifm|arg_key>\n",
        value_begin="<ifm|arg_value>",
        value_end="</ifm|arg_value>\n",
        call_end="</ifm|tool_call>",
    ),
)

FORMATS = (
    GLM45,
    SPARK25,
    GLM47,
    IQUEST_Q1,
    IQUEST_CODER,
    SOLAR_OPEN2,
    HY3,
    HY4,
    K2_HORIZON,
)
