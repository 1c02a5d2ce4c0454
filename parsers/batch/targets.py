"""Where rows go: a file that is whole or not there, or a pipe.

A file is written in parts, in a folder beside it. Each part is whole or it is not there, and beside it
stands where in the source it ends, so a run that was stopped can be gone on with (`--resume`): behind
the last part. In the end the parts are put together, and the file takes its name in one step.
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
from .work import Result

STDOUT = "-"
#: So many bytes are a part: no more than that is held, or lost where a machine fails.
PART_BYTES = 1 << 24
_JOB = "job.json"


class Pipe:
    """Lines to stdout, as they come."""

    start = 0
    done = False

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
    """A file of JSON lines or, where a schema is given, of Parquet."""

    def __init__(
        self,
        name: str,
        job: Any,
        resume: bool,
        schema: Any = None,
        part_bytes: int = PART_BYTES,
    ) -> None:
        """`job` is what the file is made of and how: only a run of the same may be gone on with."""
        self._path = Path(name)
        self._folder = self._path.with_name(self._path.name + ".parts")
        self._schema = schema
        self._part_bytes = part_bytes
        self._digest = hashlib.sha256(json.dumps(job, default=repr).encode()).hexdigest()
        self.counts = Counts()
        """Of the parts that were there before."""
        self.start = 0
        self.done = resume and self._path.exists() and not self._folder.exists()
        self._parts: list[Path] = []
        self._end = 0
        self._rows: list[Any] = []
        self._bytes = 0
        self._new = Counts()
        if not self.done:
            self._begin(resume)

    def _begin(self, resume: bool) -> None:
        if not resume:
            shutil.rmtree(self._folder, ignore_errors=True)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ToolwireError(f"{self._path} can't be written: {error.strerror}") from error
        note = self._folder / _JOB
        if note.exists():
            if json.loads(note.read_text())["job"] != self._digest:
                raise ToolwireError(
                    f"{self._folder} is of a run with other options or another source. Give the same "
                    "ones again, or leave --resume out to begin anew."
                )
            self._take_up()
        else:
            note.write_text(json.dumps({"job": self._digest}))

    def _take_up(self) -> None:
        """What earlier runs have finished."""
        for part in sorted(self._folder.glob("*.part")):
            about = json.loads(part.with_suffix(".json").read_text())
            self._parts.append(part)
            self.start = self._end = about["end"]
            self.counts.add(Counts.from_dict(about["counts"]))

    # -- parts --------------------------------------------------------------------------------

    def write(self, result: Result) -> None:
        self._rows.append(result.rows)
        self._bytes += len(result.rows) if self._schema is None else result.rows.nbytes
        self._end = result.end
        self._new.add(result.counts)
        if self._bytes >= self._part_bytes:
            self.pause()

    def pause(self) -> None:
        """What was written so far is kept."""
        if not self._rows:
            return
        unfinished = self._folder / "unfinished"
        with self._open(unfinished) as out:
            if self._schema is None:
                out.writelines(self._rows)
            else:
                out.write_table(arrow().Table.from_batches(self._rows))
        part = self._folder / f"{len(self._parts):08}.part"
        about = {"end": self._end, "counts": self._new.to_dict()}
        part.with_suffix(".json").write_text(json.dumps(about))
        unfinished.rename(part)
        self._parts.append(part)
        self._rows, self._bytes, self._new = [], 0, Counts()

    def _open(self, path: Path) -> Any:
        if self._schema is None:
            return path.open("wb")
        from pyarrow import parquet

        return parquet.ParquetWriter(path, self._schema)

    # -- the whole file -----------------------------------------------------------------------

    def finish(self) -> None:
        self.pause()
        if len(self._parts) == 1:
            whole = self._parts[0]
        else:
            whole = self._folder / "whole"
            with self._open(whole) as out:
                for part in self._parts:
                    self._append(out, part)
        whole.replace(self._path)
        shutil.rmtree(self._folder)

    def _append(self, out: Any, part: Path) -> None:
        if self._schema is None:
            with part.open("rb") as file:
                shutil.copyfileobj(file, out, 1 << 20)
            return
        from pyarrow import parquet

        out.write_table(parquet.read_table(part))
