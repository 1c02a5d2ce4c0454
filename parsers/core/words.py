"""Words without quotes, as models write them where JSON has none: what they mean, as JSON."""

from __future__ import annotations

import ast
import re
from typing import Final

from ..schema.kinds import Kind, encode, json_type, python_word

#: A word that JSON or Python knows: what it means needs no second look.
KNOWN_WORD: Final = (
    r"-?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{1,30})?(?:[eE][-+]?[0-9]{1,4})?"
    r"|true|false|null|True|False|None"
)
#: What Python writes before a quote: `r"…"`. (Case does not matter.)
PREFIXES: Final = frozenset({"r", "b", "u", "f", "rb", "br", "rf", "fr"})
LITERAL_WORDS: Final = frozenset({"true", "false", "null", "True", "False", "None"})
_KNOWN_WORD: Final = re.compile(KNOWN_WORD).fullmatch
_PYTHON_NUMBER: Final = re.compile(
    r"[-+]?(?:0[xXoObB][0-9a-fA-F_]+|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9_]+)(?:[eE][-+]?[0-9_]+)?)"
)
_NUMBER_START: Final = frozenset("-+.0123456789")


def is_prefix(word: str) -> bool:
    """Whether this is what Python writes before a quote."""
    return len(word) <= 2 and word.lower() in PREFIXES


def is_raw(prefix: str) -> bool:
    """Whether a string with this prefix has no escapes."""
    return "r" in prefix.lower()


def is_literal(word: str) -> bool:
    """Whether a word is a number, or one that JSON or Python knows."""
    return _KNOWN_WORD(word) is not None or _PYTHON_NUMBER.fullmatch(word) is not None


def literal(word: str, kind: Kind | None) -> str:
    """A bare word as JSON: of its declared kind if it can be, else what it looks like."""
    if kind and (kind.types or kind.members is not None):
        value = kind.json_of(word)
        if value is not None:
            return value
        if "string" in kind.types:
            return encode(word)
    word = python_word(word)
    if _KNOWN_WORD(word) or json_type(word) is not None:
        return word
    return _python_number(word) or encode(word)


def _python_number(word: str) -> str:
    """A number that only Python writes this way (`1_000`, `.5`, `0x1f`), as JSON writes it."""
    if len(word) > 400 or not _PYTHON_NUMBER.fullmatch(word):
        return ""
    try:
        number = repr(ast.literal_eval(word.lstrip("+")))
    except (ValueError, SyntaxError):
        return ""
    return number if json_type(number) else ""


def unfinished(word: str) -> str:
    """A bare word that the end of the message cut off."""
    looks_literal = word[:1] in _NUMBER_START or any(
        full.startswith(word) for full in LITERAL_WORDS
    )
    return word if looks_literal else encode(word)[:-1]
