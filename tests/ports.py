"""A port that a server of a test can listen on."""

from __future__ import annotations

import random
import socket
from typing import Final

#: Below those that a system gives to connections: between the moment a port is found free and the moment
#: a server listens on it, nobody's connection gets it.
_PORTS: Final = range(15_000, 32_000)
_CHOICE: Final = (
    random.SystemRandom()
)  # whatever seed a test sets, two processes choose differently


def free_port() -> int:
    while True:
        port = _CHOICE.choice(_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:  # it is taken
                continue
        return port
