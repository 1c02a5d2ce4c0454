"""What holds for a server of several processes, whichever engine it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from conversation import check_turns, told
from engine_client import Answer
from engine_workers import counted_by, counts_of, others_stopped, scraped

#: Asks for every turn of the conversation, in several ways.
Ask = Callable[[], dict[tuple[str, str], Answer]]


def check_every_process(url: str, pids: Sequence[int], folder: Path, ask: Ask) -> None:
    """Each by itself gives the same answers, the right ones, and counts them; and each, asked for the
    metrics, has those of all."""
    before, answers, expected = scraped(url), [], Counter()
    for pid in pids:
        at_first = {one: counted_by(one, folder) for one in pids}
        with others_stopped(set(pids) - {pid}):
            got = ask()
        check_turns(got)
        answers.append({key: told(answer) for key, answer in got.items()})
        counted = {one: counted_by(one, folder) - at_first[one] for one in pids}
        assert counted == {
            one: counts_of(got.values()) if one == pid else Counter() for one in pids
        }
        expected += counts_of(got.values())
    assert all(one == answers[0] for one in answers)
    for pid in pids:
        with others_stopped(set(pids) - {pid}):
            assert scraped(url) - before == expected
