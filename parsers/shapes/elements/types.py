"""How an element says what it holds, as data."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ElementTypes:
    """An attribute that says what an element holds, and its words."""

    attribute: str = field(metadata={"alone": True})
    #: a string, as it is
    text: str = "raw"
    #: any value, as JSON
    json: str = "json"
    #: further elements, without names
    array: str = "list"
    #: further elements, with names
    object: str = "dict"
