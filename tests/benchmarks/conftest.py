"""The benchmarks are scripts: their folder is where they find each other."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))


@pytest.fixture(scope="module", autouse=True)
def frozen() -> Iterator[None]:
    """Measuring ends with everything being searched for garbage again, what was collected, too."""
    yield
    gc.freeze()
