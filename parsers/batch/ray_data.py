"""The same on many machines: Ray Data reads, parses and writes.

Ray does again what a worker that died had not finished, and what that worker had written is written
again under the same name: nothing is lost, and nothing is there twice. What each task wrote is counted
where Ray says that it is done, once.

JSON lines are read in pieces of whole lines, as on one machine, and not by Ray's reader of JSON: one
bad line would cost the whole job. The files in the target folder are in the order of the rows, by name.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from ..errors import ToolwireError
from .lines import parse_lines
from .outcome import Counts
from .parse_calls import ParseCalls
from .places import is_address, reach, reach_all
from .sources import is_parquet, whole_lines
from .tables import add_columns, arrow, counts_in

_PIECE = "lines"
_COUNTS = "counts"


def run_on_ray(parse: ParseCalls, sources: Sequence[str], target: str, address: str) -> Counts:
    """Parses the rows of files that all machines can reach, into files of a folder."""
    ray = _connected(address)
    kinds = {is_parquet(name) for name in sources}
    if len(kinds) > 1:
        raise ToolwireError("Parquet and JSON lines can't be written into one folder.")
    context = ray.data.DataContext.get_current()
    context.execution_options.preserve_order = True
    system, paths = _places(sources)
    if kinds == {True}:
        rows = ray.data.read_parquet(paths, filesystem=system)
        work: Any = partial(add_columns, parse)
        options: dict[str, Any] = {}
    else:
        rows = ray.data.read_datasource(_lines_source()(paths, filesystem=system))
        work = partial(_parse_pieces, parse)
        options = {"batch_size": 1}
    sink = _sink(target, parse.prefix, parquet=kinds == {True})
    parsed = rows.map_batches(work, batch_format="pyarrow", zero_copy_batch=True, **options)
    _refuse_existing(sink)
    parsed.write_datasink(sink)
    counts: Counts = sink.counts
    return counts


def _places(names: Sequence[str]) -> tuple[Any, list[str]]:
    """The filesystem of addresses, and the paths in it; Ray knows that of this machine's files."""
    if not any(map(is_address, names)):
        return None, list(names)
    return reach_all(list(names))


def _refuse_existing(sink: Any) -> None:
    from pyarrow.fs import FileType

    if sink.filesystem.get_file_info(sink.path).type is not FileType.NotFound:
        raise ToolwireError(f"{sink.path} exists: name a folder that does not, Ray makes it.")


def _connected(address: str) -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ToolwireError('--ray needs Ray Data: pip install "toolwire[ray]"') from error
    if not ray.is_initialized():
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING)
        except ConnectionError as error:
            raise ToolwireError(f"There is no Ray cluster at {address}: {error}") from error
    return ray


def _parse_pieces(parse: ParseCalls, pieces: Any) -> Any:
    """Each row of this table is a piece of a file: some whole lines."""
    written, counts = [], []
    for piece in pieces[_PIECE].to_pylist():
        lines, outcomes = parse_lines(parse, piece)
        written.append(lines)
        counts.append(json.dumps(Counts.of(outcomes).to_dict()))
    pa = arrow()
    return pa.table({_PIECE: pa.array(written, pa.large_binary()), _COUNTS: counts})


def _lines_source() -> Any:
    from ray.data.datasource import FileBasedDatasource

    class Lines(FileBasedDatasource):  # type: ignore[misc]  # Ray is not there for the checker
        """Files of lines, in pieces."""

        def _read_stream(self, f: Any, path: str) -> Iterator[Any]:
            pa = arrow()
            for piece in whole_lines(io.BufferedReader(f)):
                yield pa.table({_PIECE: pa.array([piece], pa.large_binary())})

    return Lines


def _sink(target: str, prefix: str, *, parquet: bool) -> Any:
    from ray.data.datasource import BlockBasedFileDatasink

    class Sink(BlockBasedFileDatasink):  # type: ignore[misc]
        """A file for each task, and what they came to in all."""

        counts = Counts()

        def write(self, blocks: Iterable[Any], ctx: Any) -> Any:
            held = list(blocks)
            super().write(held, ctx)
            tables = [block for block in held if block.num_rows]
            return [self._count(table).to_dict() for table in tables]

        def _count(self, table: Any) -> Counts:
            if parquet:
                return counts_in(prefix, table)
            found = map(json.loads, table[_COUNTS].to_pylist())
            return Counts.total(map(Counts.from_dict, found))

        def write_block_to_file(self, block: Any, file: Any) -> None:
            table = block.to_arrow()
            if parquet:
                from pyarrow.parquet import write_table

                write_table(table, file)
            else:
                for lines in table[_PIECE].to_pylist():
                    file.write(lines)

        def on_write_complete(self, write_result: Any) -> None:
            super().on_write_complete(write_result)
            found = [counts for returned in write_result.write_returns for counts in returned]
            self.counts = Counts.total(map(Counts.from_dict, found))

    kind = "parquet" if parquet else "jsonl"
    system, path = reach(target) if is_address(target) else (None, target)
    return Sink(path, filesystem=system, file_format=kind)
