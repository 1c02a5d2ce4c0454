"""The grammar of whole numbers between bounds: those numbers, and no others."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from toolwire.core.shape import NotExpressible
from toolwire.shapes.whole_numbers import whole_numbers

BOUNDS = st.none() | st.integers(-1200, 1200) | st.integers(-(10**12), 10**12)


def fits(least: int | None, most: int | None, text: str) -> bool:
    """What the grammar says of a text. It is written as regular expressions are, but for the minus."""
    pattern = whole_numbers(least, most).replace('"-"', "-").replace(" ", "")
    return bool(re.fullmatch(pattern, text))


@given(least=BOUNDS, most=BOUNDS, numbers=st.lists(st.integers(-1300, 1300), min_size=20))
@example(least=1, most=100, numbers=[0, 1, 9, 10, 99, 100, 101])
@example(least=0, most=None, numbers=[-1, 0, 10**30])
@example(least=-105, most=-38, numbers=[-106, -105, -99, -38, -37, 38])
def test_the_numbers_between_two_bounds(
    least: int | None, most: int | None, numbers: list[int]
) -> None:
    if least is not None and most is not None and least > most:
        with pytest.raises(NotExpressible):
            whole_numbers(least, most)
        return
    near = [bound + by for bound in (least, most) if bound is not None for by in (-1, 0, 1)]
    for number in (*numbers, *near, 0):
        inside = (least is None or least <= number) and (most is None or number <= most)
        assert fits(least, most, str(number)) == inside
    for none in ("", "-", "-0", "00", "01", "-01", "1.0", "1e2", "+1"):
        assert not fits(least, most, none)


def test_bounds_that_nobody_means() -> None:
    for least, most in ((10**30, None), (None, 10**30), (-(10**30), 0)):
        with pytest.raises(NotExpressible):
            whole_numbers(least, most)
