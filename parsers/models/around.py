"""What stands around calls: from the texts before, between and after them to a format's wrappers.

Text is compared token by token: `<tags>` and `[MARKERS]`, words, punctuation, white space. What all
texts before a call end with is its opener, what all texts behind a call begin with is its closer, and
what only the first and the last call of a message have stands around all of them. Prose is told from
markers by how it looks: markers are tags, punctuation, or at most two words on the call's own line.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..core.spec import Wrapper

#: Text that nobody writes as prose. The last of them is a tag that has not ended yet.
MARKUP = re.compile(r"<[^<>\s][^<>]*>|<>|\[/?[A-Z_]{2,}\]|```|<[^<>\s][^<>]*\Z")

_TOKEN = re.compile(
    r"(?P<tag><[^<>]*>|<[^<>]*\Z|\[/?[A-Z_]{2,}\])"
    r"|(?P<space>\s+)|(?P<word>\w+)|(?P<point>(?:(?!<|\[/?[A-Z_]{2,}\])[^\w\s])+)"
)
_FENCE_BEFORE = re.compile(r"```\w*\s*\Z")
#: Punctuation of prose; anything else is a marker's.
_SENTENCE = frozenset(".!?:,;'\"()-–—…")
_SENTENCE_ENDS = frozenset(".!?")
_MOST_WORDS = 2
_MOST_LEVELS = 6
_LOUD = re.compile(r"[A-Z_][A-Z0-9_]+")


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str

    @property
    def line_ends(self) -> bool:
        return self.kind == "space" and "\n" in self.text


@dataclass(frozen=True, slots=True)
class Around:
    """The texts around the calls of some samples: one `before` and `after` for each sample."""

    before: tuple[str, ...]
    between: tuple[str, ...]
    after: tuple[str, ...]


def tokens(text: str) -> list[Token]:
    return [Token(found.lastgroup or "", found[0]) for found in _TOKEN.finditer(text)]


def _without_fence(text: str) -> str:
    """Without the first code fence in it, and the whitespace before that."""
    before, fence, after = text.partition("```")
    return before.rstrip() + after if fence else text


def joined(pieces: Sequence[Token]) -> str:
    return "".join(token.text for token in pieces)


def without_fences(around: Around) -> Around:
    """The same without code fences directly around the calls: shapes read these by themselves."""

    def inner(text: str) -> str:
        return _FENCE_BEFORE.sub("", _without_fence(text))

    return Around(
        tuple(_FENCE_BEFORE.sub("", text) for text in around.before),
        tuple(map(inner, around.between)),
        tuple(map(_without_fence, around.after)),
    )


def wrappers(around: Around) -> tuple[Wrapper, ...]:
    """The wrappers, outermost first. Those around all calls come before those around each."""
    openers = common_end(around.before)
    closers = common_start(around.after)
    split = [b for b in around.between if b.strip(",; \r\n\t")]
    if not split:
        return _paired(_opening(openers), _closing(closers))
    each_open = common_end([joined(openers), *split])
    each_close = common_start([joined(closers), *split])
    outer_open = openers[: len(openers) - len(each_open)]
    outer_close = closers[len(each_close) :]
    return (
        *_paired(_opening(outer_open), _closing(outer_close)),
        # What comes back with every call is no prose, whatever it looks like.
        *_paired(_literals(each_open), _literals(each_close)),
    )


def common_end(texts: Sequence[str]) -> list[Token]:
    """The tokens that all texts end with; white space counts as equal to any other."""
    return _common([tokens(text)[::-1] for text in texts])[::-1]


def common_start(texts: Sequence[str]) -> list[Token]:
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


# -- markers --------------------------------------------------------------------------------------


def _opening(pieces: Sequence[Token]) -> list[str]:
    """The openers that a text in front of a call ends with, outermost first."""
    return _literals(_markers(pieces[::-1], _opens)[::-1])


def _closing(pieces: Sequence[Token]) -> list[str]:
    """The closers that a text behind a call begins with, innermost first."""
    return _literals(_markers(pieces, _closes))


def _markers(
    pieces: Sequence[Token], is_marker: Callable[[Sequence[Token], bool], bool]
) -> Sequence[Token]:
    """From the call outwards: tags, and runs of other tokens in one line, up to the first prose."""
    end = 0
    while end < len(pieces):
        if pieces[end].kind == "tag" or pieces[end].line_ends:
            end += 1
            continue
        run = list(itertools.takewhile(_in_one_line, pieces[end:]))
        own_line = any(token.line_ends for token in pieces[:end])
        if not is_marker(run, own_line):
            break
        end += len(run)
    return pieces[:end]


def _in_one_line(token: Token) -> bool:
    return token.kind != "tag" and not token.line_ends


def _opens(run: Sequence[Token], own_line: bool) -> bool:
    """A word or two on the call's line, or what is written like no sentence."""
    words = [token.text for token in run if token.kind == "word"]
    points = "".join(token.text for token in run if token.kind == "point")
    if len(words) > _MOST_WORDS or set(points) & _SENTENCE_ENDS:
        return False
    return not own_line or _odd(words, points)


def _closes(run: Sequence[Token], _own_line: bool) -> bool:
    words = [token.text for token in run if token.kind == "word"]
    points = "".join(token.text for token in run if token.kind == "point")
    return len(words) <= _MOST_WORDS and _odd(words, points)


def _odd(words: Sequence[str], points: str) -> bool:
    """Loud words, or punctuation that prose does not use."""
    loud = bool(words) and all(map(_LOUD.fullmatch, words))
    return loud or bool(set(points) - _SENTENCE)


def _literals(pieces: Sequence[Token]) -> list[str]:
    """Cut where a line ends and between two tags."""
    groups: list[list[Token]] = [[]]
    last_kind = ""
    for token in pieces:
        if token.line_ends or (token.kind == last_kind == "tag"):
            groups.append([])
        groups[-1].append(token)
        if token.kind != "space":
            last_kind = token.kind
    return [literal for literal in (joined(group).strip() for group in groups) if literal]


# -- openers and their closers --------------------------------------------------------------------


def _paired(openers: list[str], closers: list[str]) -> tuple[Wrapper, ...]:
    """Every opener with its closer, if it has one: the pairing in order whose names are most alike."""
    if not 0 < len(openers) <= _MOST_LEVELS:
        return ()
    while len(closers) > len(openers):  # what ends together is one delimiter
        closers = [*closers[:-2], closers[-2] + closers[-1]]
    outermost_first = closers[::-1]
    choices = itertools.combinations(range(len(openers)), len(closers))
    best = max(
        choices,
        key=lambda places: sum(
            _alike(openers[place], closer)
            for place, closer in zip(places, outermost_first, strict=True)
        ),
    )
    mine = dict(zip(best, outermost_first, strict=True))
    return tuple(
        Wrapper((opener,), (mine[place],) if place in mine else ())
        for place, opener in enumerate(openers)
    )


def _alike(opener: str, closer: str) -> float:
    return difflib.SequenceMatcher(None, opener, closer).ratio()
