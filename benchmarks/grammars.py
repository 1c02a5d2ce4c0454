"""What the grammar of forced calls costs: making and compiling it, and the mask for each token.

    python benchmarks/grammars.py [--only FORMAT …] [--json FILE] [--quick] [--check]

Run with the Python of an environment that has vLLM. Every format's grammar for `required`, with tools
as agents send them, beside the structural tag that xgrammar itself has for the same model, or else
beside the plain JSON schema of the same calls. Each is compiled by a compiler that is new, as for a
server's first request, with a vocabulary of 150,000 real tokens; and then once more for the same tools
by other names, as for new tools in a later request: xgrammar keeps what it can use again. The two take
turns, and the least of all rounds counts: what else the machine does can only make either slower. Where
a bound seems to be broken, both get more rounds before that is said.
"""

from __future__ import annotations

import argparse
import base64
import json
import math
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import measure
import part
import toolwire
import xgrammar

COUNTS, FEWER = (1, 10, 50, 100, 200), (1, 50)
ROUNDS, MOST_ROUNDS = 2, 9
#: Of so many tools, one round takes long and says much.
MANY = 100
MOST_OF_OWN, MOST_OF_PLAIN = 0.6, 1.5
#: Filling a mask takes some ten microseconds: less than this much more is no difference.
MOST_TO_FILL = 1.15
#: Milliseconds: nobody sees so little more before a later request's first token.
NOT_SEEN = 5.0
#: Milliseconds: what takes so long is not measured again. xgrammar's tag for Kimi K3 takes 40 s.
ENOUGH = 2000.0
#: The models that xgrammar has a tag of its own for.
OWN = {
    "hermes": "qwen_3", "qwen3_coder": "qwen_3_5", "deepseek_v3": "deepseek_r1",
    "deepseek_v3_1": "deepseek_v3_1", "deepseek_v3_2": "deepseek_v3_2", "deepseek_v4": "deepseek_v4",
    "deepseek_v41": "deepseek_v4_1", "kimi_k2": "kimi", "kimi_k3": "kimi_k3", "minimax_m2": "minimax",
    "minimax_m3": "minimax_m3", "glm45": "glm_4_7", "glm47": "glm_4_7", "llama3_json": "llama",
    "harmony": "harmony", "cohere_command5": "cohere",
}  # fmt: skip
VERBS = ("create", "read", "update", "delete", "list", "search", "find", "get", "send", "move")
NOUNS = ("issue", "repository", "file", "branch", "commit", "message", "channel", "user", "event")
LONG = (
    "Use this when the user asks for it. It returns what it found, and says if there is nothing. "
    * 2
)

#: A text that is not short.
SENTENCE = "Where the tests are, and what they say."

Tools = list[dict[str, Any]]
Made = tuple[Any, bool]  # a structural tag, or a schema; and whether it is a schema


# -- tools as MCP servers have them ---------------------------------------------------------------


def tools(count: int, suffix: str = "") -> Tools:
    chance = random.Random(7)
    found = []
    for number in range(count):
        verb, noun = VERBS[number % len(VERBS)], NOUNS[number // len(VERBS) % len(NOUNS)]
        name = f"{verb}_{noun}" + (f"_{number}" if number >= len(VERBS) * len(NOUNS) else "")
        name += suffix
        function = {"name": name, "description": LONG, "parameters": parameters(chance, number)}
        found.append({"type": "function", "function": function})
    return found


def parameters(chance: random.Random, number: int) -> dict[str, Any]:
    known = properties() | {f"{NOUNS[(number + n) % len(NOUNS)]}_id": text("Id") for n in range(2)}
    names = chance.sample(sorted(known), chance.randint(2, 8))
    return closed({n: known[n] for n in names}, [n for n in names if chance.random() < 0.5])


def properties() -> dict[str, Any]:
    edit = closed({"oldText": text("Old"), "newText": text("New")}, ["oldText", "newText"])
    kinds = {"type": "array", "items": {"type": "string", "enum": ["bug", "feature", "question"]}}
    wanted = {"author": text("By whom"), "since": text("Since when"), "kinds": kinds}
    return {
        **{name: text(f"The {name}.") for name in ("owner", "repo", "path", "title")},
        "body": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "Body"},
        "page": {"type": "integer", "description": "Which page", "minimum": 1, "default": 1},
        "per_page": {"type": "integer", "minimum": 1, "maximum": 100},
        "state": {"type": "string", "enum": ["open", "closed", "all"]},
        "sort": {"type": "string", "enum": ["created", "updated", "comments"]},
        "dry_run": {"type": "boolean", "default": False},
        "labels": {"type": "array", "items": {"type": "string"}, "description": LONG},
        "score": {"type": "number", "description": "How sure"},
        "filter": closed(wanted, ["author"]),
        "edits": {"type": "array", "items": edit},
        "limit": {"type": ["integer", "null"], "description": "At most so many"},
    }


def text(says: str) -> dict[str, Any]:
    return {"type": "string", "description": f"{says} {LONG}"}


def closed(members: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": members,
        "required": required,
        "additionalProperties": False,
    }


def arguments(schema: dict[str, Any], text: str = SENTENCE) -> Any:
    """A value that fits: all that is required, and this for each text."""
    if "anyOf" in schema:
        return arguments(schema["anyOf"][0], text)
    kind = schema["type"][0] if isinstance(schema["type"], list) else schema["type"]
    if kind == "object":
        return {name: arguments(schema["properties"][name], text) for name in schema["required"]}
    if "enum" in schema:
        return schema["enum"][0]
    known = {"string": text, "integer": 7, "number": 0.5}
    return known.get(kind, False) if kind != "array" else [arguments(schema["items"], text)]


# -- what is compared -----------------------------------------------------------------------------


def ours(name: str, declared: Tools) -> Made:
    tag = toolwire.constrain(name, declared, "required").tag
    return xgrammar.StructuralTag.model_validate(tag), False


def theirs(name: str, declared: Tools) -> Made:
    if name in OWN:
        options = {"tool_choice": "required", "reasoning": "disabled"}
        return xgrammar.get_model_structural_tag(OWN[name], tools=declared, **options), False
    calls = [
        closed({"name": {"const": f["name"]}, "arguments": f["parameters"]}, ["name", "arguments"])
        for f in (tool["function"] for tool in declared)
    ]
    return {"anyOf": calls}, True


def compile_made(made: Made, compiler: Any) -> Any:
    what, is_schema = made
    return (compiler.compile_json_schema if is_schema else compiler.compile_structural_tag)(what)


def vocabulary() -> tuple[Any, list[bytes]]:
    """Of a real tokenizer, with the end of a turn as its last token."""
    folder = resources.files("mistral_common") / "data"
    read = json.loads((folder / "tekken_240911.json").read_text())
    tokens = [base64.b64decode(token["token_bytes"]) for token in read["vocab"]] + [b"</s>"]
    kind = xgrammar.VocabType.RAW
    return xgrammar.TokenizerInfo(tokens, kind, stop_token_ids=[len(tokens) - 1]), tokens


# -- while a call is written ----------------------------------------------------------------------


def walk(compiled: Any, written: str, info: Any) -> tuple[float, float] | None:
    """Microseconds for a mask, on average where there is a choice, and the share of characters that the
    grammar writes by itself. None where it would write the call in another way."""
    matcher = xgrammar.GrammarMatcher(compiled)
    mask = xgrammar.allocate_token_bitmask(1, info.vocab_size)
    taken, forced, at = [], 0, 0
    while at < len(written):
        sure = matcher.find_jump_forward_string()
        if not written.startswith(sure, at):
            return None
        if not sure:
            started = time.perf_counter()
            matcher.fill_next_token_bitmask(mask)
            taken.append((time.perf_counter() - started) * 1e6)
        piece = sure or written[at]
        if not matcher.accept_string(piece):
            return None
        forced, at = forced + len(sure), at + len(piece)
    return statistics.mean(taken), forced / len(written)


def written_by(name: str, made: Made, declared: Tools) -> list[str]:
    """One call, in the ways in which the grammar may ask for it."""
    function = declared[0]["function"]
    call = {"name": function["name"], "arguments": arguments(function["parameters"])}
    if made[1]:
        return [json.dumps(call), json.dumps(call, separators=(",", ":"))]
    found = toolwire.constrain(name, declared, "required").format
    plain = toolwire.write(found, [call], declared)
    return [plain, f"\n\n{plain}", plain.replace("\n", "")]


# -- in turns -------------------------------------------------------------------------------------


class Side:
    """What one of the two takes: milliseconds of CPU for making a grammar and compiling it, and
    microseconds for a mask. The least of all rounds counts. Each round's tools have names of their own:
    nobody knows them from the round before."""

    def __init__(
        self, which: Callable[[str, Tools], Made], name: str, count: int, info: Any
    ) -> None:
        self._which, self._name, self._count, self._info = which, name, count, info
        self._turns = 0
        self._way = 0  # in which the grammar asks for a call
        self._spent = 0.0
        self.first = math.inf
        self.later: float | None = None
        self.walked: tuple[float, float] | None = None

    def turn(self) -> None:
        if self._spent > ENOUGH:
            return
        self._turns += 1
        first, later = (tools(self._count, f"_{which}{self._turns}") for which in "ab")
        compiler = xgrammar.GrammarCompiler(self._info, max_threads=1)
        taken, compiled = self._timed(first, compiler)
        self._spent += taken
        self.first = min(self.first, taken)
        if taken < ENOUGH:
            taken, _ = self._timed(later, compiler)
            self.later = taken if self.later is None else min(self.later, taken)
        self.walked = min(filter(None, (self.walked, self._walk(first, compiled))), default=None)

    def _timed(self, some: Tools, compiler: Any) -> tuple[float, Any]:
        started = time.process_time()
        compiled = compile_made(self._which(self._name, some), compiler)
        return 1e3 * (time.process_time() - started), compiled

    def _walk(self, some: Tools, compiled: Any) -> tuple[float, float] | None:
        texts = written_by(self._name, self._which(self._name, some), some)
        for way in range(self._way, len(texts)):
            walks = [found for _ in range(3) if (found := walk(compiled, texts[way], self._info))]
            if walks:
                self._way = way
                return min(walks)
        return None


# -- the table ------------------------------------------------------------------------------------


def row(name: str, count: int, info: Any, most_rounds: int) -> dict[str, Any]:
    part.progress(f"{name}, {count} tools")
    sides = Side(ours, name, count, info), Side(theirs, name, count, info)
    found: dict[str, Any] = {}
    for number in range(most_rounds):
        for side in sides:
            side.turn()
        found = {"format": name, "beside": OWN.get(name, "plain JSON"), "tools": count}
        found |= figures(*sides)
        if number + 1 >= (1 if count >= MANY else ROUNDS) and not verdicts([found]):
            break
    return found


def figures(mine: Side, their: Side) -> dict[str, Any]:
    walked, their_walk = mine.walked, their.walked
    return {
        "ms": round(mine.first, 1),
        "theirs": round(their.first, 1),
        "ratio": round(mine.first / their.first, 2),
        "later ms": mine.later and round(mine.later, 1),
        "theirs later": their.later and round(their.later, 1),
        "later ratio": mine.later and their.later and round(mine.later / their.later, 2),
        "mask µs": round(walked[0], 1) if walked else None,
        "their mask µs": round(their_walk[0], 1) if their_walk else None,
        "forced": round(walked[1], 2) if walked else None,
        "theirs forced": round(their_walk[1], 2) if their_walk else None,
    }


def verdicts(rows: Sequence[dict[str, Any]]) -> list[str]:
    wrong = []
    for each in rows:
        what = f"{each['format']}, {each['tools']} tools"
        most = MOST_OF_OWN if each["format"] in OWN else MOST_OF_PLAIN
        if each["ratio"] > most:
            wrong.append(f"{what}: {each['ratio']:.2f} times {each['beside']}, {most:g} at most.")
        later, their = each["later ms"], each["theirs later"]
        if their is not None and later > most * their and later - their > NOT_SEEN:
            wrong.append(f"{what}: later {later:.1f} ms, {each['beside']} {their:.1f} ms.")
        mask, their_mask = each["mask µs"], each["their mask µs"]
        if mask and their_mask and mask > their_mask * MOST_TO_FILL:
            wrong.append(f"{what}: {mask:.1f} µs for a mask, {their_mask:.1f} with theirs.")
        if each["forced"] and each["theirs forced"] and each["forced"] < each["theirs forced"]:
            wrong.append(
                f"{what}: writes {each['forced']:.0%}, theirs {each['theirs forced']:.0%}."
            )
    return wrong


def in_short(rows: Sequence[dict[str, Any]]) -> list[str]:
    most = max((row["tools"] for row in rows), default=0)
    ratios = {
        whose: [
            row["ratio"] for row in rows if row["tools"] == most and (row["format"] in OWN) is own
        ]
        for whose, own in (("xgrammar's own tag for the same model", True), ("plain JSON", False))
    }
    said = [f"{min(r):.2f} to {max(r):.2f} times {whose}" for whose, r in ratios.items() if r]
    if not said:
        return []
    return [f"**The grammar of `required` with {most} new tools** takes {', '.join(said)}."]


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="FORMAT", default=toolwire.list_formats())
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the part of the report")
    parser.add_argument("--quick", action="store_true", help="50 tools at most, one round")
    parser.add_argument("--check", action="store_true", help="fail where it is not as promised")
    asked = parser.parse_args(given)
    started, clock = part.now(), time.monotonic()
    info, _ = vocabulary()
    measure.settle()
    counts = FEWER if asked.quick else COUNTS
    most_rounds = 1 if asked.quick else MOST_ROUNDS
    rows = [row(name, count, info, most_rounds) for name in asked.only for count in counts]
    part.progress_done()
    wrong = verdicts(rows)
    columns = tuple(rows[0])
    print("".join(f"{column:>16}" for column in columns))
    for each in rows:
        print("".join(f"{'' if each[c] is None else each[c]:>16}" for c in columns))
    print("\n".join(wrong) or "As promised.")
    if asked.json:
        whole = part.Part(
            part="grammars",
            title="Grammars",
            about="What holding a model to its calls costs, before the first token and at each.",
            command=part.command(),
            started=started,
            seconds=time.monotonic() - clock,
            versions=part.versions("toolwire", "xgrammar"),
            machine=part.machine(),
            tables=[
                part.Table("`required`", columns, [[each[c] for c in columns] for each in rows])
            ],
            wrong=wrong,
            summary=in_short(rows),
            data=rows,
        )
        part.write(asked.json, whole)
    return 1 if wrong and asked.check else 0


if __name__ == "__main__":
    sys.exit(main())
