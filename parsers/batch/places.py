"""Files by their addresses: `s3://bucket/rows.jsonl`, and whatever else pyarrow can reach.

How they are reached is pyarrow's to say: a server of one's own by `AWS_ENDPOINT_URL` or in the address
(`s3://bucket/rows.jsonl?endpoint_override=…`), keys by Amazon's own variables and files.
"""

from __future__ import annotations

import io
from fnmatch import fnmatchcase
from typing import Any, BinaryIO, cast
from urllib.parse import quote, unquote

from ..errors import ToolwireError
from .tables import arrow


def is_address(name: str) -> bool:
    return "://" in name


def plain_name(name: str) -> str:
    """What a file is called, without the settings behind its address: its end says what is in it."""
    return unquote(name.partition("?")[0]) if is_address(name) else name


def reach(address: str) -> tuple[Any, str]:
    """The filesystem, and the path in it."""
    pa = arrow()
    from pyarrow.fs import FileSystem

    try:
        system, path = FileSystem.from_uri(address)
    except (pa.ArrowException, OSError) as error:
        raise ToolwireError(f"{address} can't be reached: {error}") from error
    return system, path.rstrip("/")


def reach_all(addresses: list[str]) -> tuple[Any, list[str]]:
    """Their one filesystem, and the paths in it."""
    found = [reach(address) for address in addresses]
    system = found[0][0]
    if any(other != system for other, _ in found):
        raise ToolwireError("With --ray, all files that are read must be in one place.")
    return system, [path for _, path in found]


def find_addresses(address: str, ends: tuple[str, ...]) -> list[str]:
    """The files that are meant: the one, those of a folder whose names end so, or those that fit a
    pattern in the last part of the address."""
    system, path = reach(address)
    place, settings, query = address.partition("?")
    folder, _, pattern = path.rpartition("/")
    if "*" in pattern:
        place = place.rpartition("/")[0]
        fits = [name for name in _names(address, system, folder) if fnmatchcase(name, pattern)]
    elif _info(address, system, path).type.name == "Directory":
        fits = [name for name in _names(address, system, path) if name.lower().endswith(ends)]
    else:
        return [address]
    return [f"{place.rstrip('/')}/{quote(name)}{settings}{query}" for name in fits]


def _names(address: str, system: Any, folder: str) -> list[str]:
    from pyarrow.fs import FileSelector

    inside = _info(address, system, FileSelector(folder))
    return sorted(one.base_name for one in inside if one.is_file)


def _info(address: str, system: Any, path: Any) -> Any:
    try:
        return system.get_file_info(path)
    except OSError as error:
        raise ToolwireError(f"{address} can't be read: {error}") from error


def info_of(address: str) -> Any:
    """A file's size and when it was written (pyarrow's `FileInfo`)."""
    found = _info(address, *reach(address))
    if not found.is_file:
        raise ToolwireError(f"{address} can't be read: there is no such file")
    return found


def opened(address: str) -> BinaryIO:
    """The file's bytes as they are: pyarrow would unpack what is compressed."""
    system, path = reach(address)
    return cast(BinaryIO, io.BufferedReader(system.open_input_stream(path, compression=None)))
