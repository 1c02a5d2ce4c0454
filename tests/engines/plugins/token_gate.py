"""Lets an engine write only as many tokens as a test has allowed it.

What arrives while the rest is not written yet was streamed, and however busy the machine is, no more
than the allowed tokens can arrive together. So a test of streaming waits for events, not for a time.

The gate is a named pipe. The test puts a byte into it for every token; the engine takes one before
each token, and waits where there is none. Once the test has closed it (or was killed), nobody waits.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType


class Gate:
    """The test's side. With nothing else said, the engine waits before the first token."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = str(path)
        self._pipe: int | None = os.open(path, os.O_RDWR)

    def let(self, tokens: int) -> None:
        """So many more may be written."""
        if self._pipe is not None:
            os.write(self._pipe, b"." * tokens)

    def open(self) -> None:
        """From now on, all that is left may be written."""
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None

    def __enter__(self) -> Gate:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.open()


class Passage:
    """The engine's side."""

    def __init__(self, path: str) -> None:
        # Opened so, it does not wait for the other side, which may have left.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        os.set_blocking(descriptor, True)
        self._pipe = open(descriptor, "rb", buffering=0)  # noqa: SIM115

    def wait(self) -> None:
        """Until one more token is allowed."""
        if not self._pipe.closed and not self._pipe.read(1):
            self._pipe.close()
