"""gzip and zstd, by the end of a file's name.

Each piece is compressed by itself: both kinds of file may be made of several such pieces, one behind the
other, and the workers can do it.
"""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..errors import ToolwireError
from .places import plain_name

#: By the end of a name.
COMPRESSIONS = {".gz": "gzip", ".gzip": "gzip", ".zst": "zstd", ".zstd": "zstd"}


def compression_of(name: str) -> str:
    return COMPRESSIONS.get(Path(plain_name(name)).suffix.lower(), "")


def zstd() -> Any:
    try:
        import zstandard
    except ImportError as error:
        raise ToolwireError(
            'zstd is read and written by zstandard: pip install "toolwire[batch]"'
        ) from error
    return zstandard


def compress(data: bytes, kind: str) -> bytes:
    if not data or not kind:
        return data
    if kind == "gzip":
        return gzip.compress(data, 6, mtime=0)
    return cast(bytes, zstd().ZstdCompressor().compress(data))


def decompressed(file: BinaryIO, kind: str) -> BinaryIO:
    """The bytes in a file, as they were before."""
    if kind == "gzip":
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    if kind == "zstd":
        reader = zstd().ZstdDecompressor().stream_reader(file, read_across_frames=True)
        return io.BufferedReader(reader, 1 << 18)  # a reader of zstd has no lines
    return file
