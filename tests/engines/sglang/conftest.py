"""The real servers, as `sglang_server` says, and who asks them.

They boot ahead of the tests that need them, while those run that need none.
"""

from __future__ import annotations

from functools import partial

import pytest
from engine_client import Asker
from engine_fixtures import Servers, choose, order, running
from engine_server import EngineServer
from sglang_server import SERVERS


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    choose(config, items, list(SERVERS))
    order(items, list(SERVERS))


@pytest.fixture(scope="session")
def plans(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Servers:
    def start_one(name: str) -> EngineServer:
        make, model = SERVERS[name]
        return make(request.getfixturevalue(model), tmp_path_factory.mktemp(name) / "sglang.log")

    return {name: partial(start_one, name) for name in SERVERS}


plain_server = running("plain_server")
thinking_server = running("thinking_server")
switching_server = running("switching_server")
bare_server = running("bare_server")


@pytest.fixture(scope="session")
def plain_asker(plain_server: EngineServer) -> Asker:
    return Asker(plain_server.url)
