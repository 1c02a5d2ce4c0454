"""The docs site: the pages that are made from the code, and what is looked for in the built site.

`./scripts/docs` builds all of it; `./scripts/test` does so in every run.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import toolwire
import toolwire.openai
from toolwire import get_format, list_formats
from toolwire.formats.registry import BUILT_IN

from .engines.page_blocks import ROOT, text_of


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / "lib" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look for it
    spec.loader.exec_module(module)
    return module


pages = load("docs_pages")
check = load("docs_check")

FAMILIES = pages.families()
OWN = BUILT_IN & set(list_formats())


# -- made from the code ---------------------------------------------------------------------------


def test_every_format_has_its_place_in_one_family() -> None:
    placed = [spec.name for formats in FAMILIES.values() for spec in formats]
    assert len(placed) == len(set(placed))
    assert {*OWN, "any"} <= set(placed)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_familys_page(family: str) -> None:
    text = pages.family_page(family, FAMILIES[family])
    for spec in FAMILIES[family]:
        section = text.partition(f"\n## {spec.name}\n")[2].partition("\n## ")[0]
        assert spec.models in section
        assert f"--format {spec.name}" in section
        assert f"`toolwire_{spec.name}`" in section
        assert ("--tool-call-parser toolwire_" in section) or spec.name == "any"
        if spec.layout is not None:
            assert "get_time" in section
            assert "(unfinished)" in section, "a call that the token limit cut stays unfinished"


def test_the_newest_version_comes_first() -> None:
    order = [spec.name for spec in FAMILIES["DeepSeek"]]
    assert order[:4] == ["deepseek_v41", "deepseek_v4", "deepseek_v3_2", "deepseek_v3_1"]
    assert [spec.name for spec in FAMILIES["Solar"]] == ["solar_open2", "solar_open"]


def test_a_familys_page_names_those_of_its_models_that_write_anothers_format() -> None:
    text = pages.family_page("Granite", FAMILIES["Granite"])
    assert "| Granite 4.2 | [`toolwire_qwen3_coder`](qwen.md#qwen3_coder) |" in text


def test_what_is_said_of_an_engines_own_names() -> None:
    mixed = pages.whose(["deepseek_v3", "cohere_command4"], pages.vllm_kept)
    assert mixed.startswith("`deepseek_v3`. `TOOLWIRE_OVERRIDE=1` puts ours behind it. TOOL")
    assert "leaves cohere_command4 to vLLM" in mixed
    assert "puts ours" not in pages.whose(["cohere_command3", "cohere_command4"], pages.vllm_kept)


def test_a_familys_template_and_its_last_token_are_its_own() -> None:
    facts = dict(pages.facts(get_format("pythonic"), pages.all_of(get_format("pythonic"))))
    assert "`llama3-pythonic`" in facts["chat template"]
    assert pages.end_of_turn(get_format("cohere")) == "<|END_OF_TURN_TOKEN|>"
    assert pages.end_of_turn(get_format("hermes")) == "<|im_end|>"


def test_the_drift_is_what_the_parser_does() -> None:
    lines = list(pages.drift(get_format("hermes"), pages.all_of(get_format("hermes"))))
    place = lines.index("The last closer is missing: `get_weather`.")
    text = "\n".join(lines[place + 3 : lines.index("```", place)])
    (call,) = toolwire.parse("hermes", text).tool_calls
    assert call.name == "get_weather"
    assert "</tool_call>" not in text


def test_the_table_of_all_names_every_format() -> None:
    text = pages.all_formats()
    assert {name for name in OWN if f"[`toolwire_{name}`](" not in text} == set()
    assert pages.MARKER in text_of("docs/models/index.md")


def test_a_flag_is_not_broken_behind_its_hyphens() -> None:
    block = '<div class="language-bash"><pre><code>x<span>y</span> --z 1</code></pre></div>'
    text = f"<p><code>--tools prompt</code> or <code>x --y</code>, not -- this</p>{block}"
    marked = pages.on_page_content(text, None, None, None)
    assert re.findall(r'<span class="flag">([^<]*)</span>', marked) == ["--tools", "--y", "--z"]
    assert re.sub(r'<span class="flag">([^<]*)</span>', r"\1", marked) == text


def test_every_command_is_in_the_reference() -> None:
    text = pages.commands_page()
    for name in ("parse", "gateway", "detect", "batch"):
        assert f"## toolwire {name}\n" in text
    assert "`--upstream`" in text
    assert (
        "| `--browser`, `--no-browser` | Open the page in a browser. Default: `--browser`. |"
        in text
    )


@pytest.mark.parametrize(
    ("page", "module", "elsewhere"),
    [
        ("docs/reference/toolwire.md", toolwire, set()),
        ("docs/reference/openai.md", toolwire.openai, {"Message", "ToolCall", "parse"}),
    ],
)
def test_the_reference_has_every_public_name(
    page: str, module: ModuleType, elsewhere: set[str]
) -> None:
    named = re.findall(rf"^::: {module.__name__}\.(\w+)$", text_of(page), re.MULTILINE)
    assert sorted(named) == sorted(set(module.__all__) - elsewhere)


# -- the built site -------------------------------------------------------------------------------


def built(folder: Path, body: str, style: str = "") -> list[str]:
    (folder / "index.html").write_text(f'<a id="top"></a>{body}', encoding="utf-8")
    (folder / "other.html").write_text('<h2 id="here">Here</h2>', encoding="utf-8")
    (folder / "site.css").write_text(style, encoding="utf-8")
    return [problem.partition(": ")[2] for problem in check.problems(folder)]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('<a href="other.html#here">x</a><a href="#top">x</a><a href="/other.html">x</a>', []),
        ('<a href="https://example.org/x">x</a><img src="data:image/png;base64,x">', []),
        ('<a href="gone.html">x</a>', ["gone.html leads nowhere"]),
        ('<a href="other.html#gone">x</a>', ["other.html#gone leads nowhere"]),
        ('<a href="#gone">x</a>', ["#gone leads nowhere"]),
        ('<script src="https://example.org/x.js"></script>', ["fetches https://example.org/x.js"]),
        ('<link rel="stylesheet" href="//example.org/x.css">', ["fetches //example.org/x.css"]),
        ("<p>One - two <code>x</code>\n3 | 4</p><ul><li>\n- x</li></ul>", []),
        (
            "<p>These <b>are</b>:\n- one</p>",
            ["no empty line before the list in: 'These are:\\n- one'"],
        ),
    ],
)
def test_what_is_wrong_with_a_page(body: str, said: list[str], tmp_path: Path) -> None:
    assert built(tmp_path, body) == said


def test_styles_fetch_nothing_from_elsewhere(tmp_path: Path) -> None:
    assert built(tmp_path, "", "a { background: url(x.png) }") == []
    said = built(tmp_path, "", '@import "https://example.org/font.css";')
    assert said == ["fetches from another host"]
