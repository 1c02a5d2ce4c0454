"""Files in, files out: every kind, order, several processes, and going on after any end."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import zstandard
from pyarrow import parquet
from toolwire import ToolwireError
from toolwire.batch import ParseCalls
from toolwire.batch.job import Job, Step, targets
from toolwire.batch.sources import Source, find_sources

CALL = '<tool_call>{"name": "add", "arguments": {"a": NUMBER}}</tool_call>'
PARSE = ParseCalls("hermes")
#: Enough for many pieces of work, of which every tenth row has no call.
ROWS = [
    {"id": i, "text": f"{'long ' * (i % 50)}{CALL.replace('NUMBER', str(i)) if i % 10 else ''}"}
    for i in range(6000)
]

Write = Callable[[Path, list[dict[str, Any]]], None]
Read = Callable[[Path], list[dict[str, Any]]]


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def from_lines(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def write_table(path: Path, rows: list[dict[str, Any]]) -> None:
    parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=1700)


def from_zstd(path: Path) -> list[dict[str, Any]]:
    with zstandard.open(path) as file:
        return from_lines(file.read())


KINDS: dict[str, tuple[Write, Read]] = {
    "jsonl": (
        lambda p, rows: void(p.write_bytes(lines(rows))),
        lambda p: from_lines(p.read_bytes()),
    ),
    "jsonl.gz": (
        lambda p, rows: void(p.write_bytes(gzip.compress(lines(rows)))),
        lambda p: from_lines(gzip.decompress(p.read_bytes())),
    ),
    "jsonl.zst": (
        lambda p, rows: void(p.write_bytes(zstandard.compress(lines(rows)))),
        from_zstd,
    ),
    "parquet": (write_table, lambda p: parquet.read_table(p).to_pylist()),
}


def void(_: object) -> None:
    """Of a function whose result nobody wants."""


def is_right(found: list[dict[str, Any]], rows: list[dict[str, Any]] = ROWS) -> None:
    """All rows, each once, in their order, each with its own call."""
    assert [row["id"] for row in found] == [row["id"] for row in rows]
    for row in found:
        calls = [call["function"]["arguments"] for call in row["tool_calls"]]
        assert calls == ([json.dumps({"a": row["id"]})] if row["id"] % 10 else [])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workers", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_every_kind_of_file(kind: str, workers: int, tmp_path: Path) -> None:
    write, read = KINDS[kind]
    source, target = tmp_path / f"in.{kind}", tmp_path / "new" / f"out.{kind}"
    write(source, ROWS)
    seen: list[Step] = []
    job = Job(PARSE, workers, watch=seen.append)
    job.run(str(source), str(target))
    is_right(read(target))
    assert (job.counts.rows, job.counts.calls) == (6000, 5400)
    assert [path.name for path in target.parent.iterdir()] == [target.name]
    assert len(seen) > 4, "it was one piece, and nothing was tested"
    size = seen[0].size
    assert size is None or seen[-1].place == size


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows(kind: str, tmp_path: Path) -> None:
    write, read = KINDS[kind]
    source, target = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    if kind == "parquet":
        parquet.write_table(pa.table({"text": pa.array([], pa.string())}), source)
    else:
        write(source, [])
    Job(PARSE, 2).run(str(source), str(target))
    assert read(target) == []


def test_lines_without_an_end_and_between_them(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b'\n{"text": "a"}\r\n\n  \n{"text": "b"}')
    Job(PARSE, 1).run(str(source), str(tmp_path / "out.jsonl"))
    found = from_lines((tmp_path / "out.jsonl").read_bytes())
    assert [row["content"] for row in found] == ["a", "b"]


# -- going on -------------------------------------------------------------------------------------


class Stop(BaseException):
    pass


def stopping(after: int) -> Callable[[Step], None]:
    steps = iter(range(after))

    def watch(step: Step) -> None:
        if next(steps, None) is None:
            raise Stop

    return watch


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("after", "workers"),
    [(1, 1), *(pytest.param(*n, marks=pytest.mark.slow) for n in ((3, 1), (5, 1), (4, 2)))],
)
def test_a_run_that_was_stopped_is_gone_on_with(
    kind: str, after: int, workers: int, tmp_path: Path
) -> None:
    write, read = KINDS[kind]
    source, target = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    write(source, ROWS)
    job = Job(PARSE, workers, watch=stopping(after), part_bytes=200_000)
    with pytest.raises(Stop):
        job.run(str(source), str(target))
    assert not target.exists(), "a file that is not whole must not be there"
    first: list[Step] = []
    again = Job(PARSE, 1, resume=True, watch=first.append)
    again.run(str(source), str(target))
    assert first[0].earlier == job.counts.rows
    assert (first[0].place > 0) == (job.counts.rows > 0)
    is_right(read(target))
    assert (again.counts.rows, again.counts.calls) == (6000, 5400)
    assert sorted(path.name for path in tmp_path.iterdir()) == [source.name, target.name]
    before = target.read_bytes()
    done = Job(PARSE, 1, resume=True)
    done.run(str(source), str(target))
    assert target.read_bytes() == before, "what is done is not done again"


KILLED = """
import os, signal, sys
from toolwire.batch import ParseCalls
from toolwire.batch.job import Job
steps = iter(range(4))
def watch(step):
    if next(steps, None) is None:
        os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    Job(ParseCalls("hermes"), int(sys.argv[3]), watch=watch, part_bytes=1).run(*sys.argv[1:3])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "workers"), [("jsonl.gz", 1), ("parquet", 1), ("jsonl", 2)])
def test_a_run_that_was_killed_is_gone_on_with(kind: str, workers: int, tmp_path: Path) -> None:
    write, read = KINDS[kind]
    source, target = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    write(source, ROWS)
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    command = [sys.executable, str(script), str(source), str(target), str(workers)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    parts = target.with_name(f"{target.name}.parts")
    half = parts / (
        "lines" if kind != "parquet" else f"{len(list(parts.glob('*.parquet'))):08}.parquet"
    )
    with half.open("ab") as file:
        file.write(b"half of a part")
    (parts / "rows-1-1").write_text("what a worker had made")
    seen: list[Step] = []
    Job(PARSE, 1, resume=True, watch=seen.append).run(str(source), str(target))
    assert 0 < seen[0].earlier < 6000
    assert not parts.exists()
    is_right(read(target))


def test_only_the_same_run_is_gone_on_with(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(lines(ROWS))
    with pytest.raises(Stop):
        Job(PARSE, 1, watch=stopping(3)).run(str(source), str(target))
    with pytest.raises(ToolwireError, match="of a run with other options or another source"):
        Job(ParseCalls("json"), 1, resume=True).run(str(source), str(target))
    source.write_bytes(lines(ROWS[:100]))
    with pytest.raises(ToolwireError, match="of a run with other options or another source"):
        Job(PARSE, 1, resume=True).run(str(source), str(target))
    Job(PARSE, 1).run(str(source), str(target))  # anew
    is_right(from_lines(target.read_bytes()), ROWS[:100])


class Dying(ParseCalls):
    """A worker that has this is ended from outside."""

    def outcome(self, row: Any) -> Any:
        if row["id"] == 3000:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().outcome(row)


@pytest.mark.slow
def test_a_worker_that_is_killed_is_a_sentence_and_costs_no_row(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(lines(ROWS))
    with pytest.raises(ToolwireError, match="A worker was ended from outside"):
        Job(Dying("hermes"), 2).run(str(source), str(target))
    assert not target.exists()
    Job(PARSE, 1, resume=True).run(str(source), str(target))
    is_right(from_lines(target.read_bytes()))


# -- what can't be read or written ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("in.jsonl.gz", gzip.compress(lines(ROWS))[:-2000], "can't be read to its end"),
        ("in.jsonl.gz", b"no gzip", "can't be read"),
        ("in.jsonl.zst", b"no zstd", "can't be read to its end"),
        ("in.parquet", b"no parquet", "can't be read as Parquet"),
        ("missing.jsonl", None, "No such file"),
        ("in.jsonl", b'{"other": 1}\n', "There is no column 'text'. There are: other"),
        ("in.jsonl", b'{"text": "", "content": ""}\n', "There is a column 'content' already"),
    ],
)
def test_a_file_that_cannot_be_read(
    name: str, data: bytes | None, sentence: str, tmp_path: Path
) -> None:
    source = tmp_path / name
    if data is not None:
        source.write_bytes(data)
    with pytest.raises(ToolwireError, match=sentence):
        Job(PARSE, 1).run(str(source), str(tmp_path / f"out_{name}"))
    assert not (tmp_path / f"out_{name}").exists()


def test_pieces_are_whole_lines_wherever_the_lines_are_read(tmp_path: Path) -> None:
    """A worker reads those of a plain file itself; others come as they are."""
    plain, packed = tmp_path / "rows.jsonl", tmp_path / "rows.jsonl.gz"
    plain.write_bytes(lines(ROWS) + b'{"id": "no end"}')
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    found = [
        [(piece.end, piece.read()) for piece in Source(str(path)).pieces(start, "")]
        for path in (plain, packed)
        for start in (0, len(lines(ROWS[:100])))
    ]
    assert found[:2] == found[2:]
    assert len(found[0]) > 3
    assert b"".join(rows for _, rows in found[0]) == plain.read_bytes()


def test_a_file_that_is_gone_before_its_lines_are_read_is_a_sentence(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    source.write_bytes(lines(ROWS))
    pieces = list(Source(str(source)).pieces(0, ""))
    source.unlink()
    with pytest.raises(ToolwireError, match="can't be read: No such file"):
        pieces[-1].read()


def test_a_first_row_without_text_is_just_a_bad_row(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b'no row\n{"other": 1}\n{"text": "x"}\n')
    job = Job(PARSE, 1)
    job.run(str(source), str(tmp_path / "out.jsonl"))
    assert job.counts.to_dict()["problems"]["row"] == 2


def test_kinds_are_not_mixed(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(lines(ROWS[:1]))
    with pytest.raises(ToolwireError, match="rows are written as they were read"):
        Job(PARSE, 1).run(str(tmp_path / "in.jsonl"), str(tmp_path / "out.parquet"))


def test_which_files(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl.gz", "c.parquet", "notes.txt"):
        (tmp_path / name).write_bytes(b"")
    names = [str(tmp_path / name) for name in ("a.jsonl.gz", "b.jsonl", "c.parquet")]
    assert find_sources([str(tmp_path)]) == names
    assert find_sources([str(tmp_path / "*.jsonl*")]) == names[:2]
    assert find_sources(["-", names[1]]) == ["-", names[1]]
    for missing in (str(tmp_path / "*.csv"), str(tmp_path / "none")):
        with pytest.raises(ToolwireError):
            [Source(name).state() for name in find_sources([missing])]


def test_where_to(tmp_path: Path) -> None:
    one, two = str(tmp_path / "a.jsonl"), str(tmp_path / "b.jsonl")
    assert targets([one], "out.jsonl") == [(one, "out.jsonl")]
    assert targets([one, two], "out/") == [(one, "out/a.jsonl"), (two, "out/b.jsonl")]
    for sources, target in (
        ([one, two], "out.jsonl"),
        (["-"], str(tmp_path)),
        ([one], str(tmp_path)),
        ([one], one),
        ([one, str(tmp_path / "x" / "a.jsonl")], "out/"),
    ):
        with pytest.raises(ToolwireError):
            targets(sources, target)
