"""Whether a regular expression takes linear time, whatever the text.

Python's `re` tries one way to match after another. It stays linear as long as there is no text that
a pattern can be led through in more and more ways: that is what is asked here, before any text comes.

The pattern is taken as an automaton whose states are its characters and character classes. The number
of ways through it grows without bound exactly if there are two states p and q and a word w that leads
from p to p, from p to q, and from q to q (Weber and Seidl, "On the degree of ambiguity of finite
automata": then the i-th repeat of w may be where p is left for q, so there are as many ways as
repeats). Repeats directly inside repeats, `(a*)*`, are found while the automaton is built: there the
same step can be taken for two reasons.

Some things are judged as dearer than they are, never as cheaper: `{0,9}` counts as `*`, a possessive
repeat as a plain one (Python 3.10 has no other), and a lookahead as a way that is tried each time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

try:
    import re._constants as _ops  # type: ignore[import-not-found]
    import re._parser as _parser  # type: ignore[import-not-found]
except ImportError:  # before Python 3.11
    import sre_constants as _ops
    import sre_parse as _parser

#: Characters beside ASCII that stand for others of their kind: letters, digits, spaces, symbols.
_OTHERS = "éß日٣\xa0\u2028｜▁😀\ud800"
_ASCII = "".join(map(chr, range(128)))
_CATEGORIES = {
    _ops.CATEGORY_DIGIT: r"\d",
    _ops.CATEGORY_NOT_DIGIT: r"\D",
    _ops.CATEGORY_SPACE: r"\s",
    _ops.CATEGORY_NOT_SPACE: r"\S",
    _ops.CATEGORY_WORD: r"\w",
    _ops.CATEGORY_NOT_WORD: r"\W",
}
_REPEATS = {
    _ops.MAX_REPEAT,
    _ops.MIN_REPEAT,
    getattr(_ops, "POSSESSIVE_REPEAT", None),
}


class NotChecked(Exception):
    """The pattern refers to what it matched before: such a pattern is not judged here."""


def costly_repeat(pattern: str, flags: int = 0, searched: bool = False) -> str:
    """A piece of text that makes the pattern slow if it comes many times in a row; "" if none does.

    `searched`: the pattern is tried at every place of a text, and not only at one.
    """
    automaton = _Automaton(pattern, flags)
    if searched:
        automaton.start_anywhere()
    return automaton.repeated_twice or automaton.ambiguous_word()


def _named(tree: Any) -> Iterator[int]:
    """The characters that a pattern names, also as the ends of a range."""
    for item in tree:
        if (
            isinstance(item, tuple)
            and len(item) == 2
            and item[0] in (_ops.LITERAL, _ops.NOT_LITERAL)
        ):
            yield item[1]
        elif isinstance(item, tuple) and len(item) == 2 and item[0] is _ops.RANGE:
            yield from item[1]
        elif isinstance(item, (tuple, list, _parser.SubPattern)):
            yield from _named(item)


@dataclass
class _Part:
    """A part of the pattern: the states it can begin and end with, and whether it can be empty.

    `done` are the states behind which nothing is asked for any more, neither text nor a condition like
    a lookahead; `free` says that this part asks for nothing.
    """

    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    empty: bool = True
    done: list[int] = field(default_factory=list)
    free: bool = True


class _Automaton:
    """State 0 is the start. A step leads into a state by one of its characters, which are bits."""

    def __init__(self, pattern: str, flags: int) -> None:
        tree = _parser.parse(pattern, flags)
        self._flags = tree.state.flags
        self._alphabet = "".join(sorted({*_ASCII, *_OTHERS, *map(chr, _named(tree))}))
        self._all = (1 << len(self._alphabet)) - 1
        self.characters = [0]
        self.steps: list[set[int]] = [set()]
        self._steps_toward: dict[int, list[list[int]]] = {}  # by where they lead
        self.repeated_twice = ""
        self._ends: list[int] = []
        whole = self._sequence(tree)
        for state in self._ends:
            self.steps[state].clear()
        self.steps[0].update(whole.first)
        self._done = set(whole.done)

    def start_anywhere(self) -> None:
        """The search may go on at every character, but not from where the pattern has matched."""
        self.characters[0] = self._all
        self.steps[0].add(0)

    # -- building -----------------------------------------------------------------------------

    def _sequence(self, tree: Iterable[tuple[Any, Any]]) -> _Part:
        whole = _Part()
        for kind, value in tree:
            part = self._part(kind, value)
            for state in whole.last:
                self.steps[state].update(part.first)
            whole.first += part.first if whole.empty else []
            whole.last = part.last + (whole.last if part.empty else [])
            whole.empty = whole.empty and part.empty
            whole.done = part.done + (whole.done if part.free else [])
            whole.free = whole.free and part.free
        return whole

    def _part(self, kind: Any, value: Any) -> _Part:
        if kind in (_ops.LITERAL, _ops.NOT_LITERAL, _ops.ANY, _ops.IN):
            return self._state(self._set(kind, value))
        if kind in _REPEATS:
            return self._repeat(*value)
        if kind is _ops.BRANCH:
            parts = [self._sequence(branch) for branch in value[1]]
            return _Part(
                [state for part in parts for state in part.first],
                [state for part in parts for state in part.last],
                any(part.empty for part in parts),
                [state for part in parts for state in part.done],
                any(part.free for part in parts),
            )
        if kind is _ops.SUBPATTERN:
            return self._sequence(value[3])
        if kind is getattr(_ops, "ATOMIC_GROUP", None):
            return self._sequence(value)
        if kind in (_ops.ASSERT, _ops.ASSERT_NOT):
            ahead = self._sequence(value[1]).first if value[0] > 0 else []
            return _Part(first=ahead, free=False)  # a way that is tried, and left
        if kind is _ops.AT and value is _ops.AT_BEGINNING_STRING:
            return self._state(self._all + 1)  # a sign before the text, which no other state has
        if kind is _ops.AT and value is _ops.AT_END_STRING:
            part = self._state((self._all + 1) << 1)  # one behind it
            self._ends += part.last
            return part
        if kind is _ops.AT:
            return _Part(free=False)
        raise NotChecked(str(kind))

    def _state(self, characters: int) -> _Part:
        self.characters.append(characters)
        self.steps.append(set())
        state = len(self.steps) - 1
        return _Part([state], [state], False, [state], False)

    def _repeat(self, fewest: int, most: Any, tree: Any) -> _Part:
        part = self._sequence(tree)
        if most > 1:
            for state in part.last:
                twice = self.steps[state].intersection(part.first)
                if twice:
                    self.repeated_twice = self._shown(self.characters[twice.pop()])
                self.steps[state].update(part.first)
        none = fewest == 0
        return _Part(part.first, part.last, part.empty or none, part.done, part.free or none)

    # -- sets of characters -------------------------------------------------------------------

    def _set(self, kind: Any, value: Any) -> int:
        if kind is _ops.ANY:
            return self._matching("." if self._flags & re.DOTALL else r"[^\n]")
        items = value if kind is _ops.IN else [(_ops.LITERAL, value)]
        negated = kind is _ops.NOT_LITERAL or items[0][0] is _ops.NEGATE
        found = 0
        for item in items:
            found |= self._item(*item)
        return self._all & ~found if negated else found

    def _item(self, kind: Any, value: Any) -> int:
        """The characters of one item between a set's brackets."""
        if kind is _ops.NEGATE:
            return 0
        if kind is _ops.CATEGORY:
            return self._matching(_CATEGORIES[value])
        first, last = value if kind is _ops.RANGE else (value, value)
        return self._matching(rf"[\U{first:08x}-\U{last:08x}]")

    def _matching(self, one: str) -> int:
        """Those of the alphabet that a pattern for one character matches."""
        flags = self._flags & (re.ASCII | re.IGNORECASE) | re.DOTALL
        found = 0
        for match in re.finditer(one, self._alphabet, flags):
            found |= 1 << match.start()
        return found

    def _shown(self, characters: int) -> str:
        """One of the characters, a plain one if there is any."""
        found = [c for place, c in enumerate(self._alphabet) if characters >> place & 1]
        return min(found, key=lambda c: (not c.isalnum(), not c.isprintable(), c), default="")

    # -- judging ------------------------------------------------------------------------------

    def ambiguous_word(self) -> str:
        """A word that leads from p to p, from p to q and from q to q; "" if there is none."""
        reach = [self._reachable(state) for state in range(len(self.steps))]
        loops = [state for state in range(len(self.steps)) if state in reach[state]]
        for p in loops:
            for q in loops:
                if p != q and q in reach[p]:
                    word = self._word(p, q, reach)
                    if word:
                        return word
        return ""

    def _reachable(self, state: int) -> set[int]:
        """What can be reached from here, by one step or more."""
        found: set[int] = set()
        todo = [state]
        while todo:
            for following in self.steps[todo.pop()] - found:
                found.add(following)
                todo.append(following)
        return found

    def _word(self, p: int, q: int, reach: list[set[int]]) -> str:
        """Three walks side by side, by the same characters: p to p, p to q, q to q."""
        to_p, to_q = self._toward(p, reach), self._toward(q, reach)
        goal = (p, q, q)
        words = {(p, p, q): ""}
        todo = [(p, p, q)]
        for walk in todo:
            steps = (to_p[walk[0]], to_q[walk[1]], to_q[walk[2]])
            for following, characters in self._together(*steps):
                if p == 0 and not self._done.isdisjoint(following[1:]):
                    continue  # the pattern has matched, and the search is over
                if following == goal:
                    return words[walk] + self._shown(characters)
                if following not in words:
                    words[following] = words[walk] + self._shown(characters)
                    todo.append(following)
        return ""

    def _toward(self, goal: int, reach: list[set[int]]) -> list[list[int]]:
        """The steps from each state that can still lead to `goal`: of a pattern with many branches,
        hardly any."""
        found = self._steps_toward.get(goal)
        if found is None:
            useful = {state for state, reached in enumerate(reach) if goal in reached} | {goal}
            found = self._steps_toward[goal] = [sorted(steps & useful) for steps in self.steps]
        return found

    def _together(
        self, firsts: list[int], seconds: list[int], thirds: list[int]
    ) -> Iterator[tuple[tuple[int, int, int], int]]:
        """One step of each walk, where the same character leads along all three."""
        for first in firsts:
            for second in seconds:
                both = self.characters[first] & self.characters[second]
                for third in thirds if both else ():
                    if both & self.characters[third]:
                        yield (first, second, third), both & self.characters[third]
