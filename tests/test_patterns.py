"""No regular expression of ours takes more than linear time, whatever the text.

`costly_repeat` proves it for one pattern. Here are all of them: those in the source, found by reading
it, and those that formats are made of, found by watching `re` while formats are used.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import Format, Parser, ReasoningStyle, get_format, list_formats
from toolwire.core.backtracking import costly_repeat
from toolwire.core.samples import Sample
from toolwire.formats.reasoning import STYLES
from toolwire.models.propose import propose

from .core.thinking import closers, openers
from .formats.generate import SHAPES, formats_and_texts
from .support import TOOLS
from .writers import ALONE, WRITERS

SOURCES = sorted((Path(__file__).parents[1] / "parsers").rglob("*.py"))
USES = {"match", "fullmatch", "search", "finditer", "findall", "sub", "split"}
SEARCHES = USES - {"match", "fullmatch"}


@pytest.mark.parametrize(
    ("pattern", "searched", "slow"),
    [
        (r"a*b", False, False),
        (r"a*a*", False, True),
        (r"(?:a+)+b", False, True),
        (r"(?:ab|a|b)*c", False, True),
        (r"(?:a?b?)*", False, True),
        (r"(?:a*b*)*", False, True),
        (r"\s*x", False, False),
        (r"\s*x", True, True),
        (r"<[^<>]*>", True, False),
        (r"<[^>]*>", True, True),
        (r"\w+", True, False),
        (r"\w+\(", True, True),
        (r"\w+(?=\()", True, True),
        (r"\A\s*x", True, False),
        (r"(?:x(?=\s*y)\s*)*", False, False),
        (r"(?:\s(?=\s*y))*", False, True),
        (r'"(?:\\.|[^"\\])*"', False, False),
        (r'"(?:\\.|[^"])*"', False, True),
        # The tag's pattern that took 2.8 seconds for 600 characters.
        (r"""\s*["']?(?P<name>[^"'<>\n]+?)["']?(?:\s+[\w:.-]+\s*=\s*"[^"]*")*\s*""", False, True),
    ],
)
def test_what_is_slow(pattern: str, searched: bool, slow: bool) -> None:
    assert bool(costly_repeat(pattern, 0, searched)) is slow


# -- patterns in the source -----------------------------------------------------------------------


def constants(tree: ast.AST) -> dict[str, str]:
    """The strings that have names."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            text = written(node.value, found)
            if isinstance(target, ast.Name) and text is not None:
                found[target.id] = text
    return found


def written(node: ast.AST, names: dict[str, str]) -> str | None:
    """The text of a pattern, if the source says it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        return node.value if isinstance(node.value, str) else node.value.decode("latin-1")
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.FormattedValue):
        return written(node.value, names)
    if isinstance(node, ast.JoinedStr):
        parts = [written(part, names) for part in node.values]
        return None if None in parts else "".join(part or "" for part in parts)
    return None


def patterns_in(path: Path) -> Iterator[tuple[int, str | None, int, bool]]:
    """Line, pattern (None: made when it is needed), flags, and whether it is searched for."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    names = constants(tree)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")):
            continue
        verb = ast.unparse(node.func).removeprefix("re.")
        if verb not in {*USES, "compile"}:
            continue
        uses = {verb}
        parent = parents[node]
        if verb == "compile" and isinstance(parent, ast.Attribute):
            uses = {parent.attr}
        elif verb == "compile" and isinstance(parent, ast.Assign | ast.AnnAssign):
            target = parent.targets[0] if isinstance(parent, ast.Assign) else parent.target
            name = re.escape(ast.unparse(target))
            uses = set(re.findall(rf"(?<!\w){name}\.(\w+)\(", source))
        flags = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "flags")]
        named = {word for flag in flags for word in re.findall(r"re\.([A-Z]+)", ast.unparse(flag))}
        value = 0
        for word in named:
            value |= getattr(re, word)
        yield node.lineno, written(node.args[0], names), value, bool(uses & SEARCHES)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: "/".join(path.parts[-2:]))
def test_patterns_in_the_source(path: Path) -> None:
    for line, pattern, flags, searched in patterns_in(path):
        if pattern is not None:
            slow = costly_repeat(pattern, flags, searched)
            assert not slow, f"{path}:{line}: slow for texts with many {slow!r} in a row"


def test_patterns_are_found() -> None:
    found = [pattern for path in SOURCES for _, pattern, _, _ in patterns_in(path)]
    assert len([pattern for pattern in found if pattern is not None]) > 60
    assert len([pattern for pattern in found if pattern is None]) > 20


# -- patterns that are made for a format ----------------------------------------------------------


class Watched:
    """A pattern that remembers how it is used."""

    def __init__(self, pattern: re.Pattern[str], uses: set[str]) -> None:
        self._pattern = pattern
        self._uses = uses

    def __getattr__(self, name: str) -> Any:
        if name in USES:
            self._uses.add(name)
        return getattr(self._pattern, name)


class Watch:
    """Sees every pattern that is made inside its `with`."""

    def __init__(self) -> None:
        self.seen: dict[tuple[str, int], set[str]] = {}
        self._compile = re.compile
        self._patched = pytest.MonkeyPatch()

    def __enter__(self) -> Watch:
        self._patched.setattr(re, "compile", self._watch)
        for use in USES:
            self._patched.setattr(re, use, self._used_at_once(use))
        return self

    def __exit__(self, *_: object) -> None:
        self._patched.undo()

    def _watch(self, pattern: Any, flags: int = 0) -> Any:
        if not isinstance(pattern, str):
            return self._compile(pattern, flags)
        uses = self.seen.setdefault((pattern, int(flags)), set())
        return Watched(self._compile(pattern, flags), uses)

    def _used_at_once(self, use: str) -> Any:
        def used(pattern: Any, *rest: Any, flags: int = 0, **more: Any) -> Any:
            return getattr(self._watch(pattern, flags), use)(*rest, **more)

        return used

    def check(self) -> None:
        for (pattern, flags), uses in self.seen.items():
            slow = costly_repeat(pattern, flags, bool(uses & SEARCHES))
            assert not slow, f"{pattern} is slow for texts with many {slow!r} in a row"


def use(format: Format, text: str, tools: Any, reasoning: Any = None) -> None:
    for size in (1, 7, len(text) or 1):
        parser = Parser(format, tools, reasoning)
        for i in range(0, len(text), size):
            parser.feed(text[i : i + size])
        parser.finish()


@pytest.mark.parametrize("name", list_formats())
def test_patterns_of_a_format(name: str) -> None:
    calls = [("write_file", {"path": "a b", "content": "x\n\"y\" 'z' \\ é </"}), ("add", {"a": 1})]
    text = f"Yes:\n{WRITERS[name](calls)}\nSo `x` and\n```\nadd(a=1)\n``` {{}} [1]"
    with Watch() as watch:
        new = replace(get_format(name))  # what a format has compiled stays with it
        for tools in (TOOLS, None):
            use(new, text, tools)
            use(new, text[: len(text) // 2], tools)
    assert len(watch.seen) > 5
    watch.check()


@pytest.mark.slow
def test_patterns_of_all_marked_formats_at_once() -> None:
    """Those of `any` are made of everybody's delimiters: some have 27,000 characters."""
    new = replace(get_format("any"))
    with Watch() as watch:
        for name in WRITERS:
            text = f"Yes:\n{WRITERS[name]([('add', {'a': 1})])}\nSo `x`"
            for reasoning in (None, True):
                use(new, text, TOOLS, reasoning)
    assert max(len(pattern) for pattern, _ in watch.seen) > 10_000
    watch.check()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hermes", "json", "qwen3_coder", "pythonic", "call_text"])
@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_patterns_of_a_style(style: ReasoningStyle, name: str) -> None:
    begin, end, call = openers(style)[0], closers(style)[0], WRITERS[name]([("add", {"a": 1})])
    text = f"{begin}Hm.\n{call}\nso{end}Yes `{begin}` {begin}a{end}\n{call}\n{end}{begin}b\n{call}"
    with Watch() as watch:
        use(replace(get_format(name)), text, TOOLS, style)
    assert any(begin[:3] in pattern.replace("\\", "") for pattern, _ in watch.seen)
    watch.check()


@pytest.mark.slow
@pytest.mark.parametrize("shapes", SHAPES.values(), ids=[shape.__name__ for shape in SHAPES])
@given(data=st.data())
def test_patterns_of_any_format(shapes: Any, data: st.DataObject) -> None:
    spec, text = data.draw(formats_and_texts(shapes))
    with Watch() as watch:
        use(replace(spec), text, None)
    watch.check()


@pytest.mark.parametrize("name", [name for name in WRITERS if name not in ALONE])
def test_patterns_of_what_is_proposed(name: str) -> None:
    one, two = ("get_weather", {"city": "Oslo", "days": 3}), ("send_mail", {"to": "Ann Lee"})
    with Watch() as watch:
        assert propose([Sample(WRITERS[name]([one, two]), (one, two))], "mine")
    assert watch.seen
    watch.check()
