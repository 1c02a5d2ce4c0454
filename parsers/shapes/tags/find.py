"""Finds calls in tags where neither the tags nor the calls are known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from ...core.samples import Call
from ...schema.kinds import ANY
from ...schema.tools import Tool
from ..find_json import as_arguments, loaded
from ..find_names import name_at_end

Tools: TypeAlias = Mapping[str, Tool] | None

#: `<function=NAME>`, `<invoke name="NAME">`, `<｜WORD｜ invoke name="NAME">`
_NAMED_TAG = re.compile(
    r"<(?P<tag>[^\s<>=/]+(?:(?<=[|｜]) \w+)?)(?:=|\s+name\s*=)\s*"
    r"[\"']?(?P<name>[^\"'<>\s]+)(?P<more>(?:[\"'\s][^<>]*)?)>"
)
#: What a parameter's tag may say behind its name.
_TYPE_MARK = re.compile(r"string\s*=\s*[\"'](true|false)")
_TOKEN = re.compile(r"<\|[^\s<>|]+\|>")
_KEY = re.compile(r"[\w.-]+")
_OPENING = re.compile(r"<([^\s<>/]+)>")
_NEXT_OPENING = re.compile(r"\s*<([^\s<>/]+)>")


def find(text: str, tools: Tools) -> Iterable[Call]:
    """Tags with names in them, or tags around keys and around values."""
    return (
        _named_tags(text, tools)
        or _keys_and_values(text, tools, _pairs(text))
        or _keys_and_values(text, tools, _between_tokens(text))
    )


def _named_tags(text: str, tools: Tools) -> list[Call]:
    """`<function=NAME><parameter=K>V</parameter></function>`; also with JSON for the parameters."""
    found = list(_NAMED_TAG.finditer(text))
    first = next((m for m in found if tools is None or m["name"] in tools), None)
    calls: list[Call] = []
    ends: dict[str, int] = {}
    floor = 0
    for tag in found:
        if first is None or tag.start() < max(floor, first.start()):
            continue
        end = ends[tag["tag"]] = _end(text, tag, ends.get(tag["tag"], 0))
        if tag["tag"] == first["tag"]:
            has_parameters = _NAMED_TAG.search(text, tag.end(), end)
            arguments = {} if has_parameters else as_arguments(text[tag.end() : end].strip())
            if not isinstance(arguments, dict):
                return []
            calls.append((tag["name"], arguments))
            floor = tag.end()
        elif calls:
            calls[-1][1][tag["name"]] = _marked(text[tag.end() : end], calls[-1][0], tag, tools)
            floor = end
    return calls


def _end(text: str, tag: re.Match[str], known: int) -> int:
    """Where the text in a tag ends; `known` is where that of an earlier one did."""
    if known >= tag.end():
        return known
    end = text.find(f"</{tag['tag']}>", tag.end())
    return end if end >= 0 else len(text)


def _keys_and_values(
    text: str, tools: Tools, pairs: Iterable[tuple[int, str, str, int]]
) -> list[Call]:
    """`NAME<key>K</key><value>V</value>`"""
    calls: list[Call] = []
    floor = 0
    for start, key, value, end in pairs:
        name = name_at_end(text[floor:start], tools)
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


def _between_tokens(text: str) -> Iterator[tuple[int, str, str, int]]:
    """The same for `<|key|>K<|value|>V<|end|>`, where these three are the same for all."""
    tokens = list(_TOKEN.finditer(text))
    pairs: list[tuple[int, str, str, int]] = []
    shown: set[tuple[str, ...]] = set()
    place = 0
    while place + 2 < len(tokens):
        begin, middle, end = tokens[place : place + 3]
        names = (begin[0], middle[0], end[0])
        nameless = not pairs and place and tokens[place - 1].end() == begin.start()
        place += 1
        if nameless or len(set(names)) < 3:
            continue
        if _KEY.fullmatch(text, begin.end(), middle.start()):
            key, value = text[begin.end() : middle.start()], text[middle.end() : end.start()]
            pairs.append((begin.start(), key, value, end.end()))
            shown.add(names)
            place += 2
    if len(shown) == 1:
        yield from pairs


def _marked(text: str, name: str, tag: re.Match[str], tools: Tools) -> Any:
    """A parameter's value: what its tag says of it counts more than the tool's schema."""
    said = _TYPE_MARK.search(tag["more"])
    if said is None:
        return _typed(text, name, tag["name"], tools)
    return _on_its_lines(text) if said[1] == "true" else loaded(_on_its_lines(text))


def _typed(text: str, name: str, key: str, tools: Tools) -> Any:
    """A parameter's value: what the tool's schema says, else text."""
    text = _on_its_lines(text)
    kind = tools[name].kind(key) if tools and name in tools else ANY
    as_json = kind.json_of(text)
    return text if as_json is None else loaded(as_json)


def _on_its_lines(text: str) -> str:
    """Without the newlines that a template may put around a value."""
    return re.sub(r"\A\r?\n|\r?\n\Z", "", text)
