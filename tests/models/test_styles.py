"""Which style of reasoning markers belong to: found for every style, and in our own templates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from toolwire import ReasoningStyle, get_format, list_reasoning
from toolwire.formats.reasoning import get_reasoning
from toolwire.models.reasoning import find_reasoning
from toolwire.models.rendering import template_renderer
from toolwire.models.styles import fitting_styles, known_styles
from toolwire.templates import ChatTemplate, list_templates

from .test_reasoning import OFFICIAL, OTHERS, THINKING


@pytest.mark.parametrize("name", list_reasoning())
def test_every_style_is_known_by_each_of_its_spellings(name: str) -> None:
    style = get_reasoning(name)
    for opener in style.open:
        for closer in style.close:
            markers = (
                opener.strip().replace("…", "6124c78e"),
                closer.strip().replace("…", "6124c78e"),
            )
            assert name in fitting_styles(markers)
    plain = (style.open[0].strip(), style.close[0].strip())
    expected = "think" if plain == ("<think>", "</think>") else name
    assert fitting_styles(plain)[0] == expected


@pytest.mark.parametrize("name", ["hunyuan_a13b", "ernie45"])
def test_a_formats_own_style_comes_first(name: str) -> None:
    spec = replace(get_format("hermes"), reasoning=ReasoningStyle(name))
    assert fitting_styles(("<think>", "</think>"), spec)[0] == name


def test_a_style_that_only_a_format_has_goes_by_its_name() -> None:
    style = ReasoningStyle("", ("<muse>",), ("</muse>",))
    spec = replace(get_format("hermes"), name="mine", reasoning=style)
    assert fitting_styles(("<muse>", "</muse>"), spec) == ["mine"]
    assert known_styles(spec)["mine"] is style
    assert fitting_styles(("<muse>", "</muse>")) == []


@pytest.mark.parametrize("markers", [("<think>", "</muse>"), ("<think", "</think>"), ("a", "b")])
def test_both_markers_count(markers: tuple[str, str]) -> None:
    assert fitting_styles(markers) == []


@pytest.mark.parametrize("template", list_templates(), ids=lambda template: template.name)
def test_our_own_templates_say_what_the_catalog_does(template: ChatTemplate) -> None:
    found = find_reasoning(template_renderer(template.text()))
    assert found.markers is not None
    assert fitting_styles(found.markers)[0] == template.reasoning
    assert (found.opened, found.switch, found.off) == (False, "enable_thinking", False)
    assert not found.off_by_default


#: The styles of official templates whose markers are none of `think`'s.
_OFFICIAL_STYLES = {
    "llamacpp--Apertus-8B-Instruct": "apertus",
    "llamacpp--Apriel-1.6-15b-Thinker-fixed": "apriel",
    "llamacpp--CohereForAI-c4ai-command-r7b-12-2024-tool_use": "cohere",
    "llamacpp--google-gemma-4-31B-it": "gemma4",
    "llamacpp--mistralai-Ministral-3-14B-Reasoning-2512": "mistral",
    "llamacpp--tencent-Hy3": "hy",
    "llamacpp--unsloth-Apriel-1.5": "apriel",
}


@pytest.mark.parametrize("path", sorted(OFFICIAL.glob("*.jinja")), ids=lambda path: path.stem)
def test_official_templates(path: Path) -> None:
    found = find_reasoning(template_renderer(path.read_text(encoding="utf-8")))
    styles = fitting_styles(found.markers) if found.markers else []
    if path.stem in THINKING:
        assert styles[0] == "think"
    else:
        assert styles[:1] == [s for s in [_OFFICIAL_STYLES.get(path.stem)] if s is not None]
        assert bool(found.markers) == (path.stem in OTHERS)
