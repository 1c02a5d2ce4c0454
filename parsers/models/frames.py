"""How a template marks turns, and which of toolwire's own templates marks them the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import ToolwireError
from ..shapes.tokens import Token, tokens
from ..templates import ChatTemplate, list_templates
from ..templates import render as render_ours
from .probes import NEXT, QUESTION, WORD, Message, Render
from .rendering import TOKENS

#: Asks for the least; models that were never trained on tools do best with it.
_EASIEST = "call_text"
_PLAIN = "plain"

_CHAT: list[Message] = [
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": WORD},
    {"role": "user", "content": NEXT},
]


def frame_of(render: Render, special: Mapping[str, str] | None = None) -> str | None:
    """The frame of ours that a template marks turns with, or None where it is another one."""
    try:
        shown = render(_CHAT)
    except ToolwireError:
        return None  # a conversation without tools is refused: its turns can't be known
    theirs = _turn_delimiters(shown)
    if theirs is None:
        return None
    fitting = [
        (len(ours), template.frame)
        for template in _one_of_each_frame()
        if any(marker in shown for marker in template.markers)  # to render them all takes long
        for ours in _own_delimiters(template.name, special or {})
        if _fits(ours, theirs)
    ]
    return max(fitting, default=(0, None))[1]


def _own_delimiters(name: str, special: Mapping[str, Any]) -> Iterator[list[Token]]:
    """What stands between the turns of ours, with its own end token, or one that it is given."""
    for variables in ({}, special, TOKENS):
        yield _turn_delimiters(render_ours(name, _CHAT, **variables)) or []


def frame_by_tokens(vocabulary: frozenset[str]) -> str:
    """The frame for a model without a template: one whose delimiters it has tokens for, or `plain`."""
    fitting = [
        (len(template.markers), template.frame)
        for template in _one_of_each_frame()
        if vocabulary.issuperset(template.markers)
    ]
    return max(fitting, default=(0, _PLAIN))[1]


def template_for(frame: str, format_name: str | None = None) -> ChatTemplate:
    """Ours for that frame: for this format where we have one, else the one that asks for the least."""
    ours = {t.format: t for t in list_templates() if t.frame == frame}
    return ours.get(format_name or _EASIEST) or ours[_EASIEST]


def _one_of_each_frame() -> Iterator[ChatTemplate]:
    return (template for template in list_templates() if template.style == _EASIEST)


def _turn_delimiters(shown: str) -> list[Token] | None:
    """What stands between the turns, without white space."""
    _, asked, rest = shown.partition(QUESTION)
    to_answer, answered, rest = rest.partition(WORD)
    to_question, again, _ = rest.partition(NEXT)
    if not (asked and answered and again):
        return None
    return [t for t in (*tokens(to_answer), *tokens(to_question)) if t.kind != "space"]


def _fits(ours: list[Token], theirs: list[Token]) -> bool:
    """Whether all our delimiters are there, in order. Without any tag, nothing else may be."""
    if not any(token.kind == "tag" for token in ours):
        return ours == theirs
    rest = iter(theirs)
    return all(token in rest for token in ours)
