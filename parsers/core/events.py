"""What a parser says: four events, in the order in which things happened in the text.

A call is one `CallStart`, any number of `Arguments`, one `CallEnd`; calls never interleave. Joining
the texts of neighbouring `Content` events, and of neighbouring `Arguments` of one call, gives the
same list however the model's text was cut into chunks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

# Nearly every token is one of `Content` or `Arguments`. They write their slots themselves: that takes
# half as long as what a frozen dataclass would do.


@dataclass(frozen=True, slots=True, init=False)
class Content:
    """Text for the person who reads the answer."""

    text: str

    def __init__(self, text: str) -> None:
        _set_content(self, text)


_set_content = vars(Content)["text"].__set__


@dataclass(frozen=True, slots=True)
class CallStart:
    """A call has been recognised. `id` is set only where the model itself wrote one."""

    index: int
    name: str
    id: str | None = None


@dataclass(frozen=True, slots=True, init=False)
class Arguments:
    """The next piece of the call's arguments, a fragment of JSON text."""

    index: int
    text: str

    def __init__(self, index: int, text: str) -> None:
        _set_index(self, index)
        _set_text(self, text)


_set_index, _set_text = (vars(Arguments)[slot].__set__ for slot in ("index", "text"))


@dataclass(frozen=True, slots=True)
class CallEnd:
    """No more arguments. `complete` is false where the model did not finish them."""

    index: int
    complete: bool


Event: TypeAlias = Content | CallStart | Arguments | CallEnd
