"""The command as users run it: in a pipe, and in a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

COMMAND = [sys.executable, "-m", "toolwire.cli"]

# These decide by themselves about colours, whatever the output is.
_DECIDERS = ("NO_COLOR", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS")


def environment(**more: str) -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key not in _DECIDERS} | more


def run(*arguments: str, text: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """A command with pipes on all sides."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input=text,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env=environment(**more),
    )


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
