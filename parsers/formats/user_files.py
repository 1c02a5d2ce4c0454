"""Formats from the user's own TOML files, which every way to start toolwire reads.

`TOOLWIRE_FORMATS` names files, and folders of `*.toml`, separated as in `PATH`. Beside those, there is
the folder `toolwire/formats` in the user's configuration (`~/.config`). Processes that an engine starts
inherit the environment, so all of them know the same formats. `import toolwire` alone reads no file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ..errors import ToolwireError
from .registry import check_free, get_format, list_formats, register_format

VARIABLE = "TOOLWIRE_FORMATS"

#: Is told what is wrong with a file.
Complain = Callable[[str], object]


def load_user_formats(
    complain: Complain | None = None, environment: Mapping[str, str] = os.environ
) -> None:
    """Register the formats in the user's files. May be called any number of times.

    A mistake in a file is a `ToolwireError`; given `complain`, that is told instead, and all other files
    count.
    """
    for place in _places(environment):
        with _errors_to(complain):
            for path in _files(place):
                with _errors_to(complain):
                    register_file(path)


@contextmanager
def _errors_to(complain: Complain | None) -> Iterator[None]:
    try:
        yield
    except ToolwireError as error:
        if complain is None:
            raise
        complain(str(error))


def _places(environment: Mapping[str, str]) -> list[Path]:
    """The files and folders to read, in their order."""
    named = [name for name in environment.get(VARIABLE, "").split(os.pathsep) if name.strip()]
    config = environment.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(config):  # the rule for this variable: others count as not set
        config = os.path.expanduser("~/.config")
    folder = os.path.join(config, "toolwire", "formats")
    # Nobody asked for this folder by name, so it is no mistake if it is not there.
    own = [folder] if os.path.isdir(folder) else []
    return [Path(os.path.expanduser(name)) for name in (*named, *own)]


def _files(place: Path) -> list[Path]:
    """The `*.toml` of a folder, or the one file."""
    if not os.path.isdir(place):
        return [place]
    try:
        names = sorted(os.listdir(place))
    except OSError as error:
        raise ToolwireError(f"{place} can't be read: {error.strerror}") from error
    return [place / name for name in names if name.endswith(".toml") and name[0] != "."]


def register_file(path: Path) -> None:
    """Register the formats in one file."""
    from .toml_specs import read_formats  # who has no files waits for no TOML reader

    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors put a mark in front
    except OSError as error:
        raise ToolwireError(f"{path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ToolwireError(f"{path} can't be read: it is not UTF-8 text") from error
    for spec, place in read_formats(text, str(path)):
        if spec.name in list_formats() and get_format(spec.name) == spec:
            continue  # this very format is there already
        for name in (spec.name, *spec.aliases):
            try:
                check_free(name)
            except ToolwireError as error:
                at = place.inside("name" if name == spec.name else "aliases")
                raise at.error(str(error)) from error
        register_format(spec)
