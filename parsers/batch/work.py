"""Pieces of work: some rows of a file, what is made of them, and the processes that do it.

    read ──pieces──▶ workers, one for each core ──results──▶ written, in the order of the pieces

Only so many pieces are under way that every worker has one and a few next ones (while what was made is
put away, nobody hands out more): memory does not grow with the file, and a slow disk slows the reading
down. A piece says where its lines stand, or holds raw bytes, or
an Arrow batch: the process that reads and writes has next to nothing to do with what is in the rows. And
the lines that a worker has made wait in a file of their own, if there is a place for that: handed over,
they would pass through a pipe, at which every worker waits for the one process that reads from it.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

from ..errors import ToolwireError
from .compression import compress
from .lines import parse_lines
from .outcome import Counts
from .parse_calls import ParseCalls
from .tables import add_outcomes

#: What the names of spooled files begin with.
SPOOLED = "rows-"
#: So many pieces for each worker.
_UNDER_WAY = 4
#: Of one piece, so many bad rows are told about one by one.
_TOLD = 10


@dataclass(frozen=True, slots=True)
class Stretch:
    """Whole lines of a file, by where they stand. Who works on them reads them: a worker that was handed
    the bytes would wait for the process that reads and writes, which has to share the cores."""

    name: str
    begin: int
    size: int

    def read(self) -> bytes:
        try:
            with Path(self.name).open("rb") as file:
                file.seek(self.begin)
                return file.read(self.size)
        except OSError as error:
            raise ToolwireError(f"{self.name} can't be read: {error.strerror or error}") from error


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows: whole JSON lines (a `Stretch`, or bytes), or an Arrow record batch. `end` is where in
    the source they end: the bytes, or the rows, before that place."""

    rows: Any
    end: int
    compression: str = ""
    """How what is made of lines is compressed."""

    def read(self) -> Any:
        """The rows themselves."""
        return self.rows.read() if isinstance(self.rows, Stretch) else self.rows


@dataclass(frozen=True, slots=True)
class Spooled:
    """What is to be written, in a file that goes when it was."""

    path: Path
    size: int

    def __len__(self) -> int:
        return self.size


@dataclass(frozen=True, slots=True)
class BadRow:
    """Its place among the rows of the piece, and what is wrong with it."""

    place: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Result:
    """What is written for a piece, and what it came to."""

    rows: Any
    end: int
    counts: Counts
    bad: tuple[BadRow, ...] = ()


def do(parse: ParseCalls, piece: Piece) -> Result:
    written: Any
    rows = piece.read()
    if isinstance(rows, bytes):
        written, outcomes = parse_lines(parse, rows)
        written = compress(written, piece.compression)
    else:
        written, outcomes = add_outcomes(parse, rows)
    bad = (
        BadRow(place, outcome.problems[0].sentence)
        for place, outcome in enumerate(outcomes)
        if outcome.is_bad
    )
    return Result(written, piece.end, Counts.of(outcomes), tuple(islice(bad, _TOLD)))


def results(
    parse: ParseCalls, pieces: Iterable[Piece], workers: int, spool: Path | None = None
) -> Iterator[Result]:
    """The result of each piece, in their order. For one worker, or one piece, no process is started.
    `spool`: where the lines that other processes make may wait."""
    pieces = iter(pieces)
    first = list(islice(pieces, 2))
    pieces = chain(first, pieces)
    if workers == 1 or len(first) < 2:
        yield from (do(parse, piece) for piece in pieces)
        return
    # Slow to import, and nobody else needs them.
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
    from multiprocessing import get_context

    # A fork would copy the locks of pyarrow's threads.
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _start, (parse, spool))
    try:
        yield from _in_order(lambda piece: pool.submit(_do, piece), pieces, _UNDER_WAY * workers)
    except BrokenProcessPool:
        raise ToolwireError(
            "A worker was ended from outside; machines do that when they run out of memory. What was "
            "finished is kept: --resume goes on from there, and --workers says how many there are."
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _in_order(
    submit: Callable[[Piece], Future[Result]], pieces: Iterable[Piece], most: int
) -> Iterator[Result]:
    under_way: deque[Future[Result]] = deque()
    for piece in pieces:
        under_way.append(submit(piece))
        if len(under_way) > most:
            yield under_way.popleft().result()
    while under_way:
        yield under_way.popleft().result()


# -- inside a worker ------------------------------------------------------------------------------

_parse: ParseCalls | None = None
_spool: Path | None = None
_numbers = count()


def _start(parse: ParseCalls, spool: Path | None) -> None:
    global _parse, _spool
    _parse, _spool = parse, spool
    with suppress(ValueError):  # Ctrl-C is for the process that reads and writes
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _do(piece: Piece) -> Result:
    assert _parse is not None
    result = do(_parse, piece)
    if _spool is None or not isinstance(result.rows, bytes):
        return result
    path = _spool / f"{SPOOLED}{os.getpid()}-{next(_numbers)}"
    try:
        path.write_bytes(result.rows)
    except OSError as error:
        raise ToolwireError(f"{path} can't be written: {error.strerror or error}") from error
    return replace(result, rows=Spooled(path, len(result.rows)))
