"""Makes one page of the benchmark's parts: tables, plots, what is wrong in red, how it was run.

    python benchmarks/render.py [FOLDER]      the parts' JSON files → index.html and a PNG for each plot

The page needs no other file: plots are in it as SVG, in the colour of the page's text, so that they can
be read in print and in the dark. Only this module needs matplotlib.
"""

from __future__ import annotations

import html
import io
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ORDER = (
    "parsers", "neighbours", "serve", "grammars", "cache", "start", "tools", "batch", "gateway",
    "correctness",
)  # fmt: skip
LONG = 24  # rows; a longer table is folded

#: Readable on white and on black; several series of a kind are told apart by shade and marker.
COLOURS = {
    "floor": ("#8a8a8a", "#b5b5b5"),
    "ours": ("#2f7ed8", "#1fa3b8", "#5b6ee1", "#3fa7f0", "#1f8f83"),
    "theirs": ("#e0662b", "#c83d5b", "#b8860b", "#d1478f", "#a0522d"),
}
LINES = {"floor": ":", "ours": "-", "theirs": "--"}
MARKERS = "os^Dv<>pPX"

#: matplotlib can't say “the page's colour”, so it says this, and it is replaced.
_INK = "#010203"

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #fff; --faint: #d9d9d9; --red: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #16181c; --faint: #3a3d44; --red: #ff8a80; }
}
@media print { :root { --ink: #000; --paper: #fff; --faint: #bbb; --red: #b3261e; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; } h2 { border-top: 1px solid var(--faint); padding-top: 1.5rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .85rem; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--faint); text-align: left; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.red { color: var(--red); font-weight: 600; } .note { font-size: .85rem; opacity: .8; }
ul.red { font-weight: 400; border-left: 4px solid var(--red); padding: .5rem 0 .5rem 2rem; }
svg { max-width: 100%; height: auto; } code { overflow-wrap: anywhere; }
figure { margin: 1rem 0; break-inside: avoid; } tr { break-inside: avoid; }
"""


def load_parts(folder: Path) -> list[dict[str, Any]]:
    """The parts that are there, in the report's order."""
    found = []
    for name in ORDER:
        file = folder / f"{name}.json"
        if file.exists():
            found.append(json.loads(file.read_text()))
    return found


def render(folder: Path, failed: Mapping[str, str] | None = None) -> Path:
    """`failed`: parts that did not run to their end, and a sentence about each."""
    parts = load_parts(folder)
    for part in parts:
        for plot in part["plots"]:
            draw(plot, folder / f"{plot['name']}.png")
    page = folder / "index.html"
    page.write_text(whole_page(parts, failed or {}), encoding="utf-8")
    return page


# -- the page -------------------------------------------------------------------------------------


def whole_page(parts: Sequence[Mapping[str, Any]], failed: Mapping[str, str]) -> str:
    body = [
        "<h1>toolwire: benchmarks</h1>",
        *(f'<p class="red">{escape(sentence)}</p>' for sentence in failed.values()),
        *summary(parts),
        *(line for part in parts for line in section(part)),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>toolwire: benchmarks</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def summary(parts: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    yield "<ul>"
    for part in parts:
        count = len(part["wrong"])
        red = f' <span class="red">{count} not as promised</span>' if count else ""
        yield f'<li><a href="#{part["part"]}">{escape(part["title"])}</a>{red}</li>'
    yield "</ul>"


def section(part: Mapping[str, Any]) -> Iterable[str]:
    yield f'<h2 id="{part["part"]}">{escape(part["title"])}</h2>'
    if part["interrupted"]:
        yield '<p class="red">This part was stopped before its end; here is what it had.</p>'
    yield f"<p>{escape(part['about'])}</p>"
    if part["wrong"]:
        yield '<ul class="red">'
        yield from (f"<li>{escape(sentence)}</li>" for sentence in part["wrong"])
        yield "</ul>"
    if part["ratios"]:
        yield "<ul>"
        yield from (f"<li>{with_code(ratio['text'])}</li>" for ratio in part["ratios"].values())
        yield "</ul>"
    for plot in part["plots"]:
        yield f"<figure>{draw(plot)}</figure>"
    for table in part["tables"]:
        yield from table_lines(table)
    yield from how_it_was_run(part)


def table_lines(table: Mapping[str, Any]) -> Iterable[str]:
    rows = table["rows"]
    title = escape(table["title"])
    folded = len(rows) > LONG
    yield f"<details><summary><b>{title}</b> ({len(rows)} rows)</summary>" if folded else ""
    yield "" if folded else f"<h3>{title}</h3>"
    numeric = [all(is_figure(row[at]) for row in rows) for at in range(len(table["columns"]))]
    yield '<div class="scroll"><table><thead><tr>'
    yield from (
        tag("th", escape(name), n) for name, n in zip(table["columns"], numeric, strict=True)
    )
    yield "</tr></thead><tbody>"
    for row in rows:
        cells = (tag("td", cell(value), n) for value, n in zip(row, numeric, strict=True))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"
    yield f'<p class="note">{escape(table["note"])}</p>' if table["note"] else ""
    yield "</details>" if folded else ""


def how_it_was_run(part: Mapping[str, Any]) -> Iterable[str]:
    def listed(pairs: Mapping[str, str]) -> str:
        return escape(", ".join(f"{key} {value}" for key, value in pairs.items() if value))

    yield (
        f'<p class="note">Begun {escape(part["started"])}, took {part["seconds"]:,.0f} seconds: '
        f"<code>{escape(part['command'])}</code><br>Machine: {listed(part['machine'])}.<br>"
        f'Versions: {listed(part["versions"])}.<br>Raw figures: <a href="{part["part"]}.json">'
        f"{part['part']}.json</a></p>"
    )


def escape(text: str) -> str:
    return html.escape(str(text))


def with_code(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def tag(name: str, text: str, numeric: bool) -> str:
    return f'<{name} class="n">{text}</{name}>' if numeric else f"<{name}>{text}</{name}>"


def is_figure(value: Any) -> bool:
    """Whether a cell belongs to the right: a number, or a text that is one with something to it."""
    return not isinstance(value, str) or not value or bool(re.match(r"!?[≈><≥] |!?[\d.,]+", value))


def cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool | str):
        text = str(value)
        red = text.startswith("!")
        return f'<span class="red">{escape(text[1:])}</span>' if red else escape(text)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


# -- the plots ------------------------------------------------------------------------------------


def draw(plot: Mapping[str, Any], png: Path | None = None) -> str:
    """Writes the PNG if asked to; gives the SVG otherwise."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    ink = "black" if png else _INK
    names = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    settings = dict.fromkeys(names, ink) | {"svg.fonttype": "none", "svg.hashsalt": plot["name"]}
    with mpl.rc_context(settings):
        figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
        (lines if plot["kind"] == "lines" else bars)(axes, plot)
        axes.set(title=plot["title"], xlabel=plot["x_label"], ylabel=plot["y_label"])
        if plot["y_log"]:
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
        axes.grid(alpha=0.25, axis="y" if plot["kind"] == "bars" else "both")
        if plot["series"]:
            legend = axes.legend(fontsize=8, ncols=2, framealpha=0)
            legend.set_zorder(0)
        if png:
            figure.savefig(png, dpi=150)
            plt.close(figure)
            return ""
        target = io.StringIO()
        figure.savefig(target, format="svg", transparent=True, metadata={"Date": None})
        plt.close(figure)
    svg = target.getvalue()
    return svg[svg.index("<svg") :].replace(_INK, "currentColor")


def styles(series: Sequence[Mapping[str, Any]]) -> Iterable[tuple[Mapping[str, Any], str, str]]:
    """Each with a colour of its kind and a marker; ours and theirs of one place look alike."""
    seen: dict[str, int] = {}
    for one in series:
        number = seen.get(one["kind"], 0)
        seen[one["kind"]] = number + 1
        colours = COLOURS[one["kind"]]
        yield one, colours[number % len(colours)], MARKERS[number % len(MARKERS)]


def lines(axes: Any, plot: Mapping[str, Any]) -> None:
    places: set[float] = set()
    for one, colour, marker in styles(plot["series"]):
        points = [(x, y) for x, y in zip(one["x"], one["y"], strict=True) if y is not None]
        places.update(x for x, _ in points)
        xs, ys = [x for x, _ in points], [y for _, y in points]
        line = LINES[one["kind"]]
        axes.plot(xs, ys, line, color=colour, marker=marker, markersize=5, label=one["label"])
    axes.set_xscale("log" if plot["x_log"] else "linear")
    axes.set_yscale("log" if plot["y_log"] else "linear")
    if len(places) <= 12:
        axes.set_xticks(sorted(places), [f"{place:,g}" for place in sorted(places)])
        axes.minorticks_off()


def bars(axes: Any, plot: Mapping[str, Any]) -> None:
    names = list(dict.fromkeys(x for one in plot["series"] for x in one["x"]))
    width = 0.8 / max(1, len(plot["series"]))
    for number, (one, colour, _) in enumerate(styles(plot["series"])):
        shift = (number - (len(plot["series"]) - 1) / 2) * width
        points = [
            (names.index(x), y) for x, y in zip(one["x"], one["y"], strict=True) if y is not None
        ]
        places = [place + shift for place, _ in points]
        axes.bar(places, [y for _, y in points], width, color=colour, label=one["label"])
    crowded = len(names) > 8
    axes.set_xticks(
        range(len(names)), [str(name) for name in names], rotation=60 if crowded else 0,
        ha="right" if crowded else "center", fontsize=8,
    )  # fmt: skip
    axes.set_yscale("log" if plot["y_log"] else "linear")


if __name__ == "__main__":
    print(render(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "report"))
