"""docs/adding-a-format.md: its file loads, and it names every key that there is."""

from __future__ import annotations

import re
from dataclasses import fields

from toolwire import CallId, Format, Layout, TypeMark, parse
from toolwire.formats.toml_specs import KINDS, load_formats
from toolwire.shapes import ElementTypes, Tag

from ..engines.page_blocks import blocks, text_of

PAGE = text_of("docs/adding-a-format.md")
(LAYOUT,) = (b.code for b in blocks("docs/adding-a-format.md") if b.language == "text")
TOML = [block for block in blocks("docs/adding-a-format.md") if block.language == "toml"]


def test_the_example_file() -> None:
    (spec,) = load_formats(TOML[0].code, "docs")
    (call,) = parse(spec, '<call>{"tool": "add", "arguments": {"a": 1}}<call_end>').tool_calls
    assert (spec.name, call.name, call.load()) == ("my_model", "add", {"a": 1})


def test_the_style() -> None:
    (spec,) = load_formats(TOML[0].code + TOML[1].code, "docs")
    text = '<reflect>Hm.</reflect><call>{"tool": "add", "arguments": {}}</call>'
    message = parse(spec, text, reasoning=True)
    assert (message.reasoning, message.content) == ("Hm.", None)


def test_every_key_is_explained() -> None:
    for cls in (Format, Tag, ElementTypes, Layout, CallId, TypeMark, *KINDS.values()):
        for field in fields(cls):
            told = re.search(rf"`{field.name}`|{field.name} = ", PAGE)
            drawn = re.search(rf"\b{field.name}\b", LAYOUT)
            assert told or drawn, f"{cls.__name__}.{field.name}"
    rows = {row[1]: row[0] for row in re.finditer(r"\| `(\w+)` \|.*", PAGE)}
    for kind, cls in KINDS.items():
        keys = {field.name for field in fields(cls)} - {"drift"}
        assert keys <= set(re.findall(r"`(\w+)`", rows[kind])), kind
