"""Looks through the built docs site: every link leads to a page and a place that are there; nothing is
fetched from another host; and no paragraph swallowed the list or the table behind it.

    python scripts/lib/docs_check.py site
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What a browser fetches by itself, with the attribute that says from where.
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
#: … and in style sheets.
IN_STYLES = re.compile(r"""(?:url\(|@import)\s*["']?(https?:)?//""")

#: A line of a list or a table in the middle of a paragraph: Markdown wants an empty line before it.
SWALLOWED = re.compile(r"\n(?:[-*] |\d+\. |\| )")


@dataclass
class Page(HTMLParser):
    """The places of a page, where it leads to, what it fetches, and its paragraphs' text."""

    path: Path
    places: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    paragraphs: list[str] = field(default_factory=list)
    in_paragraph: bool = False

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.places.update(value for key in ("id", "name") if (value := given.get(key)))
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        if tag == "p":
            self.in_paragraph = True
            self.paragraphs.append("")
        if tag in FETCHED and (where := given.get(FETCHED[tag])):
            self.fetched.append(where)

    def handle_endtag(self, tag: str) -> None:
        self.in_paragraph &= tag != "p"

    def handle_data(self, data: str) -> None:
        if self.in_paragraph:
            self.paragraphs[-1] += data


def problems(site: Path) -> list[str]:
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    found = []
    for page in pages.values():
        name = page.path.relative_to(site)
        lead = [link for link in page.links if lost(link, page, pages, site)]
        found += [f"{name}: {link} leads nowhere" for link in lead]
        lists = [text for text in page.paragraphs if SWALLOWED.search(text)]
        found += [f"{name}: no empty line before the list in: {text[:60]!r}" for text in lists]
        found += [f"{name}: fetches {url}" for url in page.fetched if urlsplit(url).netloc]
    for path in site.rglob("*.css"):
        if IN_STYLES.search(path.read_text(encoding="utf-8")):
            found.append(f"{path.relative_to(site)}: fetches from another host")
    return found


def lost(link: str, page: Page, pages: dict[Path, Page], site: Path) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return (
            False  # another site's: that one is not ours to check, and is fetched only if clicked
        )
    path = unquote(parts.path)
    base = (
        site if path.startswith("/") else page.path.parent
    )  # as on the page for what is not there
    target = (base / path.lstrip("/")).resolve() if path else page.path.resolve()
    if target.is_dir():
        target /= "index.html"
    if target not in pages:
        return not target.exists()
    return bool(parts.fragment) and unquote(parts.fragment) not in pages[target].places


if __name__ == "__main__":
    site = Path(sys.argv[1])
    if not (site / "index.html").exists():
        sys.exit(f"{site} has no index.html: build the site first, with ./scripts/docs.")
    wrong = problems(site)
    sys.exit("\n".join(wrong) or 0)
