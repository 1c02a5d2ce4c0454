"""A scripted conversation inside SGLang's classes: what goes out is the same on every release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from conversation import SameAnswers
from sglang_driving import make_parser
from toolwire.engines.sglang import plugin as sglang_plugin


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    sglang_plugin.register()


def told(text: str | None, calls: Sequence[Any]) -> Any:
    return {"content": text, "tool_calls": [call.model_dump() for call in calls]}


class TestSameAnswers(SameAnswers):
    def streamed(self, format: str, pieces: Sequence[str], tools: Any) -> list[Any]:
        parser = make_parser(f"toolwire_{format}", tools)
        steps = [parser.parse_stream_chunk(piece) for piece in pieces]
        return [told(*step) for step in (*steps, parser.parse_stream_end())]

    def at_once(self, format: str, text: str, tools: Any) -> Any:
        parser = make_parser(f"toolwire_{format}", tools)
        if not parser.has_tool_call(text):
            return told(text, [])
        return told(*parser.parse_non_stream(text))
