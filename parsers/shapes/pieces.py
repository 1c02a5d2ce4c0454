"""The pieces that grammars are put together from: parts of an xgrammar structural tag, as plain dicts.

xgrammar makes one rule of all pieces that are equal, wherever they stand. What a grammar costs to
compile grows with its rules and with the characters in them: the fewer and the more alike, the better.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from zlib import crc32

from ..core.shape import NotExpressible, Piece

#: Where nothing is required, any may be the first, and each makes an alternative of all that follow:
#: more of them than this would make a large grammar.
MOST_OPTIONAL = 40

_STRING = r"""root ::= "\"" text
text ::= ("\"" | [^"\\\x00-\x1f] text | "\\" ["\\/bfnrt] text | "\\u" hex hex hex hex text) (=behind)
behind ::= """.replace("hex", "[0-9a-fA-F]")
_NAMES = re.compile(r"\b(text|behind)\b")


def grammar(text: str) -> Piece:
    """A piece in xgrammar's notation: what `root` is, and further rules, whose names stand for what they
    say: the same in all pieces of a grammar."""
    return {"type": "grammar", "grammar": text}


@lru_cache
def _string_rules(behind: str) -> str:
    own = f"{crc32(behind.encode()):x}"
    return _NAMES.sub(rf"\g<1>_{own}", _STRING) + f"{behind}\n"


def json_string(behind: str) -> Piece:
    """Any string as JSON has it. xgrammar's own takes half as long again to compile.

    `behind` says, in xgrammar's notation, how what stands behind the string begins: most tokens that go
    on beyond its end are ruled out once then, and not whenever one is chosen. A rule that refers to
    no other one but itself (what stands behind it does not count) is compiled once for all grammars.
    """
    return grammar(_string_rules(behind))


#: A string in an object or a list.
STRING = json_string(r"[,}\]]")
#: A number, whole or not.
NUMBER = grammar(
    'root ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [+-]? [0-9]+)?\n',
)


def const(text: str) -> Piece:
    return {"type": "const_string", "value": text}


def sequence(*elements: Piece) -> Piece:
    """One after the other. What is a sequence itself becomes part of this one, and makes no rule."""
    joined: list[Piece] = []
    for element in elements:
        for part in element["elements"] if element["type"] == "sequence" else [element]:
            last = joined[-1] if joined else None
            if part["type"] == "const_string" and last and last["type"] == "const_string":
                joined[-1] = const(last["value"] + part["value"])
            elif part != _NOTHING:
                joined.append(part)
    if not joined:
        return _NOTHING
    alone = len(joined) == 1 and joined[0]["type"] != "sequence"
    return joined[0] if alone else {"type": "sequence", "elements": joined}


def unit(piece: Piece) -> Piece:
    """The same, and one rule also where it is part of a sequence: for what comes again elsewhere."""
    return {"type": "sequence", "elements": [piece]} if piece["type"] == "sequence" else piece


def shared(*elements: Piece) -> Piece:
    """One after the other, as a rule of its own, also where all is text: for what comes again elsewhere.
    xgrammar looks through its vocabulary at each character of a rule."""
    piece = sequence(*elements)
    if piece == _NOTHING:
        return piece
    return unit(piece if piece["type"] == "sequence" else {"type": "sequence", "elements": [piece]})


def either(*elements: Piece) -> Piece:
    different = [piece for place, piece in enumerate(elements) if piece not in elements[:place]]
    return different[0] if len(different) == 1 else {"type": "or", "elements": different}


def tag(begin: str, content: Piece, end: str) -> Piece:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def optional(content: Piece) -> Piece:
    if content["type"] == "sequence" and len(content["elements"]) == 1:
        content = content["elements"][0]
    return {"type": "optional", "content": content}


def repeated(content: Piece, separator: str, at_least_one: bool) -> Piece:
    """Any number of them."""
    return {
        "type": "tags_with_separator",
        "tags": [tag("", content, "")],
        "separator": separator,
        "at_least_one": at_least_one,
        "stop_after_first": False,
    }


def listed(required: Collection[str], values: Mapping[str, Piece], separator: str = "") -> Piece:
    """The required values and any of the optional ones, in the order of `values`."""
    values = {name: unit(value) for name, value in values.items()}
    names = list(values)
    if not separator:
        return sequence(*(values[n] if n in required else optional(values[n]) for n in names))

    def later(name: str) -> Piece:
        piece = sequence(const(separator), values[name])
        return piece if name in required else optional(piece)

    first = next((i for i, name in enumerate(names) if name in required), None)
    if first is not None:
        sooner = [optional(sequence(values[name], const(separator))) for name in names[:first]]
        return sequence(*sooner, values[names[first]], *map(later, names[first + 1 :]))
    if len(names) > MOST_OPTIONAL:
        raise NotExpressible("many optional parameters")
    starts = [
        sequence(values[name], *map(later, names[place + 1 :])) for place, name in enumerate(names)
    ]
    return optional(either(*starts)) if starts else _NOTHING


_NOTHING = const("")
