"""One scripted call through vLLM's own classes, for a release that toolwire was not tested with.

What vLLM's server does with an answer, streamed and whole, is done here with a text whose calls are
known. If something else comes out, the contract between vLLM and its parsers has changed.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import Any

from ...models.releases import VLLM
from .. import scripted_call
from ..scripted_call import Outcome
from ..versions import contract_changed
from . import api as vllm_api
from .adapter import parser_class


def self_test(tokenizer: Any) -> str | None:
    """A sentence that says what is wrong; None where all is as it was."""
    fault = scripted_call.find_fault(
        partial(_streamed, tokenizer), partial(_whole, tokenizer), partial(_held, tokenizer)
    )
    return contract_changed(VLLM, vllm_api.version(), fault) if fault else None


def _request(choice: str = "auto") -> Any:
    protocol = import_module("vllm.entrypoints.openai.chat_completion.protocol")
    messages = [{"role": "user", "content": "Go."}]
    return protocol.ChatCompletionRequest(
        messages=messages, model="model", tools=[scripted_call.TOOL], tool_choice=choice
    )


def _parser(tokenizer: Any, request: Any) -> Any:
    delegating = import_module("vllm.parser.abstract_parser").DelegatingParser
    members = {"tool_parser_cls": parser_class(scripted_call.FORMAT), "reasoning_parser_cls": None}
    return type("SelfTest", (delegating,), members)(tokenizer, request.tools)


def _whole(tokenizer: Any, text: str) -> Outcome:
    request = _request()
    parser = _parser(tokenizer, request)
    _, content, calls = parser.parse(text, request, enable_auto_tools=True)
    return content, [(call.name, call.arguments) for call in calls or []]


def _streamed(tokenizer: Any, text: str) -> Outcome:
    request = _request()
    parser = _parser(tokenizer, request)
    content: list[str] = []
    calls: list[list[str]] = []
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)]
    for number, piece in enumerate(pieces, 1):
        last = number == len(pieces)
        message = parser.parse_delta(piece, [], request, prompt_token_ids=[1], finished=last)
        for call in message.tool_calls if message else ():
            if call.index == len(calls):
                calls.append([call.function.name, ""])
            calls[call.index][1] += call.function.arguments
        if message and message.content:
            content.append(message.content)
    return "".join(content) or None, [(name, arguments) for name, arguments in calls]


def _held(tokenizer: Any) -> bool:
    request = _request("required")
    request = _parser(tokenizer, request).adjust_request(request)
    return bool(request.structured_outputs and request.structured_outputs.structural_tag)
