"""Where rows go: a file that is whole or not there, or a pipe.

A file grows in a folder beside it, a part at a time, and beside it stands how much of it there is
and where in the source that ends. So a run that was stopped can be gone on with (`--resume`): behind
the last part that was whole. In the end the file takes its name in one step.

Lines are put behind the lines that are there: nothing is written twice. A Parquet file can't grow, so
its parts are files of their own, which are put together in the end.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

from ..errors import ToolwireError
from .outcome import Counts
from .tables import arrow
from .work import SPOOLED, Result, Spooled

STDOUT = "-"
#: So many bytes are a part: no more than that is held, or lost where a machine fails.
PART_BYTES = 1 << 24
_STATE = "state.json"


class Pipe:
    """Lines to stdout, as they come."""

    start = 0
    done = False
    spool = None

    def __init__(self) -> None:
        self.counts = Counts()

    def write(self, result: Result) -> None:
        sys.stdout.buffer.write(result.rows)
        sys.stdout.buffer.flush()

    def pause(self) -> None:
        """There is nothing to keep."""

    def finish(self) -> None:
        sys.stdout.flush()


class File:
    """A file. What is the same for lines and tables."""

    spool: Path | None = None
    """Where what was made for it may wait, see `work`."""

    def __init__(self, name: str, job: Any, resume: bool, part_bytes: int = PART_BYTES) -> None:
        """`job` is what the file is made of and how: only a run of the same may be gone on with."""
        self._path = Path(name)
        self._folder = self._path.with_name(self._path.name + ".parts")
        self._part_bytes = part_bytes
        self._digest = hashlib.sha256(json.dumps(job, default=repr).encode()).hexdigest()
        self.counts = Counts()
        """Of what earlier runs have finished."""
        self.start = 0
        self.done = resume and self._path.exists() and not self._folder.exists()
        self._kept = 0  # how much there is: of lines the bytes, of tables the parts
        self._end = 0
        self._rows: list[Any] = []
        self._bytes = 0
        self._all = Counts()
        if not self.done:
            self._begin(resume)

    def _begin(self, resume: bool) -> None:
        if not resume:
            shutil.rmtree(self._folder, ignore_errors=True)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ToolwireError(f"{self._path} can't be written: {error.strerror}") from error
        if not (self._folder / _STATE).exists():
            self._note()
            return
        state = json.loads((self._folder / _STATE).read_text())
        if state["job"] != self._digest:
            raise ToolwireError(
                f"{self._folder} is of a run with other options or another source. Give the same "
                "ones again, or leave --resume out to begin anew."
            )
        self.start = self._end = state["end"]
        self._kept = state["kept"]
        self.counts = Counts.from_dict(state["counts"])
        self._all = Counts.from_dict(state["counts"])

    def _note(self) -> None:
        """What is there is there for good: in one step, whenever the run may end."""
        counts = self._all.to_dict()
        state = {"job": self._digest, "end": self._end, "kept": self._kept, "counts": counts}
        unfinished = self._folder / f"{_STATE}.new"
        unfinished.write_text(json.dumps(state))
        unfinished.replace(self._folder / _STATE)

    def write(self, result: Result) -> None:
        self._rows.append(result.rows)
        self._bytes += self._size_of(result.rows)
        self._end = result.end
        self._all.add(result.counts)
        if self._bytes >= self._part_bytes:
            self.pause()

    def pause(self) -> None:
        """What was written so far is kept."""
        if not self._rows:
            return
        self._kept = self._keep(self._rows)
        self._note()
        written, self._rows, self._bytes = self._rows, [], 0
        for rows in written:  # not sooner: Ctrl-C in between has it done again
            if isinstance(rows, Spooled):
                rows.path.unlink()

    def finish(self) -> None:
        self.pause()
        self._whole().replace(self._path)
        shutil.rmtree(self._folder)

    # -- what differs from kind to kind -------------------------------------------------------

    def _size_of(self, rows: Any) -> int:
        raise NotImplementedError

    def _keep(self, rows: list[Any]) -> int:
        """Writes them behind all that is there. Returns how much there is then."""
        raise NotImplementedError

    def _whole(self) -> Path:
        """The file, with all parts in it."""
        raise NotImplementedError


class Lines(File):
    """A file of JSON lines, which may be compressed."""

    def __init__(self, name: str, job: Any, resume: bool, part_bytes: int = PART_BYTES) -> None:
        super().__init__(name, job, resume, part_bytes)
        self.spool = self._folder
        for left in self._folder.glob(f"{SPOOLED}*"):  # by a run that was ended from outside
            left.unlink()

    def _size_of(self, rows: bytes | Spooled) -> int:
        return len(rows)

    def _keep(self, rows: list[bytes | Spooled]) -> int:
        with self._grown().open("r+b") as out:
            out.truncate(self._kept)  # what a run that was ended from outside had begun
            out.seek(self._kept)
            for some in rows:
                if isinstance(some, bytes):
                    out.write(some)
                else:
                    with some.path.open("rb") as spooled:
                        shutil.copyfileobj(spooled, out, some.size)
            return out.tell()

    def _whole(self) -> Path:
        return self._grown()

    def _grown(self) -> Path:
        path = self._folder / "lines"
        path.touch()
        return path


class Tables(File):
    """A Parquet file of this schema."""

    def __init__(
        self, name: str, job: Any, resume: bool, schema: Any, part_bytes: int = PART_BYTES
    ) -> None:
        self._schema = schema
        super().__init__(name, job, resume, part_bytes)

    def _size_of(self, rows: Any) -> int:
        return int(rows.nbytes)

    def _keep(self, rows: list[Any]) -> int:
        with self._open(self._part(self._kept)) as out:
            out.write_table(arrow().Table.from_batches(rows))
        return self._kept + 1

    def _part(self, number: int) -> Path:
        return self._folder / f"{number:08}.parquet"

    def _whole(self) -> Path:
        if self._kept == 1:
            return self._part(0)
        from pyarrow import parquet

        whole = self._folder / "whole"
        with self._open(whole) as out:
            for number in range(self._kept):
                out.write_table(parquet.read_table(self._part(number)))
        return whole

    def _open(self, path: Path) -> Any:
        from pyarrow import parquet

        return parquet.ParquetWriter(path, self._schema)
