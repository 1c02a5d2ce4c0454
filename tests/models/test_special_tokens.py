"""What a tokenizer must have for a format: for advice, and for what can't work at all."""

from __future__ import annotations

import pytest
import toolwire
from toolwire.models.special_tokens import missing_tokens, special_tokens, unwritable

FORMATS = toolwire.list_formats()


@pytest.mark.parametrize("name", FORMATS)
def test_a_tokenizer_with_all_of_them(name: str) -> None:
    spec = toolwire.get_format(name)
    vocabulary = frozenset(special_tokens(spec))
    assert not missing_tokens(spec, vocabulary)
    assert unwritable(spec, vocabulary) is None


@pytest.mark.parametrize("name", FORMATS)
def test_one_opener_is_enough_to_begin_a_call(name: str) -> None:
    spec = toolwire.get_format(name)
    for token in special_tokens(spec):
        assert unwritable(spec, frozenset({token})) is None


def test_a_tokenizer_with_none() -> None:
    """Only formats all of whose openers are tokens can't be written."""
    nothing: frozenset[str] = frozenset()
    found = {name for name in FORMATS if unwritable(toolwire.get_format(name), nothing)}
    assert {"cohere", "kimi_k2", "mistral", "special_token"} <= found
    # Text openers, another spelling that is text, and calls without any opener.
    assert not found & {"hermes", "qwen3_coder", "granite", "json", "pythonic", "call_text"}
    for name in found:
        assert unwritable(toolwire.get_format(name), nothing) in special_tokens(
            toolwire.get_format(name)
        )
