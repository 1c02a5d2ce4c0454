"""How a call is written: finds calls that are known to be in a text, and tells what shape they have.

Each function takes samples and looks for the calls in one way. It returns a `Cut` (the shape, what
stands around the calls, and how one call looks) or None where the calls do not stand there in that way.
Here are those with JSON: objects, and names with an object behind them. Tags are in `tag_cuts`, what
looks like code is in `code_cuts`. Nothing of it is certain; `propose` proves it by parsing.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..core.shapes import JsonCalls, Labels, NamedJson, Shape
from .around import Around, tokens, without_fences

Call: TypeAlias = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Sample:
    """What a model wrote, and the calls known to be in it, each with its name and arguments."""

    text: str
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Where a call, or several in one list, stands in a sample's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Cut:
    """One way to read the samples."""

    shape: Shape
    around: Around
    #: how one call looks, with `NAME`, `{…}`, `K` and `V` in it as in a format's example
    body: str


def around(samples: Sequence[Sample], spans: Sequence[Sequence[Span]]) -> Around:
    """The texts around spans, for samples that have any."""
    found = [(s.text, places) for s, places in zip(samples, spans, strict=True) if places]
    return Around(
        tuple(text[: places[0].start] for text, places in found),
        tuple(
            text[one.end : other.start]
            for text, places in found
            for one, other in itertools.pairwise(places)
        ),
        tuple(text[places[-1].end :] for text, places in found),
    )


def same_json(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 is neither 1.0 nor true."""
    try:
        return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    except RecursionError:
        return False


def find_word(text: str, word: str, start: int, end: int | None = None) -> list[int]:
    """Where `word` stands by itself, and not inside a longer word."""
    before = r"(?<!\w)" if word[:1].isidentifier() else ""
    after = r"(?!\w)" if word[-1:].isidentifier() or word[-1:].isdigit() else ""
    pattern = re.compile(before + re.escape(word) + after)
    return [m.start() for m in pattern.finditer(text, start, len(text) if end is None else end)]


# -- JSON objects ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Keys:
    """Under which keys a JSON object has a call's name and arguments; none where the name is one."""

    name: str = ""
    arguments: str = ""


def json_values(text: str, start: int = 0) -> Iterator[tuple[int, int, Any]]:
    """The outermost JSON objects and arrays in a text."""
    decode = json.JSONDecoder().raw_decode
    place = start
    while found := re.compile(r"[{\[]").search(text, place):
        try:
            value, end = decode(text, found.start())
        except (ValueError, RecursionError):
            place = found.end()
            continue
        yield found.start(), end, value
        place = end


def json_calls(samples: Sequence[Sample]) -> Cut | None:
    """`{"name": "NAME", "arguments": {…}}`, alone or in an array, with any keys."""
    keys: set[_Keys] = set()
    spans: list[list[Span]] = []
    body = ""
    for sample in samples:
        waiting = list(sample.calls)
        places = []
        for start, end, value in json_values(sample.text):
            here = _calls_in(value, waiting)
            if not here:
                continue
            keys.update(here)
            body = body or _json_body(sample.text[start:end], value, waiting[0], here[0])
            del waiting[: len(here)]
            places.append(Span(start, end))
        if waiting:
            return None
        spans.append(places)
    if not keys or len({not key.name for key in keys}) > 1:
        return None
    return Cut(_json_shape(keys), without_fences(around(samples, spans)), body)


def _calls_in(value: Any, waiting: Sequence[Call]) -> list[_Keys]:
    """The keys of those waiting calls that a JSON value holds, as many as there are in a row."""
    if isinstance(value, dict) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    found = []
    for item, call in zip(value if isinstance(value, list) else [value], waiting, strict=False):
        keys = _keys_of(item, call)
        if keys is None:
            break
        found.append(keys)
    return found


def _keys_of(item: Any, call: Call) -> _Keys | None:
    if isinstance(item, dict) and isinstance(item.get("function"), dict):
        item = item["function"]
    if not isinstance(item, dict):
        return None
    name, arguments = call
    if len(item) == 1 and same_json(item.get(name), arguments):
        return _Keys()
    names = [key for key, value in item.items() if value == name]
    holding = [key for key, value in item.items() if _is_arguments(value, arguments)]
    return _Keys(names[0], holding[0]) if names and holding else None


def _is_arguments(value: Any, arguments: dict[str, Any]) -> bool:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return False
    return isinstance(value, dict) and same_json(value, arguments)


def _json_shape(keys: set[_Keys]) -> JsonCalls:
    usual = JsonCalls()
    if _Keys() in keys:
        return JsonCalls(name_is_key=True)
    names = tuple(sorted({key.name for key in keys}))
    arguments = tuple(sorted({key.arguments for key in keys}))
    return JsonCalls(
        name_keys=usual.name_keys if set(names) <= set(usual.name_keys) else names,
        argument_keys=(
            usual.argument_keys if set(arguments) <= set(usual.argument_keys) else arguments
        ),
    )


def _json_body(text: str, value: Any, call: Call, keys: _Keys) -> str:
    """The first call's text with places for name and arguments, in its list of one."""
    if not _in_list(value):
        return _with_places(text, call[0], keys)
    first = text.index("{", 1)
    end = json.JSONDecoder().raw_decode(text, first)[1]
    tail = text[text.rindex("]") :]
    return text[:first] + _with_places(text[first:end], call[0], keys) + tail


def _in_list(value: Any) -> bool:
    return isinstance(value, list) or isinstance(value.get("tool_calls"), list)


def _with_places(item: str, name: str, keys: _Keys) -> str:
    if not keys.name:
        before, colon, after = item.replace(name, "NAME", 1).partition(":")
        return before + (": {…}}" if after.endswith("}") else colon + after)
    at = re.search(rf"{re.escape(json.dumps(keys.arguments, ensure_ascii=False))}\s*:\s*", item)
    if at is None:
        return item
    end = json.JSONDecoder().raw_decode(item, at.end())[1]
    item = item[: at.end()] + "{…}" + item[end:]
    return item.replace(json.dumps(name, ensure_ascii=False), '"NAME"', 1)


# -- a name, and JSON -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Named:
    """A name that stands in the open, and the JSON object behind it."""

    text: str
    name: Span
    arguments: Span
    floor: int  # where the call before it ended

    @property
    def middle(self) -> str:
        return re.sub(r"```\w*\s*\Z", "", self.text[self.name.end : self.arguments.start])


def _named(samples: Sequence[Sample]) -> list[list[_Named]] | None:
    found: list[list[_Named]] = []
    for sample in samples:
        waiting = list(sample.calls)
        here: list[_Named] = []
        floor = 0
        for start, end, value in json_values(sample.text):
            if not waiting or not _is_arguments(value, waiting[0][1]):
                continue
            name = waiting.pop(0)[0]
            places = find_word(sample.text, name, floor, start)
            if not places:
                return None
            at = places[-1]
            span = Span(at, at + len(name))
            here.append(_Named(sample.text, span, Span(start, end), floor))
            floor = end
        if waiting:
            return None
        found.append(here)
    return found if any(found) else None


def labels(samples: Sequence[Sample]) -> Cut | None:
    """`name: NAME` and `arguments: {…}`, each on its line."""
    found = _named(samples)
    if found is None:
        return None
    every = [call for here in found for call in here]
    heads = [_label(c.text[c.floor : c.name.start].rstrip(" \t")) for c in every]
    names = set(heads)
    arguments = {_label_on_next_line(c.middle) for c in every}
    if "" in names or "" in arguments or len(names) != 1:
        return None
    name = names.pop()
    spans = [
        [Span(c.text.rindex(name, 0, c.name.start), c.arguments.end) for c in here]
        for here in found
    ]
    usual = Labels()
    shape = Labels(
        name_label=name,
        argument_labels=(
            usual.argument_labels
            if arguments <= set(usual.argument_labels)
            else tuple(sorted(arguments))
        ),
    )
    first = every[0]
    return Cut(shape, around(samples, spans), f"{name}: NAME{first.middle}{{…}}")


def _label(text: str) -> str:
    """The label at the end of a text, without its colon; "" if there is none."""
    return last_word(text[:-1]) if text.endswith(":") else ""


def _label_on_next_line(text: str) -> str:
    """The label that is all there is in a text, on a line of its own."""
    label = _label(text.rstrip())
    before = text.rstrip().removesuffix(f"{label}:")
    return label if "\n" in before and not before.strip() else ""


def last_word(text: str, others: str = "") -> str:
    """The letters, digits and underscores at the end of a text, and those of `others`."""
    start = len(text)
    while start and (text[start - 1].isalnum() or text[start - 1] in f"_{others}"):
        start -= 1
    return text[start:]


def named_json(samples: Sequence[Sample]) -> Cut | None:
    """`NAME`, something between, `{…}`; perhaps with a number or an id behind the name."""
    found = _named(samples)
    if found is None:
        return None
    every = [call for here in found for call in here]
    middles = [call.middle for call in every]
    tails = [re.match(r"[^\s<>{}\[\]()\"'`|,;=]*", middle)[0] for middle in middles]  # type: ignore[index]
    if any(tails):
        return _with_header(samples, found, tails)
    spans = [[Span(c.name.start, c.arguments.end) for c in here] for here in found]
    texts = _fence_after(around(samples, spans))
    written = {"".join(token.text for token in tokens(middle)).strip() for middle in middles}
    fence = every[0].text[every[0].name.end : every[0].arguments.start][len(middles[0]) :]
    body = f"NAME{middles[0]}{fence}{{…}}" + ("\n```" if fence else "")
    if len(written) == 1:
        separator = written.pop()
        return Cut(NamedJson(separator=(separator,) if separator else ()), texts, body)
    return _with_id(middles, texts)


def _fence_after(texts: Around) -> Around:
    """A fence opened between name and arguments closes behind them."""
    cut = without_fences(texts)
    return Around(texts.before, cut.between, cut.after)


def _with_header(
    samples: Sequence[Sample], found: list[list[_Named]], tails: list[str]
) -> Cut | None:
    """The word that holds the name has a number in it: the whole word is the call's id then."""
    every = [call for here in found for call in here]
    heads = [last_word(c.text[c.floor : c.name.start], ".:/-") for c in every]
    patterns = {re.sub("[0-9]+", "[0-9]+", re.escape(tail)) for tail in tails}
    separators = {c.middle[len(tail) :].strip() for c, tail in zip(every, tails, strict=True)}
    if len(set(heads)) > 1 or len(patterns) > 1 or len(separators) > 1:
        return None
    pattern = patterns.pop()
    if "[0-9]+" not in pattern:
        return None  # the same for every call: an id has to differ
    if pattern.startswith("[0-9]+"):
        return None  # no telling where the name ends
    separator = separators.pop()
    shape = NamedJson(
        separator=(separator,) if separator else (),
        header=rf"(?:{re.escape(heads[0])})?(?P<name>.+?)(?:{pattern})?",
    )
    spans = [[Span(c.name.start - len(heads[0]), c.arguments.end) for c in here] for here in found]
    body = f"{heads[0]}NAME{every[0].middle}{{…}}"
    return Cut(shape, around(samples, spans), body)


def _with_id(middles: list[str], texts: Around) -> Cut | None:
    """`NAME[CALL_ID]ID[ARGS]{…}`: what differs from call to call is the call's id."""
    pieces = [[t for t in tokens(middle) if t.kind != "space"] for middle in middles]
    if any(len(piece) != 3 or piece[1].kind != "word" for piece in pieces):
        return None
    ends = {(piece[0].text, piece[2].text) for piece in pieces}
    if len(ends) > 1:
        return None
    before, after = ends.pop()
    shape = NamedJson(separator=(after,), id_separator=(before,))
    return Cut(shape, texts, f"NAME{after}{{…}}")
