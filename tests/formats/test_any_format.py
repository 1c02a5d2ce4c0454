"""Any format that a user may describe: written and read again it is the same, and it keeps the rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import get_format, list_formats
from toolwire.formats.toml_specs import KINDS, dump_format, load_formats

from ..support import check_all_splits
from .generate import SHAPES, formats_and_texts, user_formats

each_shape = pytest.mark.parametrize(
    "shapes", SHAPES.values(), ids=[shape.__name__ for shape in SHAPES]
)


def test_every_shape_has_a_kind_and_is_generated() -> None:
    assert set(KINDS.values()) == set(SHAPES)
    assert {type(get_format(name).shape) for name in list_formats()} == set(SHAPES)


@each_shape
@given(data=st.data())
def test_it_comes_back_the_same(shapes: Any, data: st.DataObject) -> None:
    spec = data.draw(user_formats(shapes))
    assert load_formats(dump_format(spec), "my.toml") == [spec]


@each_shape
@given(data=st.data())
def test_it_does_not_matter_how_a_text_is_cut(shapes: Any, data: st.DataObject) -> None:
    spec, text = data.draw(formats_and_texts(shapes))
    check_all_splits(spec, text, None, pairs_under=0)
