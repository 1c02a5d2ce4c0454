"""One scripted conversation on a real server: the same answers, byte for byte, on every release.

`./scripts/matrix` runs it on several; `conversation` says what is expected.
"""

from __future__ import annotations

from conversation import GO, TURNS, check_turns, leave, told
from engine_cases import TOOLS
from engine_client import Asker
from sglang_asking import WAYS, job


def test_the_turns(asker: Asker) -> None:
    asked = [(turn, way) for turn in TURNS for way in WAYS]
    jobs = [job(way, GO, TOOLS, "hermes", TURNS[turn][0]) for turn, way in asked]
    got = {key: one for key, (one,) in zip(asked, asker.all(jobs), strict=True)}
    leave("server", {f"{turn}, {way}": told(one) for (turn, way), one in got.items()})
    check_turns(got)
