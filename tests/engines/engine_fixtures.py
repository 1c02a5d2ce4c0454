"""Servers as fixtures: a few boot ahead of the tests that need them, and stop behind the last one.

A server takes most of a minute to boot, so what needs none is tested meanwhile; all of them at once
would fill the memory. A conftest gives its servers by the names of their fixtures (`plans`) and calls
`order` from `pytest_collection_modifyitems`; the fixtures `fleet` and `follow` do the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from engine_server import EngineServer

Servers = Mapping[str, Callable[[], EngineServer]]


def needed(items: Sequence[pytest.Item], names: Sequence[str]) -> list[str]:
    """Of these names, the ones that the tests ask for."""
    asked = {name for item in items for name in getattr(item, "fixturenames", ())}
    return [name for name in names if name in asked]


def choose(config: pytest.Config, items: list[pytest.Item], names: Sequence[str]) -> None:
    """With `--contract`, only what needs no server; with `--servers`, only what needs one."""
    contract, servers = config.getoption("--contract"), config.getoption("--servers")
    left = [item for item in items if (contract if needed([item], names) else servers)]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def order(items: list[pytest.Item], names: Sequence[str]) -> None:
    """What needs no server comes first, then the servers in their order."""
    places = {name: place for place, name in enumerate(names, 1)}
    items.sort(key=lambda item: max((places[n] for n in needed([item], names)), default=0))


class Fleet:
    """The servers that a run needs, in the order in which its tests come to them."""

    #: How many boot while tests run that need none of them.
    AHEAD = 3

    def __init__(self, items: Sequence[pytest.Item], servers: Servers) -> None:
        self._servers = servers
        self._waiting = needed(items, list(servers))
        self._last = {name: item for item in items for name in needed([item], self._waiting)}
        self._running: dict[str, EngineServer] = {}

    def __getitem__(self, name: str) -> EngineServer:
        """A server that may be booting still."""
        while name in self._waiting:
            self._start_one()
        return self._running[name]

    def before(self, names: Sequence[str]) -> None:
        """A test comes that needs these servers."""
        for name in names:
            self[name]
        while self._waiting and len(self._running) - len(names) < self.AHEAD:
            self._start_one()

    def behind(self, item: pytest.Item) -> None:
        """A test is over: servers that only it was waiting for are stopped."""
        for name in [name for name in self._running if self._last[name] is item]:
            self._running.pop(name).stop()

    def stop(self) -> None:
        while self._running:
            self._running.popitem()[1].stop()

    def _start_one(self) -> None:
        name = self._waiting.pop(0)
        self._running[name] = self._servers[name]()


def running(name: str) -> Any:
    """The fixture of a server, once it answers."""

    @pytest.fixture(scope="session", name=name)
    def server(fleet: Fleet) -> EngineServer:
        fleet[name].wait()
        return fleet[name]

    return server


def refusing(name: str) -> Any:
    """The fixture of a server that must not start: its log, once it has ended."""

    @pytest.fixture(scope="session", name=name)
    def log(fleet: Fleet) -> str:
        return fleet[name].wait_for_failure()

    return log
