"""A grammar's pieces as one text, in xgrammar's notation.

A structural tag repeats each piece wherever it stands: with a hundred tools that is 200 KB, which a
server writes, checks and reads several times before the first token. As a text, what comes again is a
rule with a name, and xgrammar reads a twentieth of it.

What may be empty gets no rule: xgrammar looks at what stands behind a rule to rule tokens out, and
behind one that is used in several places anything may stand.
"""

from __future__ import annotations

import json
import re

from ..core.shape import Piece
from .pieces import const, grammar

#: A regular expression that is the same in xgrammar's notation, and matches something.
_SAME = re.compile(r"\[[^\[\]\\^]+\](?:\{[1-9]\d*(?:,\d*)?\}|\+)?")
#: Quotes mean what they mean in JSON.
_quoted = json.JSONEncoder(ensure_ascii=False).encode
#: What else an `any_text` may say.
_PLAIN_TEXT = {"type", "excludes"}


class NotText(Exception):
    """A piece that only xgrammar itself can make a grammar of."""


def as_text(piece: Piece, name: str = "r") -> Piece:
    """The same as one piece with all of its grammar; or as it is, where something in it has no text. The
    rules' names begin with `name`: another one for each, where several become parts of one grammar."""
    rules = _Rules(name)
    try:
        root, _ = rules.said(piece)
    except NotText:
        return piece
    return grammar(f"root ::= {root}\n{rules.all()}")


class _Rules:
    """The rules of one grammar. What is said of a piece can stand in a sequence as it is."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._names: dict[str, str] = {}
        self._given: dict[str, None] = {}  # lines that pieces have brought

    def all(self) -> str:
        lines = [*(f"{name} ::= {body}" for body, name in self._names.items()), *self._given]
        return "".join(f"{line}\n" for line in lines)

    def said(self, piece: Piece) -> tuple[str, bool]:
        """What is written for a piece, and whether it may be empty."""
        match piece["type"]:
            case "const_string":
                return _quoted(piece["value"]), not piece["value"]
            case "sequence":
                return self._sequence(piece["elements"])
            case "or":
                return self._either(piece["elements"])
            case "optional":
                return f'({self.said(piece["content"])[0]} | "")', True
            case "tag":
                return self._sequence(
                    [const(piece["begin"]), piece["content"], const(piece["end"])]
                )
            case "tags_with_separator":
                return self._repeated(piece)
            case "grammar":
                first, *others = piece["grammar"].splitlines()
                self._given.update(dict.fromkeys(others))
                return self._rule(first.removeprefix("root ::= ")), False
            case "regex" if _SAME.fullmatch(piece["pattern"]):
                return piece["pattern"], False
            case "any_text" if not set(piece) - _PLAIN_TEXT:
                excluded = ", ".join(map(_quoted, piece["excludes"]))
                whole = f"TagDispatch(loop_after_dispatch=false, excludes=({excluded}))"
                return self._rule(whole), True
        raise NotText

    def _rule(self, body: str) -> str:
        return self._names.setdefault(body, f"{self._name}{len(self._names)}")

    def _sequence(self, pieces: list[Piece]) -> tuple[str, bool]:
        found = [self._unit(piece) for piece in pieces]
        texts = [text for text, _ in found if text != '""']
        return " ".join(texts) or '""', all(empty for _, empty in found)

    def _unit(self, piece: Piece) -> tuple[str, bool]:
        """A sequence in another one comes again elsewhere."""
        text, empty = self.said(piece)
        is_unit = piece["type"] == "sequence" and not empty
        return self._rule(text) if is_unit else text, empty

    def _either(self, pieces: list[Piece]) -> tuple[str, bool]:
        found = [self.said(piece) for piece in pieces]
        text, empty = " | ".join(one for one, _ in found), any(e for _, e in found)
        return f"({text})" if empty else self._rule(text), empty

    def _repeated(self, piece: Piece) -> tuple[str, bool]:
        one, empty = self._either(piece["tags"])
        if empty:
            raise NotText  # it would have no end
        if not piece["stop_after_first"]:
            between = [_quoted(piece["separator"])] if piece["separator"] else []
            one = f"{one} ({' '.join([*between, one])})*"
        return (one, False) if piece["at_least_one"] else (f'({one} | "")', True)
