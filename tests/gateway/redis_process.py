"""A real Redis, or Valkey, for the tests that keep captures there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from ..ports import free_port
from .conftest import Server


def running_redis() -> Iterator[Server]:
    """The tests' own: it keeps nothing on the disk."""
    binary = shutil.which("redis-server") or shutil.which("valkey-server")
    assert binary, "shared captures are tested with Redis: apt-get install redis-server"
    port = free_port()
    command = [binary, "--port", str(port), "--bind", "127.0.0.1"]
    server = Server([*command, "--save", "", "--appendonly", "no"], port).start()
    yield server
    server.kill()
