"""What a parser says: four events, in the order in which things happened in the text.

A call is one `CallStart`, any number of `Arguments`, one `CallEnd`; calls never interleave. Joining
the texts of neighbouring `Content` events, and of neighbouring `Arguments` of one call, gives the
same list however the model's text was cut into chunks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Content:
    """Text for the person who reads the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class CallStart:
    """A call has been recognised. `id` is set only where the model itself wrote one."""

    index: int
    name: str
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Arguments:
    """The next piece of the call's arguments, a fragment of JSON text."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class CallEnd:
    """No more arguments. `complete` is false where the model did not finish them."""

    index: int
    complete: bool


Event: TypeAlias = Content | CallStart | Arguments | CallEnd
