"""Formats that write a call's arguments as a tree of elements."""

from __future__ import annotations

from ..core.format import Format, Wrapper
from ..core.layout import CallId, Layout
from ..core.reasoning import ReasoningStyle
from ..shapes import Elements, ElementTypes
from .json_bodies import COHERE

#: MiniMax M3 has one token for this, and writes it before every tag.
_M3 = "]<]minimax[>["

MINIMAX_M3 = Format(
    name="minimax_m3",
    shape=Elements(call="invoke", marker=_M3),
    wrappers=(
        Wrapper((f"{_M3}<tool_call>", "<tool_call>"), (f"{_M3}</tool_call>", "</tool_call>")),
    ),
    bare=True,
    models="MiniMax M3",
    model_names=("minimaxm3",),
    family="MiniMax",
    end_of_turn=("[e~[",),
    year=2026,
    reasoning=ReasoningStyle("minimax_m3"),
    layout=Layout(
        section_begin=f"{_M3}<tool_call>\n",
        section_end=f"\n{_M3}</tool_call>",
        separator="\n",
        name_begin=f'{_M3}<invoke name="',
        name_end='">',
        arguments_end=f"{_M3}</invoke>",
    ),
)

COHERE_COMMAND5 = Format(
    name="cohere_command5",
    shape=Elements(call="cofl:tool_call", element="cofl:value", types=ElementTypes("type")),
    wrappers=(Wrapper(("<cofl:tool_calls>",), ("</cofl:tool_calls>",)),),
    bare=True,
    models="Command 5",
    model_names=("command5",),
    family="Cohere",
    year=2026,
    reasoning=ReasoningStyle("cohere"),
    special=("<cofl:tool_calls>",),
    text_wrapper=COHERE.text_wrapper,
    annotations=COHERE.annotations,
    end_of_turn=COHERE.end_of_turn,
    layout=Layout(
        section_begin="<cofl:tool_calls>",
        section_end="</cofl:tool_calls>",
        call_begin="<cofl:tool_call",
        id=CallId(' id="', '"', "before_name", first=0),
        name_begin=' name="',
        name_end='">',
        arguments_end="</cofl:tool_call>",
    ),
)

FORMATS = (MINIMAX_M3, COHERE_COMMAND5)
