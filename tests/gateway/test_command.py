"""The command line, also where the gateway's packages are missing."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import pytest
from toolwire.cli import main
from toolwire.gateway.budget import MIB
from toolwire.gateway.settings import REQUESTS, Limits, Settings
from toolwire.openai import request_repair

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
        ("prometheus_client", 'gateway(upstream="http://127.0.0.1:9/v1")'),
        ("uvicorn", 'gateway(upstream="http://127.0.0.1:9/v1")'),
        ("purgatory", 'gateway(upstream="http://127.0.0.1:9/v1")'),
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
    assert limits.max_connections == 1000
    assert sizes == (16 * MIB, 1024 * MIB, 32 * MIB)
    assert settings.keep_alive == 10
    assert (settings.emit, settings.requests, settings.names) == ("finish", "strict", "keep")
    assert "`--messages auto` (the default)" in (CHECKOUT / "docs/gateway.md").read_text()


def test_the_documents_name_every_choice_and_every_count() -> None:
    page = (CHECKOUT / "docs/gateway.md").read_text(encoding="utf-8")
    flags = ["--requests", "--keep-alive", "--emit finish", "--emit complete", "--names mangle"]
    table = (inspect.getdoc(request_repair) or "").splitlines()
    counted = [row.split("|")[1].strip() for row in table if row.startswith("| `")]
    assert len(counted) == 7
    told = [*flags, *counted, *(f"`{value}`" for value in REQUESTS)]
    assert [one for one in told if one not in page] == []


def test_the_security_notes_name_tests_that_there_are() -> None:
    notes = (CHECKOUT / "docs/security.md").read_text(encoding="utf-8")
    files = [*CHECKOUT.joinpath("tests").rglob("test_*.py")]
    known = {path.name for path in files}
    for path in files:
        known |= set(re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8")))
    named = re.findall(r"`(?:tests/)?(test_\w+(?:\.py)?)`", notes)
    assert len(named) > 20
    assert [name for name in named if name not in known] == []


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("localhost:11434", "use a URL like"),
        ("ftp://x/v1", "use a URL like"),
        ("http://user:pass@x/v1", "without a query, a user or a password"),
    ],
)
def test_a_wrong_upstream(url: str, said: str) -> None:
    code = f"from toolwire.commands.gateway import gateway; gateway(upstream={url!r})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert said in run.stderr


def test_what_is_done_with_thoughts_is_this_commands_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`toolwire parse` has an option of that name whose value may be left out."""
    asked = ["gateway", "--upstream", "http://127.0.0.1:9/v1", "--reasoning", "nope"]
    assert main(asked) == 2
    assert "'nope': use one of split, keep, off" in capsys.readouterr().err
