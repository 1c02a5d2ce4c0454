"""The seven ways to write a call, as data. How each is read is in `core/reading/`.

A format picks a shape and fills in its literals.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from ..errors import ToolwireError
from .backtracking import NotChecked, costly_repeat
from .literals import any_of


def check_spellings(data: Any) -> None:
    """Raises where a field of a dataclass that takes several spellings has something else."""
    for place in fields(data):
        value = getattr(data, place.name)
        if place.type != "tuple[str, ...]":
            continue
        if not isinstance(value, tuple) or not all(isinstance(s, str) and s for s in value):
            raise ToolwireError(
                f"{type(data).__name__}.{place.name} must be a tuple of strings, none of them "
                f"empty, not {value!r}."
            )


def check_pattern(name: str, pattern: str) -> None:
    """Raises where a format's own regular expression could take more than linear time."""
    try:
        slow = costly_repeat(pattern)
    except NotChecked:
        raise ToolwireError(
            f"{name} must not refer to its own groups: how long it takes can't be told."
        ) from None
    if slow:
        raise ToolwireError(
            f"{name} takes very long for texts with {slow!r} many times in a row: two of its repeats "
            "can match the same text. Let them match different characters."
        )


class Shape:
    """A way to write calls; here is what most of them have in common."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check_spellings(self)

    @property
    def heads(self) -> tuple[str, ...]:
        """Literals that a call begins with, where it has any of its own (`<function=`)."""
        return ()

    @property
    def closers(self) -> tuple[str, ...]:
        """Literals that end a call inside its wrappers (`</function>`)."""
        return ()

    @property
    def separators(self) -> str:
        """Characters that are markup between a call and its sibling or closer."""
        return ",;]}"

    @property
    def bare_start(self) -> str:
        """A pattern for what a call without any wrapper begins with, at the start of a line."""
        return ""


@dataclass(frozen=True, slots=True)
class JsonCalls(Shape):
    """Calls as JSON objects."""

    name_keys: tuple[str, ...] = ("name",)
    argument_keys: tuple[str, ...] = ("arguments", "parameters")
    name_is_key: bool = False

    @property
    def bare_start(self) -> str:
        return r"\{|\[|```"


@dataclass(frozen=True, slots=True)
class NamedJson(Shape):
    """A name, perhaps an id, a separator, and the arguments."""

    #: what stands between name and arguments; a newline will do where this is empty
    separator: tuple[str, ...] = ()
    #: what stands before the call's id, where it has one
    id_separator: tuple[str, ...] = ()
    #: how to take the name out of the header; the whole header is then the call's id
    header: str = ""
    drift: JsonCalls = field(default_factory=JsonCalls)

    def __post_init__(self) -> None:
        check_spellings(self)
        check_pattern("NamedJson.header", self.header)


@dataclass(frozen=True, slots=True)
class Labels(Shape):
    """Labelled lines."""

    name_label: str = "name"
    argument_labels: tuple[str, ...] = ("arguments", "parameters")
    drift: JsonCalls = field(default_factory=JsonCalls)


@dataclass(frozen=True, slots=True)
class Tag:
    """An opening tag: how it begins, how it ends, and the name in it.

    Between the two stands the name, perhaps in quotes, and perhaps attributes behind it. With
    `key_close` the name stands in tags of its own, `<key>NAME</key><value>`: that is what closes them.
    """

    begin: tuple[str, ...]
    end: str = ">"
    key_close: str = ""
    #: a regular expression for all that stands in the tag, where it is something else
    inner: str = ""
    #: the same for what may stand there where the message ends inside the tag
    unfinished: str = ""

    def __post_init__(self) -> None:
        check_spellings(self)
        check_pattern("Tag.inner", self.inner)
        check_pattern("Tag.unfinished", self.unfinished)
        if self.key_close and (self.inner or self.unfinished):
            raise ToolwireError("Tag can't have both key_close and inner or unfinished.")


@dataclass(frozen=True, slots=True)
class Tags(Shape):
    """Tags for calls and parameters."""

    call: Tag | None
    parameter: Tag
    parameter_close: tuple[str, ...]
    close: tuple[str, ...] = ()
    #: what stands between a name without tag and the first parameter
    separator: tuple[str, ...] = ()
    #: a value stands on lines of its own: the newline on each side of it belongs to the tags
    value_on_own_lines: bool = False
    drift: JsonCalls = field(default_factory=JsonCalls)

    @property
    def heads(self) -> tuple[str, ...]:
        return self.call.begin if self.call else ()

    @property
    def closers(self) -> tuple[str, ...]:
        return self.close

    @property
    def bare_start(self) -> str:
        return any_of(self.heads)


@dataclass(frozen=True, slots=True)
class BareKeys(Shape):
    """A prefix, a name, and an object with bare keys."""

    quote: str
    prefix: str = "call:"
    drift: JsonCalls = field(default_factory=JsonCalls)


@dataclass(frozen=True, slots=True)
class Pythonic(Shape):
    """Calls as Python writes them."""

    @property
    def separators(self) -> str:
        return ",]"

    @property
    def bare_start(self) -> str:
        return r"\["


@dataclass(frozen=True, slots=True)
class CallText(Shape):
    """`Name(args)` in plain text."""

    @property
    def separators(self) -> str:
        return ""


ALL = (BareKeys, CallText, JsonCalls, Labels, NamedJson, Pythonic, Tags)
