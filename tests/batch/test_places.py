"""Files by their addresses: of this machine's (`file://`), and of a real S3 server."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from toolwire import ToolwireError
from toolwire.batch.job import Job, targets
from toolwire.batch.places import reach_all
from toolwire.batch.sources import Source, find_sources

from ..commands.running import run
from ..s3 import Bucket, running
from .test_job import KINDS, PARSE, ROWS, Stop, is_right, stopping


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a b.jsonl", "c.jsonl.gz", "notes.txt", "sub/d.jsonl"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    return tmp_path


def test_which_files(folder: Path) -> None:
    place = folder.as_uri()
    first, second = f"{place}/a%20b.jsonl", f"{place}/c.jsonl.gz"
    assert find_sources([place]) == [first, second]
    assert find_sources([f"{place}/"]) == [first, second]
    assert find_sources([f"{place}/*.gz"]) == [second]
    assert find_sources([first]) == [first]
    assert targets([first, second], "out/") == [
        (first, "out/a b.jsonl"),
        (second, "out/c.jsonl.gz"),
    ]
    for missing in (f"{place}/*.csv", f"{place}/none/*"):
        with pytest.raises(ToolwireError):
            find_sources([missing])


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_and_going_on(kind: str, tmp_path: Path) -> None:
    write, read = KINDS[kind]
    source, target = tmp_path / f"in.{kind}", tmp_path / f"out.{kind}"
    write(source, ROWS)
    with pytest.raises(Stop):
        Job(PARSE, 1, watch=stopping(3), part_bytes=200_000).run(source.as_uri(), str(target))
    again = Job(PARSE, 1, resume=True)
    again.run(source.as_uri(), str(target))
    is_right(read(target))
    assert again.counts.rows == len(ROWS)
    assert Source(source.as_uri()).size == Source(str(source)).size


@pytest.mark.parametrize("name", ["in.jsonl", "in.jsonl.gz", "in.parquet"])
def test_a_file_that_is_not_there(name: str, tmp_path: Path) -> None:
    with pytest.raises(ToolwireError, match="there is no such file"):
        Job(PARSE, 1).run((tmp_path / name).as_uri(), str(tmp_path / f"out_{name}"))


def test_what_cannot_be_reached_or_written(tmp_path: Path) -> None:
    with pytest.raises(ToolwireError, match="can't be reached"):
        find_sources(["nowhere://bucket/in.jsonl"])
    with pytest.raises(ToolwireError, match="let --ray write there"):
        targets(["in.jsonl"], "s3://bucket/out.jsonl")
    with pytest.raises(ToolwireError, match="in one place"):
        reach_all([tmp_path.as_uri(), "s3://key:secret@bucket/in.jsonl?region=us-east-1"])


# -- S3 -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bucket]:
    with running(tmp_path_factory.mktemp("s3") / "log") as started:
        yield started


@pytest.mark.slow
def test_the_command_reads_from_s3(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by the environment, as people have it, and by all that an address can say."""
    for name, value in bucket.environment.items():
        monkeypatch.setenv(name, value)
    here = tmp_path / "in"
    here.mkdir()
    for kind, (write, _) in KINDS.items():
        write(here / f"rows.{kind}", ROWS)
    bucket.put(here, "in")
    for number, place in enumerate(("s3://bucket/in", bucket.address("in/*"))):
        out = tmp_path / str(number)
        done = run("batch", "hermes", place, f"{out}{os.sep}", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["rows"] == len(KINDS) * len(ROWS)
        for kind, (_, read) in KINDS.items():
            is_right(read(out / f"rows.{kind}"))
    done = run("batch", "hermes", "s3://bucket/none.jsonl", str(tmp_path / "out.jsonl"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "none.jsonl can't be read: there is no such file" in done.stderr
