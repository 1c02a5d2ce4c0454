"""How often the next turn's prompt goes on from what the server has read and written already.

    python benchmarks/cache.py [--json FILE] [--quick]

A server's prefix cache keeps a turn only if the next prompt begins with the very same text. That prompt
is rendered anew, with the answer as it was parsed: white space that a parser moves, arguments that a
template writes anew, thoughts that it leaves out, each throws away what comes behind. For every chat
template at hand turns are drawn as its model writes them (`cache_turns`), read by toolwire and by the
engines' own parsers, rendered with a tool's result behind them, and compared. Nothing is timed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import part
import workers
from cache_turns import (
    Case,
    Judged,
    cases,
    judged,
    judged_at_best,
    read_by_toolwire,
    right,
    template_files,
)
from part import Part, Ratio, Table
from toolwire.models.next_turn import CHARACTERS_A_TOKEN

ABOUT = (
    "What a parser returns goes into the next prompt, and a server that has kept the last one in its "
    "cache reads on only where both are the same. For each chat template at hand, turns are drawn in "
    "the format that it shows: one call and two, with text before them and without, with thoughts and "
    "without; text and calls apart as the template has them, by a newline, and by an empty line. A turn "
    "is kept if the next prompt begins with the old one and all that the model wrote. “At best” is what "
    "any parser could keep, whichever white space it gave to text and thoughts (what a message begins "
    "with is text before anybody knows of a call): the rest only the template can keep. White space "
    "between text and calls that the template does not write is in no message that toolwire makes "
    "(rule 10), so that no such turn is kept: a parser that keeps some has to leave just that in the "
    "text which the template does not write. Where an engine has no parser of its own for a format or "
    "its thoughts, or its parser does not find the calls, the turn is left out, and toolwire stands "
    "beside it with the same "
    f"turns. Tokens are a rough count, {CHARACTERS_A_TOKEN} characters each."
)
TOOLWIRE, BEST = "toolwire", "at best"
ENGINES = {"vllm": "vLLM", "sglang": "SGLang"}
PLACES = {
    "prompt": "the prompt itself",
    "thought": "thoughts",
    "text": "text before calls",
    "gap": "white space before calls",
    "call": "calls",
}


@dataclass
class Row:
    """One turn, and what became of it with each parser that reads it."""

    case: Case
    right: bool
    """Whether toolwire got what was said."""
    by: dict[str, Judged] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        turn = self.case.turn
        return {
            "template": self.case.template,
            "format": self.case.format,
            "calls": len(turn.said.calls),
            "written by": turn.by,
            "text": bool(turn.said.text),
            "thought": bool(turn.said.thought),
            "gap": turn.gap,
            "usual": turn.usual,
            **{who: asdict(found) for who, found in self.by.items()},
        }


Chosen = Callable[[Row], bool]

#: The table's rows: which turns, of those with the usual white space between text and calls.
WAYS: dict[str, Chosen] = {
    "all turns": lambda row: True,
    "toolwire's templates": lambda row: not row.case.official,
    "official templates": lambda row: row.case.official,
    "one call": lambda row: len(row.case.turn.said.calls) == 1,
    "two calls": lambda row: len(row.case.turn.said.calls) > 1,
    "calls as the format writes them": lambda row: row.case.turn.by == "format",
    "calls as only the template does": lambda row: row.case.turn.by == "template",
    "no text before calls": lambda row: not row.case.turn.said.text,
    "text before calls": lambda row: bool(row.case.turn.said.text),
    "without thoughts": lambda row: not row.case.turn.said.thought,
    "with thoughts": lambda row: bool(row.case.turn.said.thought),
}
OTHERWISE = "text, other white space before calls"


@dataclass(frozen=True)
class Share:
    """What one parser kept of some turns."""

    turns: int
    kept: int
    lost: int

    @staticmethod
    def of(rows: Iterable[Row], who: str, where: str | None = None) -> Share:
        """`where`: only the turns that this other one reads, too."""
        found = [
            row.by[who]
            for row in rows
            if _reads(row, who) and (where is None or _reads(row, where))
        ]
        return Share(len(found), sum(one.kept for one in found), sum(one.lost for one in found))

    @property
    def share(self) -> float:
        return self.kept / self.turns if self.turns else 0.0

    @property
    def tokens(self) -> float:
        """Lost a turn."""
        return self.lost / self.turns / CHARACTERS_A_TOKEN if self.turns else 0.0

    def shown(self) -> str:
        if not self.turns:
            return ""
        return f"{percent(self.share)}, {self.tokens:.0f} ({self.kept} of {self.turns})"


def _reads(row: Row, who: str) -> bool:
    return who in row.by and row.by[who].read


def percent(share: float) -> str:
    """All is 100 %, and nothing less is."""
    return f"{int(1000 * share) / 10:g} %"


# -- asking ---------------------------------------------------------------------------------------


def drawn(quick: bool) -> list[Row]:
    """All turns, with what toolwire makes of them and what could be made at best."""
    rows = []
    for file in template_files(quick):
        part.progress(f"rendering with {file.stem}")
        for case in cases(file, quick):
            ours = read_by_toolwire(case)
            found = {TOOLWIRE: judged(case, ours), BEST: judged_at_best(case)}
            rows.append(Row(case, right(case, ours), found))
    return rows


def ask_engines(rows: Sequence[Row]) -> workers.Outcome:
    """Has each engine's own parsers read the turns, and judges what they made of them."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "turns.json"
        file.write_text(json.dumps([row.case.asked() for row in rows]), encoding="utf-8")
        outcome = workers.run_in_each("cache_worker.py", ["--turns", str(file)], at_once=True)
    for result in outcome.results:
        part.progress(f"rendering what {result['engine']}'s parsers have read")
        for row, message in zip(rows, result["messages"], strict=False):
            if message is not None:
                row.by[result["engine"]] = judged(row.case, message)
    return outcome


# -- the report -----------------------------------------------------------------------------------


def engines_in(rows: Sequence[Row]) -> list[str]:
    return [name for name in ENGINES.values() if any(_reads(row, name) for row in rows)]


def columns(rows: Sequence[Row]) -> list[str]:
    found = [TOOLWIRE, BEST]
    for engine in engines_in(rows):
        found += [f"{engine}'s own", "toolwire, same turns"]
    return found


def shares(rows: Sequence[Row], engines: Sequence[str]) -> list[str]:
    found = [Share.of(rows, TOOLWIRE), Share.of(rows, BEST)]
    for engine in engines:
        found += [Share.of(rows, engine), Share.of(rows, TOOLWIRE, engine)]
    return [share.shown() for share in found]


def ways_table(rows: Sequence[Row]) -> Table:
    engines = engines_in(rows)
    chosen = {name: [row for row in usual(rows) if way(row)] for name, way in WAYS.items()}
    chosen[OTHERWISE] = otherwise(rows)
    return Table(
        "Turns kept, and tokens lost a turn",
        ["turns", *columns(rows)],
        [[name, *shares(some, engines)] for name, some in chosen.items() if some],
        "The share of turns kept, tokens lost a turn (those that were kept lose none), and how many. "
        "All but the last row: text and calls are apart as the template has them.",
    )


def templates_table(rows: Sequence[Row]) -> Table:
    engines = engines_in(rows)
    by_template: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_template.setdefault((row.case.template, row.case.format), []).append(row)
    found = [[*key, *shares(some, engines)] for key, some in by_template.items()]
    return Table("The same for each template", ["template", "format", *columns(rows)], found)


def places_table(rows: Sequence[Row]) -> Table:
    """What differs first, in the turns that toolwire loses."""
    lost = [row for row in rows if not row.by[TOOLWIRE].kept]
    ours: Counter[str] = Counter()
    templates: Counter[str] = Counter()
    for row in lost:
        counted = ours if row.by[BEST].kept else templates
        counted[row.by[TOOLWIRE].place] += 1
    found = [[words, ours[key], templates[key]] for key, words in PLACES.items()]
    note = (
        "Other white space at a call's edge is markup, by rule 10: a parser could keep it as text."
    )
    names = ["what differs first", "a parser could keep it", "only the template could"]
    return Table("Turns that toolwire loses", names, found, note)


def unread_table(rows: Sequence[Row]) -> Table:
    found = []
    for name in (TOOLWIRE, *ENGINES.values()):
        unread = [row for row in rows if name in row.by and not row.by[name].read]
        formats = sorted({row.case.format for row in unread})
        if any(name in row.by for row in rows):
            found.append([name, len(unread), ", ".join(formats)])
    title = "Turns whose calls are not found, or that the template refuses"
    return Table(title, ["parser", "turns", "formats"], found)


def verdicts(rows: Sequence[Row]) -> list[str]:
    """What toolwire must read right, what it loses by its own rules, and where it is behind."""
    templates = dict.fromkeys(row.case.template for row in rows if not row.right)
    wrong = [f"{name}: a turn of its model is not read as it was meant." for name in templates]
    could = Counter(row.case.template for row in usual(rows) if _could_be_kept(row))
    wrong += [
        f"{name}: {count} turns with usual white space are lost that a parser could keep."
        for name, count in could.items()
    ]
    for some, where in (
        (usual(rows), "with usual white space"),
        (otherwise(rows), "with other white space"),
    ):
        for engine in engines_in(some):
            theirs, ours = compared(some, engine)
            if theirs.share > ours.share:
                wrong.append(
                    f"{engine}'s own parsers keep more turns than toolwire {where}: "
                    f"{percent(theirs.share)}, and toolwire {percent(ours.share)} of the same."
                )
    return wrong


def _could_be_kept(row: Row) -> bool:
    return row.by[BEST].kept and not row.by[TOOLWIRE].kept


def usual(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if row.case.turn.usual]


def otherwise(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if not row.case.turn.usual]


def compared(rows: Sequence[Row], engine: str) -> tuple[Share, Share]:
    """The engine's own parsers, and toolwire, in the turns that both read."""
    return Share.of(rows, engine, TOOLWIRE), Share.of(rows, TOOLWIRE, engine)


def ratios(rows: Sequence[Row]) -> dict[str, Ratio]:
    found = {}
    for key, some, where in (
        ("", usual(rows), "With usual white space"),
        ("_otherwise", otherwise(rows), "With other white space between text and calls"),
    ):
        ours, best = Share.of(some, TOOLWIRE), Share.of(some, BEST)
        if not some:
            continue
        text = (
            f"{where}, {percent(ours.share)} of {ours.turns} turns are kept with toolwire, of "
            f"{percent(best.share)} that a parser could keep; {ours.tokens:.0f} tokens are lost a turn."
        )
        found[f"toolwire{key}"] = Ratio(round(ours.share, 4), text)
        for engine in engines_in(some):
            theirs, same = compared(some, engine)
            text = (
                f"{where}, {engine}'s own parsers keep {percent(theirs.share)} of the {theirs.turns} "
                f"turns that they read, and lose {theirs.tokens:.0f} tokens a turn; toolwire keeps "
                f"{percent(same.share)} of the same, and loses {same.tokens:.0f}."
            )
            found[f"{engine.lower()}{key}"] = Ratio(round(theirs.share, 4), text)
    return found


def in_short(rows: Sequence[Row]) -> list[str]:
    """Both halves: where the model writes as its template does, and where rule 10 costs it."""
    if not rows:
        return []
    return [
        "**The next turn's prompt** goes on from all that was read and written, so that a server's "
        "prefix cache is kept, in so many of the turns: where text and calls are apart as the chat "
        f"template has them, {_side_by_side(usual(rows))}; where they are apart by other white space, "
        f"which is no text by rule 10 on purpose, {_side_by_side(otherwise(rows))}."
    ]


def _side_by_side(rows: Sequence[Row]) -> str:
    ours, best = (percent(Share.of(rows, who).share) for who in (TOOLWIRE, BEST))
    said = f"toolwire {ours} (at best {best})"
    for engine in engines_in(rows):
        theirs, same = (percent(share.share) for share in compared(rows, engine))
        said += f", {engine}'s own {theirs} (toolwire {same} of the same turns)"
    return said


def as_part(rows: Sequence[Row], outcome: workers.Outcome, started: str, seconds: float) -> Part:
    tables = [ways_table(rows), places_table(rows), unread_table(rows), templates_table(rows)]
    return workers.part_of(
        "cache",
        *(outcome, started, seconds),
        title="The next turn's prompt",
        about=ABOUT,
        versions=part.versions("toolwire", "jinja2"),
        tables=tables if rows else [],
        wrong=[*outcome.wrong, *verdicts(rows)],
        ratios=ratios(rows),
        summary=in_short(rows),
        data=[row.plain() for row in rows],
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the part of the report")
    parser.add_argument("--quick", action="store_true", help="fewer templates, and fewer calls")
    asked = parser.parse_args(arguments)
    started, clock = part.now(), time.monotonic()
    rows = drawn(asked.quick)
    outcome = ask_engines(rows)
    part.progress_done()
    whole = as_part(rows, outcome, started, time.monotonic() - clock)
    for table in whole.tables[:3]:
        print(f"{table.title}\n\n{part.as_text(table)}\n")
    print("\n".join(whole.wrong))
    if asked.json:
        part.write(asked.json, whole)
    return 130 if outcome.interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
