"""`toolwire_auto` chooses the format by the chat template, and then is that format's parser."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import toolwire
from engine_cases import ADD, TOOLS, written
from toolwire.engines.vllm import api as vllm_api
from toolwire.templates import get_template
from transformers import AutoTokenizer
from vllm_driving import chat_request, chunkings, make_parser, start, stream, whole

pytestmark = pytest.mark.usefixtures("registered")

AUTO = "toolwire_auto"

#: Calls in a way that no format of toolwire reads.
INVENTED = """\
{%- if tools %}{{- '<|im_start|>system\\n' + tools | tojson + '<|im_end|>\\n' }}{% endif %}
{%- for m in messages %}
{{- '<|im_start|>' + m.role + '\\n' + (m.content or '') }}
{%- for c in m.tool_calls or [] %}
{{- '§call|' + c.function.name + '|' + c.function.arguments | tojson + '§end\\n' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
"""


@pytest.fixture
def tokenizer(model: Path) -> Any:
    """A new one for each test: a parser looks at a tokenizer only once."""
    return AutoTokenizer.from_pretrained(str(model))


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """What toolwire says in vLLM's log."""
    vllm_api.log.addHandler(caplog.handler)
    vllm_api.log.setLevel(logging.INFO)
    yield caplog
    vllm_api.log.removeHandler(caplog.handler)


@pytest.mark.parametrize(
    "name",
    ["hermes", "special_token", "json", "labeled", "qwen3_coder", "call_text", "pythonic"],
)
def test_it_is_the_parser_of_the_operators_template(
    name: str, tokenizer: Any, log: pytest.LogCaptureFixture
) -> None:
    start(AUTO, tokenizer, get_template(f"chatml-{name}").text())
    assert f"toolwire_auto chose toolwire_{name}. The template shows tools" in log.text

    text = f"Well.\n{written(name)}"
    expected = toolwire.parse(name, text, TOOLS)
    assert expected.tool_calls
    calls = [(call.name, call.arguments) for call in expected.tool_calls]
    request = chat_request(TOOLS)
    for pieces in chunkings(text):
        got = stream(make_parser(tokenizer, AUTO, request), pieces, request)
        assert (got.calls, got.content) == (calls, expected.content)
    got = whole(make_parser(tokenizer, AUTO, request), text, request)
    assert (got.calls, got.content) == (calls, expected.content)


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "call_text"])
@pytest.mark.parametrize("choice", ["required", "named", "auto"])
def test_it_holds_a_model_to_the_chosen_format(name: str, choice: str, tokenizer: Any) -> None:
    start(AUTO, tokenizer, get_template(f"chatml-{name}").text())
    named = {"type": "function", "function": {"name": ADD["function"]["name"]}}
    strict = [{"type": "function", "function": {**ADD["function"], "strict": True}}]
    request = chat_request(strict, tool_choice=named if choice == "named" else choice)
    auto, own = (
        make_parser(tokenizer, f"toolwire_{kind}", request).tool_parser for kind in ("auto", name)
    )
    assert not auto.supports_required_and_named
    assert auto.structural_tag_model
    tags = [parser.get_structural_tag(request) for parser in (auto, own)]
    assert tags[0] == tags[1]
    assert (tags[0] is not None) == (choice != "auto" or name != "call_text")


def test_it_goes_by_the_models_own_template(tokenizer: Any, log: pytest.LogCaptureFixture) -> None:
    tokenizer.chat_template = get_template("llama3-pythonic").text()
    start(AUTO, tokenizer)
    assert "toolwire_auto chose toolwire_pythonic" in log.text


def test_it_works_in_a_program_that_starts_no_server(tokenizer: Any) -> None:
    tokenizer.chat_template = get_template("chatml-qwen3_coder").text()
    request = chat_request(TOOLS)
    parser = make_parser(tokenizer, AUTO, request)
    assert whole(parser, written("qwen3_coder"), request).calls


def test_a_new_tokenizer_is_looked_at_anew(model: Path) -> None:
    request = chat_request(TOOLS)
    for name in ("hermes", "qwen3_coder"):
        tokenizer = AutoTokenizer.from_pretrained(str(model))
        tokenizer.chat_template = get_template(f"chatml-{name}").text()
        start(AUTO, tokenizer)
        text = written(name)
        assert whole(make_parser(tokenizer, AUTO, request), text, request).calls


def test_a_format_that_nobody_has_is_made(tokenizer: Any, log: pytest.LogCaptureFixture) -> None:
    start(AUTO, tokenizer, INVENTED)
    assert "toolwire_auto chose toolwire_detected" in log.text
    assert "A format made from its pieces does" in log.text
    request = chat_request(TOOLS)
    text = 'Yes.\n§call|add|{"a": 1, "b": 2}§end\n'
    for pieces in chunkings(text):
        got = stream(make_parser(tokenizer, AUTO, request), pieces, request)
        assert (got.calls, got.content) == ([("add", '{"a": 1, "b": 2}')], "Yes.")
    forced = chat_request(TOOLS, tool_choice="required")
    parser = make_parser(tokenizer, AUTO, forced).tool_parser
    tag = json.dumps(parser.get_structural_tag(forced).model_dump(), ensure_ascii=False)
    assert all(text in tag for text in ("§call|", "add", "§end"))


def refused(tokenizer: Any, template: str | None = None) -> str:
    """Why vLLM does not start, which is one sentence after the other in one line."""
    with pytest.raises(toolwire.ToolwireError) as stopped:
        start(AUTO, tokenizer, template)
    assert "\n" not in str(stopped.value)
    return str(stopped.value)


def test_a_template_without_tools_is_refused(tokenizer: Any) -> None:
    said = refused(tokenizer)
    assert "toolwire_auto found no format. The template does not show tools" in said
    assert '--chat-template "$(toolwire template chatml-call_text)"' in said
    assert "--tool-call-parser toolwire_call_text" in said


def test_a_model_without_template_is_refused(tokenizer: Any) -> None:
    tokenizer.chat_template = None
    assert "this model has none: add --chat-template" in refused(tokenizer)


def test_a_broken_template_is_refused(tokenizer: Any) -> None:
    said = refused(tokenizer, "{{ raise_exception('not today') }}")
    assert "can't be rendered: not today" in said


def test_a_format_whose_tokens_are_missing_is_refused(
    monkeypatch: pytest.MonkeyPatch, plain_model: Path
) -> None:
    tokenizer = AutoTokenizer.from_pretrained(str(plain_model))
    template = get_template("chatml-special_token").text()
    assert "special_token needs the special token" in refused(tokenizer, template)
    monkeypatch.setenv("TOOLWIRE_SKIP_CHECKS", "1")
    start(AUTO, tokenizer, template)
