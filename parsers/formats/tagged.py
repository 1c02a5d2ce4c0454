"""Formats with a tag for each parameter, or for each key and each value."""

from __future__ import annotations

from dataclasses import replace

from ..core.format import Format, Wrapper
from ..core.layout import CallId, Layout, TypeMark
from ..core.reasoning import ReasoningStyle
from ..shapes import Tag, Tags

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
    aliases=("qwen3_xml", "qwen35", "nemotron3", "step3p5", "granite42", "mimo", "berrylm"),
    models="Qwen3-Coder, Qwen 3.5, Nemotron 3, Step 3.5, Granite 4.2, MiMo, BerryLM",
    layout=Layout(
        call_begin="<tool_call>\n",
        name_begin="<function=",
        name_end=">\n",
        key_begin="<parameter=",
        key_end=">",
        value_begin="\n",
        value_end="\n</parameter>\n",
        arguments_end="</function>\n",
        call_end="</tool_call>",
        separator="\n",
        python_words=True,
    ),
)

SEED_OSS = replace(
    QWEN3_CODER,
    name="seed_oss",
    shape=_FUNCTION,
    wrappers=(Wrapper(("<seed:tool_call>",), ("</seed:tool_call>",)),),
    aliases=(),
    models="Seed-OSS",
    reasoning=ReasoningStyle("seed_oss"),
    layout=replace(
        QWEN3_CODER.written,
        call_begin="<seed:tool_call>\n",
        call_end="</seed:tool_call>",
        value_begin="",
        value_end="</parameter>\n",
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
    layout=Layout(
        section_begin="<minimax:tool_call>\n",
        section_end="\n</minimax:tool_call>",
        separator="\n",
        name_begin='<invoke name="',
        name_end='">\n',
        key_begin='<parameter name="',
        key_end='">',
        value_end="</parameter>\n",
        arguments_end="</invoke>",
    ),
)

DOTS = replace(
    MINIMAX_M2,
    name="dots",
    wrappers=(Wrapper(("<dots_function_call>",), ("</dots_function_call>",)),),
    models="Dots",
    layout=replace(
        MINIMAX_M2.written,
        section_begin="<dots_function_call>\n",
        section_end="\n</dots_function_call>",
    ),
)

#: What stands around the word in DeepSeek's tags, and what models write there now and then.
_BARS = ("｜", "|", "｜｜", "||")


def _marked_tags(word: str, before: str, *names: str, space: str = "") -> tuple[str, ...]:
    """Tags like `<｜DSML｜invoke`, in every spelling; the right one is the first."""
    return tuple(
        f"{before}{bars}{word}{bars}{blank}{name}"
        for name in names
        for bars in _BARS
        for blank in dict.fromkeys((space, ""))
    )


def _invokes(word: str, *sections: str, space: str = "") -> Format:
    """DeepSeek's tags, with a word of their own in each, and perhaps a blank behind it. `sections`
    are the names of the tag around all calls, the right one first."""

    def tags(before: str, *names: str) -> tuple[str, ...]:
        return _marked_tags(word, before, *names, space=space)

    section = tuple(f"{name}>" for name in sections)
    mark = f"｜{word}｜{space}"
    return Format(
        name="",
        shape=Tags(
            call=Tag(tags("<", "invoke name=")),
            parameter=Tag(tags("<", "parameter name=")),
            parameter_close=tags("</", "parameter>"),
            close=tags("</", "invoke>"),
            wrapped_in=("arguments", "input"),
        ),
        wrappers=(Wrapper(tags("<", *section), tags("</", *section)),),
        bare=True,
        inline=True,
        layout=Layout(
            section_begin=f"<{mark}{sections[0]}>\n",
            section_end=f"\n</{mark}{sections[0]}>",
            separator="\n",
            name_begin=f'<{mark}invoke name="',
            name_end='">\n',
            key_begin=f'<{mark}parameter name="',
            key_end='"',
            type=TypeMark(' string="', '"', string="true", other="false"),
            value_begin=">",
            value_end=f"</{mark}parameter>\n",
            arguments_end=f"</{mark}invoke>",
        ),
    )


DEEPSEEK_V3_2 = replace(
    _invokes("DSML", "function_calls", "functioncalls", "function"),
    name="deepseek_v3_2",
    aliases=("deepseek_v32",),
    models="DeepSeek V3.2",
)

DEEPSEEK_V4 = replace(
    _invokes("DSML", "tool_calls", "toolcalls", "tool"), name="deepseek_v4", models="DeepSeek V4"
)

DEEPSEEK_V41 = replace(
    _invokes("DSML", "calls", "tool_calls", "toolcalls", "tool", space=" "),
    name="deepseek_v41",
    models="DeepSeek V4.1",
)

GIGACHAT35 = replace(
    _invokes("GCML", "tool_calls", "toolcalls", "tool"),
    name="gigachat35",
    models="GigaChat 3.5",
)

MINICPM5 = Format(
    name="minicpm5",
    shape=Tags(
        call=None,
        separator=('">', "'>", ">"),
        parameter=Tag(("<param name=", "<paramname=")),
        parameter_close=("</param>",),
        cdata=True,
    ),
    wrappers=(
        Wrapper(
            ('<function name="', "<function name='", '<functionname="', "<functionname='"),
            ("</function>",),
        ),
    ),
    models="MiniCPM 5",
    layout=Layout(
        call_begin='<function name="',
        name_end='">',
        key_begin='<param name="',
        key_end='">',
        value_end="</param>",
        call_end="</function>",
    ),
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
    layout=Layout(
        section_begin="<｜tool_calls_begin｜>",
        section_end="<｜tool_calls_end｜>",
        call_begin="<｜tool_call_begin｜>function<｜tool_sep｜>",
        name_begin='<steptml:invoke name="',
        name_end='">',
        key_begin='<steptml:parameter name="',
        key_end='">',
        value_end="</steptml:parameter>",
        arguments_end="</steptml:invoke>",
        call_end="<｜tool_call_end｜>",
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
    layout=replace(GLM45.written, key_end="</arg_key>"),
)

GLM47 = replace(
    GLM45,
    name="glm47",
    aliases=("ling3", "poolside"),
    models="GLM 4.7, Ling 3, Poolside",
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
    layout=replace(GLM47.written, call_begin="<iquest_tool_call>", call_end="</iquest_tool_call>"),
)

IQUEST_CODER = replace(
    IQUEST_Q1,
    name="iquest_coder",
    wrappers=(Wrapper(("<iquestcoder_tool_call>",), ("</iquestcoder_tool_call>",)),),
    models="iQuest Coder v2",
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
        separator=("<tool_sep{:SUFFIX}>",),
        parameter=Tag(
            ("<arg_key{:SUFFIX}>",),
            end="<arg_value{:SUFFIX}>",
            key_close="</arg_key{:SUFFIX}>",
        ),
        parameter_close=("</arg_value{:SUFFIX}>",),
    ),
    wrappers=(
        Wrapper(("<tool_calls{:SUFFIX}>",), ("</tool_calls{:SUFFIX}>",)),
        Wrapper(("<tool_call{:SUFFIX}>",), ("</tool_call{:SUFFIX}>",)),
    ),
    models="Hunyuan 4, with any suffix in its tags",
    reasoning=ReasoningStyle("hy"),
    layout=replace(GLM47.written, section_begin="<tool_calls>", section_end="</tool_calls>"),
)

HY3 = replace(
    HY4,
    name="hy3",
    models="Hunyuan 3, with any suffix in its tags",
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


def _xtml(kind: str, name: str, end: str = "<|sep|>") -> tuple[str, ...]:
    """A tag of Kimi K3, `<|open|>tools<|sep|>`; some models put blanks around its name."""
    after = ("", " ") if end == "<|sep|>" else ("",)
    return tuple(
        f"<|{kind}|>{before}{name}{behind}{end}" for before in ("", " ") for behind in after
    )


KIMI_K3 = Format(
    name="kimi_k3",
    shape=Tags(
        call=Tag(_xtml("open", "call", " tool="), end="<|sep|>", escaped=True),
        parameter=Tag(
            _xtml("open", "argument", " key="),
            end="<|sep|>",
            type_attribute="type",
            escaped=True,
        ),
        parameter_close=_xtml("close", "argument"),
        close=(*_xtml("close", "call"), *_xtml("close", "json")),
        json_open=_xtml("open", 'json type="object"'),
    ),
    wrappers=(Wrapper(_xtml("open", "tools"), _xtml("close", "tools")),),
    inline=True,
    models="Kimi K3",
    reasoning=ReasoningStyle("kimi_k3"),
    always_reasons=True,
    text_wrapper=Wrapper(
        _xtml("open", "response"),
        (*_xtml("close", "response"), *_xtml("close", "message"), "<|end_of_msg|>"),
    ),
    layout=Layout(
        section_begin="<|open|>tools<|sep|>",
        section_end="<|close|>tools<|sep|>",
        name_begin='<|open|>call tool="',
        name_end='"',
        id=CallId(' index="', '"<|sep|>', first=1),
        key_begin='<|open|>argument key="',
        key_end='"',
        type=TypeMark(' type="', '"', integer="number"),
        value_begin="<|sep|>",
        value_end="<|close|>argument<|sep|>",
        arguments_end="<|close|>call<|sep|>",
    ),
)

FORMATS = (
    QWEN3_CODER,
    SEED_OSS,
    MINIMAX_M2,
    DOTS,
    DEEPSEEK_V3_2,
    DEEPSEEK_V4,
    DEEPSEEK_V41,
    GIGACHAT35,
    MINICPM5,
    STEP3,
    GLM45,
    SPARK25,
    GLM47,
    IQUEST_Q1,
    IQUEST_CODER,
    SOLAR_OPEN2,
    HY3,
    HY4,
    K2_HORIZON,
    KIMI_K3,
)
