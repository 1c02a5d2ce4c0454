"""The cases that the engines' tests share, without an engine: what those expect is what the core gives.

So a mistake in a case, or in the way the cases are put together, is seen where no engine is installed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from toolwire import parse

sys.path.append(str(Path(__file__).parent / "engines"))  # these tests are no package

from engine_cases import CASES, Case  # type: ignore[import-not-found]
from long_cases import LONG, LONG_TOKENS  # type: ignore[import-not-found]


@pytest.mark.parametrize("case", [*CASES, *LONG], ids=str)
def test_the_core_gives_what_the_engines_are_asked_for(case: Case) -> None:
    message = parse(case.format, case.text, case.tools)
    calls = [(call.name, call.arguments) for call in message.tool_calls]
    assert calls == case.calls
    assert message.content == case.content


def test_every_long_token_is_used() -> None:
    assert all(any(token in case.text for case in LONG) for token in LONG_TOKENS)
