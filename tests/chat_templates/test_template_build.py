"""The templates that are checked in are the ones that their sources give."""

import json
import re
import subprocess
import sys
from pathlib import Path

import jinja2
import pytest
from toolwire import templates

from .template_renderers import FRAMES, NAMES, STYLES

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "chat_templates" / "src").rglob("*.jinja"))


def build(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "scripts" / "build_templates"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_templates_are_up_to_date() -> None:
    checked = build("--check")
    assert (checked.returncode, checked.stdout) == (0, "")


def test_every_frame_goes_with_every_style() -> None:
    assert FRAMES == [
        "chatml",
        "llama3",
        "mistral",
        "gemma",
        "phi",
        "deepseek",
        "zephyr",
        "plain",
    ]
    assert set(STYLES) == {
        "hermes",
        "special_token",
        "json",
        "labeled",
        "qwen3_coder",
        "call_text",
        "pythonic",
    }
    assert set(NAMES) == {f"{frame}-{style}" for frame in FRAMES for style in STYLES}
    built = {path.stem for path in (ROOT / "chat_templates").glob("*.jinja")}
    assert built == set(NAMES) | {"by_example"}  # the words for formats without a style


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_tags_take_the_space_around_them_so_that_no_renderers_setting_matters(source: Path) -> None:
    text = source.read_text(encoding="utf-8")
    assert re.findall(r"\{[%#](?!-)", text) == []
    assert re.findall(r"(?<!-)[%#]\}", text) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_template_is_one_file_without_includes(name: str) -> None:
    tree = jinja2.Environment().parse(templates.get_template(name).text())
    elsewhere = (jinja2.nodes.Include, jinja2.nodes.Import, jinja2.nodes.Extends)
    assert next(tree.find_all(elsewhere), None) is None


@pytest.mark.parametrize("name", NAMES)
def test_llama_cpp_can_read_it(name: str) -> None:
    """Its own Jinja looks for nothing that was not given in a list, and makes no list of an object."""
    tree = jinja2.Environment().parse(templates.get_template(name).text())
    names = list(tree.find_all(jinja2.nodes.Name))
    set_here = {each.name for each in names if each.ctx in ("store", "param")}
    looked_for = {
        compare.expr.name
        for compare in tree.find_all(jinja2.nodes.Compare)
        if isinstance(compare.expr, jinja2.nodes.Name) and compare.ops[0].op in ("in", "notin")
    }
    assert looked_for - set_here == set()
    assert "list" not in {use.name for use in tree.find_all(jinja2.nodes.Filter)}


@pytest.mark.parametrize("name", NAMES)
def test_a_template_says_what_it_is(name: str) -> None:
    template = templates.get_template(name)
    assert template.text().startswith(
        f"{{#- toolwire chat template {name}: for the parser {template.parser}.\n"
    )


def test_the_catalog_names_models_parser_and_markers() -> None:
    for template in templates.list_templates():
        assert template.models
        assert template.parser == f"toolwire_{template.format}"
        assert template.path.is_file()
        assert template.markers or template.frame == "plain"


def test_the_markers_are_what_the_templates_write() -> None:
    for template in templates.list_templates():
        text = template.text()
        for marker in template.markers:
            role = re.fullmatch(r"<\|(?:system|user|assistant)\|>|### \w+:", marker)
            assert role or marker in text


def test_the_pages_table_names_only_what_exists() -> None:
    page = (ROOT / "docs" / "chat-templates.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|[^|]+\| `([\w-]+)` \| `(\w+)` \|", page, flags=re.MULTILINE)
    parsers = {template.name: template.parser for template in templates.list_templates()}
    assert len(rows) >= len(FRAMES)
    assert all(parsers[name] == parser for name, parser in rows)


def test_the_catalog_is_plain_json() -> None:
    entries = json.loads((ROOT / "chat_templates" / "catalog.json").read_text(encoding="utf-8"))
    assert [entry["name"] for entry in entries] == NAMES
