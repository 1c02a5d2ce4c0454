"""How a parser is measured: CPU time of whole answers in turns, and one look at what comes out.

Times are of the thread, not of the clock. Subjects take turns, round by round, so that a busy
machine is busy for all of them, and the median of the rounds counts. A slow subject gets fewer
rounds, and one that would take too long is broken off in its first: from the part that it read follows
what the whole would have cost (its cost grows with a power of the length; the power is taken from the
part's two halves, and is two at most).
"""

from __future__ import annotations

import gc
import json
import math
import os
import signal
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from workloads import Answer, Step

#: One of ours again, which counts nothing: neither what calls came to, nor how they are spelled.
UNCOUNTED = "toolwire hermes, uncounted"
#: The floor of arguments again, with the engine's messages made in the quick way that ours are.
UNCHECKED = "nothing, unchecked"
BLOCK = 16  # steps between two looks at the clock
FEW, ENOUGH = 3, 0.5  # rounds, and seconds in all, after which a slow peer is left alone


@dataclass(frozen=True)
class Subject:
    """One parser of an engine, and the format of the text it is given."""

    label: str
    parser: str
    format: str
    kind: str  # "floor", "ours", "uncounted" or "theirs"


def subjects(engine: str, theirs: Mapping[str, str], formats: Sequence[str]) -> list[Subject]:
    """The floors, ours, and the engine's own: `theirs` has its name for each of our formats."""
    found = [
        Subject("nothing, as text", "floor_content", formats[0], "floor"),
        Subject("nothing, as arguments", "floor_arguments", formats[0], "floor"),
        Subject(UNCHECKED, "floor_unchecked", formats[0], "floor"),
    ]
    found += [Subject(f"toolwire {name}", f"toolwire_{name}", name, "ours") for name in formats]
    if "hermes" in formats:
        found.append(Subject(UNCOUNTED, "toolwire_hermes_uncounted", "hermes", "uncounted"))
    rivals = [name for name in formats if name in theirs]
    return found + [Subject(f"{engine} {name}", theirs[name], name, "theirs") for name in rivals]


@dataclass
class Cost:
    """What a subject needed for one answer: seconds of CPU, one figure for each round."""

    tokens: int
    rounds: list[float] = field(default_factory=list)
    estimated: bool = False  # broken off: the last round is an estimate

    def microseconds(self) -> float:
        """For each token."""
        return statistics.median(self.rounds) / self.tokens * 1e6

    def wants_more(self, kind: str) -> bool:
        if self.estimated:
            return False
        if kind != "theirs":
            return True
        return sum(self.rounds) < ENOUGH or (len(self.rounds) < FEW and self.rounds[0] < ENOUGH)


@dataclass
class Look:
    """What came out of one answer, and when."""

    tokens: int
    right: bool | None = None  # None: broken off before its end
    deltas: int = 0
    name_after: int | None = None  # tokens
    argument_after: int | None = None
    name_us: float | None = None  # microseconds of CPU
    argument_us: float | None = None
    peak_bytes: int | None = None


Open = Callable[[Subject], Any]


def pin() -> None:
    """One core for this process: the last, where the system leaves us a choice."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def settle() -> None:
    """As the engines' servers do once they have started: what is there now is not searched again."""
    gc.collect()
    gc.freeze()


# -- time boxes -----------------------------------------------------------------------------------


class TimeUp(BaseException):
    """Not an Exception: parsers catch those."""


@dataclass
class Box:
    over: bool = False  # to be looked at now and then: some parsers catch everything
    inside: bool = True


@contextmanager
def box(seconds: float) -> Iterator[Box]:
    """Ends what is inside after so many seconds of CPU, also in the middle of a regular expression."""
    found = Box()
    if math.isinf(seconds):
        yield found
        return

    def stop(*_: Any) -> None:
        if found.inside:
            found.over = True
            raise TimeUp

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.1)  # and again, for those who caught it
    try:
        try:
            yield found
        finally:
            found.inside = False
    except TimeUp:
        return
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# -- what it costs --------------------------------------------------------------------------------


def read_all(stream: Any, steps: Sequence[Step], limit: float) -> tuple[float, bool]:
    """Seconds of CPU, and whether they are estimated because `limit` was over."""
    body = steps[:-1]
    marks = [(0, 0.0)]
    started = time.thread_time()
    with box(limit) as limited:
        for at in range(0, len(body), BLOCK):
            stream.feed(body[at : at + BLOCK])
            if limited.over:
                break
            marks.append((min(at + BLOCK, len(body)), time.thread_time() - started))
        else:
            stream.finish(steps[-1])
        if not limited.over:
            return time.thread_time() - started, False
    marks.append((min(marks[-1][0] + BLOCK, len(steps)), time.thread_time() - started))
    return estimate(marks, len(steps)), True


def estimate(marks: Sequence[tuple[int, float]], total: int) -> float:
    """What all the steps will cost, from (steps, seconds) so far. Never less than in proportion."""
    done, spent = marks[-1]
    half_done, half = next(mark for mark in marks if mark[0] * 2 >= done)
    power = math.log(spent / half, done / half_done) if half_done < done else 1.0
    return spent * (total / done) ** min(max(power, 1.0), 2.0)


def rounds_for(steps: int) -> int:
    """Short answers are measured more often: a pause of the machine weighs more on them."""
    return max(5 if steps < 50_000 else 3, min(13, 30_000 // steps))


def costs(
    subjects: Sequence[Subject],
    open_stream: Open,
    answers: dict[str, Answer],
    group: int,
    limit: float,
) -> dict[str, Cost]:
    """What each subject needs for its format's answer, `group` tokens in a step; by label."""
    steps = {name: answer.grouped(group) for name, answer in answers.items()}
    found = {s.label: Cost(len(answers[s.format].steps)) for s in subjects}
    # What the engine made at its start stays: looking through it again for each stream takes far longer
    # than what is measured.
    gc.collect()
    gc.freeze()
    for _ in range(rounds_for(max(map(len, steps.values())))):
        for subject in subjects:
            cost = found[subject.label]
            if not cost.wants_more(subject.kind):
                continue
            box = limit if subject.kind == "theirs" else math.inf
            stream = open_stream(subject)
            gc.collect()
            spent, cost.estimated = read_all(stream, steps[subject.format], box)
            cost.rounds.append(spent)
    gc.unfreeze()
    return found


# -- what comes out -------------------------------------------------------------------------------


@dataclass
class Heard:
    """What a client has put together of a stream."""

    content: list[str] = field(default_factory=list)
    calls: dict[int, list[str]] = field(default_factory=dict)

    def take(self, text: str, pieces: Sequence[tuple[int, str, str]]) -> None:
        self.content.append(text)
        for index, name, arguments in pieces:
            call = self.calls.setdefault(index, ["", ""])
            call[0] += name
            call[1] += arguments

    def right(self, answer: Answer) -> bool:
        calls = [self.calls[index] for index in sorted(self.calls)]
        return is_right(answer, "".join(self.content), calls)


def look(subject: Subject, open_stream: Open, answer: Answer, limit: float) -> Look:
    """What the subject makes of the answer; who takes longer than `limit` is broken off."""
    found = Look(len(answer.steps))
    heard = Heard()
    with box(limit) as limited:
        for number, (text, pieces) in enumerate(open_stream(subject).deltas(answer.steps), start=1):
            if limited.over:
                break
            found.deltas += bool(text or pieces)
            heard.take(text, pieces)
            if found.name_after is None and any(name for _, name, _ in pieces):
                found.name_after = number
            if found.argument_after is None and any(arguments for _, _, arguments in pieces):
                found.argument_after = number
    if not limited.over:
        found.right = heard.right(answer)
    found.name_us = seconds_to(subject, open_stream, answer, found.name_after, limit)
    found.argument_us = seconds_to(subject, open_stream, answer, found.argument_after, limit)
    found.peak_bytes = peak_memory(open_stream(subject), answer.steps, limit)
    return found


def reads_right(
    subject: Subject, open_stream: Open, answer: Answer, group: int, limit: float
) -> bool | None:
    """Whether the subject makes the right calls of the answer, `group` tokens in a step; None where
    it does not get to the end in time."""
    heard = Heard()
    with box(limit) as limited:
        for text, pieces in open_stream(subject).deltas(answer.grouped(group)):
            if limited.over:
                break
            heard.take(text, pieces)
    return None if limited.over else heard.right(answer)


def is_right(answer: Answer, content: str, calls: Sequence[Sequence[str]]) -> bool:
    """The same calls; where there is none, the same text."""
    if not answer.calls:
        return not calls and content == answer.content
    try:
        return [(name, json.loads(arguments)) for name, arguments in calls] == answer.calls
    except ValueError:
        return False


def seconds_to(
    subject: Subject, open_stream: Open, answer: Answer, step: int | None, limit: float
) -> float | None:
    """Microseconds of CPU for the first `step` steps: the median of a few times."""
    if step is None:
        return None
    taken: list[float] = []
    while len(taken) < 9 and sum(taken) < limit:
        stream = open_stream(subject)
        started = time.thread_time()
        stream.feed(answer.steps[:step])
        taken.append(time.thread_time() - started)
    return statistics.median(taken) * 1e6


def peak_memory(stream: Any, steps: Sequence[Step], limit: float) -> int:
    """Bytes at the peak, what comes out being thrown away at once; up to where time is over."""
    gc.collect()
    tracemalloc.start()
    with box(limit) as limited:
        for at in range(0, len(steps), BLOCK):
            if not limited.over:
                stream.feed(steps[at : at + BLOCK])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
