"""Answers `toolwire` commands, each in a fork of a process that has everything imported.

Hundreds of tests run a command, and to import what it needs takes longer than what they ask of it. A
fork has a standard input, output and error, a folder and an environment of its own, and ends with the
command, as a process that was started for it does. Each line read is a command, as JSON; what is written
for it is its exit code.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from toolwire.cli import main, make_app

STREAMS = ("stdin", "stdout", "stderr")


def serve() -> None:
    make_app()  # imports the commands
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(answer(json.loads(line)))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def answer(asked: dict[str, Any]) -> int:
    for number, name in enumerate(STREAMS):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT
        os.dup2(os.open(Path(asked["streams"], name), flags, 0o600), number)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["toolwire", *asked["arguments"]]
    try:
        return main()
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:  # noqa: BLE001 - as where it ends a process
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    serve()
