"""Ray on this machine, with Ray Serve LLM."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from engine_fixtures import Servers
from tokenizers import Tokenizer

HERE = Path(__file__).resolve().parent
#: How vLLM's own tests start it, and script what it writes.
sys.path.append(str(HERE.parent / "vllm"))


@pytest.fixture(scope="session")
def plans() -> Servers:
    """Ray starts what is needed here."""
    return {}


@pytest.fixture(scope="session")
def tokenizer(model: Path) -> Tokenizer:
    return Tokenizer.from_file(str(model / "tokenizer.json"))
