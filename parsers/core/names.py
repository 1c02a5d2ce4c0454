"""Names of tools where they stand in the open, and not in quotes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias

from .delimiters import Delimiters
from .literals import any_of
from .window import Window

#: Longer words are no names. It bounds what is held while a word is being written.
LONGEST: Final = 256

#: matches a name in a text, from one place on and up to another
Word: TypeAlias = Callable[[str, int, int], "re.Match[str] | None"]
_IN_WORD: Final = r"[^\s<>{}\[\]()\"'`|,;=]"
_WORD: Final = re.compile(f"{_IN_WORD}*").match
#: letters of other scripts, with the signs that are written over and between them: all that is neither
#: ASCII nor punctuation nor a symbol, to stand in a pattern's brackets
LETTERS: Final = (
    "\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u200c\u200d\u2071\u207f\u2090-\u209c"
    "\u2c00-\u2dff\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c\u3041-\u30fa\u30fc-\ud7ff"
    "\uf900-\ufd3d\ufd50-\ufdff\ufe20-\ufe2f\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a\uff41-\uff5a"
    "\uff66-\uffdc\U00010000-\U0001d7ff\U0001e000-\U0001efff\U00020000-\U000323af"
)
#: the characters of a name in `Name(args)`
IN_NAME: Final = f"[A-Za-z0-9_.{LETTERS}-]"
_PLAIN_WORD: Final = re.compile(f"{IN_NAME}*").match
#: those of them that are ASCII. Where other letters stand right before some, a name may begin: not all
#: scripts have spaces
ASCII: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")


def in_name(character: str) -> bool:
    """Whether a character may stand in a name."""
    if character in ASCII:
        return True
    return character > "\x7f" and bool(_PLAIN_WORD(character, 0, 1)[0])  # type: ignore[index]


def may_begin_name(character: str) -> bool:
    return in_name(character) and not character.isdigit() and character not in ".-"


def is_in_word(character: str) -> bool:
    """Whether a name in the open can have this character."""
    return bool(_WORD(character, 0, 1)[0])  # type: ignore[index]  # always matches


def word_before(literals: Iterable[str]) -> Word:
    """A pattern for a name that ends where one of these stands, also where they look like a name."""
    ends = [literal for literal in literals if re.match(_IN_WORD, literal)]
    return re.compile(f"(?:(?!{any_of(ends)}){_IN_WORD})*").match if ends else _WORD


def read_word(w: Window, delimiters: Delimiters, word: Word = _WORD) -> str | None:
    """Read a name: everything up to whitespace, brackets, quotes or a closer. "" if it is none."""
    limit = w.pos + LONGEST + 1
    end = word(w.text, w.pos, limit).end()  # type: ignore[union-attr]  # always matches
    closer = delimiters.closer_in(w, end)
    if closer is None:
        return None
    if closer < end:
        return w.take(closer)
    if end == limit:
        return ""
    if end == len(w.text) and not w.eof:
        return None
    return w.take(end)


def word_ahead(w: Window, offset: int = 0) -> str | None:
    """The name of plain characters that stands `offset` characters ahead, or "". Reads nothing."""
    start = w.pos + offset
    limit = start + LONGEST + 1
    end = _PLAIN_WORD(w.text, start, limit).end()  # type: ignore[union-attr]  # always matches
    if end == limit:
        return ""
    if end == len(w.text) and not w.eof:
        return None
    return w.text[start:end]
