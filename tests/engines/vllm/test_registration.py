"""How vLLM finds the parsers: by entry point, by file, and never sooner than it must."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
import toolwire
from toolwire.engines import vllm_api


def run(code: str, folder: Path, **environment: str) -> str:
    """Runs code in a process of its own, away from the checkout."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


def test_importing_the_plugin_loads_no_engine(tmp_path: Path) -> None:
    code = (
        "import sys; import toolwire.engines.vllm_plugin;"
        "print([m for m in ('torch', 'vllm', 'transformers', 'xgrammar') if m in sys.modules])"
    )
    assert run(code, tmp_path) == "[]"


def test_the_entry_point_registers_every_format(tmp_path: Path) -> None:
    code = (
        "from vllm.plugins import load_general_plugins; load_general_plugins();"
        "from vllm.tool_parsers import ToolParserManager as M;"
        "print(*[n for n in M.list_registered() if n.startswith('toolwire_')]);"
        "print(M.get_tool_parser('toolwire_hermes').__name__)"
    )
    names, made = run(code, tmp_path, VLLM_LOGGING_LEVEL="ERROR").splitlines()[-2:]
    assert names.split() == sorted(
        f"toolwire_{name}" for name in [*toolwire.list_formats(), "auto"]
    )
    assert made == "toolwire_hermes"


def test_the_file_works_where_toolwire_is_not_installed(tmp_path: Path, checkout: Path) -> None:
    """VLLM_PLUGINS names no plugin, so the entry point of the installed one is not used.

    In the same process, a format of one's own is added and registered.
    """
    plugin = checkout / "parsers" / "engines" / "vllm_plugin.py"
    code = (
        "import dataclasses, sys; from vllm.tool_parsers import ToolParserManager as M;"
        f"M.import_tool_parser({str(plugin)!r});"
        "import toolwire; from toolwire.engines import vllm_plugin;"
        "hermes = toolwire.get_format('hermes');"
        "toolwire.register_format(dataclasses.replace(hermes, name='mine', aliases=()));"
        "vllm_plugin.register();"
        "print(M.get_tool_parser('toolwire_mine').toolwire_format);"
        "print(M.get_tool_parser('toolwire_hermes').__name__);"
        "print(toolwire.__file__)"
    )
    printed = run(code, tmp_path, VLLM_PLUGINS="", VLLM_LOGGING_LEVEL="ERROR").splitlines()
    assert printed[-3:] == ["mine", "toolwire_hermes", str(checkout / "parsers" / "__init__.py")]


def test_an_old_vllm_is_refused_in_a_sentence() -> None:
    with pytest.raises(toolwire.ToolwireError, match=r"works with vLLM 0\.32.*too old"):
        vllm_api.check_version("0.9.2")


def test_a_new_vllm_is_told_about(caplog: pytest.LogCaptureFixture) -> None:
    vllm_api.log.propagate = True
    with caplog.at_level(logging.WARNING):
        vllm_api.check_version("0.99.0")
        vllm_api.check_version("dev")
    assert len(caplog.messages) == 2
    assert all("0.32" in message for message in caplog.messages)


def test_the_installed_vllm_is_one_that_was_tested(caplog: pytest.LogCaptureFixture) -> None:
    import vllm

    with caplog.at_level(logging.WARNING):
        vllm_api.check_version(vllm.__version__)
    assert not caplog.messages
