"""How SGLang finds the parsers: by entry point, in every process, and by our templates."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import toolwire
import toolwire.templates
from sglang.srt.parser import template_detection
from toolwire.engines import sglang_plugin

NAMES = [f"toolwire_{name}" for name in toolwire.list_formats()]


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
        "import sys; import toolwire.engines.sglang_plugin;"
        "print([m for m in ('torch', 'sglang', 'transformers', 'xgrammar') if m in sys.modules])"
    )
    assert run(code, tmp_path) == "[]"


#: What SGLang does in each of its processes; then registering again, and with one more format.
IN_A_PROCESS = """
import dataclasses, json, toolwire
from sglang.srt.parser import template_detection as detection
theirs = detection.TOOL_CALL_PARSER_RULES
from sglang.srt.plugins import load_plugins
load_plugins()
from sglang.srt.environ import envs
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser import template_manager
from sglang.srt.server_args import _tool_call_parser_choices
from toolwire.engines import sglang_plugin
names = [name for name in _tool_call_parser_choices() if name.startswith("toolwire_")]
sglang_plugin.register()
rules = detection.TOOL_CALL_PARSER_RULES
own = dataclasses.replace(toolwire.get_format("hermes"), name="mine", aliases=())
toolwire.register_format(own)
sglang_plugin.register()
print(json.dumps({
    "names": names,
    "app": envs.SGLANG_HTTP_SERVER_APP_PATH.get(),
    "rules of ours": len(rules) - len(theirs),
    "theirs stay": rules[-len(theirs):] == theirs,
    "one for all": template_manager.TOOL_CALL_PARSER_RULES is detection.TOOL_CALL_PARSER_RULES,
    "own": FunctionCallParser.ToolCallParserEnum["toolwire_mine"].toolwire_format,
}))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        run(IN_A_PROCESS, tmp_path_factory.mktemp("away")).splitlines()[-1]
    )
    return found


def test_the_entry_point_registers_every_format(seen: dict[str, Any]) -> None:
    """As SGLang's command line sees it, and in HTTP workers through the application's path."""
    assert seen["names"] == NAMES
    assert seen["app"] == "toolwire.engines.sglang_plugin:app"


def test_a_format_of_ones_own(seen: dict[str, Any]) -> None:
    assert seen["own"] == "mine"


def test_sglangs_own_rules_stay(seen: dict[str, Any]) -> None:
    assert seen["theirs stay"]
    assert seen["rules of ours"] == len(NAMES)
    assert seen["one for all"]


def test_an_application_of_the_operators_own_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sglang_plugin.APP_PATH, "mine:app")
    sglang_plugin.register()
    assert os.environ[sglang_plugin.APP_PATH] == "mine:app"


def test_the_module_has_an_application_and_nothing_else() -> None:
    from sglang.srt.entrypoints import http_server

    assert sglang_plugin.app is http_server.app
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = sglang_plugin.other


# -- `auto` ---------------------------------------------------------------------------------------


def detected(template: str) -> str | None:
    found: str | None = template_detection.detect_tool_call_parser(template, None)
    return found


@pytest.mark.parametrize("template", toolwire.templates.list_templates(), ids=lambda t: t.name)
def test_our_templates_are_known(template: Any) -> None:
    sglang_plugin.register()
    text = template.text()
    assert detected(text) == f"toolwire_{template.format}"
    assert detected(text.replace("\\n", "\n")) == f"toolwire_{template.format}"  # from a file


def test_a_template_that_only_mentions_ours_is_not_ours() -> None:
    sglang_plugin.register()
    ours = toolwire.templates.get_template("chatml-hermes").text()
    assert detected(f"{{# Not: #}}{ours}") != "toolwire_hermes"


# -- versions -------------------------------------------------------------------------------------


def test_an_old_sglang_is_refused_in_a_sentence() -> None:
    with pytest.raises(toolwire.ToolwireError, match=r"SGLang 0\.5\.23.*too old"):
        sglang_plugin.check_version("0.5.11")


def test_a_new_sglang_is_told_about(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        sglang_plugin.check_version("0.6.0")
        sglang_plugin.check_version("dev")
    assert len(caplog.messages) == 2
    assert all("0.5.23" in message for message in caplog.messages)


def test_the_installed_sglang_is_the_one_that_was_tested(caplog: pytest.LogCaptureFixture) -> None:
    import sglang

    with caplog.at_level(logging.WARNING):
        sglang_plugin.check_version(sglang.__version__)
    assert not caplog.messages
