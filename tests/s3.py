"""A real S3 server on this machine (moto's, a process of its own), with one bucket."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyarrow import fs

from .ports import free_port

#: Far more than it needs; one that ends is noticed at once.
_SECONDS = 1800


@dataclass(frozen=True)
class Bucket:
    port: int

    @property
    def environment(self) -> dict[str, str]:
        """By which pyarrow finds the server where an address does not say it."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def address(self, path: str) -> str:
        """One that says it all."""
        settings = f"endpoint_override=127.0.0.1:{self.port}&scheme=http&region=us-east-1"
        return f"s3://key:secret@bucket/{path}?{settings}"

    @property
    def system(self) -> Any:
        found, _ = fs.FileSystem.from_uri(self.address("") + "&allow_bucket_creation=true")
        return found

    def put(self, folder: Path, path: str) -> None:
        fs.copy_files(str(folder), f"bucket/{path}", destination_filesystem=self.system)

    def get(self, path: str, folder: Path) -> None:
        folder.mkdir()
        fs.copy_files(f"bucket/{path}", str(folder), source_filesystem=self.system)


@contextmanager
def running(log: Path) -> Iterator[Bucket]:
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    try:
        _wait(process, f"http://127.0.0.1:{port}/", log)
        bucket = Bucket(port)
        bucket.system.create_dir("bucket")
        yield bucket
    finally:
        process.kill()
        process.wait()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + _SECONDS
    while not _answers(url):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"The S3 server did not start:\n{log.read_text()}")
        time.sleep(0.1)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=30):
            return True
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return False
