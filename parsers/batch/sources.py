"""Where rows come from: JSON lines, compressed or not, stdin, or Parquet; in pieces, from any place on.
Addresses are read as files are: see `places`.

A place in JSON lines is a number of bytes (before compression), in Parquet a number of rows.
"""

from __future__ import annotations

import glob
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import ToolwireError
from .compression import COMPRESSIONS, compression_of, decompressed, zstd
from .places import find_addresses, info_of, is_address, opened, plain_name, reach
from .tables import arrow
from .work import Piece, Stretch

STDIN = "-"
PARQUET = (".parquet", ".pq")
_LINES = (".jsonl", ".ndjson", ".json", *COMPRESSIONS)
#: So much is one piece of work: small enough that the last ones keep every core busy.
_PIECE_BYTES = 1 << 18
_PIECE_ROWS = 512
_SKIP = 1 << 20


def is_parquet(name: str) -> bool:
    return plain_name(name).lower().endswith(PARQUET)


def find_sources(names: Sequence[str]) -> list[str]:
    """The files that are meant: by their names, by a pattern, or all in a folder."""
    found: list[str] = []
    for name in names:
        if is_address(name):
            files = find_addresses(name, (*PARQUET, *_LINES))
        elif name != STDIN and Path(name).is_dir():
            inside = sorted(map(str, Path(name).iterdir()))
            files = [one for one in inside if one.lower().endswith((*PARQUET, *_LINES))]
        else:
            exists = name == STDIN or Path(name).exists() or not glob.has_magic(name)
            files = [name] if exists else sorted(glob.glob(name))
        if not files:
            raise ToolwireError(f"There are no JSON lines and no Parquet files in {name}.")
        found += files
    return found


@dataclass(frozen=True, slots=True)
class Source:
    """One file of rows. `size` is how far its pieces go, where that is known before: for a progress bar.
    Of compressed files it is not."""

    name: str

    @property
    def size(self) -> int | None:
        if self.name == STDIN or compression_of(self.name):
            return None
        if is_parquet(self.name):
            return int(self._table().metadata.num_rows)
        return int(info_of(self.name).size) if self._is_far else Path(self.name).stat().st_size

    @property
    def _is_far(self) -> bool:
        return is_address(self.name)

    def state(self) -> list[Any]:
        """What tells whether it is still the same file."""
        if self.name == STDIN:
            return [self.name]
        if self._is_far:
            there = info_of(self.name)
            return [self.name, there.size, there.mtime_ns]
        try:
            found = Path(self.name).stat()
        except OSError as error:
            raise ToolwireError(f"{self.name} can't be read: {error.strerror}") from error
        return [str(Path(self.name).resolve()), found.st_size, found.st_mtime_ns]

    def schema(self) -> Any:
        """Of a Parquet file."""
        return self._table().schema_arrow

    def pieces(self, start: int, compression: str) -> Iterator[Piece]:
        """All rows behind a place. `compression` is how lines are written later."""
        if is_parquet(self.name):
            yield from self._batches(start)
            return
        try:
            yield from self._lines(start, compression)
        except OSError as error:
            raise ToolwireError(f"{self.name} can't be read: {error.strerror or error}") from error
        except (EOFError, zlib.error, _zstd_error()) as error:
            raise ToolwireError(f"{self.name} can't be read to its end: {error}") from error

    def _lines(self, start: int, compression: str) -> Iterator[Piece]:
        if self.name != STDIN and not compression_of(self.name) and Path(self.name).is_file():
            yield from self._stretches(start, compression)
            return
        with self._opened() as file:
            lines = decompressed(file, compression_of(self.name))
            place = start
            _skip(lines, start)
            for text in whole_lines(lines):
                place += len(text)
                yield Piece(text, place, compression)

    def _opened(self) -> BinaryIO:
        if self.name == STDIN:
            return sys.stdin.buffer
        return opened(self.name) if self._is_far else Path(self.name).open("rb")

    def _stretches(self, place: int, compression: str) -> Iterator[Piece]:
        """Of a file in which one can look anywhere, only the ends of lines are looked for."""
        with Path(self.name).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            while place < size:
                file.seek(min(place + _PIECE_BYTES, size))
                file.readline()
                begin, place = place, file.tell()
                yield Piece(Stretch(self.name, begin, place - begin), place, compression)

    def _batches(self, start: int) -> Iterator[Piece]:
        table = self._table()
        place = 0
        for group in range(table.num_row_groups):
            rows = table.metadata.row_group(group).num_rows
            if place + rows <= start:
                place += rows
                continue
            for batch in table.iter_batches(_PIECE_ROWS, row_groups=[group]):
                left_out = min(max(0, start - place), batch.num_rows)
                place += batch.num_rows
                if left_out < batch.num_rows:
                    yield Piece(batch.slice(left_out), place)

    def _table(self) -> Any:
        pa = arrow()
        from pyarrow import parquet

        try:
            if self._is_far:
                system, path = reach(self.name)
                return parquet.ParquetFile(path, filesystem=system)
            return parquet.ParquetFile(self.name)
        except (pa.ArrowException, OSError) as error:
            raise ToolwireError(f"{self.name} can't be read as Parquet: {error}") from error


def whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """A file's lines, as many at a time as one piece of work has."""
    while text := file.read(_PIECE_BYTES):
        yield text + file.readline()


def _skip(file: BinaryIO, size: int) -> None:
    """The file, behind so many bytes."""
    while size and (skipped := len(file.read(min(size, _SKIP)))):
        size -= skipped


def _zstd_error() -> type[Exception]:
    """What zstandard raises, if it is there."""
    try:
        error: type[Exception] = zstd().ZstdError
    except ToolwireError:
        return EOFError
    return error
