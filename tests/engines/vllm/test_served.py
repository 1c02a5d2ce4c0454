"""Every style with every way of calling, and every format, through real servers: what clients of three
APIs get is what `toolwire.parse` reads."""

from __future__ import annotations

from typing import Any

import pytest
from engine_client import body
from engine_server import EngineServer
from served_cases import FORMATS, REQUIRED, THOUGHTS, TOOLLESS, Row
from shared_served import Answers, Served, check, choice_for
from tokenizers import Tokenizer


class Asking(Served):
    def __init__(self, tokenizer: Tokenizer, switching: bool) -> None:
        self.tokenizer = tokenizer
        self.switching = switching

    def request(self, row: Row, way: str) -> dict[str, Any]:
        script = self.tokenizer.encode(row.text, add_special_tokens=False).ids
        more = choice_for(row, way)
        if not self.switching:
            return body(row.tools, script, format=row.format, **more)
        template: dict[str, Any] = {
            "format": row.format,
            "style": row.style,
            "prefill": row.prefill,
        }
        if row.off and way.startswith("messages"):
            more["thinking"] = {"type": "disabled"}
        elif row.off:
            template["enable_thinking"] = False
        return body(row.tools, script, template=template, **more)


@pytest.fixture(scope="session")
def thoughts(switching_server: EngineServer, tokenizer: Tokenizer) -> Answers:
    rows = [row for rows in THOUGHTS.values() for row in rows]
    rows += [*REQUIRED.values(), *TOOLLESS]
    return Asking(tokenizer, True).ask(switching_server.url, rows)


@pytest.fixture(scope="session")
def formats(server: EngineServer, tokenizer: Tokenizer) -> Answers:
    rows = [row for rows in FORMATS.values() for row in rows]
    return Asking(tokenizer, False).ask(server.url, rows)


@pytest.mark.parametrize("pair", THOUGHTS)
def test_thoughts(pair: str, thoughts: Answers) -> None:
    check([*THOUGHTS[pair], REQUIRED[pair]], thoughts)


def test_requests_without_tools(thoughts: Answers) -> None:
    check(TOOLLESS, thoughts)


@pytest.mark.parametrize("format", FORMATS)
def test_formats(format: str, formats: Answers) -> None:
    check(FORMATS[format], formats)
