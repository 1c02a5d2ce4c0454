"""verl and TRL, with the tokenizer of the small model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from engine_fixtures import Servers


@pytest.fixture(scope="session")
def plans() -> Servers:
    """No engine's server is needed here."""
    return {}


@pytest.fixture(scope="session")
def tokenizer(model: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(model)
