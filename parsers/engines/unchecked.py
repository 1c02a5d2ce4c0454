"""The engines' messages, made without pydantic's checks.

vLLM and SGLang hand every token on as pydantic models. Their constructors look at each value again,
and that costs several times as much as reading the token. What a parser puts into a message is known
to be right, so the messages that nearly every token becomes are filled in directly, as pydantic's own
`model_construct` does (which is slower than the constructor, because it works for every model).

`choose` compares such a message with one of the constructor's. Where anything differs, because a
release of the engine or of pydantic keeps its fields otherwise, the constructor is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

M = TypeVar("M")
Maker = Callable[..., Any]


def filler(model: type[M], *, extra: bool) -> Callable[[dict[str, Any], set[str]], M]:
    """Makes a `model` of the values of all its fields, in order, and the names of those that were
    given. `extra`: whether the model takes fields that it does not know."""
    from pydantic import BaseModel

    slots = vars(BaseModel)
    set_values, set_given = slots["__dict__"].__set__, slots["__pydantic_fields_set__"].__set__
    set_extra, set_private = (
        slots[f"__pydantic_{name}__"].__set__ for name in ("extra", "private")
    )
    new = model.__new__

    def fill(values: dict[str, Any], given: set[str]) -> M:
        found = new(model)
        set_values(found, values)
        set_given(found, given)
        set_extra(found, {} if extra else None)
        set_private(found, None)
        return found

    return fill


def choose(make_quick: Callable[[], Maker], checked: Maker, *example: Any) -> Maker:
    """The quick maker of a message if, for the example, it makes just what the constructor does."""
    try:
        quick = make_quick()
        same = _contents(quick(*example)) == _contents(checked(*example))
    except (AttributeError, KeyError, TypeError):
        return checked
    return quick if same else checked


def _contents(model: Any) -> Any:
    """All that a model holds, its order and what was given included, down to the last one."""
    if isinstance(model, list):
        return [_contents(entry) for entry in model]
    if not hasattr(model, "__pydantic_fields_set__"):
        return model
    values = [(name, _contents(value)) for name, value in vars(model).items()]
    given, extra = model.__pydantic_fields_set__, model.__pydantic_extra__
    return type(model), values, given, extra, model.__pydantic_private__
