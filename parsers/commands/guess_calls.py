"""Which calls are in a model's output, as far as it can be told without knowing its format.

Each way to write calls has a function here that looks for them; the first that finds any is believed.
It is a guess: `toolwire new-format` shows it, and lets the user say it better. Where the tools are
known, only their names count, and their schemas say what is a number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..core.schema import ANY
from ..core.tools import Tool
from ..errors import ToolwireError
from ..models.cuts import Call, json_values
from ..openai.message import parse

Known = Mapping[str, Tool]

NAME_KEYS = ("name", "tool_name", "function_name", "function", "tool", "action")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "params", "input", "action_input")

_MARKER = r"(?:<[^<>]*>|\[/?[A-Z_]{2,}\])"
#: A name by itself at the end of a text: behind a marker or at a line's start, perhaps with a prefix;
#: behind it perhaps a number, an id, further markers or signs, and the start of a code fence.
_NAME_AT_END = re.compile(
    rf"(?:\A|\n|{_MARKER}|>>>|[:|｜=])[ \t]*(?:functions\.)?(?P<name>[A-Za-z_](?:[\w.-]*\w)?)(?::\d+)?"
    rf"\s*(?:\[CALL_ID\]\w+\s*)?(?:{_MARKER}\s*)*(?:[@#:=|~>-]{{1,3}}\s*)?(?:```\w*\s*)?\Z"
)
#: `name: NAME`, and on the next line the label of the arguments
_LABELLED = re.compile(
    r"(?:name|tool|function|action)\s*:\s*[\"']?(?P<name>[\w.-]+)[\"']?\s*\n[\w ]+:\s*\Z",
    re.IGNORECASE,
)
#: `<function=NAME>`, `<invoke name="NAME">`
_NAMED_TAG = re.compile(
    r"<(?P<tag>[^\s<>=/]+)(?:=|\s+name\s*=)\s*[\"']?(?P<name>[^\"'<>\s]+)(?P<more>(?:[\"'\s][^<>]*)?)>"
)
_OPENING = re.compile(r"<([^\s<>/]+)>")
_NEXT_OPENING = re.compile(r"\s*<([^\s<>/]+)>")


def guess_calls(text: str, tools: Known | None) -> tuple[Call, ...]:
    """The calls in a text, with their arguments; none where nothing looks like one."""
    ways: tuple[Callable[[str, Known | None], Iterable[Call]], ...] = (
        _objects,
        _tags,
        _keys_and_values,
        _named_objects,
        _bare_keys,
        _keyed_by_name,
        _code,
    )
    for way in ways:
        calls = [call for call in way(text, tools) if tools is None or call[0] in tools]
        if calls:
            return tuple(calls)
    return ()


# -- JSON -----------------------------------------------------------------------------------------


def _objects(text: str, tools: Known | None) -> Iterable[Call]:
    """`{"name": "NAME", "arguments": {…}}`"""
    for _, _, value in json_values(text):
        if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
            value = value["tool_calls"]
        for item in value if isinstance(value, list) else [value]:
            yield from _object(item, tools)


def _object(item: Any, tools: Known | None) -> Iterable[Call]:
    if not isinstance(item, dict):
        return
    if isinstance(item.get("function"), dict):
        item = item["function"]
    texts = [key for key, value in item.items() if isinstance(value, str)]
    names = [item[key] for key in texts if (item[key] in tools if tools else key in NAME_KEYS)]
    usual = [_decoded(item[key]) for key in ARGUMENT_KEYS if key in item]
    arguments = usual or [value for value in item.values() if isinstance(value, dict)]
    if names and arguments and isinstance(arguments[0], dict):
        yield names[0], arguments[0]
    elif names and not arguments and tools:
        yield names[0], {}


def _keyed_by_name(text: str, tools: Known | None) -> Iterable[Call]:
    """`[{"NAME": {…}}]`"""
    for _, _, value in json_values(text):
        for item in value if isinstance(value, list) else [value] if tools else []:
            if isinstance(item, dict) and all(isinstance(inner, dict) for inner in item.values()):
                yield from item.items()


def _decoded(value: Any) -> Any:
    """Arguments may be JSON in a string; none are an empty object."""
    value = _loaded(value or "{}") if isinstance(value, str) else value
    return {} if value is None else value


def _named_objects(text: str, tools: Known | None) -> Iterable[Call]:
    """A name, and a JSON object behind it."""
    floor = 0
    for start, end, value in json_values(text):
        if isinstance(value, dict):
            name = _name_at_end(text[floor:start], tools)
            if name:
                yield name, value
        floor = end


def _bare_keys(text: str, tools: Known | None) -> Iterable[Call]:
    """`call:NAME{k:<|"|>v<|"|>}`: as JSON, once keys and strings have JSON's quotes."""
    quote = re.search(r"[{,]\s*\w+:(<[^<>\s]+>)", text)
    if quote is None:
        return []
    pieces = text.split(quote[1])
    pieces[1::2] = [json.dumps(piece) for piece in pieces[1::2]]
    pieces[::2] = [re.sub(r"([{,]\s*)(\w+)(?=:)", r'\1"\2"', piece) for piece in pieces[::2]]
    return _named_objects("".join(pieces), tools)


def _name_at_end(text: str, tools: Known | None) -> str:
    if tools:
        places = {match.end(): match[0] for match in re.finditer(r"[\w.-]+", text)}
        words = {end: _known_name(word, tools) for end, word in places.items()}
        return next((words[end] for end in sorted(words, reverse=True) if words[end]), "")
    found = _LABELLED.search(text) or _NAME_AT_END.search(text)
    return found["name"] if found and found["name"] not in ARGUMENT_KEYS else ""


def _known_name(word: str, tools: Known) -> str:
    return next((n for n in (word, word.removeprefix("functions.")) if n in tools), "")


# -- tags -----------------------------------------------------------------------------------------


def _tags(text: str, tools: Known | None) -> Iterable[Call]:
    """`<function=NAME><parameter=K>V</parameter></function>`; also with JSON for the parameters."""
    found = list(_NAMED_TAG.finditer(text))
    first = next((m for m in found if tools is None or m["name"] in tools), None)
    calls: list[Call] = []
    floor = 0
    for tag in found:
        if first is None or tag.start() < max(floor, first.start()):
            continue
        body, floor = _until(text, tag.end(), f"</{tag['tag']}>")
        if tag["tag"] == first["tag"]:
            arguments = _decoded(body.strip()) if not _NAMED_TAG.search(body) else {}
            if not isinstance(arguments, dict):
                return []
            calls.append((tag["name"], arguments))
            floor = tag.end()
        elif calls:
            calls[-1][1][tag["name"]] = _typed(body, calls[-1][0], tag, tools)
    return calls


def _until(text: str, start: int, closer: str) -> tuple[str, int]:
    end = text.find(closer, start)
    return (text[start:], len(text)) if end < 0 else (text[start:end], end)


def _keys_and_values(text: str, tools: Known | None) -> Iterable[Call]:
    """`NAME<key>K</key><value>V</value>`"""
    calls: list[Call] = []
    floor = 0
    for start, key, value, end in _pairs(text):
        name = _name_at_end(text[floor:start], tools)
        floor = end
        if name:
            calls.append((name, {}))
        if calls:
            calls[-1][1][key] = _typed(value, calls[-1][0], key, tools)
    return calls


def _pairs(text: str) -> Iterator[tuple[int, str, str, int]]:
    """Each `<key>K</key><value>V</value>`: where it begins, K, V, and where it ends."""
    place = 0
    missing: set[str] = set()  # closers that do not come any more
    while key := _OPENING.search(text, place):
        place = key.end()
        key_end = text.find("<", place)
        behind = key_end + len(key[1]) + len("</>")
        value = _NEXT_OPENING.match(text, behind)
        if not text.startswith(f"</{key[1]}>", max(key_end, 0)) or value is None:
            continue
        closer = f"</{value[1]}>"
        end = -1 if closer in missing else text.find(closer, value.end())
        if end < 0:
            missing.add(closer)
        elif value[1] != key[1]:
            place = end + len(closer)
            yield key.start(), text[key.end() : key_end].strip(), text[value.end() : end], place


def _typed(text: str, name: str, key: str | re.Match[str], tools: Known | None) -> Any:
    """A value between tags: what its tag or the tool's schema says, else text."""
    text = re.sub(r"\A\r?\n|\r?\n\Z", "", text)
    if isinstance(key, re.Match):
        said = re.search(r"string\s*=\s*[\"'](true|false)", key["more"])
        if said:
            return text if said[1] == "true" else _loaded(text)
        key = key["name"]
    kind = tools[name].kind(key) if tools and name in tools else ANY
    as_json = kind.json_of(text)
    return text if as_json is None else json.loads(as_json)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# -- code -----------------------------------------------------------------------------------------


def _code(text: str, tools: Known | None) -> Iterable[Call]:
    """`NAME(k="v", n=1)`"""
    definitions = [
        {"type": "function", "function": {"name": tool.name, "parameters": dict(tool.schema)}}
        for tool in (tools or {}).values()
    ]
    for call in parse("call_text", text, definitions or None).tool_calls:
        try:
            yield call.name, call.load()
        except ToolwireError:
            continue  # what has no arguments that can be read is not worth proposing
