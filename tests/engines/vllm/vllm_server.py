"""Starts a real vLLM server and stops it; its log is shown where it does not start."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from engine_client import MODEL

PLUGINS = Path(__file__).resolve().parent / "plugins"
FLAGS = [
    *("--served-model-name", MODEL, "--host", "127.0.0.1"),
    *("--enforce-eager", "--dtype", "float32", "--max-model-len", "2048"),
    *("--block-size", "32", "--max-num-seqs", "32", "--seed", "0", "--enable-auto-tool-choice"),
    *("--logits-processors", "scripted_output:ScriptedOutput"),
]
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_CPU_KVCACHE_SPACE": "2",
    "OMP_NUM_THREADS": str(min(4, os.cpu_count() or 1)),
    "PYTHONPATH": str(PLUGINS),
}
BOOT_SECONDS = 300


@dataclass
class Server:
    model: Path
    log: Path
    flags: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = self._spawn()

    def _spawn(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
        command += ["--model", str(self.model), "--port", str(self.port), *FLAGS, *self.flags]
        with self.log.open("wb") as out:
            return subprocess.Popen(
                command,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, **ENVIRONMENT, **self.environment},
                # No toolwire by accident: the working folder is on Python's path with -m.
                cwd=self.log.parent,
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

    def wait_for_failure(self) -> str:
        """For a server that must refuse to start: its log."""
        try:
            self.process.wait(BOOT_SECONDS)
        finally:
            self.stop()
        return self.log.read_text(errors="replace")

    def _healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=5):
                return True
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            return False

    def tail(self, lines: int = 60) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def stop(self) -> None:
        """Ends the server and every process it started (they share its session)."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
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


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
