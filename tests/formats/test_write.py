"""`write`: what is written is read back, for every format, and is what others write, too."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import toolwire
from hypothesis import given
from hypothesis import strategies as st
from toolwire import (
    Format,
    Layout,
    Message,
    ToolCall,
    ToolwireError,
    Wrapper,
    get_format,
    list_formats,
)
from toolwire.formats.toml_specs import dump_format, load_formats
from toolwire.formats.write import reads_what_it_writes
from toolwire.templates import list_templates, render

from ..core.generate import tools_for
from ..real_schemas import TOOLS, calls
from ..writers import BY_HAND
from .laid_out import laid_out

each_format = pytest.mark.parametrize("name", list_formats())
DECLARED = list(TOOLS.values())


def same(message: Message, given_calls: list[dict[str, Any]]) -> bool:
    """Whether a message is these calls and nothing else. 1 is neither 1.0 nor true."""
    got = [(call.name, json.loads(call.arguments), call.complete) for call in message.tool_calls]
    wanted = [(call["name"], call["arguments"], True) for call in given_calls]
    text = [json.dumps(some, sort_keys=True) for some in (got, wanted)]
    return message.content is None and text[0] == text[1]


def written(format: str | Format, some: list[dict[str, Any]]) -> str | None:
    """The text; None where the format says that it can't write these calls, and names an argument."""
    try:
        return toolwire.write(format, some, DECLARED)
    except ToolwireError as error:
        sentence = str(error)
        keys = [repr(key) for call in some for key in call["arguments"]]
        assert any(key in sentence for key in keys) or "together" in sentence, sentence
        return None


@each_format
@given(some=calls())
def test_what_is_written_is_read_back(name: str, some: list[dict[str, Any]]) -> None:
    text = written(name, some)
    if name == "call_text" and len({json.dumps(call) for call in some}) < len(some):
        assert text is None  # a repeat disappears there, so it can't be written
    elif text is not None:
        assert same(toolwire.parse(name, text, DECLARED), some)


@given(spec=laid_out(), some=calls())
def test_formats_of_users_are_read_back_too(spec: Format, some: list[dict[str, Any]]) -> None:
    assert load_formats(dump_format(spec), "my.toml") == [spec]
    text = written(spec, some)
    if text is not None:
        assert same(toolwire.parse(spec, text, DECLARED), some)


@pytest.mark.parametrize("name", [n for n in list_formats() if n not in ("call_text",)])
def test_ordinary_calls_can_be_written(name: str) -> None:
    """What is refused is odd: plain values of every type are not."""
    arguments = {"text": "two words", "number": 5, "share": 0.5, "yes": True, "none": None}
    arguments |= {"list": [1, "a"], "object": {"k": "v"}}  # type: ignore[dict-item]
    some = [{"name": "f", "arguments": arguments}, {"name": "f", "arguments": {}}] * 2
    assert same(toolwire.parse(name, toolwire.write(name, some), tools_of(some)), some)


def tools_of(some: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return tools_for([(call["name"], call["arguments"]) for call in some])


# -- second opinions ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(BY_HAND))
@given(some=calls())
def test_it_is_what_the_tests_own_writers_write(name: str, some: list[dict[str, Any]]) -> None:
    text = written(name, some)
    if text is not None:
        assert text == BY_HAND[name]([(call["name"], call["arguments"]) for call in some])


@pytest.mark.parametrize("template", [t for t in list_templates() if t.frame == "chatml"], ids=str)
@given(some=calls())
def test_it_is_what_the_chat_templates_write(template: Any, some: list[dict[str, Any]]) -> None:
    text = written(template.format, some)
    if text is None:
        return
    entries = [
        {"id": f"call_{i}", "type": "function", "function": call} for i, call in enumerate(some)
    ]
    question = {"role": "user", "content": "?"}
    shown = render(template.name, [question, {"role": "assistant", "tool_calls": entries}])
    assert text in shown


# -- calls, as they are given ---------------------------------------------------------------------

CITY = {"city": "Oslo"}
HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


class Function:
    name = "get_weather"
    arguments = '{"city": "Oslo"}'


class SdkCall:
    """As OpenAI's client has it."""

    id = "call_1"
    function = Function()


@pytest.mark.parametrize(
    "call",
    [
        {"name": "get_weather", "arguments": CITY},
        {"name": "get_weather", "arguments": '{"city": "Oslo"}'},
        {"id": "x", "type": "function", "function": {"name": "get_weather", "arguments": CITY}},
        {"function": {"name": "get_weather", "arguments": '{"city":"Oslo"}'}},
        ToolCall("call_1", "get_weather", '{"city": "Oslo"}'),
        SdkCall(),
    ],
)
def test_a_call_may_be_given_in_many_ways(call: Any) -> None:
    assert toolwire.write("hermes", [call]) == HERMES
    assert toolwire.write(get_format("hermes"), iter([call])) == HERMES


@pytest.mark.parametrize("arguments", [None, "", "{}", {}])
def test_no_arguments(arguments: Any) -> None:
    text = toolwire.write("hermes", [{"name": "f", "arguments": arguments}])
    assert text == '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    assert toolwire.write("hermes", []) == ""


def test_ids() -> None:
    own = [{"name": "f", "arguments": {}, "id": "abc123XYZ"}] * 2
    assert "functions.f:0<" in toolwire.write("kimi_k2", own)
    assert "functions.f:1<" in toolwire.write("kimi_k2", own)
    kept = toolwire.write("kimi_k2", [{"name": "f", "arguments": {}, "id": "functions.f:7"}])
    assert toolwire.parse("kimi_k2", kept).tool_calls[0].id == "functions.f:7"
    assert "begin|>abc123XYZ<|tool_call:name|>f<" in toolwire.write("solar_open", own)
    assert '{"tool_call_id": "1", "tool_name": "f"' in toolwire.write("cohere", own)


@pytest.mark.parametrize(
    ("some", "sentence"),
    [
        ("f(x)", "write() takes a list of calls, not str."),
        ({"name": "f"}, "write() takes a list of calls, not dict."),
        ([{}], "calls[0] has no name: a call is"),
        ([5], "calls[0] has no name"),
        ([{"name": "f", "arguments": "{"}], "calls[0], a call to 'f': its arguments are not JSON."),
        ([{"name": "f", "arguments": [1]}], "its arguments must be an object, not [1]."),
        ([{"name": "f", "arguments": {"a": {1, 2}}}], "the argument 'a' is no JSON value."),
        ([{"name": "f", "arguments": {"a": float("inf")}}], "the argument 'a' is no JSON value."),
    ],
)
def test_mistakes_are_one_sentence(some: Any, sentence: str) -> None:
    with pytest.raises(ToolwireError) as caught:
        toolwire.write("hermes", some)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("qwen3_coder", "a</parameter>\n</function>\n</tool_call>"),
        ("seed_oss", "</parameter>\n<parameter=b>"),
        ("glm47", "</arg_value></tool_call>"),
        ("gemma4", 'a<|"|>b'),
    ],
)
def test_what_a_format_cannot_say_is_named(name: str, value: str) -> None:
    with pytest.raises(ToolwireError, match=rf"{name} can't write the argument 'b' of 'f'"):
        toolwire.write(name, [{"name": "f", "arguments": {"a": "fine", "b": value}}])


def test_a_format_without_a_layout_says_so() -> None:
    spec = Format("mine", get_format("hermes").shape, get_format("hermes").wrappers)
    assert spec.example == ""
    with pytest.raises(ToolwireError, match="mine does not say how its calls are laid out"):
        toolwire.write(spec, [{"name": "f", "arguments": {}}])


@each_format
def test_the_example_is_what_is_written(name: str) -> None:
    spec = get_format(name)
    assert isinstance(spec.layout, Layout)
    (call,) = toolwire.parse(name, spec.example.replace("{…}", "{}")).tool_calls
    assert call.name == "NAME"


@given(st.data())
def test_a_written_call_costs_nothing_of_its_text(data: st.DataObject) -> None:
    """Written into a conversation, prose before the calls stays what it was."""
    name = data.draw(st.sampled_from(list_formats()))
    some = data.draw(calls(most=2))
    text = written(name, some)
    if text is not None:
        message = toolwire.parse(name, f"Let me see.\n{text}", DECLARED)
        assert (message.content or "").strip() == "Let me see."
        assert len(message.tool_calls) == len(some)


def test_a_layout_that_does_not_fit_is_refused_when_it_is_registered() -> None:
    hermes = get_format("hermes")
    other = replace(hermes, name="mine_unfit", aliases=(), wrappers=(Wrapper(("<x>",), ("</x>",)),))
    with pytest.raises(ToolwireError, match="The layout of mine_unfit does not fit its wrappers"):
        toolwire.register_format(other)
    assert "mine_unfit" not in list_formats()


@each_format
def test_layouts_of_our_own_fit(name: str) -> None:
    assert reads_what_it_writes(get_format(name))
