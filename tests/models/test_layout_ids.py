"""Ids of calls in what templates write: they become a place in the layout, and never a part of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import toolwire
from toolwire.core.format import Format
from toolwire.core.samples import Sample
from toolwire.models.detect import shown_turns
from toolwire.models.propose import propose
from toolwire.models.rendering import template_renderer

from ..writers import Call
from .invented import INVENTED

FAMILIES = sorted((Path(__file__).parent / "families").glob("*.jinja"))

ONE: Call = ("get_weather", {"city": "Oslo", "days": 3})
TWO: Call = ("send_mail", {"to": "Ann Lee", "urgent": True})


def shown(path: Path) -> list[list[Sample]]:
    turns = shown_turns(template_renderer(path.read_text(encoding="utf-8")))
    return [[turn.sample for turn in here] for here in turns]


def written(spec: Format, *ids: str) -> str:
    calls = [
        {"name": n, "arguments": a, "id": i} for (n, a), i in zip((ONE, TWO), ids, strict=False)
    ]
    return toolwire.write(spec, calls)


@pytest.mark.slow
@pytest.mark.parametrize("path", FAMILIES, ids=lambda path: path.stem)
def test_no_probes_id_is_a_part_of_a_format(path: Path) -> None:
    for samples in shown(path):
        spec = propose(samples, "mine")
        for sample in samples:
            for id in sample.ids:
                assert id not in repr(spec)
                if spec and spec.layout and id in sample.text:
                    assert spec.layout.id is not None


@pytest.mark.parametrize(
    ("family", "place", "first"),
    [
        ("command-cohere", "before_name", 0),
        ("kimik2-kimi_k2", "after_name", 0),
        ("mistral7b-mistral", "after_arguments", None),
        ("mistralsmall32-mistral", "after_name", None),
    ],
)
def test_the_ids_of_families(family: str, place: str, first: int | None) -> None:
    path = next(path for path in FAMILIES if path.stem == family)
    spec = propose(shown(path)[0], "mine")
    assert spec is not None
    assert spec.layout is not None
    assert spec.layout.id is not None
    assert (spec.layout.id.place, spec.layout.id.first) == (place, first)
    if first is None:
        assert "x7_Q" in written(spec, "x7_Q")
    else:
        assert "2" in toolwire.write(spec, [{"name": "f", "arguments": {}}] * 3)


#: How a call with an id is written, the id known or not.
WITH_ID = {
    "json, first": '<c>{{"id": "{id}", "name": "{name}", "arguments": {json}}}</c>',
    "json, last": '<c>{{"name": "{name}", "arguments": {json}, "id": "{id}"}}</c>',
    "marker": "[CALL]{name}[ID]{id}[ARGS]{json}[END]",
    "in the name's word": "<c>{name}:{id}<a>{json}</c>",
}


def text(way: str, calls: tuple[Call, ...], ids: tuple[str, ...]) -> str:
    return "".join(
        WITH_ID[way].format(id=id, name=name, json=json.dumps(arguments))
        for (name, arguments), id in zip(calls, ids, strict=True)
    )


def sample(way: str, *calls: Call) -> Sample:
    ids = tuple(f"Ab{i}z" for i in range(len(calls)))
    return Sample(text(way, calls, ids), calls, ids)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("way", WITH_ID)
def test_known_ids(way: str, several: bool) -> None:
    """One call is enough: who knows its id sees where it stands."""
    samples = [sample(way, ONE), *([sample(way, ONE, TWO)] if several else [])]
    spec = propose(samples, "mine")
    assert spec is not None
    assert "Ab0z" not in repr(spec)
    assert written(spec, "other1") == text(way, (ONE,), ("other1",))
    if several:
        assert written(spec, "x-1", "y_2") == text(way, (ONE, TWO), ("x-1", "y_2"))


def test_unknown_ids_that_differ() -> None:
    write = INVENTED["with_id"]
    samples = [Sample(write(list(calls)), calls) for calls in ((ONE,), (TWO,), (ONE, TWO))]
    spec = propose(samples, "mine")
    assert spec is not None
    assert written(spec, "a0b", "a1b") == samples[-1].text


def test_an_id_that_no_format_can_read_gives_none() -> None:
    samples = [
        Sample(f'<call id="Ab0z">{name}<a>{json.dumps(arguments)}</call>', ((name, arguments),))
        for name, arguments in (ONE, TWO)
    ]
    assert propose(samples, "mine") is not None  # who does not know the id takes it for a tag
    assert propose([replace(each, ids=("Ab0z",)) for each in samples], "mine") is None


def test_a_number_that_is_always_the_same_is_no_id() -> None:
    def one(name: str, arguments: dict[str, Any]) -> str:
        return f'<c>{{"version": 1, "name": "{name}", "arguments": {json.dumps(arguments)}}}</c>'

    samples = [
        Sample("".join(one(*call) for call in calls), calls) for calls in ((ONE,), (ONE, TWO))
    ]
    spec = propose(samples, "mine")
    assert spec is not None
    assert spec.layout is not None
    assert spec.layout.id is None
    assert written(spec, "x", "y") == samples[-1].text
