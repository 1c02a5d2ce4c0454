"""What the tests of both engines share: a real model, made once, their servers, and where the checkout
is.

An engine's conftest has the fixture `plans`: how each of its servers is started, by the name of the
server's fixture.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
sys.path.append(str(HERE / "plugins"))  # what the tests and the engines have in common
sys.path.append(str(HERE.parent / "browser"))  # … and what the tests of all pages have
#: These have tests, or assertions that tests call: a failure is told in full.
pytest.register_assert_rewrite(
    *(
        "behind_smg",
        "benchmark_checks",
        "browsing",
        "conversation",
        "engine_process",
        "forced_calls",
    ),
    *(
        "shared_contract",
        "shared_play",
        "shared_reasoning",
        "shared_records",
        "shared_registration",
    ),
    *("shared_served", "shared_tools_prompt", "shared_user_formats"),
)

from browsing import playwright  # noqa: E402
from engine_client import Asker  # noqa: E402
from engine_fixtures import Fleet, Servers, needed, refusing, running  # noqa: E402
from engine_server import EngineServer  # noqa: E402
from long_cases import LONG_TOKENS  # noqa: E402

__all__ = ["playwright"]  # a fixture

#: Markers that some formats and reasoning parsers need as tokens of their own.
SPECIAL_TOKENS = ("<|tool_call|>", "<|end_tool_call|>", "<think>", "</think>")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--contract",
        action="store_true",
        help="only what is tested against the engine's classes, without a server",
    )
    parser.addoption("--servers", action="store_true", help="only what needs a server")


def make_model(*special_tokens: str) -> Path:
    command = [sys.executable, str(CHECKOUT / "scripts" / "lib" / "make_model.py")]
    for token in special_tokens:
        command += ["--special-token", token]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Path(made.stdout.strip())


@pytest.fixture(scope="session")
def checkout() -> Path:
    return CHECKOUT


@pytest.fixture(scope="session")
def model() -> Path:
    """SmolLM2-135M, with the special tokens above and some very long ones in its vocabulary."""
    return make_model(*SPECIAL_TOKENS, *LONG_TOKENS)


@pytest.fixture(scope="session")
def plain_model() -> Path:
    """SmolLM2-135M as it is."""
    return make_model()


@pytest.fixture(scope="session")
def fleet(request: pytest.FixtureRequest, plans: Servers) -> Iterator[Fleet]:
    """Every server that this run needs."""
    servers = Fleet(request.session.items, plans)
    yield servers
    servers.stop()


@pytest.fixture(autouse=True)
def follow(request: pytest.FixtureRequest, fleet: Fleet, plans: Servers) -> Iterator[None]:
    """Has servers boot before their first test, and stop behind their last."""
    fleet.before(needed([request.node], list(plans)))
    yield
    fleet.behind(request.node)


#: Each engine has one for everything, and two that must not start: the parser's name is misspelt, or the
#: model can't write its format.
server = running("server")
misspelt_server = refusing("misspelt_server")
tokenless_server = refusing("tokenless_server")


@pytest.fixture(scope="session")
def asker(server: EngineServer) -> Asker:
    return Asker(server.url)


@pytest.fixture
def any_tool() -> None:
    """As the core has it: every tool may be called, declared or not. An engine that would not have it
    by itself is told here."""
