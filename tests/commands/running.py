"""The command as users run it: in a pipe, and in a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from .host import STREAMS

CHECKOUT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "toolwire.cli"]

# These decide by themselves about colours, whatever the output is.
_DECIDERS = ("NO_COLOR", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS")


def environment(**more: str) -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key not in _DECIDERS} | more


def run(*arguments: str, text: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """A command with nothing but files on all sides."""
    return run_in(Path.cwd(), environment(**more), *arguments, text=text)


def run_in(
    folder: Path, environment: dict[str, str], *arguments: str, text: str = ""
) -> subprocess.CompletedProcess[str]:
    """A command in a folder, with just this environment."""
    with TemporaryDirectory() as streams:
        files = [Path(streams, name) for name in STREAMS]
        files[0].write_text(text, encoding="utf-8")
        asked = {"arguments": arguments, "folder": str(folder), "streams": streams}
        code = _ask(json.dumps(asked | {"environment": environment}))
        shown, said = (file.read_text(encoding="utf-8") for file in files[1:])
    return subprocess.CompletedProcess(arguments, code, shown, said)


def _ask(line: str) -> int:
    host = _host()
    assert host.stdin is not None
    assert host.stdout is not None
    print(line, file=host.stdin, flush=True)
    return int(host.stdout.readline())


@cache
def _host() -> subprocess.Popen[str]:
    """Ends with this process, which closes its standard input."""
    command = [sys.executable, "-m", f"{__package__}.host"]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=CHECKOUT, stdin=pipe, stdout=pipe, encoding="utf-8")


def in_a_terminal(*arguments: str, **more: str) -> str:
    """What a command writes where its output is a terminal."""
    ours, theirs = pty.openpty()
    command = [*COMMAND, *arguments]
    with subprocess.Popen(command, stdout=theirs, env=environment(**more)) as process:
        os.close(theirs)
        written = b""
        while chunk := _read(ours):
            written += chunk
    os.close(ours)
    assert process.returncode == 0
    return written.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # how Linux says that the other side of a terminal is closed
        return b""
