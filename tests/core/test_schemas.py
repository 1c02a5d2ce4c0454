"""A JSON Schema is read once, for parsers and grammars alike."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import constrain, list_formats, parse
from toolwire.schema.json_schema import SchemaReading
from toolwire.schema.kinds import JSON_TYPES, PYTHON_TYPES
from toolwire.schema.nested import Place
from toolwire.schema.standalone import in_json_names
from toolwire.schema.tools import read_tools

from ..in_pieces import constrain_in_pieces
from ..support import tool

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
NAMES = st.sampled_from([*JSON_TYPES, *PYTHON_TYPES])
VALUES = st.sampled_from([None, True, 1, 2.5, "a", "int", {"type": "int"}, ["str"]])
SCHEMAS = st.recursive(
    st.one_of(
        st.just({}),
        st.fixed_dictionaries({"type": NAMES}),
        st.fixed_dictionaries({"type": st.lists(NAMES, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"enum": st.lists(VALUES, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"const": VALUES}),
        st.fixed_dictionaries({"type": NAMES, "default": VALUES}),
        st.just({"$ref": "#/$defs/d"}),
    ),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"type": NAMES, "items": inner}),
        st.fixed_dictionaries(
            {"properties": st.dictionaries(st.sampled_from(["type", "enum", "a"]), inner)}
        ),
    ),
    max_leaves=6,
)


def function(parameters: Any) -> list[Any]:
    return [{"type": "function", "function": {"name": "f", "parameters": parameters}}]


@st.composite
def parameters(draw: st.DrawFn) -> dict[str, Any]:
    keys = st.sampled_from(["a", "b", "type", "default"])
    found = {"type": "object", "properties": draw(st.dictionaries(keys, SCHEMAS, max_size=3))}
    if draw(st.booleans()):
        found["required"] = draw(st.lists(keys, unique=True, max_size=2))
    return found | {"$defs": {"d": draw(SCHEMAS)}}


# Names of types


@pytest.mark.parametrize(
    ("declared", "text", "value"),
    [
        ("int", "5", 5),
        ("float", "2.5", 2.5),
        ("bool", "True", True),
        ("dict", '{"a": 1}', {"a": 1}),
        ("list", "[1]", [1]),
        ("str", "5", "5"),
        (["int", "null"], "null", None),
    ],
)
def test_python_s_names_of_types(declared: Any, text: str, value: Any) -> None:
    tools = function({"properties": {"a": {"type": declared}}})
    written = f"<function=f>\n<parameter=a>\n{text}\n</parameter>\n</function>"
    (call,) = parse("qwen3_coder", written, tools).tool_calls
    assert call.load() == {"a": value}


@given(schema=SCHEMAS)
def test_either_name_of_a_type_says_the_same(schema: dict[str, Any]) -> None:
    before = copy.deepcopy(schema)
    named = in_json_names(schema)
    assert schema == before
    assert in_json_names(named) == named
    for one, other in zip(SchemaReading(schema).parts(), SchemaReading(named).parts(), strict=True):
        assert SchemaReading(one).types() == SchemaReading(other).types() <= JSON_TYPES
        assert SchemaReading(one).values() == SchemaReading(other).values()


def test_only_names_of_types_change_and_notes_go() -> None:
    kept = {
        "properties": {"type": {"const": {"type": "int"}}, "default": {"enum": ["int"]}},
        "required": ["type", "str"],
        "anyOf": [True, {"minLength": 1}],
    }
    assert in_json_names(kept) == kept
    notes = {"default": {"type": "int"}, "title": "str", "description": "x", "examples": [1]}
    assert in_json_names({**kept, **notes}) == kept
    named = {"properties": {name: {"minLength": 1} for name in notes}}  # parameters of these names
    assert in_json_names(named) == named
    changed = {
        "properties": {"default": {"type": "int"}, "type": {"type": ["str", "null", 5]}},
        "items": {"anyOf": [{"type": "list", "items": {"type": "dict"}}]},
    }
    assert in_json_names(changed) == json.loads(
        json.dumps(changed)
        .replace('"int"', '"integer"')
        .replace('"str"', '"string"')
        .replace('"list"', '"array"')
        .replace('"dict"', '"object"')
    )


def test_names_of_types_in_large_schemas() -> None:
    deep: Any = {"type": "int"}
    for _ in range(100_000):
        deep = {"items": deep}
    found = in_json_names(deep)
    while "items" in found:
        found = found["items"]
    assert found == INTEGER
    wide: Any = {"type": "int"}
    for _ in range(100):  # the same object in two places: as JSON it would be endless
        wide = {"anyOf": [wide, wide]}
    assert SchemaReading(in_json_names(wide)).types() == {"integer"}


# What a schema is put together from


def test_properties_and_what_is_required_come_from_all_parts() -> None:
    schema = {
        "$ref": "#/$defs/base",
        "properties": {"b": INTEGER},
        "required": ["b", "a"],
        "$defs": {"base": {"properties": {"a": STRING, "b": STRING}, "required": ["a", "c"]}},
    }
    reading = SchemaReading(schema)
    assert reading.properties() == {"b": INTEGER, "a": STRING}
    assert reading.required() == ["b", "a", "c"]


def test_references() -> None:
    defined = {"a": {"$ref": "#/$defs/b"}, "b": STRING, "c": {"$ref": "#/$defs/c"}, "d~/": INTEGER}
    reading = SchemaReading({"$defs": defined})
    assert reading.resolved({"$ref": "#/$defs/a"}) is defined["b"]
    assert reading.resolved({"$ref": "#/$defs/d~0~1"}) is defined["d~/"]
    assert reading.resolved(INTEGER) is INTEGER
    for nothing in ("#/$defs/c", "#/$defs/x", "https://example.com/x"):
        assert reading.resolved({"$ref": nothing}) is None
    assert reading.resolved(True) is None


def test_values_keep_their_order() -> None:
    parts = [{"const": "a"}, {"enum": ["b", "c"]}, {"anyOf": [{"const": 1}, {"const": 2}]}]
    assert SchemaReading({"anyOf": parts}).values() == ["a", "b", "c", 1, 2]


# Grammars


@pytest.mark.parametrize("format", list_formats())
@given(schema=parameters())
def test_a_grammar_knows_both_names_of_a_type(format: str, schema: Any) -> None:
    named = constrain(format, function(in_json_names(schema)), "required")
    assert constrain(format, function(schema), "required") == named


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"const": "a"}, INTEGER]},  # values, or something else
        {"$ref": "#/$defs/s", "maxLength": 3},  # more beside a reference
        {"$ref": "#/$defs/nothing"},
        {"$ref": "#/$defs/circle"},
        {"anyOf": [{"$ref": "#/properties/a"}, {"type": "null"}]},
        {"enum": ["a", "b"], "not": {"const": "a"}},
        {"anyOf": [STRING, {"allOf": [INTEGER]}]},
    ],
)
def test_what_tags_can_t_say_is_written_as_json(schema: Any) -> None:
    defined = {"s": STRING, "circle": {"$ref": "#/$defs/circle"}}
    tools = function({"properties": {"a": schema}, "$defs": defined})
    assert constrain("qwen3_coder", tools, "required").format == "json"


@pytest.mark.parametrize(
    ("schema", "texts"),
    [
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, ["a", "b"]),
        ({"$ref": "#/$defs/e"}, ["x", "1"]),
        ({"oneOf": [{"$ref": "#/$defs/e"}, {"const": "y"}]}, ["x", "1", "y"]),
    ],
)
def test_values_are_found_wherever_they_are_listed(schema: Any, texts: list[str]) -> None:
    tools = function(
        {"properties": {"a": schema}, "required": ["a"], "$defs": {"e": {"enum": ["x", 1]}}}
    )
    found = constrain_in_pieces("qwen3_coder", tools, "required")
    assert found.format == "qwen3_coder"
    told = json.dumps(found.tag)
    assert all(json.dumps({"type": "const_string", "value": text}) in told for text in texts)


# -- parts of values ------------------------------------------------------------------------------


def arguments(**properties: Any) -> Place:
    tools = read_tools([tool("f", **properties)])
    assert tools is not None
    return tools["f"].arguments


def types(place: Place) -> set[str]:
    return set(place.kind.types)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"k": {"type": "integer"}}},
        {"anyOf": [{"type": "null"}, {"properties": {"k": {"type": "integer"}}}]},
        {"allOf": [{"properties": {"k": {"type": "integer"}}}, {"properties": {"l": {}}}]},
        {"type": "object", "additionalProperties": {"type": "integer"}},
    ],
)
def test_the_members_of_an_object(schema: Any) -> None:
    place = arguments(a=schema).member("a")
    assert types(place.member("k")) == {"integer"}
    assert place.declares("k") == ("additionalProperties" not in schema)
    assert not place.declares("x")


def test_the_items_of_a_list() -> None:
    integers = {"type": "array", "items": {"type": "integer"}}
    place = arguments(a={"type": "array", "items": integers}, b={"anyOf": [integers, {}]})
    assert types(place.member("a").item().item()) == {"integer"}
    assert types(place.member("b").item()) == {"integer"}


@pytest.mark.parametrize("schema", [{}, True, "x", {"items": [{"type": "integer"}]}, {"items": 5}])
def test_where_nothing_is_said_nothing_is_known(schema: Any) -> None:
    place = arguments(a=schema)
    for part in (place.member("a").item(), place.member("a").member("k"), place.member("other")):
        assert not types(part)
        assert not part.declares("k")
        assert not types(part.item().member("k"))


def test_places_of_a_schema_that_refers_to_itself_are_made_when_they_are_asked_for() -> None:
    node = {"properties": {"size": {"type": "integer"}, "next": {"$ref": "#/$defs/Node"}}}
    declared = {"name": "f", "parameters": {**node, "$defs": {"Node": node}}}
    tools = read_tools([{"type": "function", "function": declared}])
    assert tools is not None
    place = tools["f"].arguments
    for _ in range(1000):
        place = place.member("next")
    assert types(place.member("size")) == {"integer"}
    assert place.member("next") is place.member("next")
