"""The same text through an engine's own parser, where that engine is installed beside toolwire.

Engines are large: nothing of them is imported before somebody asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..engines.names import names_of
from ..errors import ToolwireError
from ..formats import get_format
from .answers import Question

Json = dict[str, Any]

NAMES = {"vllm": "vLLM", "sglang": "SGLang"}


def engines() -> Json:
    """Which engines are installed here."""
    return {key: {"name": name, "there": find_spec(key) is not None} for key, name in NAMES.items()}


def engine_answer(asked: Json, model: Path | None) -> Json:
    """What the engine's own parser of this format makes of the text, or why it can't be asked."""
    engine, question = str(asked.get("engine")), Question(asked)
    if engine not in NAMES:
        raise ToolwireError(f"There is no engine {engine!r} here: there are vllm and sglang")
    names = names_of(get_format(question.format).name)[engine]
    if find_spec(engine) is None:
        return _absent(f"{NAMES[engine]} is not installed beside toolwire.")
    if not names:
        return _absent(f"{NAMES[engine]} has no parser of its own for {question.format}.")
    if engine == "vllm" and model is None:
        return _absent("vLLM's parsers need a tokenizer: start toolwire play with --model FOLDER.")
    try:
        if engine == "vllm":
            content, calls = _vllm(names[0], question, model)
        else:
            content, calls = _sglang(names[0], question)
    except Exception as error:  # noqa: BLE001 - an engine's parser may raise anything: that is a result
        return _absent(f"{NAMES[engine]}'s {names[0]} failed: {type(error).__name__}: {error}")
    return {"parser": names[0], "content": content, "calls": calls, "problem": ""}


def _absent(sentence: str) -> Json:
    return {"parser": "", "content": None, "calls": [], "problem": sentence}


def _vllm(name: str, question: Question, model: Path | None) -> tuple[Any, Sequence[Json]]:
    from transformers import AutoTokenizer
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.tool_parsers import ToolParserManager

    tokenizer = AutoTokenizer.from_pretrained(str(model), local_files_only=True)
    messages: Any = [{"role": "user", "content": "?"}]
    request = ChatCompletionRequest(messages=messages, model="model", tools=question.tools)
    parser = ToolParserManager.get_tool_parser(name)(tokenizer, request.tools)
    found = parser.extract_tool_calls(question.text, request)
    calls = [_call(call.function.name, call.function.arguments) for call in found.tool_calls]
    return found.content, calls


def _sglang(name: str, question: Question) -> tuple[Any, Sequence[Json]]:
    from sglang.srt.entrypoints.openai.protocol import Tool
    from sglang.srt.function_call.function_call_parser import FunctionCallParser

    parser = FunctionCallParser([Tool(**tool) for tool in question.tools or ()], name)
    if not parser.has_tool_call(question.text):
        return question.text, []
    content, calls = parser.parse_non_stream(question.text)
    return content, [_call(call.name or "", call.parameters) for call in calls]


def _call(name: str, arguments: str) -> Json:
    return {"name": name, "arguments": arguments, "problem": ""}
