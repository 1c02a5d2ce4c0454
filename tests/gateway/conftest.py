"""Real processes: a scripted upstream, and gateways in front of it, all on loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ..browser.browsing import PATIENCE, install, wait_for
from ..ports import free_port

__all__ = ["PATIENCE", "wait_for"]

CHECKOUT = Path(__file__).parents[2]
ADMIN_KEY = "a-key-for-tests"
#: What starts a gateway as a process of its own, and whose tests of that are in `--fast` all the same.
STARTERS = frozenset({"gateway", "live_gateway", "chat_gateway", "start_gateway", "shared_gateway"})
IN_FAST = frozenset({"test_command.py", "test_python_sdk.py"})
GATEWAY = "import typer; from toolwire.commands.gateway import gateway; typer.run(gateway)"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In `--fast`, few of the tests with real processes stand for the others."""
    for item in items:
        asked = STARTERS & set(getattr(item, "fixturenames", ()))
        if asked and item.path.parent == Path(__file__).parent and item.path.name not in IN_FAST:
            item.add_marker(pytest.mark.slow)


class Server:
    """A process that listens on a port, and can be killed and started again."""

    def __init__(
        self,
        command: list[str],
        port: int,
        environment: dict[str, str] | None = None,
        log: Path | None = None,
    ) -> None:
        self.port = port
        self._log = log
        self._command = command
        self._environment = os.environ | (environment or {})
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> Server:
        with ExitStack() as files:
            log = files.enter_context(self._log.open("ab")) if self._log else None
            self._process = subprocess.Popen(
                self._command,
                env=self._environment,
                cwd=CHECKOUT,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        wait_for(self.port, self._process)
        return self

    def stop(self) -> int:
        """Asks it to end, waits until it has, and gives its exit code."""
        assert self._process is not None
        self._process.terminate()
        return self._process.wait()

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()


def upstream_server(*options: str) -> Server:
    port = free_port()
    command = [sys.executable, "-m", "tests.gateway.scripted_upstream", str(port), *options]
    return Server(command, port)


def gateway_server(
    upstream: Server, *options: str, key: str | None = ADMIN_KEY, log: Path | None = None
) -> Server:
    port = free_port()
    command = [sys.executable, "-c", GATEWAY, "--upstream", f"{upstream.url}/v1"]
    # Where the machine is busy, either may take longer than it is given by default.
    command += ["--connect-timeout", str(PATIENCE), "--header-timeout", str(PATIENCE)]
    environment = {"APISIX_ADMIN_KEY": key or "", "TOOLWIRE_FORMAT": ""}
    return Server([*command, "--port", str(port), *options], port, environment, log)


@pytest.fixture(scope="session")
def upstream() -> Iterator[Server]:
    server = upstream_server().start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def chat_upstream() -> Iterator[Server]:
    """One that has no `/v1/messages`."""
    server = upstream_server("no-messages").start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def chat_gateway(chat_upstream: Server) -> Iterator[Server]:
    options = ("--format", "hermes", "--breaker-failures", "1000")
    server = gateway_server(chat_upstream, *options).start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def gateway(upstream: Server) -> Iterator[Server]:
    server = gateway_server(upstream, "--format", "hermes", "--breaker-failures", "1000").start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def live_gateway(upstream: Server) -> Iterator[Server]:
    server = gateway_server(upstream, "--format", "hermes", "--mode", "live").start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def shared_gateway(upstream: Server) -> Iterator[Callable[..., Server]]:
    """A gateway with these options, which others may have used, too: to start one takes seconds. For
    tests that do not ask what it has counted, learnt or seen before."""
    started: dict[tuple[Any, ...], Server] = {}

    def share(*options: str, key: str | None = ADMIN_KEY) -> Server:
        asked = (*options, key)
        if asked not in started:
            started[asked] = gateway_server(upstream, *options, key=key).start()
        return started[asked]

    yield share
    for server in started.values():
        server.kill()


@pytest.fixture
def start_gateway(upstream: Server) -> Iterator[Callable[..., Server]]:
    """Starts more gateways, each with options of its own."""
    started: list[Server] = []

    def start(
        *options: str,
        to: Server | None = None,
        key: str | None = ADMIN_KEY,
        log: Path | None = None,
    ) -> Server:
        started.append(gateway_server(to or upstream, *options, key=key, log=log).start())
        return started[-1]

    yield start
    for server in started:
        server.kill()


@pytest.fixture
def client(gateway: Server) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=gateway.url, timeout=PATIENCE) as made:
        yield made


@pytest.fixture(scope="session")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the npm packages that the tests need, installed by name."""
    names = ["openai", "@anthropic-ai/sdk", "ai", "@ai-sdk/openai-compatible", "playwright-core"]
    return install(tmp_path_factory.mktemp("node"), *names)
