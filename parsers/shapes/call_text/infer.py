"""Finds calls that look like code in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...core.format import Format
from ...core.layout import Layout
from ...core.samples import Call, Inferred, Sample, Surroundings
from ...schema.tools import Tool
from ..find_code import calls_read, code_spans

if TYPE_CHECKING:
    from . import CallText


PLAIN = Layout(arguments_begin="(", arguments_end=")", separator="\n")


def infer(kind: type[CallText], samples: Sequence[Sample]) -> Inferred | None:
    """`NAME(k="v")` in plain text."""
    if code_spans(samples) is None:
        return None
    return Inferred(kind(), Surroundings((), (), ()), layout=PLAIN)


def find(kind: type[CallText], text: str, tools: Mapping[str, Tool] | None) -> Iterable[Call]:
    """The calls that the shape itself reads: it needs nothing around them."""
    return calls_read(Format("text", kind()), text, tools)
