"""The command line, also where the gateway's packages are missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT = """
import sys
sys.modules["{missing}"] = None
from toolwire import ToolwireError
from toolwire.gateway.cli import gateway, replay
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


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("localhost:11434", "use a URL like"),
        ("ftp://x/v1", "use a URL like"),
        ("http://user:pass@x/v1", "without a query, a user or a password"),
    ],
)
def test_a_wrong_upstream(url: str, said: str) -> None:
    code = f"from toolwire.gateway.cli import gateway; gateway({url!r})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode != 0
    assert said in run.stderr
