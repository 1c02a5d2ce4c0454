"""Every setting, from a flag, the environment and a file; a mistake is told with its place."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from toolwire import ToolwireError
from toolwire.gateway.budget import MIB
from toolwire.gateway.options import Setting, settings_of
from toolwire.gateway.settings import DECLARED, GatewaySettings, Settings

from .conftest import CHECKOUT

EVERY = [one for declared in DECLARED for one in settings_of(declared)]
UPSTREAM = {"TOOLWIRE_UPSTREAM": "http://127.0.0.1:9/v1"}
#: Values of texts that are not free to say anything.
TEXTS = {
    "format": ["hermes", "kimi_k2", "call_text"],
    "repair": ["coerce", "names", "coerce,names"],
    "capture": ["redis://a/0", "redis://b/0", "memory"],
    "upstream": ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1", "http://127.0.0.1:3/v1"],
}


def values(one: Setting, folder: Path) -> list[Any]:
    """Three values, as people would write them in TOML."""
    if one.name.endswith("_file"):
        return [str(write_key(folder / name)) for name in "abc"]
    if one.option.choices:
        return [*one.option.choices, *one.option.choices][:3]
    if one.kind is bool:
        return [True, False, True]
    if one.kind in (int, float):
        return [one.kind(n) for n in (7, 8, 9)]
    return TEXTS.get(one.name, ["a", "b", "c"])


def write_key(file: Path) -> Path:
    file.write_text("a-key\n")
    return file


def found(one: Setting, read: GatewaySettings) -> Any:
    parts = [getattr(read, field.name) for field in dataclasses.fields(read)]
    value = next(getattr(part, one.field) for part in parts if hasattr(part, one.field))
    value = value // MIB if one.option.mib else value
    return value[0] if isinstance(value, tuple) else value


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.name)
def test_flags_win_over_the_environment_and_that_over_a_file(one: Setting, tmp_path: Path) -> None:
    filed, exported, said = values(one, tmp_path)
    file = tmp_path / "gateway.toml"
    file.write_text(f"{one.name} = {json.dumps(filed)}\n")
    environment = UPSTREAM if one.name != "upstream" else {}
    environment = environment | {"TOOLWIRE_CONFIG": str(file)}
    assert found(one, GatewaySettings.read({}, environment)) == filed
    assert found(one, GatewaySettings.read({}, environment, str(file))) == filed
    environment |= {one.variable: "false" if exported is False else str(exported)}
    assert found(one, GatewaySettings.read({}, environment)) == exported
    flag = [said] if one.kind is tuple else said if one.kind is bool else str(said)
    assert found(one, GatewaySettings.read({one.name: flag}, environment)) == said


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.name)
def test_names_that_were_there_before_go_on_working(one: Setting) -> None:
    for name in one.option.variables:
        got = found(one, GatewaySettings.read({}, UPSTREAM | {name: str(7 * MIB)}))
        expected = {int: 7 if one.option.mib else 7 * MIB, str: str(7 * MIB)}
        assert got == expected[one.kind]
    assert {"APISIX_ADMIN_KEY", "TOOL_CALL_DEBUG_MAX", "TOOLWIRE_MAX_BODY"} <= {
        name for one in EVERY for name in one.option.variables
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "port = 1\nkeep_alife = 3",
            "line 2: there is no setting 'keep_alife'; did you mean keep_alive?",
        ),
        ("keep-alive = 3", "line 1: there is no setting 'keep-alive'; did you mean keep_alive?"),
        ("zzz = 3", "line 1: there is no setting 'zzz'; there are host, port"),
        ("[server]\nport = 1", "line 1: there is no setting 'server'"),
        ("\n\nkeep_alive = 'x'", "line 3: keep_alive is 'x': it must be a number"),
        ("keep_alive = nan", "line 1: keep_alive is nan: it must be a number"),
        ("keep_alive = -1", "line 1: keep_alive is -1.0: it must be 0 or more"),
        ("port = 70000", "line 1: port is 70000: it must be 0 to 65535"),
        ("port = 1.5", "line 1: port is 1.5: it must be a whole number"),
        ("port = true", "line 1: port is True: it must be a whole number"),
        ("host = 1", "line 1: host is 1: it must be a text"),
        ("mode = 'x'", "line 1: mode is 'x': use one of verified, live"),
        ("format = 'x'", "line 1: format: "),
        ("repair = 'x'", "line 1: repair: There is no repair 'x'"),
        ("port = ", "line 1: this is not TOML"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_its_place(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text(text)
    with pytest.raises(ToolwireError) as raised:
        GatewaySettings.read({}, UPSTREAM, str(file))
    assert str(raised.value).startswith(f"{file}, {said}")
    assert "\n" not in str(raised.value)


def test_a_mistake_elsewhere_is_told_with_its_name() -> None:
    cases: list[tuple[dict[str, str], dict[str, str], str]] = [
        ({"port": "x"}, {}, "--port is 'x': it must be a whole number"),
        ({}, {"TOOLWIRE_PORT": "x"}, "TOOLWIRE_PORT is 'x': it must be a whole number"),
        ({}, {"TOOLWIRE_MODE": "x"}, "TOOLWIRE_MODE is 'x': use one of verified, live"),
        ({"max_body_mib": "0"}, {}, "--max-body-mib is 0: it must be 1 or more"),
        ({}, {"TOOLWIRE_CONFIG": "/nowhere.toml"}, "/nowhere.toml can't be read: No such file"),
    ]
    for said, environment, sentence in cases:
        with pytest.raises(ToolwireError, match=f"^{sentence}"):
            GatewaySettings.read(said, UPSTREAM | environment)
    with pytest.raises(ToolwireError, match="Say --upstream URL"):
        GatewaySettings.read({}, {})


def test_the_middleware_takes_its_settings_from_the_same_file(tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text("upstream = 'http://127.0.0.1:9/v1'\nformat = 'hermes'\nmax_body_mib = 3\n")
    made = Settings.from_environment({"TOOLWIRE_CONFIG": str(file), "TOOLWIRE_MODE": "live"})
    assert (made.format, made.max_body, made.mode) == ("hermes", 3 * MIB, "live")


def test_the_help_has_every_flag_in_its_group() -> None:
    command = [sys.executable, "-m", "toolwire.cli", "gateway", "--help"]
    environment = os.environ | {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    panels = shown.stdout.split("─ ")
    for one in EVERY:
        panel = next(panel for panel in panels if panel.startswith(one.option.group))
        assert one.flag is None or f"{one.flag} " in panel
    assert "--admin-key" not in shown.stdout


def row(one: Setting) -> str:
    names = [one.flag or one.variable, *one.option.variables]
    told = ", ".join(f"`{name}`" for name in names)
    plain = re.sub(r"([*|])", r"\\\1", one.option.help)  # none of it is markup
    return f"| {told} | {plain} | {one.shown_default or ''} |"


def test_the_documents_have_a_row_for_every_setting() -> None:
    page = (CHECKOUT / "docs/gateway.md").read_text(encoding="utf-8")
    missing = [row(one) for one in EVERY if row(one) not in page.splitlines()]
    assert missing == [], "docs/gateway.md lacks these rows:\n" + "\n".join(missing)
