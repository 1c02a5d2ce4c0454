"""What SGLang counts and keeps of the messages that it reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from sglang_driving import make_parser, stream, whole
from shared_records import CASES, PING, STREAMED, check_counts_and_files
from toolwire.engines.sglang import plugin as sglang_plugin


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    sglang_plugin.register()


@CASES
@STREAMED
def test_counts_and_files(
    text: str,
    streamed: bool,
    outcome: str | None,
    off: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOOLWIRE_CAPTURE", str(tmp_path))

    def read(pieces: list[str]) -> object:
        parser = make_parser("toolwire_hermes", [PING])
        return stream(parser, pieces) if streamed else whole(parser, pieces[0])

    check_counts_and_files(read, text, streamed, outcome, off, tmp_path)
