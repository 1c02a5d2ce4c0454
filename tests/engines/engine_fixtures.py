"""Servers as fixtures: all that a run needs are started before its first test.

A server takes most of a minute to boot, so what needs none is tested meanwhile. A conftest gives
its servers by the names of their fixtures (`plans`) and calls `order` from
`pytest_collection_modifyitems`; the session fixture `started` of all of them holds `starting(...)` open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from engine_server import EngineServer

Servers = Mapping[str, Callable[[], EngineServer]]


def needed(items: Sequence[pytest.Item], names: Sequence[str]) -> list[str]:
    """Of these names, the ones that the tests ask for."""
    asked = {name for item in items for name in getattr(item, "fixturenames", ())}
    return [name for name in names if name in asked]


def choose(config: pytest.Config, items: list[pytest.Item], names: Sequence[str]) -> None:
    """With `--contract`, only what needs no server."""
    if config.getoption("--contract"):
        left = [item for item in items if needed([item], names)]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def order(items: list[pytest.Item], names: Sequence[str]) -> None:
    """What needs no server comes first, then the servers in their order."""
    places = {name: place for place, name in enumerate(names, 1)}
    items.sort(key=lambda item: max((places[n] for n in needed([item], names)), default=0))


@contextmanager
def starting(items: Sequence[pytest.Item], servers: Servers) -> Iterator[dict[str, EngineServer]]:
    """Starts the servers that the tests ask for, and stops them in the end."""
    started: dict[str, EngineServer] = {}
    try:
        for name in needed(items, list(servers)):
            started[name] = servers[name]()
        yield started
    finally:
        for server in started.values():
            server.stop()


def running(name: str) -> Any:
    """The fixture of a server, once it answers."""

    @pytest.fixture(scope="session", name=name)
    def server(started: dict[str, EngineServer]) -> EngineServer:
        started[name].wait()
        return started[name]

    return server


def refusing(name: str) -> Any:
    """The fixture of a server that must not start: its log, once it has ended."""

    @pytest.fixture(scope="session", name=name)
    def log(started: dict[str, EngineServer]) -> str:
        return started[name].wait_for_failure()

    return log
