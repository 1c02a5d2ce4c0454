"""Runs the page: listens on this machine, says where, and opens a browser if one is wanted."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from ..gateway.listening import listen
from .app import create_app
from .given import Given


def serve(given: Given, host: str, port: int, browser: bool, say: Callable[[str], None]) -> None:
    """Returns when it was told to stop (Ctrl-C). Port 0 is any that is free."""
    config = uvicorn.Config(
        create_app(given, host),
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
    )
    listening = listen(config)
    address, used = listening.getsockname()[:2]
    url = f"http://{f'[{address}]' if ':' in address else address}:{used}/"
    say(f"{url}   (Ctrl-C ends it)")
    if browser:  # it may wait for a browser to start: the page does not
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    uvicorn.Server(config).run([listening])
