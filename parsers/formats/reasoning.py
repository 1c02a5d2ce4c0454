"""The styles in which models mark their thoughts, and finding one by its name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ..core.format import Format
from ..core.literals import is_special
from ..core.reasoning import ReasoningStyle
from ..errors import ToolwireError, did_you_mean

#: What callers ask for: none (None); the format's own style (True); a style, or its name; two markers.
Reasoning: TypeAlias = "bool | str | ReasoningStyle | tuple[str, str] | list[str] | None"

STYLES = (
    ReasoningStyle("think", ("<think>",), ("</think>",)),
    ReasoningStyle("seed_oss", ("<seed:think>",), ("</seed:think>",)),
    ReasoningStyle(
        "gemma4", ("<|channel>thought\n", "<|channel>thought"), ("<channel|>",), special=True
    ),
    ReasoningStyle("mistral", ("[THINK]", "<think>"), ("[/THINK]", "</think>"), special=True),
    ReasoningStyle("minimax_m3", ("<mm:think>",), ("</mm:think>",)),
    ReasoningStyle("hy", ("<think>", "<think:…>"), ("</think>", "</think:…>")),
    ReasoningStyle(
        "k2_horizon",
        ("<ifm|think>", "<ifm|think_fast>", "<ifm|think_faster>"),
        ("</ifm|think>", "</ifm|think_fast>", "</ifm|think_faster>"),
    ),
    ReasoningStyle("cohere", ("<|START_THINKING|>",), ("<|END_THINKING|>",), special=True),
    ReasoningStyle(
        "plamo3",
        ("<|plamo:begin_think:plamo|>",),
        ("<|plamo:end_think:plamo|>",),
        special=True,
    ),
    ReasoningStyle(
        "granite",
        ("Here is my thought process:", "Here's my thought process:"),
        ("Here is my response:", "Here's my response:"),
    ),
    ReasoningStyle(
        "hunyuan_a13b",
        ("<think>",),
        ("</think>",),
        answer_open=("<answer>",),
        answer_close=("</answer>",),
    ),
    ReasoningStyle(
        "ernie45",
        ("<think>",),
        ("</think>",),
        answer_open=("<response>",),
        answer_close=("</response>",),
    ),
    ReasoningStyle("kimi", ("◁think▷",), ("◁/think▷",)),
    ReasoningStyle(
        "apertus", ("<|inner_prefix|>",), ("<|inner_suffix|>",), special=True, calls=True
    ),
    ReasoningStyle(
        "apriel",
        ("<thinking>", "Here are my reasoning steps:"),
        ("</thinking>", "[BEGIN FINAL RESPONSE]"),
        answer_close=("[END FINAL RESPONSE]",),
    ),
    ReasoningStyle(
        "solar_open", ("<|think|>", "<|begin|>assistant<|think|>"), ("<|end|>",), special=True
    ),
    ReasoningStyle(
        "kimi_k3",
        ("<|open|>think<|sep|>", "<|open|> think <|sep|>"),
        ("<|close|>think<|sep|>", "<|close|> think <|sep|>"),
        special=True,
    ),
    ReasoningStyle("trinity", ("<think>",), ("</think>",), calls=True),
)

_styles: dict[str, ReasoningStyle] = {style.name: style for style in STYLES}


def list_reasoning() -> list[str]:
    """The names of all styles, sorted."""
    return sorted(_styles)


def register_reasoning(style: ReasoningStyle) -> None:
    """Add a style, under its name."""
    if not isinstance(style, ReasoningStyle):
        raise ToolwireError(
            f"register_reasoning() takes a toolwire.ReasoningStyle, not {type(style).__name__}."
        )
    if style.name in _styles:
        raise ToolwireError(
            f"There is a style of reasoning named {style.name!r} already: choose another name."
        )
    _styles[style.name] = style


def get_reasoning(name: str) -> ReasoningStyle:
    """The style of that name."""
    found = _styles.get(name)
    if found is None:
        hint = did_you_mean(name, list_reasoning())
        raise ToolwireError(
            f"There is no style of reasoning named {name!r}. {hint}toolwire.list_reasoning() names "
            "them all."
        )
    return found


def channel_style(format: Format) -> ReasoningStyle | None:
    """The channel of a format's thoughts, as a style of the format's own name: for those who look for
    its markers and read nothing else. None where a format has no such channel."""
    channels = format.channels
    if channels is None or not (channels.thought_begin and channels.thought_end):
        return None
    markers = (channels.thought_begin,), (channels.thought_end,)
    return ReasoningStyle(format.name, *markers, special=True)


def style_of(format: Format, reasoning: Reasoning) -> ReasoningStyle | None:
    """The style that a caller asks for; None where no reasoning is looked for, or in a format that says
    with its channels what is a thought."""
    if format.channels is not None:
        return None
    if reasoning is None or reasoning is False:
        reasoning = True if format.always_reasons else None
    if reasoning is None:
        return None
    if reasoning is True:
        reasoning = format.reasoning
    if isinstance(reasoning, str):
        return get_reasoning(reasoning)
    if isinstance(reasoning, ReasoningStyle):
        return get_reasoning(reasoning.name) if reasoning.is_name else reasoning
    if isinstance(reasoning, Iterable):
        pair = list(reasoning)
        if len(pair) == 2 and all(isinstance(marker, str) and marker for marker in pair):
            return ReasoningStyle("custom", (pair[0],), (pair[1],), special=is_special(pair[0]))
    raise ToolwireError(
        f"reasoning is {reasoning!r}: use True for the format's own style, a style's name "
        "(toolwire.list_reasoning() names them), or a pair of markers such as ('<think>', '</think>')."
    )
