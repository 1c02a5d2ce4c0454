"""Times are of the CPU, slow parsers are broken off and estimated, and answers are judged right."""

from __future__ import annotations

import gc
import json
import re
import time
from collections.abc import Iterator, Sequence
from typing import Any

import cases
import measure
import pytest
import toolwire
import workloads
from measure import Subject
from workloads import Answer, Step

THEIRS = Subject("theirs x", "x", "hermes", "theirs")
OURS = Subject("toolwire x", "toolwire_x", "hermes", "ours")
#: Seconds of CPU that nothing here comes near: a limit that is not what a test is about.
PLENTY = 600.0
ANSWER = Answer([(letter, [1]) for letter in "abcdefgh" * 50], None, [("f", {"a": 1})])


@pytest.fixture(scope="module", autouse=True)
def settled() -> Iterator[None]:
    """Every round begins with a search for garbage, which is quick where little is searched."""
    measure.settle()
    yield
    gc.unfreeze()


class Clock:
    """CPU time that passes when a stream says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def thread_time(self) -> float:
        return self.now


class Stream:
    """Each step takes so long; gives one call, in three pieces."""

    def __init__(self, clock: Clock | None = None, seconds: float = 0.0) -> None:
        self.clock = clock or Clock()
        self.seconds = seconds

    def feed(self, steps: Sequence[Step]) -> None:
        self.clock.now += self.seconds * len(steps)

    def finish(self, step: Step) -> None:
        self.feed([step])

    def deltas(self, steps: Sequence[Step]) -> Iterator[tuple[str, list[tuple[int, str, str]]]]:
        pieces = {3: (0, "f", ""), 5: (0, "", '{"a":'), len(steps) - 1: (0, "", " 1}")}
        for number in range(len(steps)):
            yield "", [pieces[number]] if number in pieces else []


@pytest.mark.parametrize("group", [1, 4, 16])
def test_cost_is_for_each_token_whatever_is_in_a_step(
    group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr(measure, "time", clock)
    costs = measure.costs([OURS], lambda _: Stream(clock, 48e-6), {"hermes": ANSWER}, group, PLENTY)
    found = costs[OURS.label]
    assert found.tokens == 400
    assert len(found.rounds) == measure.rounds_for(400 // group)
    assert found.microseconds() == pytest.approx(48 / group)


def test_several_tokens_in_a_step() -> None:
    assert len(ANSWER.grouped(16)) == 25
    assert ANSWER.grouped(16)[0] == ("abcdefgh" * 2, [1] * 16)
    assert "".join(text for text, _ in ANSWER.grouped(16)) == "abcdefgh" * 50


def test_a_slow_peer_gets_fewer_rounds_and_ours_all(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(measure, "time", clock)

    def rounds(seconds: float) -> list[int]:
        found = measure.costs(
            [THEIRS, OURS], lambda _: Stream(clock, seconds / 400), {"hermes": ANSWER}, 1, PLENTY
        )
        return [len(found[subject.label].rounds) for subject in (THEIRS, OURS)]

    every = measure.rounds_for(400)
    assert rounds(0.001) == [every, every]
    assert rounds(0.4) == [measure.FEW, every]
    assert rounds(2.0) == [1, every]


def test_a_peer_that_takes_too_long_is_broken_off() -> None:
    found = measure.costs([THEIRS], lambda _: Busy(), {"hermes": ANSWER}, 1, limit=0.02)
    assert found[THEIRS.label].estimated
    assert len(found[THEIRS.label].rounds) == 1


class Busy(Stream):
    def feed(self, steps: Sequence[Step]) -> None:
        while True:
            pass


@pytest.mark.parametrize("kind", ["costs", "look"])
def test_also_where_it_catches_everything(kind: str) -> None:
    if kind == "costs":
        found = measure.costs([THEIRS], lambda _: Stubborn(), {"hermes": ANSWER}, 1, limit=0.02)
        assert found[THEIRS.label].estimated
    else:
        assert measure.look(THEIRS, lambda _: Stubborn(), ANSWER, 0.02).right is None


class Stubborn(Stream):
    """Takes ten milliseconds for a step, and catches what comes meanwhile."""

    def feed(self, steps: Sequence[Step]) -> None:
        for _ in steps:
            until = time.thread_time() + 0.01
            try:
                while time.thread_time() < until:
                    pass
            except:  # noqa: E722
                continue

    def deltas(self, steps: Sequence[Step]) -> Iterator[Any]:
        for step in steps:
            self.feed([step])
            yield "", []


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
def test_the_estimate_follows_the_power_of_the_growth(power: float) -> None:
    marks = [(steps, (steps / 1000) ** power) for steps in range(16, 1001, 16)]
    assert measure.estimate(marks, 8000) == pytest.approx(8.0**power, rel=0.1)


def test_the_estimate_of_a_single_mark_is_in_proportion() -> None:
    assert measure.estimate([(0, 0.0), (16, 1.0)], 160) == pytest.approx(10.0)


def test_the_box_ends_even_a_regular_expression_that_does_not() -> None:
    ended = False
    with measure.box(0.05):
        re.match(r"(a+)+$", "a" * 60 + "b")
        ended = True
    assert not ended
    with measure.box(PLENTY):
        ended = True
    assert ended


def test_a_look_says_what_came_out_and_when() -> None:
    found = measure.look(THEIRS, lambda _: Stream(), ANSWER, PLENTY)
    assert found.right is True
    assert (found.name_after, found.argument_after, found.deltas) == (4, 6, 3)
    assert found.peak_bytes is not None
    stopped = measure.look(THEIRS, lambda _: Endless(), ANSWER, 0.05)
    assert stopped.right is None


class Endless(Stream):
    def deltas(self, steps: Sequence[Step]) -> Iterator[Any]:
        while True:
            yield "", []


@pytest.mark.parametrize(
    ("content", "calls", "right"),
    [
        ("", [["f", '{"a":1}']], True),
        ("more text", [["f", '{ "a": 1 }']], True),
        ("", [["f", '{"a": 1'], ["g", "{}"]], False),
        ("", [], False),
        ("", [["f", '{"a": 2}']], False),
    ],
)
def test_right_calls(content: str, calls: list[list[str]], right: bool) -> None:
    assert measure.is_right(ANSWER, content, calls) is right


def test_right_calls_in_steps_of_several_tokens() -> None:
    class Merged(Stream):
        def deltas(self, steps: Sequence[Step]) -> Iterator[Any]:
            assert {len(numbers) for _, numbers in steps} == {16}
            yield from super().deltas(steps)

    assert measure.reads_right(THEIRS, lambda _: Merged(), ANSWER, 16, PLENTY) is True
    other = Answer(ANSWER.steps, None, [("f", {"a": 2})])
    assert measure.reads_right(THEIRS, lambda _: Merged(), other, 16, PLENTY) is False


def test_right_prose() -> None:
    prose = Answer([("Hi.", [1])], "Hi.", [])
    assert measure.is_right(prose, "Hi.", [])
    assert not measure.is_right(prose, "Hi", [])
    assert not measure.is_right(prose, "Hi.", [["f", "{}"]])


# What they are given to read.


@pytest.mark.parametrize("workload", workloads.WORKLOADS)
@pytest.mark.parametrize("format", sorted(workloads.WRITERS))
def test_every_workload_has_the_calls_it_says_in_every_format(workload: str, format: str) -> None:
    wanted = workloads.WORKLOADS[workload](3)
    text = wanted if isinstance(wanted, str) else workloads.WRITERS[format](wanted)
    message = toolwire.parse(format, text, workloads.TOOLS)
    found = [(call.name, json.loads(call.arguments)) for call in message.tool_calls]
    if isinstance(wanted, str):
        assert (message.content, found) == (wanted, [])
    else:
        assert found == wanted


def test_64_calls() -> None:
    assert len(workloads.parallel(1)) == 64


def test_every_format_has_cases_and_hermes_the_known_failures() -> None:
    for format in workloads.WRITERS:
        found = cases.corpus(format)
        assert len(found) >= len(cases.SITUATIONS)
        assert len({case.name for case in found}) == len(found)
    assert {"H1", "H12", "H20"} <= {case.name for case in cases.corpus("hermes")}


def test_random_splits_keep_the_tokens() -> None:
    steps: list[Step] = [(letter, [number]) for number, letter in enumerate("abcdefghij")]
    ways = list(cases.random_splits(steps, 20))
    assert len(ways) == 20
    assert len({len(way) for way in ways}) > 5
    assert ways == list(cases.random_splits(steps, 20))
    for way in ways:
        assert "".join(text for text, _ in way) == "abcdefghij"
        assert [number for _, ids in way for number in ids] == list(range(10))
