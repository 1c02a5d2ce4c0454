"""Pages in headless Chromium: what the tests of all pages have in common.

A test runs a server, and a script for Node that drives the page and prints what it saw as JSON. The
engines' tests, which run in environments of their own, import this as well: it needs nothing but pytest.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.ports import free_port

HERE = Path(__file__).parent
#: Seconds after which a test gives up waiting. However busy the machine is, this is long enough.
PATIENCE = 600


def wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + PATIENCE
    while time.monotonic() < give_up:
        assert process.poll() is None, "the process ended before it listened"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on port {port}")


@contextmanager
def playing(folder: Path, *arguments: str) -> Iterator[str]:
    """The address of a page of `toolwire play` that runs."""
    port = free_port()
    command = [sys.executable, "-m", "toolwire.cli", "play", *arguments]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--no-browser", "--port", str(port)], stdout=log, stderr=log
        )
    try:
        wait_for(port, process)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.terminate()
        process.wait()


def chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    raise AssertionError("the page is tested in Chromium: apt-get install chromium")


def install(folder: Path, *packages: str) -> Path:
    """A folder with npm packages, installed by name."""
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", *packages]
    subprocess.run(command, cwd=folder, check=True)
    return folder


@pytest.fixture(scope="session")
def playwright(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what drives Chromium."""
    return install(tmp_path_factory.mktemp("playwright"), "playwright-core")


def see(script: Path, node_modules: Path, *arguments: str) -> Any:
    """What a script saw. It gets the path of Chromium, then the arguments."""
    shutil.copy(HERE / "open_page.mjs", node_modules)
    command = ["node", shutil.copy(script, node_modules), chromium(), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
