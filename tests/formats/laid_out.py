"""Formats with a layout, as a user might describe them: any shape, delimiters of many kinds."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume
from hypothesis import strategies as st
from toolwire import (
    BareKeys,
    CallId,
    Elements,
    ElementTypes,
    Format,
    JsonCalls,
    Labels,
    Layout,
    NamedJson,
    Pythonic,
    Tag,
    Tags,
    TypeMark,
    Wrapper,
)
from toolwire.shapes import Shape

#: What is around calls: each opens and closes in its own way.
PAIRS = [
    ("<call>", "</call>"),
    ("<|call|>", "<|/call|>"),
    ("[CALL]", "[/CALL]"),
    ("｜調｜", "｜終｜"),
    ("<KEY>", "</KEY>"),
    ("@@do ", "@@done"),
    ("<NAME K=V>", "</NAME K=V>"),
]
SPACE = st.sampled_from(["", "\n", " ", "\n\n"])
WORDS = st.sampled_from(["name", "tool", "K", "V", "NAME", "fn", "函数"])


@st.composite
def laid_out(draw: st.DrawFn) -> Format:
    """A format that can be read and written."""
    outer, inner = draw(st.permutations(PAIRS))[:2]
    nested = draw(st.booleans())
    wrappers = tuple(Wrapper((o,), (c,)) for o, c in ((outer, inner) if nested else (inner,)))
    shape_and_layout = draw(draw(st.sampled_from([way for ways in WAYS.values() for way in ways])))
    # A delimiter with two meanings: nobody could read that.
    openers = {spelling for wrapper in wrappers for spelling in wrapper.open}
    assume(shape_and_layout.layout.key_begin not in openers)
    layout = replace(
        shape_and_layout.layout,
        call_begin=inner[0] + draw(SPACE) + shape_and_layout.layout.call_begin,
        call_end=shape_and_layout.layout.call_end + draw(SPACE) + inner[1],
        separator=draw(SPACE),
    )
    if nested:
        layout = replace(
            layout,
            section_begin=outer[0] + draw(SPACE),
            section_end=draw(SPACE) + outer[1],
        )
    return replace(shape_and_layout, wrappers=wrappers, layout=layout)


def _format(shape: object, layout: Layout) -> Format:
    return Format(name="mine", shape=shape, layout=layout)  # type: ignore[arg-type]


@st.composite
def _json(draw: st.DrawFn) -> Format:
    name, arguments = draw(st.permutations(["name", "tool", "args", "with", "K", "V"]))[:2]
    colon, comma = draw(st.sampled_from([(": ", ", "), (":", ","), (": ", ",\n  ")]))
    ids = [None, CallId('"id": "', f'"{comma}', "before_name", first=draw(st.integers(0, 1)))]
    return _format(
        JsonCalls(name_keys=(name,), argument_keys=(arguments,)),
        Layout(
            call_begin="{",
            id=draw(st.sampled_from(ids)),
            name_begin=f'"{name}"{colon}"',
            name_end=f'"{comma}',
            arguments_begin=f'"{arguments}"{colon}',
            arguments_end="}",
            compact=draw(st.booleans()),
            sorted_keys=draw(st.booleans()),
        ),
    )


@st.composite
def _named(draw: st.DrawFn) -> Format:
    separator = draw(st.sampled_from(["[ARGS]", "<|args|>", "=>", "｜"]))
    id_separator = draw(st.sampled_from(["", "[ID]", "<|id|>"]))
    return _format(
        NamedJson(separator=(separator,), id_separator=(id_separator,) if id_separator else ()),
        Layout(
            name_end=draw(st.sampled_from(["", "\n"])) if not id_separator else "",
            id=CallId(id_separator, first=draw(st.sampled_from([None, 0])))
            if id_separator
            else None,
            arguments_begin=separator,
            compact=draw(st.booleans()),
        ),
    )


@st.composite
def _labels(draw: st.DrawFn) -> Format:
    name, arguments = draw(st.permutations(["name", "tool", "args", "with", "K"]))[:2]
    return _format(
        Labels(name_label=name, argument_labels=(arguments,)),
        Layout(name_begin=f"{name}: ", name_end="\n", arguments_begin=f"{arguments}: "),
    )


@st.composite
def _tags(draw: st.DrawFn) -> Format:
    """The name in the call's tag, a tag for each parameter."""
    call, parameter = draw(st.permutations(["do", "fn", "with", "K", "V", "value"]))[:2]
    quote = draw(st.sampled_from(["", '"', "'"]))
    lines = draw(st.booleans())
    edge = "\n" if lines else ""
    space = draw(st.sampled_from(["", "\n"]))
    typed = TypeMark(' string="', '"', "true", "false") if quote and draw(st.booleans()) else None
    return _format(
        Tags(
            call=Tag((f"<{call}=",)),
            parameter=Tag((f"<{parameter} name=",)),
            parameter_close=(f"</{parameter}>",),
            close=(f"</{call}>",),
            value_on_own_lines=lines,
        ),
        Layout(
            name_begin=f"<{call}={quote}",
            name_end=f"{quote}>{space}",
            key_begin=f"<{parameter} name={quote}",
            key_end=quote,
            type=typed,
            value_begin=f">{edge}",
            value_end=f"{edge}</{parameter}>{space}",
            arguments_end=f"</{call}>",
            python_words=draw(st.booleans()),
        ),
    )


@st.composite
def _pairs(draw: st.DrawFn) -> Format:
    """A tag for each key and one for each value."""
    key, value = draw(st.permutations(["k", "v", "KEY", "VALUE", "arg", "NAME"]))[:2]
    gap, space = draw(SPACE), draw(SPACE)
    separator = draw(st.sampled_from(["", "<sep>"]))
    return _format(
        Tags(
            call=None,
            parameter=Tag((f"<{key}>",), end=f"<{value}>", key_close=f"</{key}>"),
            parameter_close=(f"</{value}>",),
            separator=(separator,) if separator else (),
        ),
        Layout(
            name_end=separator + space,
            key_begin=f"<{key}>",
            key_end=f"</{key}>{gap}",
            value_begin=f"<{value}>",
            value_end=f"</{value}>{space}",
        ),
    )


@st.composite
def _trees(draw: st.DrawFn) -> Format:
    """An element for each parameter, and for each of its parts."""
    call, element = draw(st.permutations(["do", "fn", "with", "value", "arg"]))[:2]
    types = draw(st.sampled_from([ElementTypes("type"), ElementTypes("is", "text", "any")]))
    by_name = Elements(call, item="each", marker="@@")
    shape = draw(st.sampled_from([by_name, Elements(call, element, types=types)]))
    return _format(
        shape,
        Layout(
            name_begin=f'{shape.marker}<{call} name="',
            name_end='">',
            arguments_end=f"{shape.marker}</{call}>",
        ),
    )


@st.composite
def _bare(draw: st.DrawFn) -> Format:
    quote = draw(st.sampled_from(['<|"|>', "<esc>", "''"]))
    prefix = draw(st.sampled_from(["call:", "do "]))
    return _format(
        BareKeys(quote=quote, prefix=prefix),
        Layout(name_begin=prefix, sorted_keys=draw(st.booleans())),
    )


@st.composite
def _python(draw: st.DrawFn) -> Format:
    return _format(
        Pythonic(),
        Layout(
            call_begin="[",
            call_end="]",
            arguments_begin="(",
            arguments_end=")",
            python_words=draw(st.booleans()),
        ),
    )


#: How formats of each shape may look. A shape that goes without wrappers has no place here.
WAYS: dict[type[Shape], list[st.SearchStrategy[Format]]] = {
    JsonCalls: [_json()],
    NamedJson: [_named()],
    Labels: [_labels()],
    Tags: [_tags(), _pairs()],
    Elements: [_trees()],
    BareKeys: [_bare()],
    Pythonic: [_python()],
}
