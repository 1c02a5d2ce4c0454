"""Generated conversations: prose, calls, and the ways in which models get delimiters wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from toolwire import Format, get_format

from ..by_shape import ELEMENTS, TAGGED, UNTYPED_ELEMENTS
from ..support import filled
from ..writers import GAPS, WRITERS, Call

NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,9}", fullmatch=True)
KEYS = st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True)
NOT_IN_TEXT = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
#: strings full of what could be mistaken for structure
TRICKY = st.sampled_from(
    ['"', "\\", "\n", "{", "}", "[", "]", "(", ")", ",", "'", "</", "<", ">", "\\n", "\\u00e9", "`"]
)
TEXT = st.one_of(
    st.text(NOT_IN_TEXT, max_size=12),
    st.lists(st.one_of(TRICKY, st.sampled_from("ab é日😀 ")), max_size=10).map("".join),
)
NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))
SCALARS = st.one_of(TEXT, NUMBERS, st.booleans(), st.none())
NESTED = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
SPACE = st.text(" \n\t", max_size=3)
WORDS = st.lists(
    st.text("abcdefgh éü日", min_size=1, max_size=6).filter(str.strip), min_size=1, max_size=4
).map(lambda words: " ".join(words).strip())

JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array"}


def type_of(value: Any) -> str:
    if value is None:
        return "null"
    return JSON_TYPES.get(type(value), "object")


def schema_of(values: list[Any]) -> dict[str, Any]:
    """A schema that declares what these values are made of: every type that they have, at each place."""
    types = sorted({type_of(value) for value in values})
    schema: dict[str, Any] = {"type": types[0] if len(types) == 1 else types}
    items = [item for value in values if isinstance(value, list) for item in value]
    if items:
        schema["items"] = schema_of(items)
    members: dict[str, list[Any]] = {}
    for value in values:
        for key, member in value.items() if isinstance(value, dict) else ():
            members.setdefault(key, []).append(member)
    if members:
        schema["properties"] = {key: schema_of(several) for key, several in members.items()}
    return schema


def tools_for(calls: list[Call]) -> list[dict[str, Any]]:
    """Tools that declare what the calls use: each parameter may have every type it is given."""
    tools: dict[str, list[Any]] = {}
    for name, arguments in calls:
        tools.setdefault(name, []).append(arguments)
    return [
        {
            "type": "function",
            "function": {"name": name, "parameters": {"properties": {}, **schema_of(arguments)}},
        }
        for name, arguments in tools.items()
    ]


def writable(format: str, value: Any) -> bool:
    """Whether `value` can be written in `format` at all, without saying something else."""
    if isinstance(value, dict):
        return all(writable(format, v) for v in value.values())
    if isinstance(value, list):
        return all(writable(format, v) for v in value)
    if not isinstance(value, str):
        return True
    if format == "qwen3_coder" and value.endswith("\r"):
        return False  # with the newline that its template writes behind a value: a newline
    if format in TAGGED or format in ELEMENTS:  # closers can't be escaped
        return "</" not in value
    return not (format in ("gemma4", "functiongemma") and "<" in value)


#: Values that a schema tells from one another at every place, with no help from how they are written.
UNIFORM = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.dictionaries(KEYS, inner, max_size=3),
        *(st.lists(each, max_size=3) for each in (TEXT, NUMBERS, st.booleans())),
        st.lists(st.lists(TEXT, max_size=2), max_size=2),
        st.lists(st.dictionaries(KEYS, TEXT, max_size=2), max_size=2),
    ),
    max_leaves=4,
)


def arguments_for(format: str) -> st.SearchStrategy[dict[str, Any]]:
    values = (UNIFORM if format in UNTYPED_ELEMENTS else NESTED).filter(
        lambda value: writable(format, value)
    )
    if format in TAGGED:  # between tags a string is told from JSON only by its declared type
        values = values.filter(lambda value: not isinstance(value, str) or type_of(value))
    return st.dictionaries(KEYS, values, max_size=3)


def calls_for(format: str, min_size: int = 1) -> st.SearchStrategy[list[Call]]:
    # Each name once: where a name's parameters have several types, text is told from JSON by
    # what it looks like; and a repeat is no call in call text.
    calls = st.tuples(NAMES, arguments_for(format))
    return st.lists(calls, min_size=min_size, max_size=3, unique_by=lambda call: call[0])


@dataclass(frozen=True)
class Conversation:
    """Pieces in order: ("prose", text) or ("call", text)."""

    pieces: tuple[tuple[str, str], ...]
    calls: tuple[Call, ...]

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces)

    @property
    def content(self) -> str | None:
        """What the rules say about whitespace at a call's edge, written down a second time."""
        if not self.calls:
            return self.text or None
        kept = []
        for i, (kind, text) in enumerate(self.pieces):
            if kind == "call":
                continue
            before, after = self.pieces[:i], self.pieces[i + 1 :]
            called = any(k == "call" for k, _ in before)
            spoken = any(k == "prose" and t.strip() for k, t in before)
            more = any(k == "prose" and t.strip() for k, t in after)
            body = text.strip()
            if not body:
                kept.append(text if more and (not called or spoken) else "")
                continue
            start = text.index(body)
            lead, trail = text[:start], text[start + len(body) :]
            kept.append(lead if not called or spoken else "")
            kept.append(body)
            kept.append(trail if more else "")
        return "".join(kept) or None


@st.composite
def conversations(draw: st.DrawFn, format: str) -> Conversation:
    calls = draw(calls_for(format, min_size=0))
    pieces: list[tuple[str, str]] = []
    for call in calls:
        if pieces or draw(st.booleans()):  # neighbours need something between them
            pieces.append(("prose", draw(prose(before_call=True))))
        pieces.append(("call", WRITERS[format]([call]).strip("\n")))
    if draw(st.booleans()) or not pieces:
        pieces.append(("prose", draw(prose(before_call=False))))
    return Conversation(tuple(pieces), tuple(calls))


@st.composite
def prose(draw: st.DrawFn, before_call: bool) -> str:
    """Words between spaces; a newline before a call, since bare ones begin a line."""
    words = draw(st.one_of(st.just(""), WORDS))
    return draw(SPACE) + words + draw(SPACE) + ("\n" if before_call else "")


def delimiters(spec: Format) -> list[str]:
    own = spec.delimiters
    found = [*own.starts.spellings, *own.closes.spellings, *spec.shape.inner_delimiters]
    found = list(dict.fromkeys(filled(mark, GAPS.get(spec.name, "")) for mark in found))
    if spec.channels:
        found += [*spec.channels.tokens, *spec.channels.body, *spec.channels.end]
    if not found and spec.name != "json":  # JSON mode has none but JSON's own
        found = ["[", "(", ")"]
    return found


def tags_of(format: str) -> list[str]:
    """What stands around two parameters: whole tags, where `delimiters` has how they begin."""
    text = WRITERS[format]([("f", {"k": "VALUE", "l": "VALUE"})])
    return re.split("VALUE", text) if get_format(format).shape.inner_delimiters else []


@st.composite
def broken(draw: st.DrawFn, format: str) -> tuple[str, list[str], list[Call]]:
    """A conversation with its delimiters cut, dropped, doubled or inserted, and the words in it
    that no reading may lose."""
    own = delimiters(get_format(format))
    count = 0

    def word() -> str:
        nonlocal count
        count += 1
        return f"w{count}w"

    pieces = []
    calls: list[Call] = []
    for i in range(draw(st.integers(1, 3))):
        pieces.append(word() + "\n")
        calls.append((f"tool{i}", {"x": word(), "y": f"{word()} {word()}"}))
        pieces.append(WRITERS[format](calls[-1:]).strip("\n"))
        pieces.append("\n" + word())
    text = "".join(pieces)
    for _ in range(draw(st.integers(0, 3 if own else 0))):
        mark = draw(st.sampled_from(own))
        place = text.find(mark, draw(st.integers(0, len(text))))
        change = draw(st.sampled_from(["drop", "double", "insert", "part"]))
        if change == "insert" or place < 0:
            place = draw(st.integers(0, len(text)))
            text = text[:place] + mark + text[place:]
        elif change == "drop":
            text = text[:place] + text[place + len(mark) :]
        elif change == "double":
            text = text[:place] + mark + text[place:]
        else:
            text = text[:place] + text[place + draw(st.integers(1, len(mark))) :]
    if draw(st.booleans()):
        text = text[: draw(st.integers(0, len(text)))]
    words = [f"w{i}w" for i in range(1, count + 1)]
    return text, [w for w in words if w in text], calls


def soup(format: str) -> st.SearchStrategy[str]:
    """The format's own delimiters, JSON's, and a few words, in any order."""
    own = delimiters(get_format(format))
    parts = [d[: len(d) // 2] for d in own] + own + tags_of(format)
    common = [
        '"', "\\", "{", "}", "[", "]", "(", ")", ",", ":", ";", "=", "\n", " ", "\r\n", "`", "```",
        '{"name": "f", "arguments": {"k": "v"}}', '"name"', '"arguments"', "f", "g", "1", "null",
        "f(k=", "'", "name: f\n", "arguments: {", "call:f{", "tool_calls", "é", "\ud800", "\0",
    ]  # fmt: skip
    return st.lists(st.sampled_from(parts + common), max_size=14).map("".join)
