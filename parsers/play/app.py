"""The page's server: one page, and a few questions that it asks.

It is for the person at this machine. A question comes as JSON, which no other site's page can send
without asking first, and to a host that is an address: a name that somebody else has pointed here (DNS
rebinding) is refused.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..errors import ToolwireError
from ..view.page import HEADERS, assemble
from .answers import LONGEST, compare_answer, copy_answer, start_answer, trace_answer
from .engine_parsers import engine_answer, engines
from .given import Given
from .prompts import prompt_answer, templates_known

Json = dict[str, Any]
Answer = Callable[[Json], Json]

#: A character of JSON may take six bytes, and tools come with the text.
_LARGEST_BODY = 6 * LONGEST


def create_app(given: Given, host: str = "127.0.0.1") -> Starlette:
    """`host` is what the server was told to listen on: requests to that name are taken, too."""
    questions: dict[str, Answer] = {
        "trace": lambda asked: trace_answer(asked, given.tokenize),
        "compare": compare_answer,
        "copy": lambda asked: copy_answer(asked, given.tokenize),
        "engine": lambda asked: engine_answer(asked, given.tokenizer_folder),
        "prompt": lambda asked: prompt_answer(asked, given.templates),
    }
    page = assemble(__package__, "play.html")

    async def show(request: Request) -> Response:
        _check_host(request, host)
        return Response(page, media_type="text/html", headers=HEADERS)

    async def start(request: Request) -> Response:
        _check_host(request, host)
        known = templates_known(given.templates)
        return _json(start_answer(given, engines(), known))

    routes = [Route("/", show), Route("/start", start)]
    routes += [
        Route(f"/{name}", partial(_ask, answer, host), methods=["POST"])
        for name, answer in questions.items()
    ]
    handlers: Any = {Refused: _refused, ToolwireError: _wrong}
    return Starlette(routes=routes, exception_handlers=handlers)


class Refused(Exception):
    """The request is not taken: its status, and why."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


async def _ask(answer: Answer, host: str, request: Request) -> Response:
    _check_host(request, host)
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise Refused(415, "A question must be application/json")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _LARGEST_BODY:
            raise Refused(413, f"The text has more than {LONGEST:,} characters")
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(400, f"The question is not JSON: {error}") from error
    if not isinstance(asked, dict):
        raise Refused(400, "A question must be a JSON object")
    return _json(await run_in_threadpool(answer, asked))


def _check_host(request: Request, host: str) -> None:
    """An address, `localhost`, or the name that the server was told: nobody else's names."""
    asked = request.headers.get("host", "")
    name = asked.rpartition(":")[0] if asked.rpartition(":")[2].isdigit() else asked
    name = name.strip("[]").lower()
    if name not in ("localhost", host.lower()) and not _is_address(name):
        raise Refused(403, f"This page is not {asked!r}: open it by the address that was printed")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _json(answer: Any, status: int = 200) -> Response:
    # All of it as ASCII: half a surrogate pair, which a model may write, is no UTF-8.
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    return Response(json.dumps(answer), status, headers, "application/json")


async def _refused(request: Request, error: Refused) -> Response:
    return _json({"error": str(error)}, error.status)


async def _wrong(request: Request, error: ToolwireError) -> Response:
    return _json({"error": str(error)}, 400)
