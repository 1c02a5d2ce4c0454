"""A request on its way to the upstream: checked, repaired where that is wanted, or let through.

`strict` refuses what the specification forbids, `repair` puts right what can be put right without
changing its meaning, `pass` touches nothing. What the gateway itself handed out is never refused: in
`live` it may have passed on arguments that turned out to be no JSON.

A request of the Messages API is read as the Chat request that it means. To an upstream that knows the
API it goes on as it came, for that to judge; to others it goes translated, and then all of this is about
the Chat request. What can't be translated is refused, also where everything else is let through.

How tools go on is the last step, also for requests that are let through: as they are, in the prompt, or
with the choice `none`. Only requests of Chat and Responses can have them in the prompt, so one of the
Messages API is translated then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..openai.checks import Problem, check_messages, check_request, error_body, translate_legacy
from ..openai.name_mangling import mangle_names
from ..openai.request_repair import drop_odd_tools, has_odd_tools, repair_arguments, repair_request
from ..templates import Words
from .by_model import Models, prompt_words
from .messages_errors import problems_error
from .messages_request import chat_request
from .messages_route import MESSAGES, NATIVE, TRANSLATED
from .settings import Settings
from .sse import MAX_DEPTH, dump, load_answer, load_object
from .tools_prompt import in_prompt

Json = dict[str, Any]

_NO_OBJECT = f"The request body must be a JSON object, nested at most {MAX_DEPTH} deep"
HINT = "A gateway that is started with --requests repair would put this right"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that may go on."""

    api: str  # as which it goes on
    body: Json  # as the answer is read by
    sent: bytes
    second: bytes | None = None  # what to send where the upstream refuses that
    names: Mapping[str, str] = field(default_factory=dict)  # the client's, by those of the server
    repaired: Mapping[str, int] = field(default_factory=dict)  # what was put right, and how often
    format: str | None = None  # in which calls are read from the model's text
    in_prompt: bool = False  # whether the tools are in the prompt


@dataclass(frozen=True, slots=True)
class _Sending:
    """How tools go on."""

    way: str  # `native`, `prompt` or `none`
    words: Words | None = None  # in the prompt

    def changes(self, body: Json) -> bool:
        has_tools = bool(body.get("tools") or body.get("functions"))
        return self.words is not None or (self.way == "none" and has_tools)

    def written(self, body: Json, api: str) -> bytes:
        """A request of Chat, Responses or Messages as it is sent."""
        if self.words is not None:
            body = in_prompt(body, api, self.words)
        elif self.changes(body):
            key = "tool_choice" if body.get("tools") else "function_call"
            body = body | {key: _NO_CHOICE.get(api, "none")}
        return dump(body)


_NO_CHOICE = {NATIVE: {"type": "none"}}


def prepare(
    raw: bytes, api: str, settings: Settings, models: Models, *, tools_refused: bool = False
) -> Prepared | Json:
    """The request as it goes on, or the body of the answer that refuses it.

    `tools_refused`: the upstream took it, but for its tools.
    """
    body = load_object(raw)
    model = model_of(body)
    format = models.format(model)
    way = "prompt" if tools_refused else models.way(model)
    sending = _Sending(way, prompt_words(format) if way == "prompt" else None)
    if api == NATIVE and sending.words is not None:
        if settings.messages == "native":
            sending = _Sending("native")
        else:
            api = TRANSLATED
    prepared = _prepare(raw, body, api, settings, sending)
    if not isinstance(prepared, Prepared):
        return prepared
    return replace(prepared, format=format, in_prompt=sending.words is not None)


def model_of(body: Json | None) -> str:
    model = (body or {}).get("model")
    return model if isinstance(model, str) else ""


def _prepare(
    raw: bytes, body: Json | None, api: str, settings: Settings, sending: _Sending
) -> Prepared | Json:
    if api in MESSAGES:
        return _prepare_messages(raw, body, api, settings, sending)
    if settings.requests == "pass":
        changes = body is not None and sending.changes(body)
        sent = sending.written(load_answer(raw)[0] or {}, api) if changes else raw
        return Prepared(api, body or {}, sent)
    if body is None:
        return error_body([Problem("", _NO_OBJECT)])
    names, repaired = _put_right(body, api, settings)
    repairs = settings.requests == "repair"
    problems = check_request(body, api, limits=repaired if repairs else None)
    if problems:
        return error_body(problems, None if repairs or not _repairable(raw, api) else HINT)
    legacy = api == "chat" and body.get("functions") is not None
    changed = bool(names) or legacy or any(what not in _LIMITS for what in repaired)
    changed = changed or sending.changes(body)
    sent = sending.written(_written(raw, api, settings), api) if changed else raw
    second = None
    if repairs and has_odd_tools(body):
        second = sending.written(_without_odd_tools(raw, api, settings), api)
    return Prepared(api, body, sent, second, names, repaired)


def _prepare_messages(
    raw: bytes, body: Json | None, api: str, settings: Settings, sending: _Sending
) -> Prepared | Json:
    """The same for a request of the Messages API."""
    if body is None and (api != NATIVE or settings.requests != "pass"):
        return problems_error([Problem("", _NO_OBJECT)])
    request = chat_request(body or {})
    if api == NATIVE:
        changes = body is not None and sending.changes(body)
        sent = sending.written(load_answer(raw)[0] or {}, api) if changes else raw
        return Prepared(api, request.body, sent)
    if request.problems:
        return problems_error(request.problems)
    written = chat_request(load_answer(raw)[0] or {})  # with its numbers as they were written
    if settings.requests == "pass":
        return Prepared(api, request.body, sending.written(written.body, "chat"))
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
    sent = sending.written(written.body, "chat")
    return Prepared(api, request.body, sent, None, names, repaired)


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


def _without_odd_tools(raw: bytes, api: str, settings: Settings) -> Json:
    """The request without the tools that not every upstream knows."""
    body = _written(raw, api, settings)
    drop_odd_tools(body)
    return body


def _repairable(raw: bytes, api: str) -> bool:
    """Whether nothing would be wrong any more."""
    body = load_object(raw) or {}
    repair_request(body, api)
    return not check_request(body, api, limits=Counter())


def earlier_ids(body: Json) -> frozenset[str]:
    """The ids of the calls of earlier turns."""
    calls = [call for m in _objects(body.get("messages")) for call in _objects(m.get("tool_calls"))]
    ids = [call.get("id") for call in calls]
    ids += [item.get("call_id") for item in _objects(body.get("input"))]
    return frozenset(id for id in ids if isinstance(id, str))


def _objects(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
