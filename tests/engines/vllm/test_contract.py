"""The parsers inside vLLM's own classes give what the core gives, however the text is cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import toolwire
from engine_cases import ADD, ADD_ONE_TWO, ONE_TWO, TOOLS
from engine_client import Answer
from shared_contract import Contract, example, read_by_core
from toolwire.engines.names import VLLM_NAMES, vllm_kept
from toolwire.engines.vllm import api as vllm_api
from toolwire.engines.vllm import plugin as vllm_plugin
from vllm.tool_parsers import ToolParserManager
from vllm_driving import (
    chat_request,
    chunkings,
    make_parser,
    responses_request,
    stream,
    token_chunks,
    whole,
    without_ids,
)

#: One reasoning parser of each kind vLLM has.
LEGACY, ENGINE_BASED = "deepseek_r1", "qwen3"

pytestmark = pytest.mark.usefixtures("registered", "unchecked")


class TestContract(Contract):
    @pytest.fixture(autouse=True)
    def with_a_tokenizer(self, hf_tokenizer: Any) -> None:
        self.tokenizer = hf_tokenizer

    def make(self, format: str, request: Any) -> Any:
        return make_parser(self.tokenizer, f"toolwire_{format}", request)

    def stream(
        self, format: str, pieces: Sequence[str], tools: Any = TOOLS, **request: Any
    ) -> Answer:
        asked = chat_request(tools, **request)
        return stream(self.make(format, asked), without_ids(pieces), asked)

    def whole(self, format: str, text: str, tools: Any = TOOLS, **request: Any) -> Answer:
        asked = chat_request(tools, **request)
        return whole(self.make(format, asked), text, asked)

    def required_tag(self, format: str, tools: Any) -> Any:
        asked = chat_request(tools, tool_choice="required")
        return self.make(format, asked).tool_parser.get_structural_tag(asked)

    def pieces_of_arguments(self, got: Answer) -> list[str]:
        calls = [call for delta in got.deltas for call in delta.get("tool_calls") or ()]
        return [call["function"]["arguments"] for call in calls]


@pytest.mark.parametrize("reasoning", [LEGACY, ENGINE_BASED])
@pytest.mark.parametrize("name", toolwire.list_formats())
def test_behind_a_reasoning_parser(name: str, reasoning: str, hf_tokenizer: Any) -> None:
    text = example(name)
    request = chat_request(TOOLS)
    expected = read_by_core(name, "\n\n" + text)
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
def test_text_after_a_call_in_the_very_last_step(make: Any, hf_tokenizer: Any) -> None:
    """It can't wait there, and goes out with the call's last piece. How vLLM's Responses send it then is
    in `test_responses_tools`."""
    request = make(TOOLS)
    cut = ADD_ONE_TWO.index("2}")
    pieces = [(ADD_ONE_TWO[:cut], []), (ADD_ONE_TWO[cut:] + "\nDone.", [])]
    got = stream(make_parser(hf_tokenizer, "toolwire_hermes", request), pieces, request)
    assert (got.calls, got.content) == ([("add", ONE_TWO)], "Done.")


def test_where_vllm_can_not_send_it_the_call_is_whole(
    hf_tokenizer: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(vllm_api.log, "propagate", True)
    request = responses_request(TOOLS)
    cut = ADD_ONE_TWO.index("2}")
    pieces = [(ADD_ONE_TWO[:cut], []), (ADD_ONE_TWO[cut:] + "\nDone.", [])]
    parser = make_parser(hf_tokenizer, "toolwire_hermes", request)
    monkeypatch.setattr(type(parser.tool_parser), "toolwire_keeps_text", False)
    got = stream(parser, pieces, request)
    assert (got.calls, got.content) == ([("add", ONE_TWO)], None)
    assert "dropped: 'Done.'" in caplog.text


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


def test_every_name_of_vllm_is_known() -> None:
    """Each can be taken over, or there is a reason why not. A release with a new one fails here."""
    every = {*ToolParserManager.lazy_parsers, *ToolParserManager.tool_parsers}
    theirs = {name for name in every if not name.startswith("toolwire_")}
    assert len(theirs) > 30
    assert theirs <= set(VLLM_NAMES)
    assert not [sentence for sentence in vllm_kept(theirs) if "no format" in sentence]


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
