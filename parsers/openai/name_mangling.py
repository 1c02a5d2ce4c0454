"""Names of tools that some servers refuse, in characters that all of them take, and back.

    names = mangle_names(body)           # changes the body; {"fs_read": "fs.read"}

`fs.read` becomes `fs_read`, and a long name is cut; where two names would become one, a number tells
them apart. Answers are given the names that the client knows: `names` says which these are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

_LONGEST = 64
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_REFUSED = re.compile(r"[^A-Za-z0-9_-]")


def mangle_names(body: Json) -> dict[str, str]:
    """Rewrites the names in the body itself; the client's names by those that the server gets."""
    places = list(_places(body))
    used = {place[key] for place, key in places}
    taken = {name for name in used if _NAME.fullmatch(name)}
    given: dict[str, str] = {}
    numbers: Counter[str] = Counter()
    for place, key in places:
        name = place[key]
        if name in taken and name not in given:
            continue
        if name not in given:
            given[name] = _free(_REFUSED.sub("_", name)[:_LONGEST], taken, numbers)
            taken.add(given[name])
        place[key] = given[name]
    return {new: name for name, new in given.items()}


def _free(name: str, taken: set[str], numbers: Counter[str]) -> str:
    """The name, or the next of its numbered ones that nobody has: `numbers` knows the last."""
    made = name
    while made in taken:
        numbers[name] += 1
        end = f"_{numbers[name] + 1}"
        made = name[: _LONGEST - len(end)] + end
    return made


def _places(body: Json) -> Iterator[tuple[Json, str]]:
    """Wherever the body has a tool's name: the object, and its key."""
    for thing in _named(body):
        if isinstance(thing, dict) and isinstance(thing.get("name"), str) and thing["name"]:
            yield thing, "name"


def _named(body: Json) -> Iterator[Any]:
    yield from _objects(body.get("functions"))
    for tool in _objects(body.get("tools")):
        yield from _forms(tool)
    for choice in (body.get("tool_choice"), body.get("function_call")):
        if isinstance(choice, dict):
            allowed = choice.get("allowed_tools") or choice
            listed = _objects(allowed.get("tools")) if isinstance(allowed, dict) else []
            for reference in (choice, *listed):
                yield from _forms(reference)
    for message in _objects(body.get("messages")):
        yield message.get("function_call")
        if message.get("role") in ("tool", "function"):
            yield message
        for call in _objects(message.get("tool_calls")):
            yield from _forms(call)
    for item in _objects(body.get("input")):
        if item.get("type") in ("function_call", "custom_tool_call"):
            yield item


def _forms(thing: Json) -> Iterator[Any]:
    """Chat Completions nests a function, Responses does not. What the server has keeps its name."""
    if thing.get("type", "function") in ("function", "custom"):
        yield from (thing, thing.get("function"), thing.get("custom"))


def _objects(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
