"""What vLLM counts and keeps of the messages that it reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from shared_records import CASES, PING, STREAMED, check_counts_and_files
from vllm_driving import chat_request, make_parser, stream, whole, without_ids


@CASES
@STREAMED
def test_counts_and_files(
    text: str,
    streamed: bool,
    outcome: str | None,
    off: str | None,
    registered: None,
    unchecked: None,
    hf_tokenizer: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOOLWIRE_CAPTURE", str(tmp_path))
    request = chat_request([PING])

    def read(pieces: list[str]) -> object:
        parser = make_parser(hf_tokenizer, "toolwire_hermes", request)
        if streamed:
            return stream(parser, without_ids(pieces), request)
        return whole(parser, pieces[0], request)

    check_counts_and_files(read, text, streamed, outcome, off, tmp_path)
