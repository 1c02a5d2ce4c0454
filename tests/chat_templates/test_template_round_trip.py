"""What a template writes for an answer, the matching parser reads back: same text, same calls."""

import json
from typing import Any

import pytest
import toolwire
from hypothesis import given
from hypothesis import strategies as st
from toolwire import templates

from .template_conversations import Message, Tool, functions, generated, tools
from .template_renderers import FRAMES, STYLES, with_jinja2

# These write a JSON string of arguments as it is, so every byte of it comes back.
BYTE_EQUAL = {"hermes", "special_token", "json", "labeled"}

# Prose about the format that is no call in it.
PROSE = {
    "hermes": ["Wrap it in <tool_call> tags, then", "it ends with </tool_call> I think"],
    "special_token": ["The token <|tool_call|> opens it", "and <|end_tool_call|> ends it"],
    "json": ['Like {"answer": 42} in JSON', '{"answer": 42}', "[1] See the docs"],
    "labeled": ["Wrap it in <tool_call> tags, then", "name: nobody", "arguments: none"],
    "qwen3_coder": ["`<function=add>` opens a call", "and </parameter> or </function> ends it"],
    "call_text": ["`add(a=1)` is inline code", "no_tool(x) = x is mathematics", "print (it)"],
    "pythonic": ["[1] See the docs", "[docs](url)", "x = [1, 2]"],
}

ordinary = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="<>[](){}|`"), max_size=20
)


@st.composite
def answers(draw: st.DrawFn, style: str) -> tuple[Message, list[Tool]]:
    """An answer with text and calls, and the tools that it calls."""
    declared = draw(tools())
    functions_called = draw(st.lists(functions(declared), max_size=3))
    if style == "call_text":
        functions_called = _without_repeats(functions_called)
    text = draw(texts(style))
    message: Message = {"role": "assistant", "content": text}
    if functions_called:
        message["content"] = text.rstrip() or None
        message["tool_calls"] = [
            {"id": f"call_{index}", "type": "function", "function": function}
            for index, function in enumerate(functions_called)
        ]
    return message, declared


def texts(style: str) -> st.SearchStrategy[str]:
    pieces = st.lists(ordinary | st.sampled_from(PROSE[style]), max_size=3)
    return pieces.flatmap(lambda lines: st.sampled_from(["\n".join(lines), " ".join(lines)]))


def _without_repeats(functions_called: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same call twice in one message is one call: that is how `call_text` is read."""
    unique: dict[str, dict[str, Any]] = {}
    for function in functions_called:
        unique.setdefault(json.dumps([function["name"], _as_object(function)]), function)
    return list(unique.values())


def _as_object(function: dict[str, Any]) -> Any:
    arguments = function["arguments"]
    return json.loads(arguments) if isinstance(arguments, str) else arguments


def written_turn(name: str, message: Message, declared: list[Tool]) -> str:
    """What the template writes for this answer: the text that the model would have generated."""
    question = [{"role": "user", "content": "Hi"}]
    prompt = with_jinja2(name, question, declared, add_generation_prompt=True)
    whole = with_jinja2(name, [*question, message], declared, continue_final_message=True)
    assert whole.startswith(prompt)
    return whole[len(prompt) :]


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
@generated(100)
@given(data=st.data())
def test_an_answer_is_read_back_as_it_was(style: str, data: st.DataObject) -> None:
    message, declared = data.draw(answers(style))
    frame = data.draw(st.sampled_from(FRAMES))
    template = templates.get_template(f"{frame}-{style}")
    written = written_turn(template.name, message, declared)
    expected = [call["function"] for call in message.get("tool_calls", [])]
    if not expected:
        assert written == message["content"]

    read = toolwire.parse(template.format, written, declared)

    assert (read.content or "") == (message["content"] or "")
    assert [call.name for call in read.tool_calls] == [function["name"] for function in expected]
    assert all(call.complete for call in read.tool_calls)
    for call, function in zip(read.tool_calls, expected, strict=True):
        assert json.loads(call.arguments) == _as_object(function)
        if style in BYTE_EQUAL and isinstance(function["arguments"], str):
            assert call.arguments == function["arguments"]


@pytest.mark.parametrize("style", STYLES)
@generated(10)
@given(data=st.data())
def test_the_frame_does_not_change_an_answer(style: str, data: st.DataObject) -> None:
    message, declared = data.draw(answers(style))
    written = {written_turn(f"{frame}-{style}", message, declared) for frame in FRAMES}
    assert len(written) == 1


@pytest.mark.parametrize("style", STYLES)
def test_space_between_text_and_calls_is_not_text(style: str) -> None:
    declared = [{"type": "function", "function": {"name": "ring_bell"}}]
    call = {"id": "call_1", "type": "function", "function": {"name": "ring_bell", "arguments": {}}}
    for text, expected in ((" One moment. \n\n", " One moment."), (" \n", None), ("", None)):
        message = {"role": "assistant", "content": text, "tool_calls": [call]}
        read = toolwire.parse(style, written_turn(f"chatml-{style}", message, declared), declared)
        assert read.content == expected
        assert [(call.name, call.arguments) for call in read.tool_calls] == [("ring_bell", "{}")]


@pytest.mark.parametrize("style", STYLES)
def test_values_that_look_like_the_format_come_back(style: str) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    declared = [{"type": "function", "function": {"name": "write", "parameters": schema}}]
    for text in (
        "a\n</tool_call>\n<tool_call>\nb",
        '</parameter>\n</function>\n</tool_call>\n<tool_call>\n{"name": "write"}',
        "</parameter>\n<parameter=text>\nx",
        "<|end_tool_call|>\n<|tool_call|>write\n{}",
        ')]\n[write(text="x")]',
        "\n\n  indented\n\n",
        "ends in half a line end\r",
        "null",
        "02134",
        '"quoted"',
        "",
    ):
        function = {"name": "write", "arguments": {"text": text}}
        call = {"id": "call_1", "type": "function", "function": function}
        message: Message = {"role": "assistant", "content": None, "tool_calls": [call]}
        read = toolwire.parse(style, written_turn(f"chatml-{style}", message, declared), declared)
        assert [json.loads(call.arguments) for call in read.tool_calls] == [{"text": text}]
        assert read.content is None


def test_every_style_has_a_parser() -> None:
    formats = toolwire.list_formats()
    assert all(template.format in formats for template in templates.list_templates())
