"""Drives vLLM's own parser classes as its server does, without a server."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import engine_cases
from engine_client import Answer, flat, take_in
from toolwire.engines.vllm.start import started
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.parser.parser_manager import ParserManager

try:
    from vllm.entrypoints.generate.base import protocol
except ImportError:  # before 0.29
    from vllm.entrypoints.openai.engine import protocol

#: Whether this vLLM has `--tool-strict-level`.
HAS_LEVELS = "tool_strict_level" in inspect.signature(ParserManager.get_parser).parameters
DeltaMessage, DeltaToolCall = protocol.DeltaMessage, protocol.DeltaToolCall
DeltaFunctionCall = protocol.DeltaFunctionCall
Piece = tuple[str, list[int]]


def chat_request(tools: Any, **more: Any) -> Any:
    more.setdefault("tool_choice", "auto" if tools else "none")
    return ChatCompletionRequest(
        messages=[{"role": "user", "content": "Go."}], model="model", tools=tools or None, **more
    )


def responses_request(tools: Any, **more: Any) -> Any:
    return ResponsesRequest(input="Go.", model="model", tools=flat(tools), **more)


def make_parser(
    tokenizer: Any,
    name: str,
    request: Any,
    reasoning: str | None = None,
    strict_level: str = "auto",
) -> Any:
    level = {"tool_strict_level": strict_level} if HAS_LEVELS else {}
    kind = ParserManager.get_parser(
        tool_parser_name=name, reasoning_parser_name=reasoning, enable_auto_tools=True, **level
    )
    assert kind is not None
    return kind(tokenizer, request.tools)


def start(
    parser: str, tokenizer: Any, template: str | None = None, reasoning: str | None = None
) -> None:
    """What vLLM's server does with a parser when it starts: it asks for the class, and makes what
    answers requests (of that, what the check looks at)."""
    checks = inspect.signature(ParserManager.get_parser).parameters
    more = {"tokenizer": tokenizer} if "tokenizer" in checks else {}
    more |= {"reasoning_parser_name": reasoning}
    found = ParserManager.get_parser(
        tool_parser_name=parser, enable_auto_tools=True, model_name="model", **more
    )
    renderer = SimpleNamespace(tokenizer=tokenizer)
    started(SimpleNamespace(parser_cls=found, renderer=renderer, chat_template=template))


def show_prompt(parser: Any, request: Any, prompt: list[int]) -> None:
    """What vLLM's server does before it generates a whole answer."""
    if hasattr(request, "resolve_reasoning_ended"):
        request.resolve_reasoning_ended(parser, prompt)
    else:  # before 0.32
        parser.is_reasoning_end(prompt)


def stream(
    parser: Any, pieces: Sequence[Piece], request: Any, prompt: Sequence[int] = (1,)
) -> Answer:
    """Feeds the pieces and takes in the deltas, which must have the shape that clients expect."""
    answer = Answer()
    answer.finish = ""  # the reasoning
    for number, (text, ids) in enumerate(pieces):
        last = number == len(pieces) - 1
        message = parser.parse_delta(
            text, ids, request, prompt_token_ids=list(prompt), finished=last
        )
        if message is None:
            continue
        delta = message.model_dump(exclude_unset=True)
        thoughts = delta.pop("reasoning", None) or ""
        if getattr(
            request, "include_reasoning", True
        ):  # before 0.26 the server itself leaves it out
            answer.finish += thoughts
        answer.deltas.append(delta)
        check_shape(delta, started=len(answer.calls))
        take_in(answer, delta)
    return answer


def check_shape(delta: dict[str, Any], started: int) -> None:
    calls = delta.get("tool_calls") or []
    indexes = [call["index"] for call in calls]
    assert len(set(indexes)) == len(indexes), "an index appears twice in one delta"
    for call in calls:
        first = call["index"] >= started
        assert set(call) == (
            {"index", "id", "type", "function"} if first else {"index", "function"}
        )
        keys = {"name", "arguments"} if first else {"arguments"}
        assert set(call["function"]) == keys
        assert isinstance(call["function"]["arguments"], str)


def whole(parser: Any, text: str, request: Any) -> Answer:
    reasoning, content, calls = parser.parse(text, request, enable_auto_tools=True)
    return Answer(
        content=content,
        calls=[(call.name, call.arguments) for call in calls or []],
        ids=[call.id for call in calls or []],
        finish=reasoning or "",
    )


def chunkings(text: str) -> Iterator[list[Piece]]:
    """The ways to cut a text that all tests use, without the tokens' ids."""
    return (without_ids(pieces) for pieces in engine_cases.chunkings(text))


def without_ids(pieces: Iterable[str]) -> list[Piece]:
    return [(piece, []) for piece in pieces]


def token_chunks(tokenizer: Any, text: str, size: int) -> list[Piece]:
    """Real tokens with their ids, `size` in a step (as speculative decoding gives them)."""
    ids = tokenizer.encode(text, add_special_tokens=False)
    pieces: list[Piece] = []
    sent = 0
    for at in range(0, len(ids), size):
        known = tokenizer.decode(ids[: at + size])
        if known.endswith("\ufffd"):  # half a character: it waits for its other half
            known = known[:sent]
        pieces.append((known[sent:], ids[at : at + size]))
        sent = len(known)
    return pieces
