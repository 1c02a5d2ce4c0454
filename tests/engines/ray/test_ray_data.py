"""`toolwire batch --ray`, and `ParseCalls` in Ray Data, on a cluster of two nodes."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import ray
from pyarrow import parquet
from ray._private.services import find_gcs_addresses
from toolwire.batch import Outcome, ParseCalls
from toolwire.batch.ray_data import run_on_ray

from tests.s3 import Bucket

CALL = '<tool_call>{"name": "add", "arguments": {"a": NUMBER}}</tool_call>'
#: In several files, so that both nodes have something to do.
FILES = 6
ROWS = [{"id": i, "text": CALL.replace("NUMBER", str(i)) if i % 4 else "words"} for i in range(600)]


def write_files(folder: Path, kind: str) -> list[str]:
    folder.mkdir()
    size = len(ROWS) // FILES
    for place in range(FILES):
        rows = ROWS[place * size : (place + 1) * size]
        path = folder / f"{place}.{kind}"
        lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
        if kind == "parquet":
            parquet.write_table(pa.Table.from_pylist(rows), path)
        else:
            path.write_bytes(gzip.compress(lines) if kind.endswith("gz") else lines)
    return sorted(map(str, folder.iterdir()))


def read_files(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".parquet":
            found += parquet.read_table(path).to_pylist()
        else:
            found += map(json.loads, path.read_bytes().splitlines())
    return found


def is_right(found: list[dict[str, Any]]) -> None:
    """Nothing is lost, nothing is there twice, and all is in its order."""
    assert [row["id"] for row in found] == [row["id"] for row in ROWS]
    for row in found:
        calls = [call["function"]["arguments"] for call in row["tool_calls"]]
        assert calls == ([json.dumps({"a": row["id"]})] if row["id"] % 4 else [])


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "jsonl.gz"])
def test_files_on_two_nodes(kind: str, cluster: str, tmp_path: Path) -> None:
    sources = write_files(tmp_path / "in", kind)
    counts = run_on_ray(ParseCalls("hermes"), sources, str(tmp_path / "out"), cluster)
    is_right(read_files(tmp_path / "out"))
    assert (counts.rows, counts.calls) == (600, 450)


@pytest.mark.parametrize("kind", [pytest.param("parquet", marks=pytest.mark.short), "jsonl"])
def test_a_worker_is_killed_in_the_middle(kind: str, cluster: str, tmp_path: Path) -> None:
    sources = write_files(tmp_path / "in", kind)
    mark = tmp_path / "killed"

    class Killed(ParseCalls):
        """The first worker that comes to this row dies there."""

        def outcome(self, row: Any) -> Outcome:
            if '{"a": 350}' in row["text"] and not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().outcome(row)

    counts = run_on_ray(Killed("hermes"), sources, str(tmp_path / "out"), cluster)
    assert mark.exists(), "nobody was killed, and nothing was tested"
    is_right(read_files(tmp_path / "out"))
    assert (counts.rows, counts.calls) == (600, 450)


@pytest.mark.short
def test_the_command(cluster: str, tmp_path: Path) -> None:
    """Bad rows are reported, also there, and what is in a folder is not written over."""
    write_files(tmp_path / "in", "jsonl")
    (tmp_path / "in" / "3.jsonl").write_text('no row\n{"id": 1, "text": "x"}\n')
    command = [sys.executable, "-m", "toolwire.cli", "batch", "hermes", str(tmp_path / "in")]
    command += [str(tmp_path / "out"), "--ray", cluster, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    summary = json.loads(done.stdout[done.stdout.index("{") :])
    assert (summary["rows"], summary["problems"]["row"]) == (502, 1)
    assert len(read_files(tmp_path / "out")) == 502
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert "exists: name a folder that does not" in again.stderr


@pytest.mark.short
@pytest.mark.parametrize("said", [False, True], ids=["found", "RAY_ADDRESS"])
def test_auto_is_the_cluster_that_runs(said: bool, cluster: str, tmp_path: Path) -> None:
    """On this machine, or the one that Ray's own variable names. None is started for it."""
    others = set(find_gcs_addresses()) - {cluster}
    write_files(tmp_path / "in", "jsonl")
    before = len(cluster_jobs())
    environment = {k: v for k, v in os.environ.items() if k != "RAY_ADDRESS"}
    command = [sys.executable, "-m", "toolwire.cli", "batch", "hermes", str(tmp_path / "in")]
    done = subprocess.run(
        [*command, str(tmp_path / "out"), "--ray", "auto"],
        env=environment | ({"RAY_ADDRESS": cluster} if said else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    is_right(read_files(tmp_path / "out"))
    if said or not others:  # else it may have been done on one that is not ours
        assert len(cluster_jobs()) == before + 1, "it was not done on this cluster"


def cluster_jobs() -> list[Any]:
    """Every driver that has ever joined the cluster."""
    jobs: list[Any] = ray._private.state.jobs()
    return jobs


@pytest.mark.parametrize("kind", [pytest.param("parquet", marks=pytest.mark.short), "jsonl.gz"])
def test_from_s3_to_s3(kind: str, cluster: str, bucket: Bucket, tmp_path: Path) -> None:
    """A pattern and a folder there, and nobody but the address says where that is."""
    write_files(tmp_path / "in", kind)
    bucket.put(tmp_path / "in", f"in-{kind}")
    for number, place in enumerate((f"in-{kind}/*", f"in-{kind}")):
        out = f"out-{kind}-{number}"
        command = [sys.executable, "-m", "toolwire.cli", "batch", "hermes", bucket.address(place)]
        command += [bucket.address(out), "--ray", cluster]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        bucket.get(out, tmp_path / out)
        is_right(read_files(tmp_path / out))
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert "exists: name a folder that does not" in again.stderr


@pytest.mark.parametrize("batch_format", ["numpy", "pyarrow", "pandas"])
def test_map_batches(batch_format: str, cluster: str) -> None:
    data = ray.data.from_items(ROWS[:50])
    found = data.map_batches(ParseCalls("hermes"), batch_format=batch_format).take_all()
    calls = {row["id"]: [c["function"]["name"] for c in row["tool_calls"]] for row in found}
    assert calls == {row["id"]: ["add"] if row["id"] % 4 else [] for row in ROWS[:50]}
