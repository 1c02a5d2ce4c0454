"""Formats with a tag for each parameter, which says its name: `<parameter=K>V</parameter>`."""

from __future__ import annotations

from dataclasses import replace

from ..core.format import COMMON_ENDS, Format, Wrapper
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
    model_names=(
        "qwen3coder",
        "qwen3.5",
        "nemotron3",
        "step3.5",
        "granite4.2",
        "mimo",
        "berrylm",
        "qwen3.6",
    ),
    family="Qwen",
    year=2025,
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
    model_names=("seedoss",),
    family="Seed",
    end_of_turn=(*COMMON_ENDS, "<seed:eos>"),
    year=2025,
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
    model_names=("minimaxm2",),
    family="MiniMax",
    end_of_turn=("[e~[",),
    year=2025,
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
    model_names=("dots.llm", "dots1"),
    family="Dots",
    end_of_turn=(*COMMON_ENDS, "<|endofresponse|>"),
    year=2025,
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
    model_names=("deepseekv3.2",),
    family="DeepSeek",
    year=2025,
)

DEEPSEEK_V4 = replace(
    _invokes("DSML", "tool_calls", "toolcalls", "tool"),
    name="deepseek_v4",
    models="DeepSeek V4",
    model_names=("deepseekv4",),
    family="DeepSeek",
    year=2026,
)

DEEPSEEK_V41 = replace(
    _invokes("DSML", "calls", "tool_calls", "toolcalls", "tool", space=" "),
    name="deepseek_v41",
    models="DeepSeek V4.1",
    model_names=("deepseekv4.1",),
    family="DeepSeek",
    year=2026,
)

GIGACHAT35 = replace(
    _invokes("GCML", "tool_calls", "toolcalls", "tool"),
    name="gigachat35",
    models="GigaChat 3.5",
    model_names=("gigachat3.5",),
    family="GigaChat",
    end_of_turn=(*COMMON_ENDS, "<|message_sep|>", "</s>"),
    year=2026,
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
    model_names=("minicpm5",),
    family="MiniCPM",
    end_of_turn=(*COMMON_ENDS, "</s>"),
    year=2026,
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
    model_names=("step3",),
    family="Step",
    end_of_turn=(*COMMON_ENDS, "<|EOT|>"),
    year=2025,
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
    model_names=("kimik3",),
    family="Kimi",
    year=2026,
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
    KIMI_K3,
)
