"""Where a server of ours listens."""

from __future__ import annotations

import socket

import uvicorn

from ..errors import ToolwireError


def listen(config: uvicorn.Config) -> socket.socket:
    """The socket that a server listens on; one sentence where there is none to be had."""
    try:
        return config.bind_socket()
    except SystemExit:  # uvicorn has logged why
        where = f"{config.host}, port {config.port}"
        raise ToolwireError(f"Nothing can listen on {where}: choose another --port") from None
