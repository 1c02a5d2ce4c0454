"""A whole job: files in, files with their rows' calls out, on this machine's cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import ToolwireError
from .compression import compression_of
from .lines import read_row
from .outcome import Counts
from .parse_calls import ParseCalls
from .places import is_address, plain_name
from .sources import STDIN, Source, is_parquet
from .tables import wider
from .targets import PART_BYTES, STDOUT, File, Lines, Pipe, Tables
from .work import Piece, Result, results


@dataclass(frozen=True, slots=True)
class Step:
    """How far a job is in one of its files: `place` of `size`, where that is known."""

    name: str
    place: int
    size: int | None
    result: Result | None = None
    """What was written last; none where a file begins."""
    earlier: int = 0
    """Where one begins: the rows that earlier runs have written of it."""


@dataclass(slots=True)
class Job:
    """`watch` hears of every step. `counts` are of what is kept, also where `run` was stopped."""

    parse: ParseCalls
    workers: int
    resume: bool = False
    watch: Callable[[Step], None] = lambda step: None
    part_bytes: int = PART_BYTES
    counts: Counts = field(default_factory=Counts)

    def run(self, source_name: str, target_name: str) -> None:
        source = Source(source_name)
        target = self._target(source, target_name)
        self.counts.add(target.counts)
        self.watch(Step(source_name, target.start, source.size, earlier=target.counts.rows))
        if target.done:
            return
        pieces = source.pieces(target.start, compression_of(target_name))
        if not target.start and not is_parquet(source_name):
            pieces = self._looked_at(pieces)
        try:
            for result in results(self.parse, pieces, self.workers, target.spool):
                target.write(result)
                self.counts.add(result.counts)
                self.watch(Step(source_name, result.end, None, result))
        except BaseException:  # Ctrl-C, too: what is finished is kept
            target.pause()
            raise
        target.finish()

    def _looked_at(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """The same pieces. Where no row of the first one has the text, a wrong name was given: better to
        say so than to call a million rows bad."""
        first = next(pieces, None)
        if first is None:
            return
        read = (read_row(line)[0] for line in first.read().splitlines())
        rows = [row for row in read if row is not None]
        if rows:
            self.parse.refuse_taken(list(rows[0]))
            if not any(self.parse.text_column in row for row in rows):
                self.parse.refuse_missing(list(rows[0]))
        yield first
        yield from pieces

    def _target(self, source: Source, name: str) -> File | Pipe:
        parquet = is_parquet(source.name)
        if parquet != is_parquet(name):
            raise ToolwireError(
                f"{source.name} to {name}: rows are written as they were read, Parquet to .parquet and "
                "JSON lines to JSON lines."
            )
        if name == STDOUT:
            return Pipe()
        job = [source.state(), self.parse.settings]
        if not parquet:
            return Lines(name, job, self.resume, self.part_bytes)
        schema = wider(self.parse, source.schema())
        return Tables(name, job, self.resume, schema, self.part_bytes)


def targets(sources: Sequence[str], target: str) -> list[tuple[str, str]]:
    """Which file each source is written to: `target`, or one of the same name in that folder."""
    if is_address(target):
        raise ToolwireError(
            f"{target} can't be written: a file that --resume can go on with grows on this machine. "
            "Name one here, or let --ray write there."
        )
    folder = target.endswith(os.sep) or (target != STDOUT and Path(target).is_dir())
    if not folder:
        if len(sources) > 1:
            raise ToolwireError(
                f"{len(sources)} files can't be written into one: name a folder, as in {target}/"
            )
        pairs = [(sources[0], target)]
    elif STDIN in sources:
        raise ToolwireError("What comes from stdin has no name: name the file to write.")
    else:
        pairs = [(name, str(Path(target) / Path(plain_name(name)).name)) for name in sources]
    names = [written for _, written in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ToolwireError(f"Two of the files would be written to {twice}.")
    for source, written in pairs:
        if source != STDIN and Path(source).resolve() == Path(written).resolve():
            raise ToolwireError(f"{source} would be written over itself: give another name.")
    return pairs
