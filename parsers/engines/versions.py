"""Is this a release of the engine that toolwire works with? Said when the engine loads the plugin."""

from __future__ import annotations

import logging

from ..errors import ToolwireError
from ..models.releases import Releases


def check_version(releases: Releases, version: str, log: logging.Logger) -> None:
    """Stops where the engine is too old; says so in the log where it was not tried."""
    engine, works = releases.engine, f"{releases.engine} {releases.span}"
    if releases.has(version):
        return
    found = releases.numbers(version)
    if found is not None and found < releases.oldest:
        raise ToolwireError(
            f"toolwire works with {works}, and this is {engine} {version}, which is too old for the "
            f"plugin: upgrade {engine}, or put `toolwire gateway` in front of it."
        )
    log.warning(
        "toolwire was tested with %s, and not with this one, %s. It tries a call out when the server "
        "starts. If a parser fails, upgrade toolwire, or install a release that it was tested with.",
        works,
        version,
    )


def contract_changed(releases: Releases, version: str, how: str) -> str:
    """What a self-test says that failed."""
    return (
        f"toolwire's self-test failed on {releases.engine} {version}, whose contract with parsers has "
        f"changed ({how}): upgrade toolwire, or install {releases.engine} {releases.span}."
    )


def warn_of_rust(releases: Releases, log: logging.Logger) -> None:
    """Says so, in an engine's first process, where its frontend is the one in Rust."""
    problem = releases.rust_problem()
    if problem is None:
        return
    from multiprocessing import parent_process  # slow to import, and seldom needed

    if parent_process() is None:
        log.warning("%s", problem)
