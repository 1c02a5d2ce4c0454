"""A request on its way to the upstream: checked, repaired where that is wanted, or let through.

`strict` refuses what the specification forbids, `repair` puts right what can be put right without
changing its meaning, `pass` touches nothing. What the gateway itself handed out is never refused: in
`live` it may have passed on arguments that turned out to be no JSON.

A request of the Messages API is read as the Chat request that it means. To an upstream that knows the
API it goes on as it came, for that to judge; to others it goes translated, and then all of this is about
the Chat request. What can't be translated is refused, also where everything else is let through.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..openai.checks import Problem, check_messages, check_request, error_body, translate_legacy
from ..openai.name_mangling import mangle_names
from ..openai.request_repair import drop_odd_tools, has_odd_tools, repair_arguments, repair_request
from .messages_errors import problems_error
from .messages_request import chat_request
from .messages_route import MESSAGES, NATIVE
from .settings import Settings
from .sse import MAX_DEPTH, dump, load_answer, load_object

Json = dict[str, Any]

_NO_OBJECT = f"The request body must be a JSON object, nested at most {MAX_DEPTH} deep"
HINT = "A gateway that is started with --requests repair would put this right"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that may go on."""

    body: Json  # as the answer is read by
    sent: bytes
    second: bytes | None = None  # what to send where the upstream refuses that
    names: Mapping[str, str] = field(default_factory=dict)  # the client's, by those of the server
    repaired: Mapping[str, int] = field(default_factory=dict)  # what was put right, and how often


def prepare(raw: bytes, api: str, settings: Settings) -> Prepared | Json:
    """The request as it goes on, or the body of the answer that refuses it."""
    body = load_object(raw)
    if api in MESSAGES:
        return _prepare_messages(raw, body, api, settings)
    if settings.requests == "pass":
        return Prepared(body or {}, raw)
    if body is None:
        return error_body([Problem("", _NO_OBJECT)])
    names, repaired = _put_right(body, api, settings)
    repairs = settings.requests == "repair"
    problems = check_request(body, api, limits=repaired if repairs else None)
    if problems:
        return error_body(problems, None if repairs or not _repairable(raw, api) else HINT)
    legacy = api == "chat" and body.get("functions") is not None
    changed = bool(names) or legacy or any(what not in _LIMITS for what in repaired)
    second = _second(raw, api, settings) if repairs and has_odd_tools(body) else None
    sent = dump(_written(raw, api, settings)) if changed else raw
    return Prepared(body, sent, second, names, repaired)


def _prepare_messages(
    raw: bytes, body: Json | None, api: str, settings: Settings
) -> Prepared | Json:
    """The same for a request of the Messages API."""
    if body is None and (api != NATIVE or settings.requests != "pass"):
        return problems_error([Problem("", _NO_OBJECT)])
    request = chat_request(body or {})
    if api == NATIVE:
        return Prepared(request.body, raw)
    if request.problems:
        return problems_error(request.problems)
    written = chat_request(load_answer(raw)[0] or {})  # with its numbers as they were written
    if settings.requests == "pass":
        return Prepared(request.body, dump(written.body))
    before = written.body["messages"]
    names, repaired = _put_right(written.body, "chat", settings)
    _put_right(request.body, "chat", settings)
    after = written.body["messages"]
    # Their tools are looked at while they are translated: the limits of OpenAI's API are none here.
    problems = check_messages(after)
    if problems:
        sources = {id(m): source for m, source in zip(before, written.sources, strict=True)}
        told = tuple(sources.get(id(message), -1) for message in after)
        hopeless = settings.requests == "repair" or not _repairable_messages(raw)
        return problems_error(problems, told, None if hopeless else HINT)
    return Prepared(request.body, dump(written.body), None, names, repaired)


def _repairable_messages(raw: bytes) -> bool:
    body = chat_request(load_answer(raw)[0] or {}).body
    repair_request(body, "chat")
    return not check_messages(body["messages"])


#: What is counted and goes on as it came.
_LIMITS = frozenset({"name", "description"})


def _put_right(body: Json, api: str, settings: Settings) -> tuple[dict[str, str], Counter[str]]:
    """Changes the body as it is wanted; the names that were written otherwise, and what was wrong."""
    names = mangle_names(body) if settings.names == "mangle" else {}
    if settings.requests == "repair":
        return names, repair_request(body, api)
    if settings.mode == "live":
        return names, repair_arguments(body, api, only_text=True)
    return names, Counter()


def _written(raw: bytes, api: str, settings: Settings) -> Json:
    """The request as it is sent: the same again, with its numbers as they were written."""
    body = load_answer(raw)[0] or {}
    _put_right(body, api, settings)
    return translate_legacy(body)


def _second(raw: bytes, api: str, settings: Settings) -> bytes:
    """The request without the tools that not every upstream knows."""
    body = _written(raw, api, settings)
    drop_odd_tools(body)
    return dump(body)


def _repairable(raw: bytes, api: str) -> bool:
    """Whether nothing would be wrong any more."""
    body = load_object(raw) or {}
    repair_request(body, api)
    return not check_request(body, api, limits=Counter())
