"""The files that `toolwire new-format` writes: a format's TOML, and its tests."""

from __future__ import annotations

import json
import pprint
import re
from collections.abc import Mapping
from string import Template
from typing import Any

from ..core.format import Format
from ..core.samples import Sample
from ..errors import ToolwireError
from ..formats.toml_specs import dump_format
from ..openai.message import Message, parse
from ..shapes import ALL, Shape
from ..shapes.find_json import same_json

HEADING = (
    "# How a model writes its tool calls. docs/adding-a-format.md says what the keys mean.\n\n"
)

#: A format to be filled in. It works as it stands, for calls like the sample below.
SKELETON = Template(
    HEADING
    + """name = "$name"
# aliases = ["another_name"]
# models = "My Model 1 and 2"

# One call, with NAME and {…} where calls differ. In tags: NAME, K and V.
example = '<tool_call>{"name": "NAME", "arguments": {…}}</tool_call>'

# Calls may also stand without what is around them, at the start of a line:
# bare = true

# What stands around calls, outermost first; a list where there are several spellings.
[[wrappers]]
open = "<tool_call>"
close = "</tool_call>"

# How a call itself is written:
$kinds
[shape]
kind = "json_calls"
"""
)

SKELETON_SAMPLE = Sample(
    'Let me look.\n<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>',
    (("get_weather", {"city": "Oslo"}),),
)

TEST = Template(
    '''"""Does $name.toml read what the model writes, however it comes?

Made by `toolwire new-format`, and yours to change. Needs toolwire and pytest.
"""

import json
import re
from pathlib import Path

import pytest
from toolwire.formats.toml_specs import load_formats
from toolwire.openai import DeltaStream, accumulate

SPEC = Path(__file__).with_name("$name.toml")
FORMAT = load_formats(SPEC.read_text(encoding="utf-8"), SPEC.name)[0]

#: The tools of the request. Their types say what is a number and what is text.
TOOLS = $tools

#: What the model wrote, and what has to come of it: the text that is left (None: none), the calls.
EXAMPLES = $examples

#: Words that are markup beside those of the format: ids, the names of code fences.
MARKUP = $markup

each_example = pytest.mark.parametrize(
    ("written", "content", "calls"), EXAMPLES.values(), ids=list(EXAMPLES)
)


def read(chunks):
    stream = DeltaStream(FORMAT, TOOLS)
    deltas = [delta for chunk in chunks for delta in stream.feed(chunk)]
    message = accumulate(deltas + stream.finish())
    return message.content, [(call.name, call.load()) for call in message.tool_calls]


@each_example
def test_all_at_once(written, content, calls):
    assert read([written]) == (content, calls)


@each_example
def test_one_character_at_a_time(written, content, calls):
    assert read(list(written)) == (content, calls)


@each_example
def test_every_split_into_two(written, content, calls):
    step = max(1, len(written) // 2000)  # very long texts are not split everywhere
    for place in range(1, len(written), step):
        assert read([written[:place], written[place:]]) == (content, calls), place


@each_example
def test_nothing_is_lost(written, content, calls):
    """Every word is in the text, in a call, or markup."""
    text, found = read([written])
    kept = f"{text} {found} {json.dumps(found)} {json.dumps(found, ensure_ascii=False)}"
    known = set(re.findall(r"\\w+", f"{kept} {FORMAT.wrappers} {FORMAT.shape}")) | MARKUP
    assert set(re.findall(r"\\w+", written)) <= known
'''
)


def skeleton(name: str) -> str:
    return SKELETON.substitute(name=name, kinds="\n".join(map(_kind_line, ALL)))


def _kind_line(shape: type[Shape]) -> str:
    """A shape as a comment: its kind, what it looks like, and its keys."""
    return f"#   {shape.kind():<12} {shape.looks:<38} {', '.join(shape.field_names())}".rstrip()


def spec_text(spec: Format) -> str:
    return HEADING + dump_format(spec)


def test_text(spec: Format, examples: Mapping[str, Sample], tools: list[Any] | None) -> str:
    """The tests of a format. Where it does not read an example yet, the text to expect is left open."""
    expected = {}
    markup: set[str] = set()
    for source, sample in examples.items():
        message = parse(spec, sample.text, tools)
        reads = same_json(calls_of(message), sample.calls)
        expected[source] = (sample.text, message.content if reads else None, list(sample.calls))
        if reads:
            markup |= _other_words(spec, sample, message.content)
    return TEST.substitute(
        name=spec.name,
        tools=_literal(tools),
        examples=_literal(expected),
        markup=_literal(markup),
    )


def calls_of(message: Message) -> list[tuple[str, dict[str, Any]]]:
    """The calls, if all of them can be read."""
    try:
        return [(call.name, call.load()) for call in message.tool_calls]
    except ToolwireError:
        return []


def _other_words(spec: Format, sample: Sample, content: str | None) -> set[str]:
    """The words of a sample that are in no text, no call, and not in the format either."""
    calls = list(sample.calls)
    kept = f"{content} {calls} {json.dumps(calls)} {json.dumps(calls, ensure_ascii=False)}"
    known = re.findall(r"\w+", f"{kept} {spec.wrappers} {spec.shape}")
    return set(re.findall(r"\w+", sample.text)) - set(known)


def _literal(value: Any) -> str:
    return pprint.pformat(value, width=96, sort_dicts=False)
