"""`constrain`: in which format calls will be written, and when there is a grammar. (What the grammar
allows is tested where xgrammar is: with the engines.)"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import toolwire
from toolwire import BareKeys, Format, Layout, Wrapper, constrain, get_format, list_formats

from ..in_pieces import constrain_in_pieces

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
    tag = str(constrain_in_pieces("glm47", [tool("look", schema)], "required").tag)
    places = [tag.index(f"<arg_key>{key}'") for key in "abc"]
    assert places == sorted(places)


def test_keys_that_are_written_in_order_are_asked_for_in_order() -> None:
    """Also in objects further in."""
    item = {"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "string"}}}
    schema = {"type": "object", "properties": {"to": item, "at": {"type": "string"}}}
    hermes = get_format("hermes")
    ordered = replace(hermes, layout=replace(hermes.written, sorted_keys=True))
    asked = str(constrain_in_pieces(ordered, [tool("look", schema)], "required").tag)
    assert asked.index('"at"') < asked.index('"to"') < asked.index('"a"') < asked.index('"z"')
    asked = str(constrain_in_pieces(hermes, [tool("look", schema)], "required").tag)
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


# -- what is alike is there once, so that it is compiled once ---------------------------------------


def pieces_of(piece: Any) -> list[dict[str, Any]]:
    """All pieces of a grammar, wherever they are."""
    inner = piece.values() if isinstance(piece, dict) else piece if isinstance(piece, list) else ()
    found = [one for part in inner for one in pieces_of(part)]
    return [piece, *found] if isinstance(piece, dict) and "type" in piece else found


def test_what_all_calls_begin_and_end_with_stands_there_once() -> None:
    many = [tool(f"look_{number}") for number in range(20)]
    for choice, times in (("required", 1), ("auto", 2)):  # in auto it is the trigger, too
        asked = json.dumps(constrain("hermes", many, choice).tag)
        assert (asked.count("<tool_call>"), asked.count("</tool_call>")) == (times, 1)


def test_equal_properties_are_equal_pieces_whatever_is_around_them() -> None:
    """Required or not, first or not, described or not, with a schema's words in any order."""
    page = {"type": "integer", "minimum": 1}
    named = {"minimum": 1, "description": "Which page.", "type": "integer"}
    schemas = [
        {
            "type": "object",
            "properties": {"page": page, "q": {"type": "string"}},
            "required": ["q"],
        },
        {
            "type": "object",
            "properties": {"q": {"type": "string"}, "page": named},
            "required": ["q"],
        },
        {
            "type": "object",
            "properties": {"a": {"type": "null"}, "page": page},
            "required": ["page"],
        },
    ]
    many = [tool(f"look_{number}", schema) for number, schema in enumerate(schemas)]
    tag = constrain_in_pieces("hermes", many, "required", parallel=False).tag
    pages = [
        json.dumps(piece)
        for piece in pieces_of(tag)
        if piece["type"] == "sequence" and piece["elements"][0].get("value") == '"page": '
    ]
    assert (len(pages), len(set(pages))) == (3, 1)


def test_one_special_token_stands_for_all_literals_that_have_it_inside() -> None:
    for name, marks in (("deepseek_v3_2", 2), ("kimi_k3", 2), ("gigachat35", 2)):
        tag = constrain_in_pieces(name, [LOOK], "required").tag
        excluded = [piece["excludes"] for piece in pieces_of(tag) if "excludes" in piece]
        assert [len(literals) for literals in excluded] == [marks] * len(excluded) != []


def test_schemas_that_refer_to_themselves_are_left_to_xgrammar() -> None:
    """They would have no end; and many optional parts in one another would be very many pieces."""
    tree = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}
    wide: Any = {"type": "string"}
    for _ in range(3):
        wide = {"type": "object", "properties": {f"p{number}": wide for number in range(9)}}
    for schema in (tree, wide):
        tag = constrain_in_pieces("hermes", [tool("look", schema)], "required").tag
        assert [p["type"] for p in pieces_of(tag) if "json_schema" in p] == ["json_schema"]
