"""Servers of several processes and what stands in front of servers: one at a time, each takes minutes.

They are started by the tests' own fixtures; none is on its way before its test.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from engine_fixtures import Servers
from tokenizers import Tokenizer

ENGINES = Path(__file__).resolve().parents[1]
#: How each engine's own tests start its servers.
sys.path += [str(ENGINES / "vllm"), str(ENGINES / "sglang")]
pytest.register_assert_rewrite("scale_checks")


@pytest.fixture(scope="session")
def plans() -> Servers:
    return {}


@pytest.fixture(scope="session")
def tokenizer(model: Path) -> Tokenizer:
    return Tokenizer.from_file(str(model / "tokenizer.json"))
