"""A user's own format in vLLM."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from shared_user_formats import UserFormats


class TestUserFormats(UserFormats):
    engine = "vllm"
    environment: ClassVar = {"VLLM_LOGGING_LEVEL": "ERROR", "TOOLWIRE_SKIP_CHECKS": "1"}
    names = """
from vllm.plugins import load_general_plugins
load_general_plugins()
from vllm.tool_parsers import ToolParserManager
names = ToolParserManager.list_registered()
"""

    def answers(self, request: pytest.FixtureRequest) -> str:
        model: Path = request.getfixturevalue("plain_model")
        return f"""
from transformers import AutoTokenizer
from vllm_driving import chat_request, make_parser, stream, whole, without_ids
request = chat_request(tools)
tokenizer = AutoTokenizer.from_pretrained({str(model)!r})
parsers = [make_parser(tokenizer, "toolwire_my_model", request) for _ in range(2)]
answers = [
    stream(parsers[0], without_ids(text), request),
    whole(parsers[1], text, request),
]
"""
