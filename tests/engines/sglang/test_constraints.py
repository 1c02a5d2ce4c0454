"""What SGLang's own FunctionCallParser asks of xgrammar, with our tags, and how it is read again."""

from __future__ import annotations

from typing import Any

import pytest
import toolwire
import xgrammar
from engine_cases import STRING, chunkings, tool, written
from engine_grammar import allows, make_compiler
from sglang.srt.entrypoints.openai.protocol import ToolChoice
from sglang.srt.environ import ToolStrictLevel, envs
from sglang_driving import make_parser, stream, whole
from toolwire import constrain
from toolwire.engines.sglang import plugin as sglang_plugin

FORMATS = toolwire.list_formats()
MISSION = ["hermes", "qwen3_coder", "special_token", "json", "labeled", "call_text"]
LOOK, OTHER = tool("look", city=STRING), tool("other", city=STRING)
NAMED = ToolChoice(function={"name": "other"})


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    sglang_plugin.register()


@pytest.fixture(scope="module")
def compiler() -> Any:
    return make_compiler()


def strict(declared: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {**declared["function"], "strict": True}}


def tag(name: str, tools: list[dict[str, Any]], choice: Any, parallel: bool = True) -> Any:
    """The tag of a request, as SGLang gets it; None where it leaves the model free."""
    parser = make_parser(f"toolwire_{name}", tools)
    found = parser.get_structure_constraint(choice, parallel_tool_calls=parallel)
    if found is None:
        return None
    kind, value = found
    assert kind == "structural_tag"
    return value


@pytest.mark.parametrize("name", FORMATS)
def test_the_tags_are_those_of_the_shared_builder(name: str, compiler: Any) -> None:
    spec = toolwire.get_format(name)
    for choice in ("required", NAMED):
        for parallel in (True, False):
            value = tag(name, [LOOK, OTHER], choice, parallel)
            expected = constrain(spec, [LOOK, OTHER], choice, parallel=parallel).tag
            assert value == xgrammar.StructuralTag.model_validate(expected)
            compiler.compile_structural_tag(value)


@pytest.mark.parametrize("name", MISSION)
def test_forced(name: str, compiler: Any) -> None:
    tools = [LOOK, OTHER]
    assert allows(compiler, tag(name, tools, "required"), written(name, "look"))
    assert allows(compiler, tag(name, tools, NAMED), written(name, "other"))
    assert not allows(compiler, tag(name, tools, NAMED), written(name, "look"))
    assert not allows(compiler, tag(name, tools, "required"), "No.")


@pytest.mark.parametrize("name", FORMATS)
def test_auto_is_free_unless_asked(name: str) -> None:
    assert tag(name, [LOOK, OTHER], "auto") is None


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "special_token", "labeled"])
def test_auto_with_a_strict_tool(name: str, compiler: Any) -> None:
    value = tag(name, [strict(LOOK)], "auto")
    good = written(name, "look")
    assert allows(compiler, value, "No call.")
    assert allows(compiler, value, f"Well. {good}")
    assert not allows(compiler, value, f"Well. {good.replace('city', 'town')}")
    with envs.SGLANG_TOOL_STRICT_LEVEL.override(ToolStrictLevel.PARAMETER):
        assert tag(name, [LOOK], "auto") == value


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "special_token", "labeled"])
def test_auto_with_one_call_only(name: str, compiler: Any) -> None:
    value = tag(name, [LOOK], "auto", parallel=False)
    good = written(name, "look")
    assert allows(compiler, value, f"Well. {good}")
    assert not allows(compiler, value, f"Well. {good}\n{good}")


@pytest.mark.parametrize("name", ["call_text", "json", "pythonic"])
def test_auto_stays_free_where_nothing_marks_a_call(name: str) -> None:
    assert tag(name, [strict(LOOK)], "auto") is None


@pytest.mark.parametrize("choice", ["required", ToolChoice(function={"name": "narrow"})])
def test_what_a_format_cannot_express_is_written_and_read_as_json(
    choice: Any, compiler: Any
) -> None:
    narrow = tool("narrow", code={"type": "string", "minLength": 2})
    text = written("json", "narrow").replace("city", "code")
    assert allows(compiler, tag("qwen3_coder", [narrow], choice), text)
    expected = [("narrow", '{"code": "Oslo"}')]
    for pieces in chunkings(text):
        got = stream(make_parser("toolwire_qwen3_coder", [narrow], choice), pieces)
        assert (got.calls, got.content) == (expected, None)
    got = whole(make_parser("toolwire_qwen3_coder", [narrow], choice), text)
    assert (got.calls, got.content) == (expected, None)
