"""An opening tag, as data."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...core.shape import check_pattern, check_spellings
from ...errors import ToolwireError


@dataclass(frozen=True, slots=True)
class Tag:
    """An opening tag: how it begins, how it ends, and the name in it.

    Between the two stands the name, perhaps in quotes, and perhaps attributes behind it. With
    `key_close` the name stands in tags of its own, `<key>NAME</key><value>`: that is what closes them.

    The metadata are for files that describe formats: see `formats/toml_fields.py`.
    """

    begin: tuple[str, ...] = field(metadata={"alone": True})
    end: str = ">"
    key_close: str = field(
        default="",
        metadata={
            "excludes": ("inner", "unfinished"),
            "needs": {"end": "what begins the value, behind key_close"},
        },
    )
    #: a regular expression for all that stands in the tag, where it is something else
    inner: str = ""
    #: the same for what may stand there where the message ends inside the tag
    unfinished: str = ""
    #: the attribute that says what a value is: `string="true"`, `type="number"`
    type_attribute: str = "string"
    #: what stands around that word where it stands in tags of its own, between key and value
    type_begin: str = field(
        default="",
        metadata={
            "needs": {"type_end": "what ends the word for a type", "key_close": "what ends a key"}
        },
    )
    type_end: str = ""
    #: the name is in quotes, and `&` and `"` in it are written `&amp;` and `&quot;`
    escaped: bool = False

    def __post_init__(self) -> None:
        check_spellings(self)
        check_pattern("Tag.inner", self.inner)
        check_pattern("Tag.unfinished", self.unfinished)
        if self.key_close and (self.inner or self.unfinished):
            raise ToolwireError("Tag can't have both key_close and inner or unfinished.")
        if self.type_begin and not (self.type_end and self.key_close):
            raise ToolwireError("Tag.type_begin needs type_end and key_close.")

    def written(self, name: str) -> str:
        """The name in it, as it is written."""
        return name.replace("&", "&amp;").replace('"', "&quot;") if self.escaped else name
