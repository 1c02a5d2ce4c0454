"""JSON with its numbers as they were written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.openai.exact_json import Number, dumps, loads

numbers = st.from_regex(
    r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,25})?([eE][-+]?[0-9]{1,4})?", fullmatch=True
)
texts = st.recursive(
    numbers | st.sampled_from(["true", "null", '"-0"', '"1e400"', '"\ufdd0:1"', '"\\ud800"']),
    lambda inner: (
        st.lists(inner).map(lambda parts: f"[{', '.join(parts)}]")
        | st.lists(inner).map(
            lambda parts: "{" + ", ".join(f'"k{i}": {part}' for i, part in enumerate(parts)) + "}"
        )
    ),
)


@given(texts)
def test_what_is_read_is_written_as_it_was(text: str) -> None:
    assert dumps(loads(text), ascii=True).replace("\\ufdd0", "\ufdd0") == text
    compact = text.replace(", ", ",").replace(": ", ":")
    assert dumps(loads(text), ascii=True, compact=True).replace("\\ufdd0", "\ufdd0") == compact


@given(st.recursive(st.integers() | st.text() | st.booleans(), lambda inner: st.lists(inner)))
def test_all_else_is_as_json_has_it(value: Any) -> None:
    assert loads(json.dumps(value)) == value
    assert dumps(value) == json.dumps(value, ensure_ascii=False)


def test_numbers_that_python_writes_the_same_are_plain() -> None:
    assert loads("[1, 1.5, -0.0, 1e+16]") == [1, 1.5, -0.0, 1e16]
    assert loads("[1e400, 1.10, -0]") == [Number("1e400"), Number("1.10"), Number("-0")]


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="set is not JSON"):
        dumps({1})
    with pytest.raises(ValueError, match="Expecting value"):
        loads("oops")
