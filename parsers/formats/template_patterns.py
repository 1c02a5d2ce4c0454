"""The regular expressions of response templates, taken apart into what a format is made of.

    \\s*<tool_call>\\s*<function=(?P<name>[^>\\n]+)>
    └┬┘└────┬────┘└┬┘└───┬─────┘└──────┬─────────┘└┤
    space  words  space  words        hole       words

A format knows delimiters by their spelling, and finds them in text that comes in pieces. So a pattern
counts for the literals in it, the white space that may stand between them, and where something is
captured; what may be captured there is for the format's shape to say. A pattern that needs more than
that is `NotTaken`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

try:
    import re._constants as _ops  # type: ignore[import-not-found]
    import re._parser as _parser  # type: ignore[import-not-found]
except ImportError:  # before Python 3.11
    import sre_constants as _ops
    import sre_parse as _parser

#: Python 3.10 knows no possessive repeats. None would be taken for one: it begins a branch's data.
_REPEATS = tuple(
    getattr(_ops, name)
    for name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
    if hasattr(_ops, name)
)
#: More spellings of one delimiter than this are no spellings.
_MOST_SPELLINGS = 32
_LONGEST_PATTERN = 2000
_LONGEST_REPEAT = 50
#: As few characters as may stand between brackets to count as spellings.
_MOST_CHARACTERS = 4
#: Between two tags in a literal.
_BETWEEN_TAGS = re.compile(r">\s+<")


class NotTaken(Exception):
    """The pattern has something in it that no format says. The message says what."""


@dataclass(frozen=True, slots=True)
class Words:
    """A literal, in one spelling or several; it may be missing where it is optional."""

    spellings: tuple[str, ...]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Space:
    """White space may stand here."""


@dataclass(frozen=True, slots=True)
class Hole:
    """What stands here is captured under a name."""

    name: str


@dataclass(frozen=True, slots=True)
class Gap:
    """Anything may stand here, and nobody wants it."""


Part: TypeAlias = Words | Space | Hole | Gap


def parts_of_literals(literals: Iterable[str]) -> tuple[Part, ...]:
    """A delimiter that is given as it is, perhaps in several spellings."""
    spellings = tuple(dict.fromkeys(literals))
    if len(spellings) == 1:
        return tuple(_joined([Words(spellings)]))
    return (Words(spellings),)


def parts_of_pattern(pattern: str) -> tuple[Part, ...]:
    """A delimiter that is given as a pattern."""
    if len(pattern) > _LONGEST_PATTERN:
        raise NotTaken("is too long")
    try:
        tree = _parser.parse(pattern, re.DOTALL)
    except (re.error, RecursionError, OverflowError) as error:
        raise NotTaken(f"is no regular expression ({error})") from None
    if tree.state.flags & re.IGNORECASE:
        raise NotTaken("takes small letters for capital ones")
    names = {number: name for name, number in tree.state.groupdict.items()}
    return tuple(_joined(_Taking(names).sequence(tree)))


def may_explode(pattern: str) -> bool:
    """Whether a pattern has a repeat inside of another one: it may then take for ever."""
    try:
        return _has_nested_repeats(_parser.parse(pattern, re.DOTALL), False)
    except (re.error, RecursionError, OverflowError):
        return True


def _has_nested_repeats(tree: Any, repeated: bool) -> bool:
    """`tree`: a pattern's, or any part of it."""
    if isinstance(tree, tuple) and len(tree) == 2 and tree[0] in _REPEATS:
        _, most, inside = tree[1]
        return (repeated and most > 1) or _has_nested_repeats(inside, repeated or most > 1)
    if isinstance(tree, (tuple, list, _parser.SubPattern)):
        return any(_has_nested_repeats(item, repeated) for item in tree)
    return False


class _Taking:
    """Takes a pattern's tree apart."""

    def __init__(self, names: dict[int, str]) -> None:
        self._names = names

    def sequence(self, tree: Iterable[tuple[Any, Any]]) -> list[Part]:
        return [part for kind, value in tree for part in self._parts(kind, value)]

    def _parts(self, kind: Any, value: Any) -> Sequence[Part]:
        if kind is _ops.LITERAL:
            return (Words((chr(value),)),)
        if kind in (_ops.IN, _ops.ANY, _ops.NOT_LITERAL):
            return (_one_character(kind, value),)
        if kind in _REPEATS:
            return self._repeat(*value)
        if kind is _ops.SUBPATTERN:
            number, added, _, inside = value
            if added & re.IGNORECASE:
                raise NotTaken("takes small letters for capital ones")
            name = self._names.get(number)
            return self.sequence(inside) if name is None else (Hole(name),)
        if kind is getattr(_ops, "ATOMIC_GROUP", None):
            return self.sequence(value)
        if kind is _ops.BRANCH:
            return (_choice([_joined(self.sequence(branch)) for branch in value[1]]),)
        if kind is _ops.AT:
            return ()  # an edge of the text, or of a word
        raise NotTaken(
            "refers to what it has captured"
            if kind is _ops.GROUPREF
            else "looks ahead, or back, to what it does not match"
        )

    def _repeat(self, fewest: int, most: Any, tree: Any) -> Sequence[Part]:
        inside = _joined(self.sequence(tree))
        if (fewest, most) == (0, 1) and len(_trimmed(inside)) == 1:
            inside = list(_trimmed(inside))  # white space counts for nothing
        if all(_is_space(part) for part in inside):
            return (Space(),)
        if (fewest, most) == (1, 1):
            return inside
        one = inside[0] if len(inside) == 1 else None
        if isinstance(one, Words) and (fewest, most) == (0, 1):
            return (Words(one.spellings, optional=True),)
        if isinstance(one, Words) and fewest == most <= _LONGEST_REPEAT and not one.optional:
            return _joined([one] * fewest)
        if len(tree) == 1 and tree[0][0] in (_ops.IN, _ops.ANY, _ops.NOT_LITERAL):
            return (Gap(),)
        raise NotTaken("repeats something that is neither white space nor a set of characters")


def _one_character(kind: Any, value: Any) -> Part:
    """One character of a set: white space; or one of a few; or whichever it is."""
    if kind is not _ops.IN:
        return Gap()
    characters = [chr(item) for what, item in value if what is _ops.LITERAL]
    spaces = [item for what, item in value if (what, item) == (_ops.CATEGORY, _ops.CATEGORY_SPACE)]
    if len(characters) + len(spaces) < len(value):
        return Gap()
    if all(character.isspace() for character in characters):
        return Space()
    if spaces or len(characters) > _MOST_CHARACTERS:
        return Gap()
    return Words(tuple(characters))


def _choice(branches: Sequence[Sequence[Part]]) -> Part:
    """One of several literals. Where there may be none, it is optional; white space does not count."""
    spellings: list[str] = []
    optional = False
    for branch in branches:
        inside = _trimmed(branch)
        if not inside:
            optional = True
        elif len(inside) == 1 and isinstance(inside[0], Words):
            spellings += inside[0].spellings
            optional = optional or inside[0].optional
        else:
            raise NotTaken("has a choice between more than literals in it")
    if not spellings:
        return Space()
    return Words(tuple(dict.fromkeys(spellings)), optional)


def _is_space(part: Part) -> bool:
    return isinstance(part, Space) or (
        isinstance(part, Words) and all(not spelling.strip() for spelling in part.spellings)
    )


def _trimmed(parts: Sequence[Part]) -> Sequence[Part]:
    inside = list(parts)
    while inside and _is_space(inside[-1]):
        inside.pop()
    while inside and _is_space(inside[0]):
        inside.pop(0)
    return inside


def _joined(parts: Iterable[Part]) -> list[Part]:
    """The same with literals that follow one another as one, and those of several tags as several."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, Words) and isinstance(last, Words) and _belong(last, part):
            found[-1] = _product(last, part)
        else:
            found.append(part)
    return [piece for part in found for piece in _split(part)]


def _belong(one: Words, other: Words) -> bool:
    """Whether two literals in a row are one; an optional one of some length is a delimiter by itself."""
    return all(not w.optional or len(w.spellings[0]) == 1 for w in (one, other))


def _product(one: Words, other: Words) -> Words:
    pairs = [(*w.spellings, "") if w.optional else w.spellings for w in (one, other)]
    spellings = tuple(dict.fromkeys("".join(pair) for pair in product(*pairs)))
    if len(spellings) > _MOST_SPELLINGS:
        raise NotTaken(f"has more than {_MOST_SPELLINGS} spellings")
    return Words(tuple(filter(None, spellings)), optional="" in spellings)


def _split(part: Part) -> list[Part]:
    if not isinstance(part, Words) or len(part.spellings) > 1 or part.optional:
        return [part]
    pieces: list[Part] = []
    for literal in _BETWEEN_TAGS.sub(">\0<", part.spellings[0]).split("\0"):
        pieces += [Space(), Words((literal,))] if pieces else [Words((literal,))]
    return pieces
