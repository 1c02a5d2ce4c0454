"""Four times the text, four times the steps: whatever stands many times in a row, and wherever.

Steps are calls of functions, of Python's own too: they are the same on every machine, busy or not. What
happens inside one call of a pattern is proven by `test_patterns`; times are in `benchmarks/core.py`.
"""

from __future__ import annotations

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import Parser, constrain, get_format, list_formats
from toolwire.schema.json_schema import SchemaReading, too_deep

from .core.generate import delimiters
from .core.thinking import MARKED, closers, openers, style_in, styles_of
from .support import TOOLS, tool
from .writers import WRITERS

COMMON = [
    *" \n\"'\\<>=a1({[]},:`./-é|", "</", "\n<", 'a="', 'string="true" ', '{"name": "add", ', "add(",
    "a=1, ", "<a>", "</a>", "```", "0_", '"a" ', "\\u00e9", '"a": ', "é日", "\r\n",
]  # fmt: skip
CALLS = [("write_file", {"path": "a b", "content": "x"}), ("add", {"a": 1})]


def steps(work: Any, *arguments: Any) -> int:
    """How many calls of functions `work` takes."""
    count = 0

    def called(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += 1

    sys.setprofile(called)
    try:
        work(*arguments)
    finally:
        sys.setprofile(None)
    return count


def read(format: str, text: str, size: int, reasoning: Any = None) -> None:
    parser = Parser(format, TOOLS, reasoning)
    for i in range(0, len(text), size):
        parser.feed(text[i : i + size])
    parser.finish()


def test_steps_are_counted() -> None:
    def quadratic(n: int) -> None:
        for i in range(n):
            for _ in range(i):
                abs(0)

    assert steps(quadratic, 400) > 12 * steps(quadratic, 100)


@pytest.mark.parametrize("format", list_formats())
@given(data=st.data())
def test_what_comes_many_times(format: str, data: st.DataObject) -> None:
    text = f"Yes.\n{WRITERS[format](CALLS)}\nDone."
    marks = delimiters(get_format(format))
    units = [*COMMON, *marks, *(mark[:-1] for mark in marks if len(mark) > 1)]
    place = data.draw(st.integers(0, len(text)))
    unit = "".join(data.draw(st.lists(st.sampled_from(units), min_size=1, max_size=3)))
    size = data.draw(st.sampled_from([1, 5, 100_000]))
    few, many = (text[:place] + unit * count + text[place:] for count in (50, 200))
    read(format, many, size)  # what is made once for a format is made now
    assert steps(read, format, many, size) < 5 * steps(read, format, few, size) + 500


@pytest.mark.parametrize("format", MARKED)
@given(data=st.data())
def test_what_comes_many_times_in_thoughts(format: str, data: st.DataObject) -> None:
    """Also calls and their openers, which may be just mentioned, and blocks of thoughts."""
    reasoning = data.draw(styles_of(format), "style")
    style, call = style_in(format, reasoning), WRITERS[format](CALLS)
    begin, end = openers(style)[0], closers(style)[0]
    text = f"{begin}Hm.\n{call}\nso {end}Yes. {begin}again{end}\n{call}\n{begin}\n{call}"
    marks = [*delimiters(get_format(format)), *openers(style), *closers(style)]
    whole = [f"\n{call}", f"{begin}a{end}", f"{begin}a{end}\n{call}", f"`{begin}` "]
    units = [*COMMON, *marks, *(mark[:-1] for mark in marks if len(mark) > 1), *whole]
    place = data.draw(st.integers(0, len(text)))
    unit = "".join(data.draw(st.lists(st.sampled_from(units), min_size=1, max_size=3)))
    size = data.draw(st.sampled_from([1, 5, 100_000]))
    few, many = (text[:place] + unit * count + text[place:] for count in (25, 100))
    read(format, many, size, reasoning)  # what is made once for a format is made now
    assert (
        steps(read, format, many, size, reasoning)
        < 5 * steps(read, format, few, size, reasoning) + 500
    )


# -- schemas --------------------------------------------------------------------------------------

INTEGER = {"type": "integer"}


def refer(i: int) -> dict[str, Any]:
    return {"$ref": f"#/$defs/d{i}"}


def schema(definitions: list[Any]) -> dict[str, Any]:
    numbered = {f"d{i}": each for i, each in enumerate(definitions)}
    return {"properties": {"a": refer(0)}, "$defs": numbered}


def chain(n: int) -> dict[str, Any]:
    return schema([*(refer(i + 1) for i in range(n)), INTEGER])


def diamonds(n: int) -> dict[str, Any]:
    return schema([*({"anyOf": [refer(i + 1), refer(i + 1)]} for i in range(n)), INTEGER])


def listed(n: int) -> dict[str, Any]:
    """Each level adds a value of its own to those below."""
    levels = [{"anyOf": [refer(i + 1), {"enum": [i]}]} for i in range(n)]
    return schema([*levels, {"enum": [1, 1.5]}])


def all_of(n: int) -> dict[str, Any]:
    return schema([*({"allOf": [refer(i + 1), refer(i + 1)]} for i in range(n)), INTEGER])


def circles(n: int) -> dict[str, Any]:
    return schema([{"anyOf": [refer((i + 1) % n), refer(0), INTEGER]} for i in range(n)])


def parameters(n: int) -> dict[str, Any]:
    """Many parameters of one kind, with many values."""
    values = [*range(n)]
    return {"properties": {f"p{i}": refer(0) for i in range(n)}, "$defs": {"d0": {"enum": values}}}


GRAPHS = (chain, diamonds, listed, all_of, circles, parameters)


def kinds(graph: dict[str, Any]) -> None:
    assert not too_deep(graph)
    reading = SchemaReading(graph)
    for value in reading.properties().values():
        reading.kind(value)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)
def test_a_schema_is_read_once(graph: Any) -> None:
    assert steps(kinds, graph(400)) < 5 * steps(kinds, graph(100)) + 500


@pytest.mark.parametrize("format", ["hermes", "qwen3_coder", "pythonic", "gemma4"])
@pytest.mark.parametrize(
    "graph", [chain, diamonds, listed, all_of, circles], ids=lambda graph: graph.__name__
)
def test_a_grammar_is_made_in_linear_time(format: str, graph: Any) -> None:
    def grammar(n: int) -> int:
        declared = [{"type": "function", "function": {"name": "f", "parameters": graph(n)}}]
        return steps(constrain, format, declared, "required")

    grammar(10)  # what is made once for a format is made now
    assert grammar(400) < 5 * grammar(100) + 500


def test_cliques() -> None:
    """Every definition refers to every other one: linear in the number of references."""

    def clique(n: int) -> dict[str, Any]:
        return schema([{"anyOf": [*map(refer, range(n)), INTEGER]} for _ in range(n)])

    assert steps(kinds, clique(40)) < 5 * steps(kinds, clique(20)) + 500


@pytest.mark.parametrize("graph", [chain, diamonds, listed, all_of, circles])
@pytest.mark.parametrize("size", [22, 10_000])
def test_a_long_way_to_a_type(graph: Any, size: int) -> None:
    declared = [{"type": "function", "function": {"name": "f", "parameters": graph(size)}}]
    text = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
    parser = Parser("qwen3_coder", declared)
    events = [*parser.feed(text), *parser.finish()]
    assert '{"a": 1}' in [getattr(event, "text", "") for event in events]


def test_many_values_and_many_calls() -> None:
    """A value is looked up among those that are allowed, not compared with each."""

    def calls(values: int, count: int) -> int:
        parser = Parser("qwen3_coder", [tool("f", a={"enum": [f"v{i}" for i in range(values)]})])
        call = (
            "<tool_call>\n<function=f>\n<parameter=a>\nv5\n</parameter>\n</function>\n</tool_call>"
        )
        parser.feed(call)  # here the values are read
        return steps(parser.feed, call * count)

    calls(10, 10)
    assert calls(5000, 100) == calls(10, 100)
