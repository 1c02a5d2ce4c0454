"""Formats as a user might describe them: any shape, with delimiters of any kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from hypothesis import strategies as st
from toolwire import Format, Wrapper
from toolwire.shapes import (
    BareKeys,
    CallText,
    Elements,
    ElementTypes,
    JsonCalls,
    Labels,
    NamedJson,
    Pythonic,
    Shape,
    Tag,
    Tags,
)

from ..support import filled

#: What a TOML file can hold.
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
#: What delimiters look like, and what TOML has to escape.
LITERALS = st.one_of(
    st.sampled_from(["<call>", "</call>", "<|call|>", "[CALL]", "｜調｜", '<|"|>', "C:\\\n"]),
    st.sampled_from(["'''", '"""', "\x7f", "\r\n", "\n", " "]),
    # A gap by itself is none. (Hypothesis also draws what stands in the code.)
    TEXT.filter(lambda text: text and "…" not in text),
)
#: A delimiter may have gaps.
DELIMITERS = st.one_of(LITERALS, st.sampled_from(["<x{:…}>", "[y …]", "<z{ab…} {cd…}|>"]))
SPELLINGS = st.lists(DELIMITERS, min_size=1, max_size=3).map(tuple)
LABELS = st.lists(LITERALS, min_size=1, max_size=3).map(tuple)
MAYBE = st.one_of(st.just(()), SPELLINGS)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True)


def beginning(begin: str, spellings: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Delimiters that begin alike: so what opens can be told from what closes."""
    return spellings.map(lambda several: tuple(begin + literal for literal in several))


CLOSERS = beginning("/", MAYBE)
JSON_CALLS = st.builds(
    JsonCalls,
    name_keys=LABELS,
    argument_keys=LABELS,
    name_is_key=st.booleans(),
    python=st.booleans(),
    no_call=st.one_of(st.just(()), st.just(("f",))),
)
DRIFT = st.one_of(st.just(JsonCalls()), JSON_CALLS)
HEADERS = st.sampled_from(["", r"(?P<name>\w+)", r"""functions\.(?P<name>['"]?.+?)"""])
INNERS = st.sampled_from([r"(?P<name>\w+)", "(?P<name>.+)\n"])


WORDS = st.sampled_from(["k", "f", "call", "item", "v:é", "name", "type", "]["])


def tags(begin: st.SearchStrategy[Any]) -> st.SearchStrategy[Tag]:
    return st.one_of(
        st.builds(Tag, begin),
        st.builds(Tag, begin, LITERALS),
        st.builds(Tag, begin, LITERALS, st.just(""), INNERS, st.sampled_from(["[^<]*", "x?"])),
        st.builds(Tag, begin, DELIMITERS, DELIMITERS),
        st.builds(Tag, begin, type_attribute=NAMES, escaped=st.booleans()),
        st.builds(Tag, begin, DELIMITERS, DELIMITERS, type_begin=DELIMITERS, type_end=DELIMITERS),
    )


SHAPES: dict[type, st.SearchStrategy[Shape]] = {
    JsonCalls: JSON_CALLS,
    NamedJson: st.builds(NamedJson, MAYBE, MAYBE, HEADERS, DRIFT, MAYBE),
    Labels: st.builds(Labels, LITERALS, LABELS, DRIFT),
    Tags: st.builds(
        Tags,
        st.one_of(st.none(), tags(beginning("[", SPELLINGS))),
        tags(SPELLINGS),
        SPELLINGS,
        CLOSERS,
        MAYBE,
        st.booleans(),
        DRIFT,
        MAYBE,
        st.one_of(st.just(()), st.just(("k",))),
    ),
    Elements: st.builds(
        Elements,
        WORDS,
        st.one_of(st.just(""), WORDS),
        WORDS,
        st.one_of(st.just(""), LITERALS.map(lambda literal: "[" + re.sub(r"\s", "", literal))),
        st.one_of(st.none(), st.builds(ElementTypes, WORDS, *[WORDS] * 4)),
        DRIFT,
    ),
    BareKeys: st.builds(BareKeys, LITERALS, LITERALS, DRIFT),
    Pythonic: st.just(Pythonic()),
    CallText: st.just(CallText()),
}


@st.composite
def user_formats(draw: st.DrawFn, shapes: st.SearchStrategy[Shape]) -> Format:
    """A format without an example, since a format has to read its own."""
    shape = draw(shapes)
    bare = bool(shape.bare_start) and draw(st.booleans())
    fewest, most = (0, 0) if isinstance(shape, CallText) else (0 if bare else 1, 3)
    return Format(
        name=draw(NAMES),
        shape=shape,
        wrappers=tuple(
            Wrapper(draw(beginning(f"<{level}", SPELLINGS)), draw(CLOSERS))
            for level in range(draw(st.integers(fewest, most)))
        ),
        bare=bare,
        aliases=draw(st.lists(NAMES, max_size=2).map(tuple)),
        models=draw(TEXT),
        inline=bool(shape.heads) and draw(st.booleans()),
    )


def literals_in(value: Any) -> Iterator[str]:
    """Every delimiter of a format, and every key and label."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from literals_in(item)
    elif is_dataclass(value):
        patterns = ("header", "inner", "unfinished")
        for field in fields(value):
            if field.name not in patterns:
                yield from literals_in(getattr(value, field.name))


#: What calls and texts are made of, beside a format's delimiters.
COMMON = [
    '<call name="f">', "<k>", "</k>", "</", 'name="k" ', 'type="',
    *'"{}[](),:\n >`', "f", "f\n", "f(k=1)", "call:f{", "functions.f", "name: f\n", "```", '"name"',
    '{"name": "f", "arguments": {"k": "v"}}', "Some text. ",
]  # fmt: skip


@st.composite
def formats_and_texts(draw: st.DrawFn, shapes: st.SearchStrategy[Shape]) -> tuple[Format, str]:
    """A format, and a text made of its delimiters and of what is often around them."""
    spec = draw(user_formats(shapes))
    gap = draw(st.sampled_from(["", "a1"]))
    literals = {
        *literals_in(spec.wrappers),
        *literals_in(spec.shape),
        *spec.shape.heads,
        *spec.shape.closers,
        *spec.shape.inner_delimiters,
    }
    own = sorted({filled(literal, gap) for literal in literals})
    return spec, "".join(draw(st.lists(st.sampled_from([*own, *own, *COMMON]), max_size=12)))
