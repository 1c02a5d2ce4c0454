"""How a format's calls are laid out, to the character: what stands around everything that differs.

    section_begin
        call_begin [recipient] [id] name_begin NAME name_end [id] arguments_begin
            key_begin K key_end [type] value_begin V value_end  parameter_separator  …
        arguments_end [id] call_end
        separator
        …
    section_end

Reading is more lenient than this (`Format.wrappers` and the shape say how); this is what the family's
own chat template writes. Calls are written by it and grammars are made of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Literal

from ..errors import ToolwireError

Place = Literal["before_name", "after_name", "after_arguments"]
PLACES: tuple[Place, ...] = ("before_name", "after_name", "after_arguments")


@dataclass(frozen=True, slots=True)
class CallId:
    """A call's id: where it stands in the call, and what is around it.

    With `first`, calls are numbered from there. Otherwise it is the call's own id, and a call that
    has none is written without.
    """

    begin: str = ""
    end: str = ""
    place: Place = "after_name"
    first: int | None = None
    #: a regular expression for the ids that a model may write
    pattern: str = "[A-Za-z0-9_-]{1,64}"

    def __post_init__(self) -> None:
        if self.place not in PLACES:
            raise ToolwireError(
                f"CallId.place must be one of {', '.join(PLACES)}, not {self.place!r}."
            )


#: Fewer ids than this, and calls would come to have the same one.
_ENOUGH_IDS = 10**9


@dataclass(frozen=True, slots=True)
class IdStyle:
    """What the ids of calls look like, for whoever has to make one: models are shown them on the next
    turn, and some templates refuse others. An id that the model itself wrote is kept.

    In the template `{random}` stands for characters of the alphabet, `{name}` for the tool's name, and
    `{index}` for the call's number, counted from 0 through all of the conversation.
    """

    template: str = field(default="call_{random}", metadata={"alone": True})
    alphabet: str = "0123456789abcdef"
    length: int = 24

    def __post_init__(self) -> None:
        unknown = set(re.findall(r"{(\w*)}", self.template)) - {"random", "name", "index"}
        if unknown:
            raise ToolwireError(
                f"IdStyle.template can't have {{{min(unknown)}}}: use {{random}}, {{name}} and "
                "{index}."
            )
        if "{random}" not in self.template and not self.counted:
            raise ToolwireError(
                "IdStyle.template gives all calls the same id: put {random} or {index} into it."
            )
        if len(set(self.alphabet)) ** min(max(self.length, 0), 64) < _ENOUGH_IDS:
            raise ToolwireError(
                "IdStyle has too few ids: give it a longer alphabet, or a greater length."
            )

    @property
    def counted(self) -> bool:
        """Whether the call's number is in the id."""
        return "{index}" in self.template

    def fill(self, random: str, name: str, index: int) -> str:
        """The id with these in their places."""
        # One after the other, and the name last: what it holds is not looked into.
        made = self.template.replace("{random}", random).replace("{index}", str(index))
        return made.replace("{name}", name)


@dataclass(frozen=True, slots=True)
class TypeMark:
    """What is written beside a value to say its type: ` string="true"`."""

    begin: str
    end: str
    #: the word for a string
    string: str = "string"
    #: the word for any other value; "" is its JSON type
    other: str = ""
    #: the word for a whole number, where that is its JSON type
    integer: str = "integer"

    def word(self, json_type: str) -> str:
        """The word for a value of a type, which is not that of strings."""
        return self.other or (self.integer if json_type == "integer" else json_type)


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands where in the text of some calls."""

    #: around all calls of a message
    section_begin: str = ""
    section_end: str = ""
    #: between two calls
    separator: str = ""
    #: around each call
    call_begin: str = ""
    call_end: str = ""
    #: around the name where it stands once more before the call, to say whom the part is for
    recipient_begin: str = ""
    recipient_end: str = ""
    name_begin: str = ""
    name_end: str = ""
    #: around all arguments of a call
    arguments_begin: str = ""
    arguments_end: str = ""
    #: around each argument's key and value, where these do not stand in JSON
    key_begin: str = ""
    key_end: str = ""
    value_begin: str = ""
    value_end: str = ""
    #: between two arguments
    parameter_separator: str = ""
    id: CallId | None = None
    type: TypeMark | None = None
    #: JSON goes without spaces
    compact: bool = False
    #: keys are written in alphabetical order
    sorted_keys: bool = False
    #: an argument that is true, false or null is written True, False or None
    python_words: bool = False

    def before_name(self, id: str = "", recipient: str = "") -> str:
        """All of a call that stands before its name."""
        before = self.call_begin + self.recipient(recipient)
        return before + self._id("before_name", id) + self.name_begin

    @property
    def id_follows_name(self) -> bool:
        """Whether an id comes between a call's name and its arguments: a call begins with both."""
        return self.id is not None and self.id.place == "after_name"

    def recipient(self, name: str) -> str:
        """Whom a call's part is for, where that is said."""
        said = self.recipient_begin or self.recipient_end
        return self.recipient_begin + name + self.recipient_end if said else ""

    def before_arguments(self, id: str = "") -> str:
        """What stands between a call's name and its arguments."""
        return self.name_end + self._id("after_name", id) + self.arguments_begin

    def after_arguments(self, id: str = "") -> str:
        """All of a call that stands behind its arguments."""
        return self.arguments_end + self._id("after_arguments", id) + self.call_end

    def call(self, name: str, arguments: str, id: str = "") -> str:
        """One call, of parts that are written already."""
        before, after = self.before_name(id, name), self.after_arguments(id)
        return before + name + self.before_arguments(id) + arguments + after

    def section(self, calls: Iterable[str]) -> str:
        """All calls of a message."""
        return self.section_begin + self.separator.join(calls) + self.section_end

    def _id(self, place: Place, id: str) -> str:
        mine = self.id is not None and self.id.place == place and id
        return self.id.begin + id + self.id.end if self.id is not None and mine else ""


#: The fields that are text.
TEXTS = tuple(field.name for field in fields(Layout) if field.type == "str")
