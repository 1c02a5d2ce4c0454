"""How vLLM finds the parsers: by entry point, by file, and never sooner than it must."""

from __future__ import annotations

from pathlib import Path

import toolwire
import vllm
from engine_process import run
from shared_registration import Registration
from toolwire.engines.versions import check_version
from toolwire.engines.vllm import api as vllm_api
from toolwire.models.releases import VLLM

#: Before any test adds a format.
NAMES = sorted(f"toolwire_{name}" for name in [*toolwire.list_formats(), "any", "auto"])


class TestRegistration(Registration):
    engine = "vllm"
    log = vllm_api.log
    too_old, too_new = "0.9.2", "0.99.0"
    refused, tested = r"works with vLLM 0\.24 to 0\.32", "0.24 to 0.32"

    def check(self, version: str) -> None:
        check_version(VLLM, version, vllm_api.log)

    def installed(self) -> str:
        return str(vllm.__version__)


def test_the_entry_point_registers_every_format(tmp_path: Path) -> None:
    code = (
        "from vllm.plugins import load_general_plugins; load_general_plugins();"
        "from vllm.tool_parsers import ToolParserManager as M;"
        "print(*[n for n in M.list_registered() if n.startswith('toolwire_')]);"
        "print(M.get_tool_parser('toolwire_hermes').__name__)"
    )
    names, made = run(code, tmp_path, VLLM_LOGGING_LEVEL="ERROR").stdout.splitlines()[-2:]
    assert names.split() == NAMES
    assert made == "toolwire_hermes"


def test_the_file_works_where_toolwire_is_not_installed(tmp_path: Path, checkout: Path) -> None:
    """VLLM_PLUGINS names no plugin, so the entry point of the installed one is not used.

    In the same process, a format of one's own is added and registered.
    """
    plugin = checkout / "parsers" / "engines" / "vllm" / "plugin.py"
    code = (
        "import dataclasses, sys; from vllm.tool_parsers import ToolParserManager as M;"
        f"M.import_tool_parser({str(plugin)!r});"
        "import toolwire; from toolwire.engines.vllm import plugin as vllm_plugin;"
        "hermes = toolwire.get_format('hermes');"
        "toolwire.register_format(dataclasses.replace(hermes, name='mine', aliases=()));"
        "vllm_plugin.register();"
        "print(M.get_tool_parser('toolwire_mine').toolwire_format);"
        "print(M.get_tool_parser('toolwire_hermes').__name__);"
        "print(toolwire.__file__)"
    )
    done = run(code, tmp_path, VLLM_PLUGINS="", VLLM_LOGGING_LEVEL="ERROR")
    assert done.stdout.splitlines()[-3:] == [
        "mine",
        "toolwire_hermes",
        str(checkout / "parsers" / "__init__.py"),
    ]
