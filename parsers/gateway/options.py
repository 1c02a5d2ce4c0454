"""Settings, each declared once: a field of a dataclass with its help and its limits.

    keep_alive: float = setting(10.0, ANSWERS, "Seconds after which …", least=0)

From that derive the flag `--keep-alive`, the variable `TOOLWIRE_KEEP_ALIVE` and the key `keep_alive` of
a TOML file. `gather` looks for each setting in several sources, the first of which wins. A wrong value
is one sentence that says where it stands.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import os
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ..errors import ToolwireError
from ..formats.toml_text import line_of, read_toml
from .budget import MIB

#: Names the file of settings, where no flag does.
CONFIG = "TOOLWIRE_CONFIG"

_KEY = "toolwire.option"
_YES, _NO = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_WANTED = {
    int: "it must be a whole number",
    float: "it must be a number",
    bool: "it must be true or false",
    str: "it must be a text",
    tuple: "it must be a list of texts",
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Option:
    """What there is to say about a setting beside its name, type and default."""

    group: str
    help: str
    choices: tuple[str, ...] = ()
    least: float = -math.inf
    most: float = math.inf
    check: Callable[[Any], object] | None = None  # raises a ToolwireError
    mib: bool = False  # bytes for the program, MiB for people
    variables: tuple[str, ...] = ()  # other names in the environment; their sizes are bytes
    secret: bool = False  # everybody on a machine can see a command line: no flag


def setting(default: T, group: str, help: str, **more: Any) -> T:
    """A field of a dataclass that can be set from outside. `more` is what an `Option` has."""
    made: T = field(default=default, metadata={_KEY: Option(group, help, **more)})
    return made


@dataclass(frozen=True, slots=True)
class Setting:
    """One that was declared."""

    field: str
    kind: type  # int, float, bool, str, or tuple for a list of texts
    default: Any
    option: Option

    @property
    def name(self) -> str:
        """As it is written in a file; flags and variables are made of it."""
        return self.field + ("_mib" if self.option.mib else "")

    @property
    def flag(self) -> str | None:
        return None if self.option.secret else "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return f"TOOLWIRE_{self.name.upper()}"

    @property
    def shown_default(self) -> str | None:
        """The default, as people would write it."""
        if self.default in (None, "", (), False):
            return None
        value = self.default // MIB if self.option.mib else self.default
        return f"{value:g}" if isinstance(value, float) else str(value)

    def read(self, given: Any, where: str, in_mib: bool = True) -> Any:
        """The value, from a text or what a TOML file says. `where` is what an error calls it."""
        value = _from_text(self.kind, given) if isinstance(given, str) else _typed(self.kind, given)
        if value is None:
            raise ToolwireError(f"{where} is {given!r}: {_WANTED[self.kind]}")
        if self.option.mib and in_mib:
            value *= MIB
        self.check(value, where)
        return value

    def check(self, value: Any, where: str) -> None:
        """Raises a ToolwireError for a value that is none of this setting's."""
        option = self.option
        if value is None:
            return
        if option.choices and value not in option.choices:
            raise ToolwireError(f"{where} is {value!r}: use one of {', '.join(option.choices)}")
        if isinstance(value, float) and not math.isfinite(value):
            raise ToolwireError(f"{where} is {value}: it must be a number")
        if isinstance(value, int | float) and not option.least <= value <= option.most:
            end = "or more" if option.most == math.inf else f"to {option.most:g}"
            raise ToolwireError(f"{where} is {value}: it must be {option.least:g} {end}")
        if option.check is not None:
            try:
                option.check(value)
            except ToolwireError as error:
                raise ToolwireError(f"{where}: {error}") from None


def _from_text(kind: type, text: str) -> Any:
    """A text as a value of this kind; None where it is none."""
    text = text.strip()
    if kind is bool:
        low = text.lower()
        return low in _YES if low in (*_YES, *_NO) else None
    if kind is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if kind is str:
        return text
    try:
        return kind(text)
    except ValueError:
        return None


def _typed(kind: type, given: Any) -> Any:
    """What a TOML file or a program says, as a value of this kind; None where it is none."""
    if kind is tuple:
        listed = isinstance(given, list | tuple) and all(isinstance(one, str) for one in given)
        return tuple(given) if listed else None
    if kind is float and type(given) is int:
        return float(given)
    return given if type(given) is kind else None


def settings_of(declared: type) -> tuple[Setting, ...]:
    """The settings that a dataclass declares, in their order."""
    hints = typing.get_type_hints(declared)
    found = [f for f in dataclasses.fields(declared) if _KEY in f.metadata]
    return tuple(Setting(f.name, _kind(hints[f.name]), f.default, f.metadata[_KEY]) for f in found)


def _kind(hint: Any) -> type:
    """`str | None` is a text that may be missing, `tuple[str, ...]` a list of texts."""
    inner = [one for one in typing.get_args(hint) if one not in (type(None), Ellipsis)]
    if typing.get_origin(hint) is tuple:
        return tuple
    kind: type = inner[0] if inner else hint
    return kind


def check_fields(made: Any) -> None:
    """Checks what a program puts into such a dataclass."""
    for one in settings_of(type(made)):
        one.check(getattr(made, one.field), one.field)


# -- where settings come from ---------------------------------------------------------------------


class Source(typing.Protocol):
    """A place that may have values."""

    def find(self, wanted: Setting) -> Any:
        """The value, checked; None where there is none."""


@dataclass(frozen=True, slots=True)
class Flags:
    """What a command line says, by the settings' names."""

    said: Mapping[str, Any]

    def find(self, wanted: Setting) -> Any:
        given = self.said.get(wanted.name)
        return None if given in (None, [], ()) else wanted.read(given, wanted.flag or wanted.name)


@dataclass(frozen=True, slots=True)
class Environment:
    """The variables of a process. One that is empty says nothing."""

    variables: Mapping[str, str]

    def find(self, wanted: Setting) -> Any:
        for name in (wanted.variable, *wanted.option.variables):
            if text := self.variables.get(name, "").strip():
                return wanted.read(text, name, in_mib=name == wanted.variable)
        return None


class ConfigFile:
    """A TOML file with the settings' names as its keys."""

    def __init__(self, path: Path, known: Iterable[Setting]) -> None:
        try:
            self._text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise ToolwireError(f"{path} can't be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ToolwireError(f"{path} can't be read: it is not UTF-8 text") from error
        self._path = path
        self._said = read_toml(self._text, str(path))
        names = [one.name for one in known]
        for key in self._said:
            if key not in names:
                near = difflib.get_close_matches(key.replace("-", "_"), names, 1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
                raise ToolwireError(f"{self._place(key)}: there is no setting {key!r}; {hint}")

    def _place(self, key: str) -> str:
        return f"{self._path}, line {line_of(self._text, (key,))}"

    def find(self, wanted: Setting) -> Any:
        given = self._said.get(wanted.name)
        if given is None:
            return None
        return wanted.read(given, f"{self._place(wanted.name)}: {wanted.name}")


def sources(
    known: Iterable[type],
    said: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] = os.environ,
    config: str | None = None,
) -> list[Source]:
    """Flags win over the environment, and that over a file."""
    found: list[Source] = [Flags(said or {}), Environment(environment)]
    if path := config or environment.get(CONFIG, "").strip():
        every = [one for declared in known for one in settings_of(declared)]
        found.append(ConfigFile(Path(path), every))
    return found


def gather(declared: type[T], places: Iterable[Source]) -> T:
    """The dataclass, each setting from the first source that has it."""
    places = list(places)
    return declared(**dict(_found(declared, places)))


def _found(declared: type, places: list[Source]) -> Iterator[tuple[str, Any]]:
    for wanted in settings_of(declared):
        for place in places:
            value = place.find(wanted)
            if value is not None:
                yield wanted.field, value
                break
