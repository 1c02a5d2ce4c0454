"""The command line, also where the gateway's packages are missing."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest
from toolwire.commands.gateway import gateway
from toolwire.gateway.budget import MIB
from toolwire.gateway.settings import Limits, Settings

from .conftest import CHECKOUT

WITHOUT = """
import sys
sys.modules["{missing}"] = None
from toolwire import ToolwireError
from toolwire.commands.gateway import gateway, replay
import toolwire.gateway
try:
    {call}
except ToolwireError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("missing", "call"),
    [
        ("prometheus_client", 'gateway("http://127.0.0.1:9/v1")'),
        ("uvicorn", 'gateway("http://127.0.0.1:9/v1")'),
        ("purgatory", 'gateway("http://127.0.0.1:9/v1")'),
        ("prometheus_client", 'replay("x")'),
    ],
)
def test_a_missing_package_is_one_clear_sentence(missing: str, call: str) -> None:
    code = WITHOUT.format(missing=missing, call=call)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == f'The gateway needs {missing}: pip install "toolwire[gateway]"\n'


def test_the_limits_that_the_documents_name_are_the_defaults() -> None:
    limits, settings = Limits(), Settings()
    seconds = (limits.header_timeout, limits.body_timeout)
    sizes = (settings.max_exchange, settings.max_held, settings.max_body)
    assert seconds == (30, 300)
    assert limits.connections == 1000
    assert sizes == (16 * MIB, 1024 * MIB, 32 * MIB)
    defaults = {p.name: p.default for p in inspect.signature(gateway).parameters.values()}
    assert (defaults["header_timeout"], defaults["body_timeout"]) == seconds
    assert defaults["max_connections"] == limits.connections
    assert defaults["messages"] == settings.messages == "auto"
    assert "`--messages auto` (the default)" in (CHECKOUT / "parsers/gateway/README.md").read_text()
    named = ("max_exchange_mib", "max_held_mib", "max_body_mib")
    assert tuple(defaults[name] * MIB for name in named) == sizes


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("localhost:11434", "use a URL like"),
        ("ftp://x/v1", "use a URL like"),
        ("http://user:pass@x/v1", "without a query, a user or a password"),
    ],
)
def test_a_wrong_upstream(url: str, said: str) -> None:
    code = f"from toolwire.commands.gateway import gateway; gateway({url!r})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert said in run.stderr
