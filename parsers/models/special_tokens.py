"""The delimiters of a format that a model can only write if its tokenizer has them as single tokens."""

from __future__ import annotations

from collections.abc import Container

from ..core.format import Format
from ..core.literals import SPECIAL_TOKEN


def special_tokens(spec: Format) -> list[str]:
    """The delimiters that a call needs and that have to be single tokens, in their first spelling."""
    if spec.bare or spec.inline:
        return []  # a call can do without any delimiter
    firsts = [wrapper.open[0].strip() for wrapper in spec.wrappers if wrapper.open]
    return [literal for literal in firsts if SPECIAL_TOKEN.fullmatch(literal)]


def missing_tokens(spec: Format, vocabulary: Container[str]) -> list[str]:
    return [token for token in special_tokens(spec) if token not in vocabulary]


def unwritable(spec: Format, vocabulary: Container[str]) -> str | None:
    """A token without which a model can't begin any call of the format; None where it can begin one.

    A wrapper with another spelling, and a format with another wrapper, has another way to begin.
    """
    if spec.bare or spec.inline:
        return None
    openers = [spelling.strip() for wrapper in spec.wrappers for spelling in wrapper.open]
    for opener in openers:
        if not SPECIAL_TOKEN.fullmatch(opener) or opener in vocabulary:
            return None
    return openers[0] if openers else None
