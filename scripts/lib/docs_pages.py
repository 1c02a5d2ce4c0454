"""The pages of the docs site that are made from the code: one for each family of models, a table of all,
and the command line. MkDocs calls the hooks at the end (`hooks:` in mkdocs.yml).

What is said of a format is what `toolwire formats NAME --json` says. What its models write when they
drift is tried while the page is made, and shown with what came out; the cases of tests/corpus_cases,
which tests/test_corpus.py proves, follow.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from toolwire import Format, Message, get_format, list_formats, parse
from toolwire.cli import make_app
from toolwire.commands.detect import start_commands
from toolwire.commands.formats import all_of
from toolwire.core.format import COMMON_ENDS
from toolwire.engines.names import sglang_kept, vllm_kept
from toolwire.formats import ANY

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from tests.corpus_cases import CASES, Case  # noqa: E402

#: Where formats stand that any model can be told to write.
OTHERS = "Any other model"
#: vLLM reads this family by its tokens, and starts with no other parser.
NO_PLUGIN = {("harmony", "vllm")}
ENGINES = {"vllm": "vLLM", "sglang": "SGLang"}
#: The language of a block with what a model wrote: its lines are broken where the page ends, so that
#: nothing of them is out of sight (docs/assets/site.css).
WRITTEN = "{ .text .wrap }"
#: A call in JSON, as models write it that fall back to what they know best.
FALL_BACK = '{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}'


# -- Markdown ---------------------------------------------------------------------------------------


def code(text: str) -> str:
    """A text in a line, as it is: in a table, and with backquotes in it."""
    ticks = "``" if "`" in text else "`"
    space = " " if "`" in text else ""
    return f"{ticks}{space}{text}{space}{ticks}".replace("\n", "⏎")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    lines = [head, ("---",) * len(head), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def fenced(text: str, language: str = WRITTEN, indent: str = "") -> list[str]:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [indent + line for line in (fence + language, *text.split("\n"), fence)]


def slug(family: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", family.lower()).strip("-")


# -- the families -----------------------------------------------------------------------------------


def families() -> dict[str, list[Format]]:
    """The formats by their family, the newest first; those of any model come last."""
    found: dict[str, list[Format]] = {}
    for spec in map(get_format, [*list_formats(), ANY]):
        found.setdefault(spec.family or OTHERS, []).append(spec)
    order = sorted(found, key=lambda family: (family == OTHERS, family.lower()))
    return {name: sorted(found[name], key=newest_first) for name in order}


def newest_first(spec: Format) -> tuple[int, list[int], str]:
    """By the year; in the same year, by the highest version among its models."""
    versions = re.findall(r"(?<!\w)[vV]?(\d+(?:\.\d+)*)(?![\w.]*\w)", spec.models)
    highest = max(([int(part) for part in one.split(".")] for one in versions), default=[0])
    return -spec.year, [-part for part in highest] + [0] * (4 - len(highest)), spec.name


def in_other_families(family: str) -> list[tuple[str, str]]:
    """Models that have this family's name, and write the format of another one."""
    return [
        (model, linked(f"toolwire_{spec.name}"))
        for spec in map(get_format, list_formats())
        if spec.family not in ("", family)
        for model in spec.models.split(", ")
        if re.match(rf"{re.escape(family)}\b", model)
    ]


def our_templates() -> list[tuple[str, str, str]]:
    """Models, template and parser: the rows of docs/chat-templates.md."""
    page = (ROOT / "docs" / "chat-templates.md").read_text(encoding="utf-8")
    return re.findall(r"^\| ([^|]+) \| `([\w-]+)` \| `(\w+)` \|", page, flags=re.MULTILINE)


def family_page(family: str, formats: list[Format]) -> str:
    lines = [f"# {family}", ""]
    parsers = [(spec.models, parser_link(spec)) for spec in formats] + in_other_families(family)
    if len(parsers) > 1:
        lines += [*table(("models", "parser"), parsers), ""]
    for spec in formats:
        lines += format_section(spec)
    rows = [row for row in our_templates() if re.search(rf"\b{family.split()[0]}", row[0], re.I)]
    if family == OTHERS:
        rows = our_templates()
    if rows:
        lines += ["## Templates of toolwire's", ""]
        lines += ["Where the model's own template does not show tools, or the model has none:", ""]
        # No table: its three columns are more than a phone shows.
        lines += [
            f"- {models}: {code(name)}, with {linked(parser)}" for models, name, parser in rows
        ]
        lines.append("")
        lines += ["[All of them, and how they are used](../chat-templates.md).", ""]
    return "\n".join(lines)


def parser_link(spec: Format, page: str = "") -> str:
    return f"[`toolwire_{spec.name}`]({page}#{spec.name})"


def page_of(spec: Format) -> str:
    return f"{slug(spec.family or OTHERS)}.md"


def linked(parser: str) -> str:
    """A parser's name as a link to its family's page."""
    spec = get_format(parser.removeprefix("toolwire_"))
    return parser_link(spec, page_of(spec))


def format_section(spec: Format) -> Iterator[str]:
    entry = all_of(spec)
    since = f" Since {spec.year}." if spec.year else ""
    yield from (f"## {spec.name}", "", f"{spec.models}.{since}", "")
    if entry["examples"]["two"]:
        whose = "the model's own template writes them" if spec.family else "the format has them"
        yield from (f"Two calls, as {whose}:", "")
        yield from (*fenced(entry["examples"]["two"]), "")
    yield from (*commands(spec, entry), "")
    yield from (*table(("parser", code(entry["parser"])), list(facts(spec, entry))), "")
    yield from drift(spec, entry)
    yield from corpus(spec)


def commands(spec: Format, entry: dict[str, Any]) -> Iterator[str]:
    # A family's own models bring a template that shows tools; any other model is shown them by ours.
    ours = entry["template"] and not spec.family
    template = f'"$(toolwire template {entry["template"]})"' if ours else ""
    started = start_commands("MODEL", entry["parser"], template=template)
    for engine, line in started.items():
        if (spec.name, engine) not in NO_PLUGIN:
            short = re.sub(r" (--(?:enable|tool-call|chat))", r" \\\n  \1", line)  # for a phone
            yield from tab(ENGINES[engine], short)
    gateway = f"toolwire gateway --upstream http://127.0.0.1:11434/v1 --format {spec.name}"
    yield from tab("any server", gateway)


def tab(title: str, command: str) -> Iterator[str]:
    yield from (f'=== "{title}"', "", *fenced(command, "{ .bash .wrap }", indent="    "), "")


def facts(spec: Format, entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    template = template_for(spec, entry)
    yield (
        "chat template",
        "the model's own" + (f", or {code(template)} of ours" if template else ""),
    )
    yield "thoughts", thoughts(spec, entry["reasoning"])
    yield "`required`, `strict`", f"the model is held to it {entry['constrained']}"
    yield "ids that are made", code(entry["ids"]["template"])
    if spec.aliases:
        yield "other names", ", ".join(map(code, spec.aliases))
    for engine, kept in (("vllm", vllm_kept), ("sglang", sglang_kept)):
        names = entry["engines"][engine]
        if names:
            yield f"{ENGINES[engine]}'s own names", whose(names, kept)


def template_for(spec: Format, entry: dict[str, Any]) -> str | None:
    """Ours for a family's models, as docs/chat-templates.md has it, or for any model."""
    of_family = (name for _, name, parser in our_templates() if parser == entry["parser"])
    found: str | None = next(of_family, None) if spec.family else entry["template"]
    return found


def whose(names: list[str], kept: Callable[[list[str]], list[str]]) -> str:
    """An engine's own names: those that ours can have, and those that stay the engine's."""
    ours = [name for name in names if not kept([name])]
    them = "it" if len(ours) == 1 else "them"
    taken = [f"{', '.join(map(code, ours))}. `TOOLWIRE_OVERRIDE=1` puts ours behind {them}."]
    return " ".join((taken if ours else []) + kept(names))


def thoughts(spec: Format, reasoning: dict[str, Any]) -> str:
    if spec.name == ANY:
        return "in the style whose marker comes first"
    name = reasoning["style"] or spec.name
    flag = code(f"--reasoning-parser toolwire_{name}")
    around = [code(reasoning[side]) for side in ("open", "close") if reasoning[side]]
    where = f" ({' … '.join(around)})" if around else ""
    return f"where the model thinks: {flag}{where}"


# -- drift ------------------------------------------------------------------------------------------


def drifted(spec: Format, entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Ways in which models leave their format, and a text for each."""
    one, layout = entry["examples"]["one"], spec.layout
    if layout is None:
        return
    closer = layout.section_end or layout.call_end
    if closer.strip():
        yield "the last closer is missing", one.rstrip().removesuffix(closer.rstrip())
    yield "in a code fence", f"```\n{one}\n```"
    yield "cut off by the token limit", one[: one.index("Paris") + 3]
    if spec.end_of_turn:
        yield "a token that ends turns is still there", one + end_of_turn(spec)
    opener = layout.section_begin + layout.call_begin
    if hasattr(spec.shape, "drift") and opener.rstrip().endswith((">", "[", "]")):
        yield (
            "JSON between its markers",
            FALL_BACK.join((opener, layout.call_end + layout.section_end)),
        )


def end_of_turn(spec: Format) -> str:
    """The family's own, where it has one that others do not have."""
    own = [token for token in spec.end_of_turn if token not in COMMON_ENDS]
    return (own or spec.end_of_turn)[0]


def drift(spec: Format, entry: dict[str, Any]) -> Iterator[str]:
    """No table: on a phone its columns would cut the texts, and the names of the calls, into letters."""
    texts = list(drifted(spec, entry))
    if texts:
        yield from ("### When the model drifts", "", "Tried while this page was made:", "")
    for what, text in texts:
        yield from (
            f"{what[0].upper()}{what[1:]}: {outcome(parse(spec, text, entry['tools']))}.",
            "",
        )
        yield from (*fenced(text), "")


def outcome(message: Message) -> str:
    if not message.tool_calls:
        return "no call; the text stays text"
    calls = [
        code(call.name) + ("" if call.complete else " (unfinished)") for call in message.tool_calls
    ]
    left = f", and the text {code(message.content)}" if message.content else ""
    return ", ".join(calls) + left


def corpus(spec: Format) -> Iterator[str]:
    cases = [case for case in CASES if get_format(case.format).name == spec.name]
    if not cases:
        return
    yield from ("### Cases", "", "From the tests: what came, and what has to come out of it.", "")
    for case in cases:
        alias = "" if case.format == spec.name else f" ({case.format})"
        yield from (f'??? note "{case.name}{alias}"', "")
        yield from fenced(case.text, indent="    ")
        yield ""
        yield from fenced(expected(case), "{ .json .wrap }", indent="    ")
        yield ""


def expected(case: Case) -> str:
    calls = [
        {"name": name, "arguments": arguments} | ({} if complete else {"complete": False})
        for name, arguments, complete in case.calls
    ]
    return json.dumps({"content": case.content, "tool_calls": calls}, indent=2, ensure_ascii=False)


# -- the table of all -------------------------------------------------------------------------------

#: Where docs/models/index.md has its place for it.
MARKER = "<!-- the table of all formats: scripts/lib/docs_pages.py -->"


def all_formats() -> str:
    rows = []
    for family, formats in families().items():
        for spec in formats:
            where = f"[{family}]({page_of(spec)})"
            parser = parser_link(spec, page_of(spec))
            example = code(spec.example) if len(spec.example) <= 90 else ""
            rows.append((where, spec.models, parser, str(spec.year or ""), example))
    head = ("family", "models", "parser", "since", "a call")
    return "\n".join(table(head, rows)) + "\n"


# -- the command line -------------------------------------------------------------------------------


def commands_page() -> str:
    lines = ["# The command line", "", "As `toolwire COMMAND --help` says it.", ""]
    group: Any = typer.main.get_command(make_app())
    for name, command in group.commands.items():
        lines += [f"## toolwire {name}", "", *plain(command.help or "").split("\n"), ""]
        rows = [parameter(one) for one in command.params if one.name != "help"]
        lines += [*table(("", "what"), rows), ""] if rows else []
        lines += [re.sub(r"Example: (.*)", r"Example: `\1`", command.epilog or ""), ""]
    return "\n".join(lines)


def parameter(one: Any) -> tuple[str, str]:
    """No column for defaults: most have none, and a phone has no room for it."""
    switch = list(getattr(one, "secondary_opts", []))
    names = [one.metavar or one.name.upper()] if one.param_type_name == "argument" else one.opts
    told, default = plain(getattr(one, "help", "") or ""), one.default
    if switch:
        default = names[0] if default else switch[0]
    if not callable(default) and default not in (None, "", False, ()):
        told += f" Default: {code(str(getattr(default, 'value', default)))}."
    return ", ".join(map(code, [*names, *switch])), told


def plain(text: str) -> str:
    """Help is written for a terminal: its lines are text, and none of it is markup."""
    return re.sub(r"([<*|])", r"\\\1", re.sub(r"[\b\f]\n?", "", text))


# -- MkDocs -----------------------------------------------------------------------------------------


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The families take the place of `models/*` in the navigation, and mkdocstrings reads the package's
    source under the name that it has where it is installed."""
    source = ROOT / ".venvs" / "docs" / "toolwire"
    source.parent.mkdir(parents=True, exist_ok=True)
    if not source.exists():
        source.symlink_to(ROOT / "parsers")
    config.plugins["mkdocstrings"].config["handlers"]["python"]["paths"] = [str(source.parent)]
    for entry in config.nav:
        for title, pages in entry.items():
            if "models/*" in pages:
                place = pages.index("models/*")
                entry[title][place : place + 1] = [
                    {family: f"models/{slug(family)}.md"} for family in families()
                ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    made = {"reference/commands.md": commands_page()}
    for family, formats in families().items():
        made[f"models/{slug(family)}.md"] = family_page(family, formats)
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def bars(row: re.Match[str]) -> str:
    """In a table's code, GitHub wants a bar with a backslash, Python-Markdown without."""
    return re.sub(r"`[^`]+`", lambda found: found[0].replace("\\|", "|"), row[0])


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """What covers a block is for readers of the source; to Python-Markdown a fence with it is none."""
    markdown = re.sub(r"^(```\w+) covered-by=\S+$", r"\1", markdown, flags=re.MULTILINE)
    markdown = re.sub(r"^\|.*", bars, markdown, flags=re.MULTILINE)
    return markdown.replace(MARKER, all_formats()) if MARKER in markdown else markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Flags get a class: a browser would break them behind their hyphens."""
    return re.sub(
        r'<code>[^<]*</code>|<div class="language-bash.*?</div>', flags_marked, html, flags=re.S
    )


def flags_marked(code: re.Match[str]) -> str:
    return re.sub(r"(?<=[> ])--[\w-]+", r'<span class="flag">\g<0></span>', code[0])
