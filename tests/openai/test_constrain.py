"""`constrain`: in which format calls will be written, and when there is a grammar. (What the grammar
allows is tested where xgrammar is: with the engines.)"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import toolwire
from toolwire import BareKeys, Format, Layout, Wrapper, constrain, get_format, list_formats

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NARROW = {"type": "object", "properties": {"code": {"type": "string", "minLength": 2}}}


def tool(name: str, parameters: Any = CITY, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters, **more}}


LOOK, OTHER = tool("look"), tool("other")
NAMED = {"type": "function", "function": {"name": "other"}}


def names_in(tag: Any) -> set[str]:
    text = str(tag)
    return {name for name in ("look", "other") if f"{name}" in text}


@pytest.mark.parametrize("name", list_formats())
def test_forced_calls_are_in_the_models_own_format(name: str) -> None:
    """All but one: xgrammar knows no grammar of values as Python writes them."""
    found = constrain(name, [LOOK, OTHER], "required")
    own = "json" if name == "sarashina" else name
    assert (found.format, names_in(found.tag)) == (own, {"look", "other"})
    assert found.tag is not None
    assert found.tag["type"] == "structural_tag"
    spec = get_format(name)
    assert (constrain(spec, [LOOK], "required").format is spec) == (own == name)


@pytest.mark.parametrize("choice", [NAMED, {"type": "function", "name": "other"}])
def test_a_named_tool_is_the_only_one(choice: Any) -> None:
    found = constrain("hermes", [LOOK, OTHER], choice)
    assert names_in(found.tag) == {"other"}
    assert found == constrain("hermes", [OTHER], "required", parallel=False)


def test_what_the_format_cannot_say_is_asked_for_as_json() -> None:
    found = constrain("qwen3_coder", [tool("narrow", NARROW)], "required")
    assert found.format == "json"
    assert found.tag == constrain("json", [tool("narrow", NARROW)], "required").tag
    bare = toolwire.Format("mine", toolwire.JsonCalls(), (toolwire.Wrapper(("<x>",)),))
    assert constrain(bare, [LOOK], "required").format == "json"  # it has no layout


def test_auto_needs_a_marker_and_something_to_hold_the_model_to() -> None:
    strict = [tool("look", strict=True)]
    assert constrain("hermes", strict, "auto").tag is not None
    assert constrain("hermes", strict).tag == constrain("hermes", strict, None).tag
    assert constrain("call_text", strict, "auto").tag is None
    assert constrain("lfm2", [LOOK], "auto").tag is None  # free arguments have no end there
    assert constrain("lfm2", [LOOK], "auto", every_schema=True).tag is not None


@pytest.mark.parametrize(
    ("tools", "choice"), [([], "required"), (None, "auto"), ([LOOK], "none"), ([OTHER], "x")]
)
def test_nothing_to_hold_the_model_to(tools: Any, choice: Any) -> None:
    found = constrain("hermes", tools, choice)
    if choice != "x":  # an unknown choice is as none at all: engines have checked the request
        assert found.tag is None
    assert found.format == "hermes"


def test_the_order_of_arguments_is_the_schemas() -> None:
    properties = {"a": {"type": "string"}, "b": {"type": "integer"}, "c": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "required": ["c"]}
    tag = str(constrain("glm47", [tool("look", schema)], "required").tag)
    places = [tag.index(f"<arg_key>{key}</arg_key>") for key in "abc"]
    assert places == sorted(places)


def test_keys_that_are_written_in_order_are_asked_for_in_order() -> None:
    """Also in objects further in."""
    item = {"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "string"}}}
    schema = {"type": "object", "properties": {"to": item, "at": {"type": "string"}}}
    hermes = get_format("hermes")
    ordered = replace(hermes, layout=replace(hermes.written, sorted_keys=True))
    asked = str(constrain(ordered, [tool("look", schema)], "required").tag)
    assert asked.index('"at"') < asked.index('"to"') < asked.index('"a"') < asked.index('"z"')
    asked = str(constrain(hermes, [tool("look", schema)], "required").tag)
    assert asked.index('"to"') < asked.index('"z"') < asked.index('"a"') < asked.index('"at"')


def test_quotes_that_overlap_themselves_hold_no_free_text() -> None:
    """A text that ends in half a quote, and the quote behind it, would be read as a shorter text."""
    wrappers, layout = (Wrapper(("<c>",), ("</c>",)),), Layout(call_begin="<c>", call_end="</c>")
    formats = [
        Format(name="mine", shape=BareKeys(quote=quote), wrappers=wrappers, layout=layout)
        for quote in ("<q>", "''")
    ]
    found = [constrain(spec, [LOOK], "required").format for spec in formats]
    assert found == [formats[0], "json"]
