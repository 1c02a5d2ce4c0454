"""Tells whether known calls stand in plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...core.layout import Layout
from ...core.samples import Inferred, Sample, Surroundings
from ..find_code import code_spans

if TYPE_CHECKING:
    from . import CallText


PLAIN = Layout(arguments_begin="(", arguments_end=")", separator="\n")


def infer(kind: type[CallText], samples: Sequence[Sample]) -> Inferred | None:
    """`NAME(k="v")` in plain text."""
    if code_spans(samples) is None:
        return None
    return Inferred(kind(), Surroundings((), (), ()), layout=PLAIN)
