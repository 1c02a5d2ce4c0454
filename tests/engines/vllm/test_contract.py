"""The parsers inside vLLM's own classes give what the core gives, however the text is cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
import toolwire
from engine_cases import (
    ADD,
    ADD_ONE_TWO,
    CASES,
    ONE_TWO,
    TOO_DEEP,
    TOO_DEEP_CALLS,
    TOOLS,
    Case,
    fill,
)
from toolwire.engines import vllm_api, vllm_plugin
from vllm.entrypoints.generate.base.protocol import DeltaMessage
from vllm.entrypoints.openai.responses.streaming_events import split_delta
from vllm.tool_parsers import ToolParserManager
from vllm_driving import (
    chat_request,
    chunkings,
    make_parser,
    responses_request,
    stream,
    token_chunks,
    whole,
)

#: One reasoning parser of each kind vLLM has.
LEGACY, ENGINE_BASED = "deepseek_r1", "qwen3"

pytestmark = pytest.mark.usefixtures("registered", "unchecked")


def core(format_name: str, text: str, tools: Any) -> tuple[Any, str | None]:
    message = toolwire.parse(format_name, text, tools)
    return [(call.name, call.arguments) for call in message.tool_calls], message.content


def example(name: str) -> str:
    text = fill(toolwire.get_format(name).example)
    assert toolwire.parse(name, text, TOOLS).tool_calls, text
    return text


@pytest.mark.parametrize("case", CASES, ids=str)
def test_known_failures(case: Case, hf_tokenizer: Any) -> None:
    request = chat_request(case.tools)
    name = f"toolwire_{case.format}"
    for pieces in chunkings(case.text):
        got = stream(make_parser(hf_tokenizer, name, request), pieces, request)
        assert (got.calls, got.content) == (case.calls, case.content)
    got = whole(make_parser(hf_tokenizer, name, request), case.text, request)
    assert (got.calls, got.content) == (case.calls, case.content)


@pytest.mark.parametrize("name", toolwire.list_formats())
def test_every_format_is_as_the_core(name: str, hf_tokenizer: Any) -> None:
    for text in (example(name), f"Well.\n{example(name)}\nSo.", f"Well.\n{example(name)}"[:-3]):
        request = chat_request(TOOLS)
        expected = core(name, text, TOOLS)
        for pieces in chunkings(text):
            got = stream(make_parser(hf_tokenizer, f"toolwire_{name}", request), pieces, request)
            assert (got.calls, got.content) == expected
        got = whole(make_parser(hf_tokenizer, f"toolwire_{name}", request), text, request)
        assert (got.calls, got.content) == expected


@pytest.mark.parametrize("reasoning", [LEGACY, ENGINE_BASED])
@pytest.mark.parametrize("name", toolwire.list_formats())
def test_behind_a_reasoning_parser(name: str, reasoning: str, hf_tokenizer: Any) -> None:
    text = example(name)
    request = chat_request(TOOLS)
    expected = core(name, "\n\n" + text, TOOLS)
    thought = f"Let me see.</think>\n\n{text}"  # the prompt ends with <think>
    for size in (1, 3, 1000):
        parser = make_parser(hf_tokenizer, f"toolwire_{name}", request, reasoning)
        got = stream(parser, token_chunks(hf_tokenizer, thought, size), request)
        assert (got.calls, got.content) == expected
        assert got.finish == "Let me see."


@pytest.mark.parametrize("name", toolwire.list_formats())
def test_no_tool_choice_leaves_the_text_alone(name: str, hf_tokenizer: Any) -> None:
    text = f"Well.\n{example(name)}\n"
    for request in (chat_request(TOOLS, tool_choice="none"), responses_request([])):
        for pieces in chunkings(text):
            got = stream(make_parser(hf_tokenizer, f"toolwire_{name}", request), pieces, request)
            assert (got.calls, got.content) == ([], text)
        got = whole(make_parser(hf_tokenizer, f"toolwire_{name}", request), text, request)
        assert (got.calls, got.content) == ([], text)


def test_one_call_where_only_one_is_wanted(hf_tokenizer: Any) -> None:
    text = f"First.\n{ADD_ONE_TWO}\nThen.\n{ADD_ONE_TWO}\nDone."
    request = chat_request(TOOLS, parallel_tool_calls=False)
    for pieces in chunkings(text):
        got = stream(make_parser(hf_tokenizer, "toolwire_hermes", request), pieces, request)
        assert got.calls == [("add", ONE_TWO)]
        assert got.content == "First.\n\nThen.\n\nDone."
    got = whole(make_parser(hf_tokenizer, "toolwire_hermes", request), text, request)
    assert (got.calls, got.content) == ([("add", ONE_TWO)], "First.\n\nThen.\n\nDone.")


def test_a_schema_that_is_nested_too_deeply(
    hf_tokenizer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """It costs nobody the answer: a sentence in the log, and the values are strings."""
    request = chat_request([TOO_DEEP], tool_choice="required")
    for name, text in TOO_DEEP_CALLS.items():
        parser = make_parser(hf_tokenizer, f"toolwire_{name}", request)
        assert whole(parser, text, request).calls == [("deep", '{"a": "1"}')]
        for pieces in chunkings(text):
            got = stream(make_parser(hf_tokenizer, f"toolwire_{name}", request), pieces, request)
            assert got.calls == [("deep", '{"a": "1"}')]
        assert parser.tool_parser.get_structural_tag(request) is not None
    assert "The parameters of the tool 'deep' are nested more than" in caplog.text


def test_responses_tools_are_flat(hf_tokenizer: Any) -> None:
    text = "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
    request = responses_request([ADD])
    got = whole(make_parser(hf_tokenizer, "toolwire_qwen3_coder", request), text, request)
    assert got.calls == [("add", '{"a": 1}')]  # the schema made it a number


def test_text_never_comes_before_the_rest_of_an_open_call(hf_tokenizer: Any) -> None:
    """vLLM's Responses stream closes a call when text arrives, so text waits for the call's end."""
    request = chat_request(TOOLS)
    cut = ADD_ONE_TWO.index("2}")
    pieces = [(ADD_ONE_TWO[:cut], []), (ADD_ONE_TWO[cut:] + "\nDone", []), (".", []), ("", [])]
    got = stream(make_parser(hf_tokenizer, "toolwire_hermes", request), pieces, request)
    assert (got.calls, got.content) == ([("add", ONE_TWO)], "Done.")
    for delta in got.deltas:
        open_call = any("id" not in call for call in delta.get("tool_calls", []))
        assert not (open_call and delta.get("content"))


@pytest.mark.parametrize("make", [chat_request, responses_request])
def test_text_after_a_call_in_the_very_last_step(
    make: Any, hf_tokenizer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """vLLM's Responses stream sends a step's text first, and text ends the open call. In the last
    step it can't wait, so it is given up there, and the call is whole."""
    vllm_api.log.propagate = True
    request = make(TOOLS)
    cut = ADD_ONE_TWO.index("2}")
    pieces = [(ADD_ONE_TWO[:cut], []), (ADD_ONE_TWO[cut:] + "\nDone.", [])]
    got = stream(make_parser(hf_tokenizer, "toolwire_hermes", request), pieces, request)
    assert got.calls == [("add", ONE_TWO)]
    last = DeltaMessage(**got.deltas[-1])
    sent = [part.content for part in split_delta(last)]
    if make is chat_request:
        assert (got.content, caplog.text) == ("Done.", "")
        assert sent == ["Done.", None]  # what vLLM's Responses stream would make of it
    else:
        assert (got.content, sent) == (None, [None])
        assert "dropped: 'Done.'" in caplog.text


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder"])
def test_a_long_argument_streams_in_pieces(name: str, hf_tokenizer: Any) -> None:
    value = 'line of text, with \\"quotes\\" in it. ' * 900
    if name == "hermes":
        body = f'{{"name": "write_file", "arguments": {{"path": "a", "content": "{value}"}}}}'
        text = f"<tool_call>\n{body}\n</tool_call>"
    else:
        parameters = (
            f"<parameter=path>\na\n</parameter>\n<parameter=content>\n{value}\n</parameter>"
        )
        text = f"<tool_call>\n<function=write_file>\n{parameters}\n</function>\n</tool_call>"
    request = chat_request(TOOLS)
    pieces = [(text[at : at + 4], []) for at in range(0, len(text), 4)]
    got = stream(make_parser(hf_tokenizer, f"toolwire_{name}", request), pieces, request)
    assert got.calls == core(name, text, TOOLS)[0]
    assert max(len(d["tool_calls"][0]["function"]["arguments"]) for d in got.deltas) < 100


def test_ids_are_like_openai(hf_tokenizer: Any) -> None:
    request = chat_request(TOOLS)
    text = f"{ADD_ONE_TWO}\n{ADD_ONE_TWO}"
    streamed = stream(
        make_parser(hf_tokenizer, "toolwire_hermes", request), [(text, [])], request
    ).ids
    at_once = whole(make_parser(hf_tokenizer, "toolwire_hermes", request), text, request).ids
    for ids in (streamed, at_once):
        assert len(set(ids)) == 2
        assert all(i.startswith("call_") and len(i) == 29 for i in ids)


def test_special_tokens_stay_in_the_text(hf_tokenizer: Any) -> None:
    for request in (chat_request(TOOLS), responses_request(TOOLS)):
        make_parser(hf_tokenizer, "toolwire_special_token", request).adjust_request(request)
        assert request.skip_special_tokens is False
    request = chat_request(TOOLS, tool_choice="none")
    make_parser(hf_tokenizer, "toolwire_special_token", request).adjust_request(request)
    assert request.skip_special_tokens is True


def test_names_of_vllm_can_be_taken_over(
    hf_tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ToolParserManager, "lazy_parsers", dict(ToolParserManager.lazy_parsers))
    monkeypatch.setattr(ToolParserManager, "tool_parsers", dict(ToolParserManager.tool_parsers))
    theirs = ToolParserManager.get_tool_parser("hermes")
    assert not hasattr(theirs, "toolwire_format")
    monkeypatch.setenv("TOOLWIRE_OVERRIDE", "1")
    vllm_plugin.register()
    for name, format_name in [("hermes", "hermes"), ("qwen3_coder", "qwen3_coder")]:
        assert ToolParserManager.get_tool_parser(name).toolwire_format == format_name
    request = chat_request(TOOLS)
    got = whole(make_parser(hf_tokenizer, "hermes", request), ADD_ONE_TWO, request)
    assert got.calls == [("add", ONE_TWO)]


def test_arguments_are_the_models_own_bytes(hf_tokenizer: Any) -> None:
    arguments = '{ "n":1.0,\n "x" : "\\u00e9 é" }'
    text = f'<tool_call>{{"name": "add", "arguments": {arguments}}}</tool_call>'
    request = chat_request(TOOLS)
    got = whole(make_parser(hf_tokenizer, "toolwire_hermes", request), text, request)
    assert got.calls == [("add", arguments)]
    assert json.loads(arguments)["x"] == "é é"
