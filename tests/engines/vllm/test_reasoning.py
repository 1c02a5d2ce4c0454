"""Thoughts inside vLLM's own classes, composed as its server composes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import toolwire
from engine_cases import ADD_ONE_TWO, ONE_TWO, TOOLS, block
from shared_reasoning import STEPS, Got, Thoughts
from toolwire.engines.thinking import find_style, styles
from toolwire.engines.vllm import plugin as vllm_plugin
from vllm.entrypoints.anthropic.serving import AnthropicServingMessages
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionResponse
from vllm.parser.abstract_parser import DelegatingParser
from vllm.parser.parser_manager import ParserManager
from vllm.reasoning import ReasoningParserManager
from vllm_driving import (
    chat_request,
    responses_request,
    show_prompt,
    stream,
    token_chunks,
    whole,
)

pytestmark = pytest.mark.usefixtures("registered", "unchecked")

#: Whether this vLLM tells its parsers the prompt of an answer that is not streamed.
TELLS_PROMPTS = hasattr(DelegatingParser, "set_prompt_token_ids")
TURN = "<|im_start|>assistant\n"
#: A turn before this one, whose thoughts the template keeps.
HISTORY = "<|im_start|>assistant\n<think>\nOld.\n</think>\nOld.<|im_end|>\n"


def make(
    tokenizer: Any, reasoning: str | None, tools: str | None, request: Any, **kwargs: Any
) -> Any:
    kind = ParserManager.get_parser(
        tool_parser_name=tools, reasoning_parser_name=reasoning, enable_auto_tools=bool(tools)
    )
    assert kind is not None
    return kind(tokenizer, request.tools, chat_template_kwargs=kwargs)


class TestThoughts(Thoughts):
    @pytest.fixture(autouse=True)
    def with_a_tokenizer(self, hf_tokenizer: Any) -> None:
        self.tokenizer = hf_tokenizer

    def answers(
        self, style: str, format: str | None, text: str, inside: bool, tools: Any
    ) -> Iterator[Got]:
        request = chat_request(tools)
        opener = find_style(style).open[0]
        prompt = self.tokenizer.encode(TURN + (opener if inside else ""))
        parser = f"toolwire_{format}" if format else None
        for size in STEPS:
            # Where nobody reads calls, vLLM passes all by that is not said to be thinking.
            made = make(
                self.tokenizer, f"toolwire_{style}", parser, request, enable_thinking=not format
            )
            got = stream(made, token_chunks(self.tokenizer, text, size), request, prompt)
            yield got.calls, got.content, got.finish or None
        made = make(self.tokenizer, f"toolwire_{style}", parser, request)
        show_prompt(made, request, prompt)
        got = whole(made, text, request)
        yield got.calls, got.content, got.finish or None


def think(tokenizer: Any, **kwargs: Any) -> Any:
    return make(tokenizer, "toolwire_think", None, chat_request([]), **kwargs).reasoning_parser


# -- prompts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "ended"),
    [
        (f"{TURN}<think>\n", False),
        (f"{HISTORY}{TURN}<think>\n", False),
        (f"{TURN}<think>\n\n</think>\n\n", True),
        (f"{HISTORY}{TURN}", False),  # the old thoughts are not this turn's
        (TURN, False),
        (f"{TURN}<think>Well.</think>The answer", True),  # a turn that is to be continued
    ],
)
def test_where_a_prompt_ends(prompt: str, ended: bool, hf_tokenizer: Any) -> None:
    parser, ids = think(hf_tokenizer), hf_tokenizer.encode(prompt)
    for _ in range(2):
        assert parser.is_reasoning_end(ids) is ended


def test_a_request_that_switches_thinking_off(hf_tokenizer: Any) -> None:
    ids = hf_tokenizer.encode(TURN)
    for switch in ({"enable_thinking": False}, {"thinking": False}, {"reasoning_effort": "none"}):
        assert think(hf_tokenizer, **switch).is_reasoning_end(ids)
    parser = make(hf_tokenizer, "toolwire_gemma4", None, chat_request([]))
    assert parser.is_reasoning_end(ids)  # its models think only where they are asked to
    asked = make(hf_tokenizer, "toolwire_gemma4", None, chat_request([]), enable_thinking=True)
    assert not asked.is_reasoning_end(ids)


def test_thinking_off(hf_tokenizer: Any) -> None:
    """The template has closed the block already: the answer is read as it is, calls included."""
    request, prompt = chat_request(TOOLS), hf_tokenizer.encode(f"{TURN}<think>\n\n</think>\n\n")
    for text in ("Just text.", f"Well.\n{ADD_ONE_TWO}"):
        expected = toolwire.parse("hermes", text, TOOLS)
        parser = make(
            hf_tokenizer, "toolwire_think", "toolwire_hermes", request, enable_thinking=False
        )
        got = stream(parser, token_chunks(hf_tokenizer, text, 1), request, prompt)
        assert (got.content, got.finish, len(got.calls)) == (
            *(expected.content, ""),
            len(expected.tool_calls),
        )
        parser = make(
            hf_tokenizer, "toolwire_think", "toolwire_hermes", request, enable_thinking=False
        )
        got = whole(parser, text, request)
        assert (got.content, got.finish) == (expected.content, "")


def test_a_whole_answer_without_its_prompt(hf_tokenizer: Any) -> None:
    """Responses never shows it: a closer tells that the text began inside, or else the switch."""
    request = responses_request(TOOLS)

    def read(text: str, **kwargs: Any) -> tuple[str, str | None]:
        parser = make(hf_tokenizer, "toolwire_think", "toolwire_hermes", request, **kwargs)
        got = whole(parser, text, request)
        return got.finish or "", got.content

    assert read("Hm.</think>\n\nYes.") == ("Hm.", "Yes.")
    assert read("</think>Yes.") == ("", "Yes.")
    assert read("Yes.") == ("", "Yes.")
    assert read("Hm.", enable_thinking=True) == ("Hm.", None)
    assert read("Yes.", enable_thinking=False) == ("", "Yes.")


def test_a_whole_answer_and_its_prompt(hf_tokenizer: Any) -> None:
    """In Responses, too, and in every choice: no closer or switch has to tell it. Where vLLM does not
    tell the prompt, it is an answer."""
    prompt = hf_tokenizer.encode(f"{TURN}<think>\n")
    for request in (responses_request(TOOLS), chat_request(TOOLS)):
        for text in ("Let me", f"Let me see.\n{ADD_ONE_TWO}"):
            parser = make(hf_tokenizer, "toolwire_think", "toolwire_hermes", request)
            if TELLS_PROMPTS:
                parser.set_prompt_token_ids(prompt)
            got = whole(parser, text, request)
            expected = toolwire.parse(
                "hermes", text, TOOLS, reasoning=True, in_reasoning=TELLS_PROMPTS
            )
            assert (got.content, got.finish or None) == (expected.content, expected.reasoning)
            assert len(got.calls) == len(expected.tool_calls)


def test_every_choice_of_a_request_knows_its_prompt(hf_tokenizer: Any) -> None:
    """vLLM shows it to the first one's parser only."""
    request, prompt = chat_request(TOOLS), hf_tokenizer.encode(f"{TURN}<think>\n")
    first = make(hf_tokenizer, "toolwire_think", "toolwire_hermes", request)
    show_prompt(first, request, prompt)
    for parser in (first, make(hf_tokenizer, "toolwire_think", "toolwire_hermes", request)):
        got = whole(parser, "Let me", request)
        assert (got.content, got.finish) == (None, "Let me")
    other = chat_request(TOOLS)
    got = whole(make(hf_tokenizer, "toolwire_think", "toolwire_hermes", other), "Let me", other)
    assert (got.content, got.finish) == ("Let me", "")


# -- tokens ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", styles())
def test_where_the_grammar_begins(style: str, hf_tokenizer: Any) -> None:
    """Right behind the closer's last token, whether it is one token or several."""
    spec = find_style(style)
    before = hf_tokenizer.encode(f"{TURN}{spec.open[0]}Let me see.")
    closer = hf_tokenizer.encode(spec.close[0], add_special_tokens=False)
    behind = hf_tokenizer.encode("Yes", add_special_tokens=False)
    parser = make(hf_tokenizer, f"toolwire_{style}", None, chat_request([])).reasoning_parser
    seen = []
    for number in range(1, len(closer) + 1):
        ids = [*before, *closer[:number]]
        seen.append(parser.is_reasoning_end_streaming(ids, ids[-1:]))
    assert seen == [False] * (len(closer) - 1) + [True]
    assert parser.is_reasoning_end_streaming([*before, *closer], closer)
    ids = [*before, *closer, *behind]
    assert not parser.is_reasoning_end_streaming(ids, behind)
    assert not parser.is_reasoning_end_streaming(before, before[-1:])


def test_budgets_have_their_markers(hf_tokenizer: Any) -> None:
    for style, spec in styles().items():
        parser = make(hf_tokenizer, f"toolwire_{style}", None, chat_request([])).reasoning_parser
        assert parser.reasoning_start_str in spec.open
        assert parser.reasoning_end_str in spec.close


def test_reasoning_tokens_are_counted(hf_tokenizer: Any) -> None:
    thought = hf_tokenizer.encode("Let me see.", add_special_tokens=False)
    rest = hf_tokenizer.encode("</think>Yes.<think>", add_special_tokens=False)
    parser = think(hf_tokenizer)
    assert parser.count_reasoning_tokens([*thought, *rest, *thought]) == 2 * len(thought)
    assert parser.count_reasoning_tokens(hf_tokenizer.encode("Just text.")) == 0
    opened = think(hf_tokenizer)
    opened.is_reasoning_end(hf_tokenizer.encode(f"{TURN}<think>\n"))
    assert opened.count_reasoning_tokens(thought) == len(thought)
    several = make(hf_tokenizer, "toolwire_seed_oss", None, chat_request([])).reasoning_parser
    ids = hf_tokenizer.encode("<seed:think>Let me see.</seed:think>Yes.")
    assert 0 < several.count_reasoning_tokens(ids) < len(ids)


# -- neighbours ------------------------------------------------------------------------------------


@pytest.mark.parametrize("tools", ["toolwire_hermes", None])
def test_special_tokens_stay_in_requests_without_tools(
    tools: str | None, hf_tokenizer: Any
) -> None:
    for request in (chat_request([]), responses_request([])):
        make(hf_tokenizer, "toolwire_mistral", tools, request).adjust_request(request)
        assert request.skip_special_tokens is False


def test_in_front_of_vllms_own_tool_parser(hf_tokenizer: Any) -> None:
    """It hands over where the first thoughts end."""
    request, prompt = chat_request(TOOLS), hf_tokenizer.encode(f"{TURN}<think>\n")
    text = f"Let me see.</think>\n\n{ADD_ONE_TWO}"
    for size in STEPS:
        parser = make(hf_tokenizer, "toolwire_think", "hermes", request)
        pieces = token_chunks(hf_tokenizer, text, size)
        deltas = [
            parser.parse_delta(
                *piece, request, prompt_token_ids=prompt, finished=piece is pieces[-1]
            )
            for piece in pieces
        ]
        said = [delta for delta in deltas if delta is not None]
        names = [call.function.name for delta in said for call in delta.tool_calls]
        assert [name for name in names if name] == ["add"]
        assert "".join(delta.reasoning or "" for delta in said) == "Let me see."
    got = whole(make(hf_tokenizer, "toolwire_think", "hermes", request), text, request)
    assert (got.calls, got.finish) == ([("add", ONE_TWO)], "Let me see.")


@pytest.mark.parametrize("reasoning", [None, "qwen3", "deepseek_r1"])
def test_without_one_of_ours_in_front_no_thoughts_are_looked_for(
    reasoning: str | None, hf_tokenizer: Any
) -> None:
    """Also where one of ours was made before, for something else, and is still there."""
    request = chat_request(TOOLS)
    text = f"Hm.</think>{ADD_ONE_TWO}\n<think>Two.</think>\n{ADD_ONE_TWO}"

    pieces = token_chunks(hf_tokenizer, text, 1)

    def read() -> Any:
        parser = make(hf_tokenizer, reasoning, "toolwire_hermes", request)
        streamed = stream(parser, pieces, request)
        at_once = whole(make(hf_tokenizer, reasoning, "toolwire_hermes", request), text, request)
        return [(got.calls, got.content, got.finish) for got in (streamed, at_once)]

    expected = read()
    assert "<think>Two." in expected[0][1]
    alone = make(hf_tokenizer, "toolwire_think", None, request)
    assert read() == expected
    assert alone.reasoning_parser is not None


def test_thoughts_that_are_not_wanted(hf_tokenizer: Any) -> None:
    request, prompt = (
        chat_request(TOOLS, include_reasoning=False),
        hf_tokenizer.encode(f"{TURN}<think>\n"),
    )
    text = f"One.</think>{ADD_ONE_TWO}<think>Two.</think>{ADD_ONE_TWO}Done."
    parser = make(hf_tokenizer, "toolwire_think", "toolwire_hermes", request)
    got = stream(parser, token_chunks(hf_tokenizer, text, 1), request, prompt)
    assert (got.finish, got.content, got.calls) == ("", "Done.", [("add", ONE_TWO)] * 2)


def test_thoughts_never_close_an_open_call(hf_tokenizer: Any) -> None:
    """vLLM's Responses stream closes a call when anything else arrives."""
    request = chat_request(TOOLS)
    cut = ADD_ONE_TWO.index("2}")
    first = (f"<think>One.</think>{ADD_ONE_TWO[:cut]}", [])
    pieces = [first, (f"{ADD_ONE_TWO[cut:]}\n<think>Two.", []), ("</think>", []), ("", [])]
    got = stream(make(hf_tokenizer, "toolwire_think", "toolwire_hermes", request), pieces, request)
    assert (got.calls, got.content, got.finish) == ([("add", ONE_TWO)], None, "One.Two.")
    assert [bool(delta.get("tool_calls")) for delta in got.deltas] == [True, True, False]


def test_thoughts_behind_text_go_out_behind_it(hf_tokenizer: Any) -> None:
    request = chat_request(TOOLS)
    text = "<think>One.</think>Ok.<think>Two.</think>Done."
    parser = make(hf_tokenizer, "toolwire_think", "toolwire_hermes", request)
    first = parser.parse_delta(text, [], request, prompt_token_ids=[1], finished=False)
    assert (first.reasoning, first.content) == ("One.", "Ok.")
    second = parser.parse_delta("", [], request, prompt_token_ids=None, finished=False)
    assert (second.reasoning, second.content) == ("Two.", "Done.")


def test_a_style_of_a_users_own_format(hf_tokenizer: Any) -> None:
    style = toolwire.ReasoningStyle(open=("<muse>",), close=("</muse>",))
    hermes = toolwire.get_format("hermes")
    toolwire.register_format(replace(hermes, name="musing", aliases=(), reasoning=style))
    vllm_plugin.register()
    assert "musing" in styles()
    assert "toolwire_musing" in ReasoningParserManager.list_registered()
    request = chat_request(TOOLS)
    parser = make(hf_tokenizer, "toolwire_musing", "toolwire_musing", request)
    got = stream(parser, [("<muse>Hm.</muse>Yes.", [])], request)
    assert (got.finish, got.content) == ("Hm.", "Yes.")


# -- `/v1/messages` --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "kept", "reason"),
    [
        (ONE_TWO, 2, "tool_use"),
        ("{}", 2, "tool_use"),
        ('{"a": 1, "b', 1, "max_tokens"),
        ('{"a": }', 1, "tool_use"),
        ('"x"', 1, "tool_use"),
        ("", 1, "max_tokens"),
    ],
)
def test_messages_do_not_fail(arguments: str, kept: int, reason: str, hf_tokenizer: Any) -> None:
    make(hf_tokenizer, None, "toolwire_hermes", chat_request(TOOLS))
    calls = [{"function": {"name": "add", "arguments": text}} for text in (ONE_TWO, arguments)]
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "Well.", "tool_calls": calls},
        "finish_reason": "tool_calls",
    }
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    answer = ChatCompletionResponse(model="model", choices=[choice], usage=usage)
    got = AnthropicServingMessages.messages_full_converter(None, answer)
    assert [part.type for part in got.content] == ["text"] + ["tool_use"] * kept
    assert got.stop_reason == reason


def test_a_call_that_was_cut_is_everywhere_else_as_it_is(hf_tokenizer: Any) -> None:
    request = chat_request(TOOLS)
    text = block(f'{{"name": "add", "arguments": {ONE_TWO}')[:-20]
    got = whole(make(hf_tokenizer, None, "toolwire_hermes", request), text, request)
    assert len(got.calls) == 1
