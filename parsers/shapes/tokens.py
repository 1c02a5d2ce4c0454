"""Text as tokens, to compare markup with: `<tags>` and `[MARKERS]`, words, punctuation, white space."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

#: Text that nobody writes as prose. The last of them is a tag that has not ended yet.
MARKUP = re.compile(r"<[^<>\s][^<>]*>|<>|\[/?[A-Z_]{2,}\]|```|<[^<>\s][^<>]*\Z")

_TOKEN = re.compile(
    r"(?P<tag><[^<>]*>|<[^<>]*\Z|\[/?[A-Z_]{2,}\])"
    r"|(?P<space>\s+)|(?P<word>\w+)|(?P<point>(?:(?!<|\[/?[A-Z_]{2,}\])[^\w\s])+)"
)


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str

    @property
    def line_ends(self) -> bool:
        return self.kind == "space" and "\n" in self.text


def tokens(text: str) -> list[Token]:
    return [Token(found.lastgroup or "", found[0]) for found in _TOKEN.finditer(text)]


def tokens_without_space(text: str) -> list[Token]:
    return [token for token in tokens(text) if token.kind != "space"]


def joined(some: Sequence[Token]) -> str:
    return "".join(token.text for token in some)


def common_end(texts: Sequence[str]) -> list[Token]:
    """The tokens that all texts end with; white space counts as equal to any other."""
    return _common([tokens(text)[::-1] for text in texts])[::-1]


def common_start(texts: Sequence[str]) -> list[Token]:
    """The tokens that all texts begin with; white space counts as equal to any other."""
    return _common([tokens(text) for text in texts])


def _common(lists: Sequence[Sequence[Token]]) -> list[Token]:
    """The longest common beginning, written as the first list writes it."""
    if not lists:
        return []
    taken: list[Token] = []
    places = [0] * len(lists)
    while True:
        found: list[Token | None] = []
        for number, each in enumerate(lists):
            while places[number] < len(each) and each[places[number]].kind == "space":
                if number == 0:
                    taken.append(each[places[0]])
                places[number] += 1
            found.append(each[places[number]] if places[number] < len(each) else None)
        if found[0] is None or any(token != found[0] for token in found):
            return _without_space_at_end(taken)
        taken.append(found[0])
        places = [place + 1 for place in places]


def _without_space_at_end(taken: list[Token]) -> list[Token]:
    while taken and taken[-1].kind == "space":
        taken.pop()
    return taken
