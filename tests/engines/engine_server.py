"""Starts an engine's real server and stops it; its log is shown where it does not start."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from tests.ports import free_port

#: Far more than any server needs: one that ends is noticed at once, so only one that hangs waits for it.
BOOT_SECONDS = 1800


class EngineServer:
    """`command` is what starts it; `--host` and `--port` are added."""

    def __init__(self, command: Sequence[str], log: Path, environment: dict[str, str]) -> None:
        self.log = log
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--port", str(self.port)],
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                # No toolwire by accident: the working folder is on Python's path with -m.
                cwd=log.parent,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Until it answers. One that ends before that is an error, with its log."""
        deadline = time.monotonic() + BOOT_SECONDS
        while not self._healthy():
            if self.process.poll() is not None:
                raise RuntimeError(f"The server ended while it started:\n{self.tail()}")
            if time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"The server did not start:\n{self.tail()}")
            time.sleep(0.5)

    def _healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=30):
                return True
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            return False

    def wait_for_log(self, words: str) -> None:
        """Until the log says so: for what comes after the server answers first."""
        deadline = time.monotonic() + BOOT_SECONDS
        while words not in self.log.read_text(errors="replace"):
            if time.monotonic() > deadline:
                raise RuntimeError(f"The server did not say {words!r}:\n{self.tail()}")
            time.sleep(0.5)

    def wait_for_failure(self) -> str:
        """For a server that must refuse to start: its log."""
        try:
            self.process.wait(BOOT_SECONDS)
        finally:
            self.stop()
        return self.log.read_text(errors="replace")

    def tail(self, lines: int = 60) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def stop(self) -> None:
        """Ends the server and every process it started (they share its session)."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if any_left(self.process.pid):
            os.killpg(self.process.pid, signal.SIGKILL)


def any_left(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
