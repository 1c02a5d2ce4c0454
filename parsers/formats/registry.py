"""Finding a format by its name, and adding one."""

from __future__ import annotations

import re
from functools import cache

from ..core.format import Format
from ..errors import ToolwireError, did_you_mean
from . import channelled, elements, json_bodies, keyed, named, python_like, tagged

#: The formats that toolwire itself has.
_BUILT_IN = tuple(
    spec
    for module in (json_bodies, named, tagged, keyed, elements, python_like, channelled)
    for spec in module.FORMATS
)
_NAME = re.compile(r"[a-z][a-z0-9_]*")
#: What reads all marked formats at once: a format by its name, but none among the others.
ANY = "any"
#: `toolwire_auto` chooses a format, and is none.
_RESERVED = frozenset({"auto", ANY})
_OWN = frozenset(spec.name for spec in _BUILT_IN)
_formats: dict[str, Format] = {}
_aliases: dict[str, str] = {}


def register_format(spec: Format) -> None:
    """Add a format, under its name and its aliases."""
    if not isinstance(spec, Format):
        raise ToolwireError(
            f"register_format() takes a toolwire.Format, not {type(spec).__name__}."
        )
    for name in (spec.name, *spec.aliases):
        check_free(name)
    if spec.name not in _OWN:
        _check_layout(spec)
    _formats[spec.name] = spec
    for alias in spec.aliases:
        _aliases[alias] = spec.name
    _any.cache_clear()


def _check_layout(spec: Format) -> None:
    """Raises where a format would not read what it writes. (A test asks that of toolwire's own.)"""
    from .write import reads_what_it_writes  # it finds formats here

    if spec.layout is not None and not reads_what_it_writes(spec):
        raise ToolwireError(
            f"The layout of {spec.name} does not fit its wrappers and shape: {spec.example!r} is not "
            "read as a call. Change the layout with them, or leave it out (layout=None)."
        )


def check_free(name: str) -> None:
    """Raises where `name` can't be the name of a new format."""
    if not _NAME.fullmatch(name):
        raise ToolwireError(
            f"{name!r} can't be a format's name: use lower-case letters, digits and "
            "underscores, and begin with a letter."
        )
    if name in _RESERVED or name in _formats or name in _aliases:
        raise ToolwireError(f"There is a format named {name!r} already: choose another name.")


@cache
def _any() -> Format:
    from .any_format import any_format  # it looks into every format

    return any_format(_formats.values())


def list_formats(aliases: bool = False) -> list[str]:
    """The names of all formats, sorted; with `aliases`, also their other names, and `any`."""
    return sorted([*_formats, *_aliases, ANY] if aliases else _formats)


def formats_in_order() -> list[str]:
    """The names of all formats, in the order in which they were added."""
    return list(_formats)


def get_format(name: str) -> Format:
    """The format of that name or alias."""
    if not isinstance(name, str):
        raise ToolwireError(f"A format's name is a str, not {type(name).__name__}.")
    found = _any() if name == ANY else _formats.get(_aliases.get(name, name))
    if found is None:
        hint = did_you_mean(name, list_formats(aliases=True))
        raise ToolwireError(
            f"There is no format named {name!r}. {hint}toolwire.list_formats() names them all."
        )
    return found


def names_read(spec: Format) -> frozenset[str]:
    """The names of the formats whose calls are read in this one: its own, but for `any`."""
    if spec.name != ANY:
        return frozenset({spec.name})
    from .any_format import reads

    return frozenset(name for name, each in _formats.items() if reads(spec, each))


for _spec in _BUILT_IN:
    register_format(_spec)

#: The names that toolwire itself has, aliases included.
BUILT_IN = frozenset([*_formats, *_aliases])
