"""What the model wrote, in a captured answer of any API: its text, in the pieces in which it came.

That is what a parser reads. Calls and thoughts that the server has told apart itself are none of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .sse import load_object, stream_objects

Json = dict[str, Any]


def pieces_of(stage: str, raw: Iterable[str]) -> Sequence[str]:
    """The pieces of the first choice's text. A whole answer is one piece, or none."""
    octets = "".join(raw).encode(errors="replace")
    if stage == "whole":
        return texts_of(load_object(octets) or {})[:1]
    found = (_piece(chunk) for chunk in stream_objects(octets))
    return [piece for piece in found if isinstance(piece, str)]


def _piece(chunk: Json) -> Any:
    """The text that an event carries, if any. An event says by itself of which API it is."""
    if "choices" in chunk:
        choice = next(iter(_objects(chunk["choices"])), {})
        delta = choice.get("delta") if not choice.get("index") else None
        return delta.get("content") if isinstance(delta, dict) else None
    delta = chunk.get("delta")
    if chunk.get("type") == "response.output_text.delta":
        return delta
    is_block = chunk.get("type") == "content_block_delta"
    return delta.get("text") if is_block and isinstance(delta, dict) else None


def texts_of(answer: Json) -> list[str]:
    """The texts of a whole answer that calls are read from: those without calls beside them."""
    messages = [c.get("message") for c in _objects(answer.get("choices"))]
    found = [m.get("content") for m in messages if isinstance(m, dict) and not m.get("tool_calls")]
    items = _objects(answer.get("output"))
    if not any(item.get("type") == "function_call" for item in items):
        found += [part.get("text") for item in items for part in _objects(item.get("content"))]
    blocks = _objects(answer.get("content"))
    if not any(block.get("type") == "tool_use" for block in blocks):
        found += [block.get("text") for block in blocks if block.get("type") == "text"]
    return [text for text in found if isinstance(text, str)]


def has_calls(stage: str, raw: Iterable[str]) -> bool:
    """Whether the server has found calls itself."""
    octets = "".join(raw).encode(errors="replace")
    answers = [load_object(octets) or {}] if stage == "whole" else stream_objects(octets)
    return any(True for answer in answers for _ in _native(answer))


def _native(answer: Json) -> Iterator[Any]:
    """The calls in an answer, or in one event."""
    for choice in _objects(answer.get("choices")):
        for said in (choice.get("message"), choice.get("delta")):
            if isinstance(said, dict):
                yield from _objects(said.get("tool_calls"))
    parts = [*_objects(answer.get("output")), *_objects(answer.get("content"))]
    parts += _objects([answer.get("item"), answer.get("content_block")])
    yield from (part for part in parts if part.get("type") in ("function_call", "tool_use"))


def _objects(value: Any) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
