"""docs/adding-a-format.md: its file loads, and it names every key that there is."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from toolwire import CallId, Format, Layout, TypeMark, parse
from toolwire.formats.toml_specs import KINDS, load_formats
from toolwire.shapes import ElementTypes, Tag

PAGE = (Path(__file__).parents[2] / "docs" / "adding-a-format.md").read_text(encoding="utf-8")


def test_the_example_file() -> None:
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (spec,) = load_formats(text, "docs")
    (call,) = parse(spec, '<call>{"tool": "add", "arguments": {"a": 1}}<call_end>').tool_calls
    assert (spec.name, call.name, call.load()) == ("my_model", "add", {"a": 1})


def test_every_key_is_explained() -> None:
    for cls in (Format, Tag, ElementTypes, Layout, CallId, TypeMark, *KINDS.values()):
        for field in fields(cls):
            assert re.search(rf"`{field.name}`|{field.name} = |^ .*\b{field.name}\b", PAGE, re.M), (
                f"{cls.__name__}.{field.name}"
            )
    rows = {row[1]: row[0] for row in re.finditer(r"\| `(\w+)` \|.*", PAGE)}
    for kind, cls in KINDS.items():
        keys = {field.name for field in fields(cls)} - {"drift"}
        assert keys <= set(re.findall(r"`(\w+)`", rows[kind])), kind


def test_the_program() -> None:
    """What it asserts holds."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(program, "docs/adding-a-format.md", "exec"), {})
