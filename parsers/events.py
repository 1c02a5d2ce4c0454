"""What a parser says: five events, in the order in which things happened in the text.

A call is one `CallStart`, any number of `Arguments`, one `CallEnd`; calls never interleave. Joining
the texts of neighbouring `Content` or `Reasoning` events, and of neighbouring `Arguments` of one call,
gives the same list however the model's text was cut into chunks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

# There is one event for nearly every token. They write their slots themselves: that takes half as
# long as what a frozen dataclass would do. And they say how they are copied and pickled: a compiled
# class does not know by itself.


@dataclass(frozen=True, slots=True, init=False)
class Content:
    """Text for the person who reads the answer."""

    text: str

    def __init__(self, text: str) -> None:
        _set_content(self, text)

    def __reduce__(self) -> Any:
        return Content, (self.text,)


@dataclass(frozen=True, slots=True, init=False)
class Reasoning:
    """What the model thinks before it answers or calls."""

    text: str

    def __init__(self, text: str) -> None:
        _set_reasoning(self, text)

    def __reduce__(self) -> Any:
        return Reasoning, (self.text,)


@dataclass(frozen=True, slots=True, init=False)
class CallStart:
    """A call has been recognised. `id` is set only where the model itself wrote one."""

    index: int
    name: str
    id: str | None

    def __init__(self, index: int, name: str, id: str | None = None) -> None:
        _set_start_index(self, index)
        _set_name(self, name)
        _set_id(self, id)

    def __reduce__(self) -> Any:
        return CallStart, (self.index, self.name, self.id)


@dataclass(frozen=True, slots=True, init=False)
class Arguments:
    """The next piece of the call's arguments, a fragment of JSON text."""

    index: int
    text: str

    def __init__(self, index: int, text: str) -> None:
        _set_index(self, index)
        _set_text(self, text)

    def __reduce__(self) -> Any:
        return Arguments, (self.index, self.text)


@dataclass(frozen=True, slots=True, init=False)
class CallEnd:
    """No more arguments. `complete` is false where the model did not finish them. `id` is set only where
    the model wrote one behind them."""

    index: int
    complete: bool
    id: str | None

    def __init__(self, index: int, complete: bool, id: str | None = None) -> None:
        _set_end_index(self, index)
        _set_complete(self, complete)
        _set_end_id(self, id)

    def __reduce__(self) -> Any:
        return CallEnd, (self.index, self.complete, self.id)


_set_content: Final = vars(Content)["text"].__set__
_set_reasoning: Final = vars(Reasoning)["text"].__set__
_set_start_index: Final = vars(CallStart)["index"].__set__
_set_name: Final = vars(CallStart)["name"].__set__
_set_id: Final = vars(CallStart)["id"].__set__
_set_index: Final = vars(Arguments)["index"].__set__
_set_text: Final = vars(Arguments)["text"].__set__
_set_end_index: Final = vars(CallEnd)["index"].__set__
_set_complete: Final = vars(CallEnd)["complete"].__set__
_set_end_id: Final = vars(CallEnd)["id"].__set__

Event: TypeAlias = Content | Reasoning | CallStart | Arguments | CallEnd
