"""What stands around calls: from the texts before, between and after them to a format's wrappers.

Texts are compared token by token. What all texts before a call end with is its opener, what all texts
behind a call begin with is its closer, and what only the first and the last call of a message have
stands around all of them. Prose is told from delimiters by how it looks: delimiters are tags,
punctuation, or at most two words on the call's own line.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Sequence

from ..core.format import Wrapper
from ..core.samples import Surroundings
from .tokens import Token, common_end, common_start, joined

_FENCE_BEFORE = re.compile(r"```\w*\s*\Z")
#: Punctuation of prose; anything else is a delimiter's.
_SENTENCE = frozenset(".!?:,;'\"()-–—…")
_SENTENCE_ENDS = frozenset(".!?")
_MOST_WORDS = 2
_MOST_LEVELS = 6
_LOUD = re.compile(r"[A-Z_][A-Z0-9_]+")


def _without_fence(text: str) -> str:
    """Without the first code fence in it, and the whitespace before that."""
    before, fence, after = text.partition("```")
    return before.rstrip() + after if fence else text


def without_fences(texts: Surroundings) -> Surroundings:
    """The same without code fences directly around the calls: shapes read these by themselves."""

    def inner(text: str) -> str:
        return _FENCE_BEFORE.sub("", _without_fence(text))

    return Surroundings(
        tuple(_FENCE_BEFORE.sub("", text) for text in texts.before),
        tuple(map(inner, texts.between)),
        tuple(map(_without_fence, texts.after)),
    )


def infer_wrappers(texts: Surroundings) -> tuple[Wrapper, ...]:
    """The wrappers, outermost first. Those around all calls come before those around each."""
    openers = common_end(texts.before)
    closers = common_start(texts.after)
    split = [b for b in texts.between if b.strip(",; \r\n\t")]
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


# -- delimiters -----------------------------------------------------------------------------------


def _opening(tokens: Sequence[Token]) -> list[str]:
    """The openers that a text in front of a call ends with, outermost first."""
    return _literals(_delimiters(tokens[::-1], _opens)[::-1])


def _closing(tokens: Sequence[Token]) -> list[str]:
    """The closers that a text behind a call begins with, innermost first."""
    return _literals(_delimiters(tokens, _closes))


def _delimiters(
    tokens: Sequence[Token], is_delimiter: Callable[[Sequence[Token], bool], bool]
) -> Sequence[Token]:
    """From the call outwards: tags, and runs of other tokens in one line, up to the first prose."""
    taken: list[Token] = []
    own_line = False
    for in_one_line, group in itertools.groupby(tokens, _in_one_line):
        run = list(group)
        if in_one_line and not is_delimiter(run, own_line):
            break
        own_line = own_line or any(token.line_ends for token in run)
        taken += run
    return taken


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


def _literals(tokens: Sequence[Token]) -> list[str]:
    """Each delimiter ends where its line does, or where a tag follows a tag."""
    groups: list[list[Token]] = [[]]
    last_kind = ""
    for token in tokens:
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
