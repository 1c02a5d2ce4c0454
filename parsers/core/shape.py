"""What a way to write calls must be able to do. The ways themselves are in `shapes/`, one folder each.

A shape is frozen data, the literals that differ from format to format, with four facets: how its calls
are read, written, constrained by a grammar, and inferred from texts. To infer is two questions: how
calls that are known are written (`infer`), and which calls there are (`find`). A format picks a shape
and fills in its literals.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from ..errors import ToolwireError
from .layout import Layout
from .literals import GAP, is_clear

if TYPE_CHECKING:
    from ..schema.tools import Tool
    from .format import Format
    from .samples import Call, Inferred, Sample
    from .shape_reader import ShapeReader

#: A part of an xgrammar structural tag.
Piece: TypeAlias = dict[str, Any]


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
        if not all(map(is_clear, value)):
            raise ToolwireError(
                f"{type(data).__name__}.{place.name} must have text on both sides of every {GAP}, and "
                "what stands in braces must begin otherwise than what follows them."
            )


def refuse_gap(name: str, *texts: str) -> None:
    """Raises where a text has a gap that can't have one."""
    if any(GAP in text for text in texts):
        raise ToolwireError(f"{name} must not have {GAP} in it: only delimiters and tags may.")


def check_pattern(name: str, pattern: str) -> None:
    """Raises where a format's own regular expression could take more than linear time."""
    if not pattern:
        return
    from .backtracking import NotChecked, costly_repeat  # few formats have one

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


#: What every shape has to be able to do: one without any of these fails when it is imported.
FACETS = ("read", "write", "constrain", "infer", "find")
#: Those that are functions of the same name in files of the same name, where the class has no other.
FACETS_IN_FILES = ("infer", "find")


class NotExpressible(Exception):
    """This schema can't be put into the format's own way to write values."""


class Shape:
    """A way to write calls; here is what most of them have in common."""

    __slots__ = ()
    #: a call in one line, for people
    looks: ClassVar[str] = ""
    #: its place where the calls in a text may be of any shape: the strictest are looked for first. JSON
    #: between tags is a value there, and no call of the shapes behind them.
    order: ClassVar[int] = 55

    def __init_subclass__(cls) -> None:
        for facet in FACETS:
            owner = next(owner for owner in cls.__mro__ if facet in vars(owner))
            if owner is Shape and not (facet in FACETS_IN_FILES and cls._file_name(facet)):
                raise TypeError(f"The shape {cls.__name__} has no {facet}().")

    def __post_init__(self) -> None:
        check_spellings(self)

    # -- the facets ---------------------------------------------------------------------------

    def read(self) -> ShapeReader:
        """What reads its calls."""
        raise NotImplementedError

    def write(self, arguments: Mapping[str, Any], layout: Layout) -> str:
        """A call's arguments as they are written, without what the layout has around all of them."""
        raise NotImplementedError

    def constrain(self, parameters: Any, format: Format) -> Piece:
        """A grammar for the arguments of a tool with this schema, or `NotExpressible`."""
        raise NotImplementedError

    @classmethod
    def infer(cls, samples: Sequence[Sample]) -> Inferred | None:
        """How the calls in the samples are written, where that is in this shape."""
        found: Inferred | None = cls._file("infer").infer(cls, samples)
        return found

    @classmethod
    def find(cls, text: str, tools: Mapping[str, Tool] | None) -> Iterable[Call]:
        """The calls of this shape in a text, as far as they can be told without knowing the format.

        Where the tools are known, other names may be found, too, but mean nothing.
        """
        found: Iterable[Call] = cls._file("find").find(text, tools)
        return found

    @classmethod
    def _file(cls, facet: str) -> ModuleType:
        """Who only reads calls never loads it."""
        return import_module(cls._file_name(facet))

    @classmethod
    def _file_name(cls, facet: str) -> str:
        """The module of that name in the shape's own folder, or in that of what it is derived from; ""
        where there is none."""
        for owner in cls.__mro__:
            name = f"{owner.__module__}.{facet}"
            if hasattr(sys.modules[owner.__module__], "__path__") and find_spec(name):
                return name
        return ""

    # -- beside them --------------------------------------------------------------------------

    @classmethod
    def field_names(cls) -> list[str]:
        """What differs from format to format, by name; how drift is read is left out."""
        return [place.name for place in fields(cls) if place.name != "drift"]  # type: ignore[arg-type]

    @classmethod
    def kind(cls) -> str:
        """What files call it: `json_calls` is `JsonCalls`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    def with_value_lines(self, lines: bool) -> Shape:
        """The same for values that stand on lines of their own, or do not, where that makes a
        difference."""
        return self

    def write_name(self, name: str) -> str:
        """A call's name as it is written."""
        return name

    def example(self, layout: Layout) -> str:
        """Arguments as documentation shows them."""
        return "{…}"

    def no_layout(self, name: str) -> str:
        """What to say where a format of this shape has no layout, and calls are to be written."""
        return (
            f"The format {name} does not say how its calls are laid out, so they can be read, but not "
            "written: give it a layout."
        )

    def any_arguments(self, format: Format) -> Piece | None:
        """A grammar for arguments of which nothing is known but that they end, if there is one."""
        return None

    # -- what the driver looks for ------------------------------------------------------------

    @property
    def heads(self) -> tuple[str, ...]:
        """Literals that a call begins with, where it has any of its own (`<function=`)."""
        return ()

    @property
    def closers(self) -> tuple[str, ...]:
        """Literals that end a call inside its wrappers (`</function>`)."""
        return ()

    @property
    def inner_delimiters(self) -> tuple[str, ...]:
        """Literals around the parts of a call, where it has any of its own (`<parameter=`)."""
        return ()

    @property
    def separators(self) -> str:
        """Characters that are markup between a call and its sibling or closer."""
        return ",;]}"

    @property
    def bare_start(self) -> str:
        """A pattern for what a call without any wrapper begins with, at the start of a line."""
        return ""

    @property
    def in_fences(self) -> bool:
        """Whether calls without any wrapper may stand in a code fence."""
        return "```" in self.bare_start

    @property
    def inline_starts(self) -> str:
        """Characters that such a call begins with in the middle of a line, where names are known."""
        return ""

    @property
    def needs_wrappers(self) -> bool:
        """Whether calls of this shape can't be found without something around them."""
        return not self.bare_start
