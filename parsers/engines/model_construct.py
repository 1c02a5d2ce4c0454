"""The engines' messages, made without pydantic's checks.

vLLM and SGLang hand every token on as pydantic models. Their constructors look at each value again,
and that costs several times as much as reading the token. What a parser puts into a message is known
to be right, so the messages that nearly every token becomes are filled in directly, as pydantic's own
`model_construct` does (which is slower than the constructor, because it works for every model).

`agree` compares such messages with the constructors'. Where anything differs, because a release of
the engine or of pydantic keeps its fields otherwise, the constructors are used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Filler:
    """Fills in instances of one model."""

    __slots__ = (
        "_extra",
        "_model",
        "_new",
        "_set_extra",
        "_set_given",
        "_set_private",
        "_set_values",
    )

    def __init__(self, model: Any, *, extra: bool) -> None:
        """`extra`: whether the model takes fields that it does not know."""
        from pydantic import BaseModel

        slots = vars(BaseModel)
        self._model = model
        self._extra = extra
        self._new = model.__new__
        self._set_values = slots["__dict__"].__set__
        self._set_given = slots["__pydantic_fields_set__"].__set__
        self._set_extra = slots["__pydantic_extra__"].__set__
        self._set_private = slots["__pydantic_private__"].__set__

    def fill(self, values: dict[str, Any], given: set[str]) -> Any:
        """One with the values of all its fields, in order, and the names of those that were given."""
        found = self._new(self._model)
        self._set_values(found, values)
        self._set_given(found, given)
        self._set_extra(found, {} if self._extra else None)
        self._set_private(found, None)
        return found


def agree(quick: Callable[[], Any], checked: Any) -> bool:
    """Whether what `quick` makes is just what the constructors made."""
    try:
        return bool(_contents(quick()) == _contents(checked))
    except (AttributeError, KeyError, TypeError):
        return False


def _contents(model: Any) -> Any:
    """All that a model holds, its order and what was given included, down to the last one."""
    if isinstance(model, list):
        return [_contents(entry) for entry in model]
    if not hasattr(model, "__pydantic_fields_set__"):
        return model
    values = [(name, _contents(value)) for name, value in vars(model).items()]
    given, extra = model.__pydantic_fields_set__, model.__pydantic_extra__
    return type(model), values, given, extra, model.__pydantic_private__
