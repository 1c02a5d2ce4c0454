"""How SGLang finds the parsers: by entry point, in every process, and by our templates."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
import sglang
import toolwire
import toolwire.templates
from engine_process import run
from sglang.srt.parser import template_detection
from shared_registration import Registration
from toolwire.engines.sglang import contract
from toolwire.engines.sglang import plugin as sglang_plugin
from toolwire.engines.versions import check_version
from toolwire.models.releases import SGLANG

NAMES = [f"toolwire_{name}" for name in [*toolwire.list_formats(), "any"]]


class TestRegistration(Registration):
    engine = "sglang"
    log = sglang_plugin.log
    too_old, too_new = "0.5.11", "0.6.0"
    refused, tested = r"works with SGLang 0\.5\.18 to 0\.5\.23", "0.5.18 to 0.5.23"

    def check(self, version: str) -> None:
        check_version(SGLANG, version, sglang_plugin.log)

    def installed(self) -> str:
        return str(sglang.__version__)


#: What SGLang does in each of its processes; then registering again, and with one more format.
IN_A_PROCESS = """
import dataclasses, json, toolwire, uvicorn
served = []
uvicorn.run = served.append  # nothing is served here
from sglang.srt.parser import template_detection as detection
theirs = detection.TOOL_CALL_PARSER_RULES
from sglang.srt.plugins import load_plugins
load_plugins()
import os
from sglang.srt import environ
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from sglang.srt.parser import template_manager
from toolwire.engines.sglang import plugin as sglang_plugin
names = [name for name in FunctionCallParser.ToolCallParserEnum if name.startswith("toolwire_")]
uvicorn.run("sglang.srt.entrypoints.http_server:app")
uvicorn.run("mine:app")
sglang_plugin.register()
rules = detection.TOOL_CALL_PARSER_RULES
own = dataclasses.replace(toolwire.get_format("hermes"), name="mine", aliases=())
toolwire.register_format(own)
sglang_plugin.register()
print(json.dumps({
    "names": names,
    "named": getattr(environ.envs, "SGLANG_HTTP_SERVER_APP_PATH", None) is not None,
    "app": os.environ.get("SGLANG_HTTP_SERVER_APP_PATH"),
    "served": served,
    "rules of ours": len(rules) - len(theirs),
    "theirs stay": rules[-len(theirs):] == theirs,
    "one for all": template_manager.TOOL_CALL_PARSER_RULES is detection.TOOL_CALL_PARSER_RULES,
    "own": FunctionCallParser.ToolCallParserEnum["toolwire_mine"].toolwire_format,
}))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        run(IN_A_PROCESS, tmp_path_factory.mktemp("away")).stdout.splitlines()[-1]
    )
    return found


def test_the_entry_point_registers_every_format(seen: dict[str, Any]) -> None:
    """As SGLang's command line sees it, and in HTTP workers through the application's path, or, before
    0.5.23, through what serves it."""
    assert seen["names"] == NAMES
    ours, theirs = "toolwire.engines.sglang.plugin:app", "sglang.srt.entrypoints.http_server:app"
    if seen["named"]:
        assert (seen["app"], seen["served"]) == (ours, [theirs, "mine:app"])
    else:
        assert (seen["app"], seen["served"]) == (None, [ours, "mine:app"])


def test_a_format_of_ones_own(seen: dict[str, Any]) -> None:
    assert seen["own"] == "mine"


def test_sglangs_own_rules_stay(seen: dict[str, Any]) -> None:
    assert seen["theirs stay"]
    assert seen["rules of ours"] == len(NAMES) - 1  # no template is for `any`
    assert seen["one for all"]


def test_an_application_of_the_operators_own_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(contract.APP_PATH, "mine:app")
    contract.name_app(contract.Contract(hears_choice=True, names_app=True), "ours:app")
    assert os.environ[contract.APP_PATH] == "mine:app"


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
    thoughts = template_detection.detect_reasoning_parser(text, None)
    assert thoughts == f"toolwire_{template.reasoning}"
    always, switch = template_detection.detect_reasoning_pattern(text)
    assert (always, switch.toggle_param, switch.default_enabled) == (
        False,
        "enable_thinking",
        False,
    )


def test_a_template_that_only_mentions_ours_is_not_ours() -> None:
    sglang_plugin.register()
    ours = toolwire.templates.get_template("chatml-hermes").text()
    assert detected(f"{{# Not: #}}{ours}") != "toolwire_hermes"
