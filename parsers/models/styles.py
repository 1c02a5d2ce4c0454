"""Which style of reasoning a template's markers belong to: what engines call `--reasoning-parser`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..core.format import Format
from ..core.literals import pattern_of
from ..core.reasoning import ReasoningStyle
from ..formats.reasoning import channel_style, get_reasoning, list_reasoning
from .probes import Markers


def known_styles(spec: Format | None = None) -> dict[str, ReasoningStyle]:
    """Styles by the names that engines know them by. One that a format describes, and that has no name
    of its own, goes by the format's, and so does a channel of thoughts."""
    found = {name: get_reasoning(name) for name in list_reasoning()}
    if spec is None:
        return found
    style = channel_style(spec) or spec.reasoning
    if not style.is_name:
        found.setdefault(own_style(spec), style)
    return found


def own_style(spec: Format) -> str:
    """What a format's own style is called."""
    return spec.name if channel_style(spec) else spec.reasoning.name or spec.name


def fitting_styles(markers: Markers, spec: Format | None = None) -> list[str]:
    """The styles that have these markers: the format's own first, then the plainest."""
    styles = known_styles(spec)
    fitting = [name for name, style in styles.items() if _has(style, markers)]
    own = own_style(spec) if spec is not None else ""
    return sorted(fitting, key=lambda name: (name != own, *_plainness(styles[name])))


def _has(style: ReasoningStyle, markers: Markers) -> bool:
    return _is_one(markers[0], style.open) and _is_one(markers[1], style.close)


def _is_one(marker: str, spellings: Iterable[str]) -> bool:
    return any(re.fullmatch(pattern_of(one.strip()), marker.strip()) for one in spellings)


def _plainness(style: ReasoningStyle) -> tuple[bool, int, str]:
    """`think` before those that have its markers, and more besides."""
    spellings = (*style.open, *style.close, *style.answer_open, *style.answer_close)
    return style.calls, len(spellings), style.name
