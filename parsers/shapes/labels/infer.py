"""Finds known calls in labelled lines, and tells the labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...core.samples import Inferred, Sample, Span, surroundings_of
from ..find_names import last_word
from ..named_json.infer import call_spans, names_with_json

if TYPE_CHECKING:
    from . import Labels


def infer(kind: type[Labels], samples: Sequence[Sample]) -> Inferred | None:
    """`name: NAME` and `arguments: {…}`, each on its line."""
    found = names_with_json(samples)
    if found is None:
        return None
    every = [call for here in found for call in here]
    heads = [_label(c.text[c.floor : c.name.start].rstrip(" \t")) for c in every]
    names = set(heads)
    arguments = {_label_on_next_line(c.middle) for c in every}
    if "" in names or "" in arguments or len(names) != 1:
        return None
    name = names.pop()
    spans = [
        [Span(c.text.rindex(name, 0, c.name.start), c.arguments.end) for c in here]
        for here in found
    ]
    usual = kind()
    shape = kind(
        name_label=name,
        argument_labels=(
            usual.argument_labels
            if arguments <= set(usual.argument_labels)
            else tuple(sorted(arguments))
        ),
    )
    return Inferred(shape, surroundings_of(samples, spans), call_spans(found))


def _label(text: str) -> str:
    """The label at the end of a text, without its colon; "" if there is none."""
    return last_word(text[:-1]) if text.endswith(":") else ""


def _label_on_next_line(text: str) -> str:
    """The label that is all there is in a text, on a line of its own."""
    label = _label(text.rstrip())
    before = text.rstrip().removesuffix(f"{label}:")
    return label if "\n" in before and not before.strip() else ""
