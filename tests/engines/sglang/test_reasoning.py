"""Thoughts inside SGLang's own classes, composed as its server composes them."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import toolwire
from engine_cases import ADD_ONE_TWO, ONE_TWO, TOOLS, chunkings
from sglang.srt import runtime_context
from sglang.srt.entrypoints.openai.protocol import ChatCompletionRequest
from sglang.srt.entrypoints.openai.serving_chat import OpenAIServingChat
from sglang.srt.parser.reasoning_parser import ReasoningParser
from sglang.srt.plugins.hook_registry import HookRegistry
from sglang.srt.server_args import ServerArgs
from sglang_driving import Got as Read
from sglang_driving import make_parser, sglang_tools, take_in
from shared_reasoning import Got, Thoughts
from toolwire.engines.sglang import plugin as sglang_plugin
from toolwire.engines.sglang import reasoning as sglang_reasoning
from toolwire.engines.thinking import find_style, styles
from transformers import AutoTokenizer


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    sglang_plugin.register()
    sglang_reasoning.keep_special_tokens()
    HookRegistry.apply_hooks()


class Serving:
    """The settings of a server, as far as they are asked for."""

    tool_call_parser: str | None = None


@pytest.fixture(autouse=True)
def serving(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(Serving, "tool_call_parser", None)
    monkeypatch.setattr(runtime_context, "get_serving", lambda: Serving)
    return Serving


def request_for(tools: Any, **more: Any) -> Any:
    asked = {"tools": sglang_tools(tools)} if tools else {}
    return ChatCompletionRequest(
        model="model", messages=[{"role": "user", "content": "Go."}], **asked, **more
    )


def make_thoughts(
    style: str, request: Any, inside: bool, calls: bool, streamed: bool = True
) -> Any:
    return ReasoningParser(
        f"toolwire_{style}", streamed, inside, request, tool_call_parser_active=calls
    )


def streamed(thoughts: Any, calls: Any, pieces: Sequence[str]) -> tuple[Read, str]:
    """As in Chat Completions: a step's thoughts first, what is left goes on, and so do both ends."""
    got, reasoning = Read(), ""
    for number, piece in enumerate(pieces):
        last = number == len(pieces) - 1
        thought, rest = thoughts.parse_stream_chunk(piece)
        if last:
            end_thought, end_rest = thoughts.parse_stream_end()
            thought, rest = (thought or "") + end_thought, (rest or "") + end_rest
        reasoning += thought
        items: list[Any] = []
        if calls is not None:
            rest, items = calls.parse_stream_chunk(rest)
            if last:
                end_text, end_items = calls.parse_stream_end()
                rest, items = (rest or "") + end_text, [*items, *end_items]
        got.steps.append((rest, items))
        if rest:
            got.content = (got.content or "") + rest
        for item in items:
            take_in(got, item)
    return got, reasoning


def whole(thoughts: Any, calls: Any, text: str) -> tuple[Read, str]:
    reasoning, rest = thoughts.parse_non_stream(text)
    got = Read()
    if calls is not None and calls.has_tool_call(rest):
        rest, items = calls.parse_non_stream(rest)
        for item in items:
            take_in(got, item)
    got.content = rest or None
    return got, reasoning


class TestThoughts(Thoughts):
    @pytest.fixture(autouse=True)
    def with_settings(self, serving: Any) -> None:
        self.serving = serving

    def answers(
        self, style: str, format: str | None, text: str, inside: bool, tools: Any
    ) -> Iterator[Got]:
        name = self.serving.tool_call_parser = format and f"toolwire_{format}"
        request, active = request_for(tools), bool(tools and format)

        def parsers(*, stream: bool) -> tuple[Any, Any]:
            thoughts = make_thoughts(style, request, inside, active, stream)
            return thoughts, make_parser(name, tools) if active else None

        for pieces in chunkings(text):
            got, thought = streamed(*parsers(stream=True), pieces)
            yield got.calls, got.content, thought or None
        got, thought = whole(*parsers(stream=False), text)
        yield got.calls, got.content, thought or None


def test_thoughts_never_come_before_the_rest_of_an_open_call(serving: Any) -> None:
    """SGLang sends a step's thoughts first, and its Messages stream closes an open call then."""
    serving.tool_call_parser = "toolwire_hermes"
    cut = ADD_ONE_TWO.index("2}")
    pieces = [ADD_ONE_TWO[:cut], f"{ADD_ONE_TWO[cut:]}<think>Two.", "</think>Done.", ""]
    thoughts = make_thoughts("think", request_for(TOOLS), False, True)
    steps = [thoughts.parse_stream_chunk(piece) for piece in pieces]
    assert [thought for thought, _ in steps] == ["", "", "Two.", ""]
    thoughts = make_thoughts("think", request_for(TOOLS), False, True)
    got, reasoning = streamed(thoughts, make_parser("toolwire_hermes", TOOLS), pieces)
    assert (got.calls, got.content, reasoning) == ([("add", ONE_TWO)], "Done.", "Two.")


@pytest.mark.parametrize("tools", ["hermes", None])
def test_in_front_of_another_tool_parser(tools: str | None, serving: Any) -> None:
    """What stands behind thoughts goes on as it is."""
    serving.tool_call_parser = tools
    text = f"<think>Hm.</think>\n\n{ADD_ONE_TWO}"
    for pieces in chunkings(text):
        thoughts = make_thoughts("think", request_for(TOOLS), False, bool(tools))
        got, reasoning = streamed(thoughts, None, pieces)
        assert (got.content, reasoning) == (ADD_ONE_TWO, "Hm.")


def test_outside_of_a_server_thoughts_are_read_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.undo()
    thoughts = make_thoughts("think", None, True, True)
    assert thoughts.parse_non_stream(f"Hm.</think>{ADD_ONE_TWO}") == ("Hm.", ADD_ONE_TWO)


@pytest.mark.parametrize("pieces", list(chunkings("One.</think>Yes.")))
def test_thoughts_may_wait_for_their_end(pieces: list[str]) -> None:
    request = request_for([], stream_reasoning=False)
    thoughts = make_thoughts("think", request, True, False, streamed=False)
    steps = [thoughts.parse_stream_chunk(piece) for piece in pieces]
    assert [thought for thought, _ in steps if thought] == ["One."]
    assert "".join(rest for _, rest in steps) + thoughts.parse_stream_end()[1] == "Yes."


@pytest.mark.parametrize(("text", "said"), [("One.", "One."), ("One.</think>Yes.", "Yes.")])
def test_an_answer_that_must_not_be_empty(text: str, said: str) -> None:
    request = request_for([], chat_template_kwargs={"force_nonempty_content": True})
    for pieces in chunkings(text):
        got, _ = streamed(make_thoughts("think", request, True, False), None, pieces)
        assert got.content == said
    assert make_thoughts("think", request, True, False).parse_non_stream(text)[1] == said


def test_a_request_that_switches_thinking_off() -> None:
    request = request_for([], chat_template_kwargs={"enable_thinking": False})
    assert make_thoughts("think", request, True, False).parse_non_stream("Yes.") == ("", "Yes.")


def test_a_message_that_is_continued() -> None:
    for before, expected in [
        ("<think>Well,", ("so.", "Yes.")),
        ("<think>Well.</think>So", ("", "so.</think>Yes.")),
    ]:
        messages = [{"role": "assistant", "content": before}]
        request = ChatCompletionRequest(
            model="model", messages=messages, continue_final_message=True
        )
        thoughts = make_thoughts("think", request, False, False)
        assert thoughts.parse_non_stream("so.</think>Yes.") == expected


@pytest.mark.parametrize("parser", ["toolwire_mistral", "mistral"])
def test_special_tokens_stay_in_requests_without_tools(parser: str) -> None:
    request = request_for([])
    server = SimpleNamespace(reasoning_parser=parser, chat_encoding_spec=None)
    OpenAIServingChat._patch_reasoning_skip_special_tokens(server, request)
    assert request.skip_special_tokens is (parser == "mistral")


def test_kimi_k3_does_not_stop_at_once() -> None:
    """SGLang's encoding for it makes the closer a stop string: an empty one matches anywhere."""
    assert make_parser("toolwire_hermes", TOOLS).detector.eot_token


@pytest.mark.parametrize("style", styles())
def test_where_the_grammar_begins(style: str, model: Path) -> None:
    """SGLang holds a model to a grammar from the detector's closer on, token by token. Its older
    releases encode the closer themselves."""
    tokenizer = AutoTokenizer.from_pretrained(str(model))
    detector = make_thoughts(style, None, False, False).detector
    if hasattr(detector, "get_think_end_token_ids"):
        ids = detector.get_think_end_token_ids(tokenizer)
    else:
        ids = tokenizer.encode(detector.think_end_token, add_special_tokens=False)
    assert tokenizer.decode(ids, skip_special_tokens=False) in find_style(style).close


def test_every_style_is_a_choice() -> None:
    command_line = argparse.ArgumentParser()
    ServerArgs.add_cli_args(command_line)
    for name in styles():
        flags = ["--model-path", "model", "--reasoning-parser", f"toolwire_{name}"]
        assert command_line.parse_args(flags).reasoning_parser == f"toolwire_{name}"


def test_a_style_of_a_users_own_format() -> None:
    style = toolwire.ReasoningStyle(open=("<muse>",), close=("</muse>",))
    hermes = toolwire.get_format("hermes")
    toolwire.register_format(replace(hermes, name="musing", aliases=(), reasoning=style))
    sglang_plugin.register()
    thoughts = make_thoughts("musing", None, False, False)
    assert thoughts.parse_non_stream("<muse>Hm.</muse>Yes.") == ("Hm.", "Yes.")


class Broken:
    def __init__(self, *arguments: Any, **more: Any) -> None:
        pass

    def feed(self, text: str) -> Any:
        raise RuntimeError("a fault")

    finish = feed


def test_a_fault_of_ours_is_text_and_a_line_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sglang_reasoning, "EventParser", Broken)
    with caplog.at_level(logging.ERROR):
        assert make_thoughts("think", None, True, False).parse_non_stream("One.") == ("", "One.")
        got, _ = streamed(make_thoughts("think", None, True, False), None, ["One ", "two."])
    assert got.content == "One two."
    assert "a fault" in caplog.text
