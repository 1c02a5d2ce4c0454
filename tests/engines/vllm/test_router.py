"""A router in front of the server. One in front of several API servers: tests/engines/scale."""

from __future__ import annotations

from pathlib import Path

from behind_smg import check_behind_smg
from engine_server import EngineServer
from tokenizers import Tokenizer


def test_behind_smg(mismatched_server: EngineServer, tokenizer: Tokenizer, tmp_path: Path) -> None:
    check_behind_smg(mismatched_server.url, tokenizer, tmp_path)
