"""A shape is one unit: it can do all that shapes must, and nobody outside asks which one it is."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from toolwire import shapes
from toolwire.core.shape import FACETS, Shape


def complete() -> dict[str, Any]:
    return {facet: lambda *_: None for facet in FACETS}


def test_a_shape_with_all_facets_is_one() -> None:
    assert issubclass(type("Mine", (Shape,), complete()), Shape)


@pytest.mark.parametrize("facet", FACETS)
def test_a_shape_without_a_facet_fails_when_it_is_made(facet: str) -> None:
    facets = complete()
    del facets[facet]
    with pytest.raises(TypeError, match=rf"The shape Mine has no {facet}\(\)"):
        type("Mine", (Shape,), facets)


def test_the_facets() -> None:
    assert FACETS == ("read", "write", "constrain", "infer", "find")


@pytest.mark.parametrize("shape", shapes.ALL, ids=lambda shape: shape.__name__)
def test_every_shape_has_them_all(shape: type[Shape]) -> None:
    for facet in FACETS:
        owner = next(cls for cls in shape.__mro__ if facet in vars(cls))
        if owner is Shape:
            owner = getattr(import_module(f"{shape.__module__}.{facet}"), facet)
        assert owner not in shapes.ALL or owner is shape, "no shape is another one's child"
