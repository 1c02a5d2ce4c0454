"""What a constraint lets a model write is always a call that fits its tool's schema.

No model is asked here: xgrammar itself says which characters may come next, and chance chooses among
them. Whatever comes out has to be read by the parser as calls, and only calls, with valid arguments.
"""

from __future__ import annotations

import json
from typing import Any

import engine_cases
import jsonschema
import pytest
import toolwire
import xgrammar
from engine_grammar import make_compiler, walk
from toolwire import constrain
from toolwire.openai.constrain import uses_own_format
from toolwire.shapes import Pythonic

SHORT = {"type": "string", "maxLength": 6}
SMALL = {"type": "integer", "minimum": -20, "maximum": 200}
PLAIN = {
    "type": "object",
    "properties": {
        "city": SHORT,
        "days": SMALL,
        "unit": {"type": "string", "enum": ["C", "F", "two words"]},
        "exact": {"type": "boolean"},
        "note": {"type": ["string", "null"], "maxLength": 5},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
NESTED = {
    "$defs": {"point": {"type": "object", "properties": {"x": SMALL}, "required": ["x"]}},
    "type": "object",
    "properties": {
        "at": {"$ref": "#/$defs/point"},
        "tags": {"type": "array", "items": SHORT, "maxItems": 2},
        "level": {"enum": [1, 2, "high"]},
    },
    "additionalProperties": False,
}
#: A least length can't be kept between tags.
NARROW = {
    "type": "object",
    "properties": {"code": {"type": "string", "minLength": 2, "maxLength": 4}},
    "required": ["code"],
    "additionalProperties": False,
}
EMPTY = {"type": "object", "properties": {}, "additionalProperties": False}


def tool(name: str, parameters: Any, strict: bool = False) -> dict[str, Any]:
    function = {"name": name, "parameters": parameters, "strict": strict}
    return {"type": "function", "function": function}


SIMPLE = {
    "type": "object",
    "properties": {k: PLAIN["properties"][k] for k in ("city", "days", "unit")},  # type: ignore[index]
    "required": ["city", "unit"],
    "additionalProperties": False,
}
TOOLS = [tool("plain", PLAIN), tool("nested", NESTED), tool("empty", EMPTY)]
SCHEMAS = {"simple": SIMPLE, "plain": PLAIN, "nested": NESTED, "empty": EMPTY, "narrow": NARROW}
FORMATS = toolwire.list_formats()


@pytest.fixture(scope="module")
def compiler() -> Any:
    return make_compiler()


def check_calls(format_name: str, text: str, tools: list[dict[str, Any]]) -> list[str]:
    message = toolwire.parse(format_name, text, tools)
    assert message.content is None, text
    assert message.tool_calls, text
    for call in message.tool_calls:
        assert call.complete, text
        jsonschema.validate(json.loads(call.arguments), SCHEMAS[call.name])
    return [call.name for call in message.tool_calls]


#: xgrammar knows no grammar of values as Python writes them.
AS_JSON = {"sarashina"}


@pytest.mark.parametrize("name", FORMATS)
def test_required(name: str, compiler: Any) -> None:
    simple = [tool("simple", SIMPLE), tool("empty", EMPTY)]
    assert (constrain(name, simple, "required").format == name) == (name not in AS_JSON)
    for tools in (simple, TOOLS, TOOLS[:1], TOOLS[1:2]):
        found = constrain(name, tools, "required")
        assert found.tag is not None
        for seed in range(12):
            check_calls(found.format, walk(compiler, found.tag, seed), tools)


@pytest.mark.parametrize("name", FORMATS)
def test_named(name: str, compiler: Any) -> None:
    found = constrain(name, TOOLS, {"type": "function", "function": {"name": "plain"}})
    assert found.tag is not None
    for seed in range(6):
        text = walk(compiler, found.tag, seed)
        assert check_calls(found.format, text, TOOLS) == ["plain"]


@pytest.mark.parametrize("name", FORMATS)
def test_one_call_only(name: str, compiler: Any) -> None:
    found = constrain(name, TOOLS, "required", parallel=False)
    assert found.tag is not None
    for seed in range(6):
        text = walk(compiler, found.tag, seed)
        assert len(check_calls(found.format, text, TOOLS)) == 1


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_format_cannot_express_is_asked_for_as_json(name: str, compiler: Any) -> None:
    tools = [tool("narrow", NARROW)]
    found = constrain(name, tools, "required")
    assert found.tag is not None
    assert found.format in (name, "json")
    for seed in range(6):
        check_calls(found.format, walk(compiler, found.tag, seed), tools)


@pytest.mark.parametrize("name", FORMATS)
def test_ordinary_tools_are_called_in_the_models_own_format(name: str) -> None:
    assert uses_own_format(toolwire.get_format(name)) == (name not in AS_JSON)


@pytest.mark.parametrize("name", FORMATS)
def test_auto_is_free_until_a_call_begins(name: str, compiler: Any) -> None:
    """A strict tool in `auto`: prose passes, and so does a call that fits, but no other."""
    spec = toolwire.get_format(name)
    strict = [tool("simple", SIMPLE, strict=True)]
    tag = constrain(spec, strict, "auto").tag
    if tag is None:
        assert not spec.wrappers or spec.bare  # nothing marks where a call begins
        return
    compiled = compiler.compile_structural_tag(xgrammar.StructuralTag.model_validate(tag))
    matcher = xgrammar.GrammarMatcher(compiled)
    assert matcher.accept_string("No call here.")
    forced = constrain(spec, strict, "required", parallel=False).tag
    assert forced is not None
    for seed in range(4):
        call = walk(compiler, forced, seed)
        matcher.reset()
        assert matcher.accept_string(f"Well. {call}"), call
        matcher.reset()
        assert not matcher.accept_string(f"Well. {call.replace('simple', 'other')}")


@pytest.mark.parametrize("name", FORMATS)
def test_auto_without_strict_holds_only_the_shape(name: str, compiler: Any) -> None:
    """Where the operator asks for it: the example passes, whatever its arguments."""
    spec = toolwire.get_format(name)
    tag = constrain(spec, engine_cases.TOOLS, "auto").tag
    if tag is None:
        assert not spec.wrappers or spec.bare or isinstance(spec.shape, Pythonic)
        return
    compiled = compiler.compile_structural_tag(xgrammar.StructuralTag.model_validate(tag))
    matcher = xgrammar.GrammarMatcher(compiled)
    assert matcher.accept_string(f"Well. {engine_cases.written(name)}")
    matcher.reset()
    unknown = engine_cases.written(name).replace("get_weather", "unknown")
    assert not matcher.accept_string(f"Well. {unknown}")


def test_no_tools_no_constraint() -> None:
    spec = toolwire.get_format("hermes")
    assert constrain(spec, [], "required").tag is None
    assert constrain(spec, TOOLS, "none").tag is None
    assert constrain(spec, TOOLS, {"type": "function", "function": {"name": "unknown"}}).tag is None
