"""Runs the standalone gateway: says what it does and what looks wrong, listens, and ends gracefully."""

from __future__ import annotations

import logging
import os
import signal
import socket
import tempfile
import threading
import time
from functools import partial
from urllib.parse import urlsplit

import httpx2
import uvicorn
from uvicorn.supervisors import Multiprocess

from ..formats.user_files import load_user_formats
from . import logs, metrics
from .app import create_app
from .asgi import App
from .by_model import AUTO, FormatChoice
from .guard import GuardedProtocol
from .listening import listen
from .props import hides_tools, props_url
from .settings import GatewaySettings, Settings

#: Seconds after which a worker that says nothing is killed. On a busy machine, one takes long to start.
_WORKER_SILENT = 120

_log = logging.getLogger("toolwire.gateway")


def serve(settings: GatewaySettings) -> None:
    """Returns when it was told to stop, and all answers have ended or had their time."""
    logs.configure(settings.server.log)
    config = uvicorn.Config(
        partial(make_app, settings, os.getpid()),
        factory=True,
        host=settings.server.host,
        port=settings.server.port,
        log_config=None,
        access_log=False,
        server_header=False,
        http=partial(GuardedProtocol, settings.limits),  # type: ignore[arg-type] # called like one
        ws="none",
        timeout_graceful_shutdown=settings.server.drain_seconds,
        workers=settings.server.workers,
        timeout_worker_healthcheck=_WORKER_SILENT,
    )
    listening = listen(config)
    host, port = listening.getsockname()[:2]
    for sentence in describe(settings, f"http://{f'[{host}]' if ':' in host else host}:{port}"):
        _log.info(sentence)
    threading.Thread(target=_look_at_upstreams, args=(settings,), daemon=True).start()
    if config.workers == 1:
        uvicorn.Server(config).run([listening])
    else:
        _run_workers(config, listening)


def _run_workers(config: uvicorn.Config, listening: socket.socket) -> None:
    """Processes of their own, which are started anew where one dies. They count into one folder."""
    with tempfile.TemporaryDirectory(prefix="toolwire-metrics-") as folder:
        os.environ.setdefault(metrics.FOLDER, folder)
        Multiprocess(config, sockets=[listening]).run()


def make_app(settings: GatewaySettings, started_by: int) -> App:
    """The application, in the process that runs it."""
    logs.configure(settings.server.log)
    load_user_formats()
    if settings.server.workers > 1:
        threading.Thread(target=_end_with, args=(started_by,), daemon=True).start()
    return create_app(settings.upstream, settings.answers, settings.server)


def _end_with(parent: int) -> None:
    """A worker whose parent was killed would hold the port for ever: it ends, too."""
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)


def describe(settings: GatewaySettings, address: str) -> list[str]:
    """What this gateway does, in a few sentences."""
    answers = settings.answers
    format = f"are read in the format {answers.format}" if answers.format else "are left as it is"
    page = f"{address}/proxy/debug" if answers.admin_key else "off: there is no TOOLWIRE_ADMIN_KEY"
    workers = settings.server.workers
    by = f" with {workers} workers" if workers > 1 else ""
    return [
        f"listening on {address}/v1{by}, in front of {', '.join(settings.upstream.upstream)}",
        f"calls go out {answers.mode}; those in the text {format}; requests: {answers.requests}",
        f"the debug page is {page}",
    ]


def _look_at_upstreams(settings: GatewaySettings) -> None:
    """Says what is seen of them. It runs beside the gateway: nobody waits for it."""
    with httpx2.Client(timeout=settings.upstream.connect_timeout, trust_env=False) as client:
        for url in settings.upstream.upstream:
            for sentence in doubts(url, client):
                _log.warning(sentence)
            for level, sentence in hidden_tools(url, client, settings.answers):
                _log.log(level, sentence)


def doubts(url: str, client: httpx2.Client) -> list[str]:
    """What looks wrong with an upstream."""
    found = []
    if not urlsplit(url).path.rstrip("/").rpartition("/")[2].startswith("v"):
        found.append(f"{url} has no /v1 at its end: most servers have their API there")
    try:
        status = client.get(url.rstrip("/") + "/models").status_code
    except httpx2.TransportError as error:
        return [*found, f"{url} does not answer ({type(error).__name__}): is it running?"]
    if status == 404 or status >= 500:
        found.append(f"{url}/models is answered with {status}: is the address right?")
    return found


def hidden_tools(url: str, client: httpx2.Client, answers: Settings) -> list[tuple[int, str]]:
    """What becomes of tools that a llama.cpp would show to nobody, and how to log it."""
    if answers.tools != AUTO or not _hides_tools(url, client):
        return []
    said = f"{url} takes tools and does not show them to its model, whose chat template knows none"
    if FormatChoice.parse(answers.format).can_prompt:
        return [(logging.INFO, f"{said}: they will be put into the prompt")]
    return [(logging.WARNING, f"{said}: with a --format, they would be put into the prompt")]


def _hides_tools(url: str, client: httpx2.Client) -> bool:
    try:
        return hides_tools(client.get(props_url(httpx2.URL(url))).content)
    except httpx2.HTTPError:
        return False
