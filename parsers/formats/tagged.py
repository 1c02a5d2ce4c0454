"""Formats with a tag for each parameter, or for each key and each value."""

from __future__ import annotations

from dataclasses import replace

from ..core.shapes import Tag, Tags
from ..core.spec import Format, Wrapper

_FUNCTION = Tags(
    call=Tag(("<function=", "<function name=")),
    parameter=Tag(("<parameter=", "<parameter name=")),
    parameter_close=("</parameter>",),
    close=("</function>",),
)

QWEN3_CODER = Format(
    name="qwen3_coder",
    shape=replace(_FUNCTION, value_on_own_lines=True),
    wrappers=(Wrapper(("<tool_call>",), ("</tool_call>",)),),
    bare=True,
    aliases=("qwen3_xml", "qwen35", "nemotron3", "step3p5", "granite42", "mimo"),
    models="Qwen3-Coder, Qwen 3.5, Nemotron 3, Step 3.5, Granite 4.2, MiMo",
    example=(
        "<tool_call>\n<function=NAME>\n<parameter=K>\nV\n</parameter>\n</function>\n</tool_call>"
    ),
)

SEED_OSS = replace(
    QWEN3_CODER,
    name="seed_oss",
    shape=_FUNCTION,
    wrappers=(Wrapper(("<seed:tool_call>",), ("</seed:tool_call>",)),),
    aliases=(),
    models="Seed-OSS",
    example=(
        "<seed:tool_call>\n<function=NAME>\n<parameter=K>V</parameter>\n</function>\n"
        "</seed:tool_call>"
    ),
)

MINIMAX_M2 = Format(
    name="minimax_m2",
    shape=Tags(
        call=Tag(("<invoke name=",)),
        parameter=Tag(("<parameter name=",)),
        parameter_close=("</parameter>",),
        close=("</invoke>",),
    ),
    wrappers=(Wrapper(("<minimax:tool_call>",), ("</minimax:tool_call>",)),),
    bare=True,
    models="MiniMax M2",
    example=(
        '<minimax:tool_call>\n<invoke name="NAME">\n<parameter name="K">V</parameter>\n'
        "</invoke>\n</minimax:tool_call>"
    ),
)

DOTS = replace(
    MINIMAX_M2,
    name="dots",
    wrappers=(Wrapper(("<dots_function_call>",), ("</dots_function_call>",)),),
    models="Dots",
    example=(
        '<dots_function_call>\n<invoke name="NAME">\n<parameter name="K">V</parameter>\n'
        "</invoke>\n</dots_function_call>"
    ),
)

DEEPSEEK_V3_2 = Format(
    name="deepseek_v3_2",
    shape=Tags(
        call=Tag(("<｜DSML｜invoke name=",)),
        parameter=Tag(("<｜DSML｜parameter name=",)),
        parameter_close=("</｜DSML｜parameter>",),
        close=("</｜DSML｜invoke>",),
    ),
    wrappers=(Wrapper(("<｜DSML｜function_calls>",), ("</｜DSML｜function_calls>",)),),
    bare=True,
    aliases=("deepseek_v32",),
    models="DeepSeek V3.2",
    example=(
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="NAME">\n'
        '<｜DSML｜parameter name="K" string="true">V</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>"
    ),
)

DEEPSEEK_V4 = replace(
    DEEPSEEK_V3_2,
    name="deepseek_v4",
    wrappers=(Wrapper(("<｜DSML｜tool_calls>",), ("</｜DSML｜tool_calls>",)),),
    aliases=(),
    models="DeepSeek V4",
    example=DEEPSEEK_V3_2.example.replace("function_calls", "tool_calls"),
)

MINICPM5 = Format(
    name="minicpm5",
    shape=Tags(
        call=None,
        separator=('">', "'>", ">"),
        parameter=Tag(("<param name=",)),
        parameter_close=("</param>",),
    ),
    wrappers=(Wrapper(('<function name="', "<function name='"), ("</function>",)),),
    models="MiniCPM 5",
    example='<function name="NAME"><param name="K">V</param></function>',
)

STEP3 = Format(
    name="step3",
    shape=Tags(
        call=Tag(("<steptml:invoke name=",)),
        parameter=Tag(("<steptml:parameter name=",)),
        parameter_close=("</steptml:parameter>",),
        close=("</steptml:invoke>",),
    ),
    wrappers=(
        Wrapper(("<｜tool_calls_begin｜>",), ("<｜tool_calls_end｜>",)),
        Wrapper(
            ("<｜tool_call_begin｜>function<｜tool_sep｜>", "<｜tool_call_begin｜>"),
            ("<｜tool_call_end｜>",),
        ),
    ),
    bare=True,
    models="Step 3",
    example=(
        '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="NAME">'
        '<steptml:parameter name="K">V</steptml:parameter></steptml:invoke>'
        "<｜tool_call_end｜><｜tool_calls_end｜>"
    ),
)

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
    example=("<tool_call>NAME\n<arg_key>K</arg_key>\n<arg_value>V</arg_value>\n</tool_call>"),
)

GLM47 = replace(
    GLM45,
    name="glm47",
    aliases=("ling3", "poolside"),
    models="GLM 4.7, Ling 3, Poolside",
    example="<tool_call>NAME<arg_key>K</arg_key><arg_value>V</arg_value></tool_call>",
)

HY3 = Format(
    name="hy3",
    shape=replace(_KEY_VALUE, separator=("<tool_sep>",)),
    wrappers=(
        Wrapper(("<tool_calls>",), ("</tool_calls>",)),
        Wrapper(("<tool_call>",), ("</tool_call>",)),
    ),
    models="Hunyuan 3",
    example=(
        "<tool_calls><tool_call>NAME<tool_sep><arg_key>K</arg_key><arg_value>V</arg_value>"
        "</tool_call></tool_calls>"
    ),
)

FORMATS = (
    QWEN3_CODER,
    SEED_OSS,
    MINIMAX_M2,
    DOTS,
    DEEPSEEK_V3_2,
    DEEPSEEK_V4,
    MINICPM5,
    STEP3,
    GLM45,
    GLM47,
    HY3,
)
