"""The markers of a format that a model can only write if its tokenizer has them as single tokens."""

from __future__ import annotations

import re
from collections.abc import Container

from ..core.spec import Format

#: `<|like_this|>`, `<｜like▁this｜>`, `[LIKE_THIS]`: nobody writes these as plain text.
_SPECIAL = re.compile(r"<\|[^\s<>]+\|>|<｜[^\s<>]+｜>|\[[A-Z_]+\]")


def special_markers(spec: Format) -> list[str]:
    """The markers that a call needs and that have to be single tokens, in their first spelling."""
    if spec.bare:
        return []  # a call can do without any marker
    firsts = [wrapper.open[0].strip() for wrapper in spec.wrappers if wrapper.open]
    return [literal for literal in firsts if _SPECIAL.fullmatch(literal)]


def missing_markers(spec: Format, vocabulary: Container[str]) -> list[str]:
    return [marker for marker in special_markers(spec) if marker not in vocabulary]
