"""A scripted conversation inside vLLM's classes: what goes out is the same on every release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from conversation import SameAnswers
from vllm_driving import chat_request, make_parser

pytestmark = pytest.mark.usefixtures("registered", "unchecked")


class TestSameAnswers(SameAnswers):
    @pytest.fixture(autouse=True)
    def with_a_tokenizer(self, hf_tokenizer: Any) -> None:
        self.tokenizer = hf_tokenizer

    def make(self, format: str, tools: Any) -> tuple[Any, Any]:
        request = chat_request(tools)
        return make_parser(self.tokenizer, f"toolwire_{format}", request), request

    def streamed(self, format: str, pieces: Sequence[str], tools: Any) -> list[Any]:
        parser, request = self.make(format, tools)
        messages = [
            parser.parse_delta(
                piece, [], request, prompt_token_ids=[1], finished=number == len(pieces)
            )
            for number, piece in enumerate(pieces, 1)
        ]
        return [one and one.model_dump(exclude_unset=True) for one in messages]

    def at_once(self, format: str, text: str, tools: Any) -> Any:
        parser, request = self.make(format, tools)
        thoughts, content, calls = parser.parse(text, request, enable_auto_tools=True)
        told = [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in calls or ()]
        return {"reasoning": thoughts, "content": content, "tool_calls": told}
