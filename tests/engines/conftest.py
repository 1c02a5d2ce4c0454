"""What the tests of both engines share: a real model, made once, and where the checkout is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from long_cases import LONG_TOKENS

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
sys.path.append(str(HERE / "plugins"))  # what the tests and the engines have in common

#: Markers that some formats and reasoning parsers need as tokens of their own.
SPECIAL_TOKENS = ("<|tool_call|>", "<|end_tool_call|>", "<think>", "</think>")


def make_model(*special_tokens: str) -> Path:
    command = [sys.executable, str(CHECKOUT / "scripts" / "lib" / "make_model.py")]
    for token in special_tokens:
        command += ["--special-token", token]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Path(made.stdout.strip())


@pytest.fixture(scope="session")
def checkout() -> Path:
    return CHECKOUT


@pytest.fixture(scope="session")
def model() -> Path:
    """SmolLM2-135M, with the special tokens above and some very long ones in its vocabulary."""
    return make_model(*SPECIAL_TOKENS, *LONG_TOKENS)


@pytest.fixture(scope="session")
def plain_model() -> Path:
    """SmolLM2-135M as it is."""
    return make_model()
