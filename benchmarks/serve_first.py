"""How long a client of a real server waits for the first token, and for the name of a call: with `auto`,
`required` and strict tools, few tools and many, that nobody has sent before or that were just sent.

Part of `serve.py`. Toolwire's parser and vLLM's own take turns on the same server, one request at a
time; what counts is the median of all rounds. What a model may write under a grammar is for each of
them to say: a way to write the call that both grammar and parser take is found out first, and whether
there is a grammar at all.
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import toolwire
from part import Cell, Kind, Ratio, Table, progress
from serve_client import Answer, Client
from serve_local import request
from workloads import cut

FORMAT = "hermes"
CHOICES = ("auto", "required", "strict")
MANY = 100
#: Ours may be this much behind before it is called slower: times as long, and milliseconds.
TOLERANCE, LEAST = 1.1, 2.0

Tools = list[dict[str, Any]]
#: A text, cut where a token has to end.
Pieces = tuple[str, ...]
Declare = Callable[[int, int], tuple[Tools, dict[str, Any]]]


@dataclass(frozen=True)
class Plan:
    rounds: int
    counts: tuple[int, ...]  # of tools


FULL = Plan(5, (1, 10, MANY))
QUICK = Plan(2, (1, MANY))


@dataclass(frozen=True)
class Who:
    label: str
    kind: Kind
    parser: str


WHO = (
    Who(f"toolwire {FORMAT}", "ours", f"toolwire_{FORMAT}"),
    Who(f"vLLM {FORMAT}", "theirs", FORMAT),
)


@dataclass(frozen=True)
class Wait:
    """Who was asked what. Times are in milliseconds, one for each round: with tools that are new, and
    with the same again."""

    who: Who
    choice: str
    tools: int
    held: bool
    """Whether a grammar holds the model to the tools."""
    first: list[float] = field(default_factory=list)
    name: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @property
    def where(self) -> str:
        return f"{self.choice}, {self.tools} {'tool' if self.tools == 1 else 'tools'}"

    def take(self, new: Answer, same: Answer, name: str) -> None:
        for answer in (new, same):
            if problem := wrong_with(answer, name):
                self.failed.append(problem)
        if not self.failed:
            self.first.append(_since(new, new.begun))
            self.name.append(_since(new, new.named))
            self.again.append(_since(same, same.named))


def _since(answer: Answer, moment: float | None) -> float:
    assert moment is not None
    return 1000 * (moment - answer.started)


def wrong_with(answer: Answer, name: str) -> str:
    if answer.error is not None:
        return answer.error
    return "" if [call[0] for call in answer.calls] == [name] else "no call, or another one"


# -- what is asked --------------------------------------------------------------------------------


def mcp_tools(count: int, number: int) -> tuple[Tools, dict[str, Any]]:
    """Tools as agents send them, which are new by their names; and a call of the first."""
    from grammars import arguments, tools  # it needs xgrammar, which vLLM brings

    declared = tools(count)
    for tool in declared:
        tool["function"]["name"] += f"_{number}"
    function = declared[0]["function"]
    return declared, {"name": function["name"], "arguments": arguments(function["parameters"], "x")}


def ways_to_write(call: dict[str, Any], declared: Tools) -> Iterator[Pieces]:
    """In the format's own way, and in others that a grammar may ask for: with tags of several tokens,
    for a grammar that knows no special ones, and at last as JSON, which is for any format."""
    plain = toolwire.write(FORMAT, [call], declared)
    for text in (plain, f"\n{plain}", f"\n\n{plain}", plain.replace("\n", "")):
        yield (text,)
        yield tuple(re.split(r"(?<=<)(?=/?tool_call>)", text))
    yield (json.dumps([{"name": call["name"], "parameters": call["arguments"]}]),)


def asked(tokenizer: Any, who: Who, choice: str, declared: Tools, text: Pieces) -> dict[str, Any]:
    strict = {"strict": True} if choice == "strict" else {}
    given = [{**tool, "function": tool["function"] | strict} for tool in declared]
    steps = [step for piece in text for step in cut(tokenizer, piece)]
    body = request(who.parser, steps, tools=given)
    return body | {"tool_choice": "required" if choice == "required" else "auto"}


class Measuring:
    def __init__(self, client: Client, tokenizer: Any, declare: Declare) -> None:
        self._client = client
        self._tokenizer = tokenizer
        self._declare = declare
        self._number = 0

    async def _ask(self, who: Who, choice: str, declared: Tools, text: Pieces) -> Answer:
        return await self._client.ask(asked(self._tokenizer, who, choice, declared, text))

    def _new(self, count: int) -> tuple[Tools, dict[str, Any]]:
        self._number += 1
        return self._declare(count, self._number)

    async def way(self, who: Who, choice: str) -> int | None:
        """The first of the ways to write a call that gives one; None where none does."""
        declared, call = self._new(1)
        for place, text in enumerate(ways_to_write(call, declared)):
            if not wrong_with(await self._ask(who, choice, declared, text), call["name"]):
                return place
        return None

    async def held(self, who: Who, choice: str) -> bool:
        """Whether the server refuses a call of a tool that was not declared."""
        declared, call = self._new(1)
        text = toolwire.write(FORMAT, [call | {"name": "nobody"}], declared)
        return (await self._ask(who, choice, declared, (text,))).error is not None

    async def round(self, waits: Sequence[Wait], ways: dict[str, int], turn: int) -> None:
        """Each of them once, with the same tools; who was first is last in the next round."""
        declared, call = self._new(waits[0].tools)
        for wait in waits if turn % 2 else reversed(waits):
            text = list(ways_to_write(call, declared))[ways[wait.who.label]]
            new = await self._ask(wait.who, wait.choice, declared, text)
            same = await self._ask(wait.who, wait.choice, declared, text)
            wait.take(new, same, call["name"])


async def measure(
    client: Client, tokenizer: Any, plan: Plan, found: list[Wait], declare: Declare = mcp_tools
) -> None:
    measuring = Measuring(client, tokenizer, declare)
    for choice in CHOICES:
        ways = {who.label: await measuring.way(who, choice) for who in WHO}
        held = {who.label: await measuring.held(who, choice) for who in WHO}
        able = {label: way for label, way in ways.items() if way is not None}
        for count in plan.counts:
            waits = [Wait(who, choice, count, held[who.label]) for who in WHO]
            found += waits
            for wait in waits:
                if wait.who.label not in able:
                    wait.failed.append("it takes no call, however that is written")
            waits = [wait for wait in waits if not wait.failed]
            for turn in range(plan.rounds if waits else 0):
                progress(f"first token, {waits[0].where}, {turn + 1} of {plan.rounds}")
                await measuring.round(waits, able, turn)


def run(client: Client, tokenizer: Any, plan: Plan, found: list[Wait]) -> None:
    """What was found is in the list as soon as it is there."""

    async def within() -> None:
        async with client:
            await measure(client, tokenizer, plan, found)

    asyncio.run(within())


# -- the report -----------------------------------------------------------------------------------


def middle(times: Sequence[float]) -> float | None:
    return round(statistics.median(times), 1) if times else None


def table(found: Sequence[Wait]) -> Table:
    rows: list[list[Cell]] = [
        [
            *(wait.choice, wait.tools, wait.who.label, "yes" if wait.held else "no"),
            *(middle(wait.first), middle(wait.name), middle(wait.again)),
            *(len(wait.first), "; ".join(dict.fromkeys(wait.failed))),
        ]
        for wait in found
    ]
    return Table(
        title="The first token, and the name of the call",
        columns=[
            *("choice", "tools", "measured", "held by a grammar", "first token ms", "name ms"),
            *("name ms, the same tools again", "rounds", "failed"),
        ],
        rows=rows,
        note="Medians. One request at a time; the tools of each round are new, as each client has its "
        "own. “strict” is `auto` with strict tools.",
    )


def pairs(found: Sequence[Wait]) -> list[tuple[Wait, Wait]]:
    """Ours and theirs, where both gave the call in each round."""
    return [
        (ours, theirs)
        for ours in found
        for theirs in found
        if (ours.who.kind, theirs.who.kind) == ("ours", "theirs")
        and ours.where == theirs.where
        and ours.first
        and theirs.first
    ]


def compared(ours: Wait, theirs: Wait) -> list[tuple[str, float, float]]:
    return [
        (what, statistics.median(one), statistics.median(other))
        for what, one, other in (
            ("the first token", ours.first, theirs.first),
            ("the name", ours.name, theirs.name),
        )
    ]


def verdicts(found: Sequence[Wait]) -> list[str]:
    """Where ours is slower; and where it is not ahead with many tools, though both compile a grammar. A
    model that is held to nothing waits for none: no comparison."""
    wrong = [
        f"{wait.who.label}, {wait.where}: {problem}."
        for wait in found
        if wait.who.kind == "ours"
        for problem in dict.fromkeys(wait.failed)
    ]
    for ours, theirs in pairs(found):
        if ours.held and not theirs.held:
            continue
        ahead = ours.held and ours.tools == MANY
        for what, one, other in compared(ours, theirs):
            if one > max(TOLERANCE * other, other + LEAST) or (ahead and one >= other):
                wrong.append(
                    f"{ours.where}: {what} comes after {one:.0f} ms with toolwire, after {other:.0f} "
                    "with vLLM's own parser."
                )
    return wrong


def ratios(found: Sequence[Wait]) -> dict[str, Ratio]:
    ratios = {}
    for ours, theirs in pairs(found):
        (_, one, other), _ = compared(ours, theirs)
        free = "" if theirs.held == ours.held else " (which holds the model to nothing)"
        ratios[f"first {ours.where}"] = Ratio(
            round(other / one, 2),
            f"With {ours.where}, all new, the first token takes vLLM's own parser{free} "
            f"{other / one:.2f} times as long as toolwire's.",
        )
    return ratios


def in_short(found: Sequence[Wait]) -> list[str]:
    times = [
        f"{ours.choice} {theirs_ms / ours_ms:.1f} times"
        for ours, theirs in pairs(found)
        if ours.tools == MANY and ours.held == theirs.held
        for _, ours_ms, theirs_ms in compared(ours, theirs)[:1]
    ]
    if not times:
        return []
    return [
        f"**With {MANY} tools that a vLLM server has not seen before** the first token comes, "
        f"with vLLM's own parser against toolwire's: {', '.join(times)} as late."
    ]
