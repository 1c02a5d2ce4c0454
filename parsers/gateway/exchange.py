"""One request and its answer, without any I/O: what to send on, and what to send back.

`plan` reads a request: it is refused, or there is a `Plan`. `answer_whole` and `StreamSession` treat
the answer as the plan says.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..openai.checks import Problem, check_messages, check_request, error_body, translate_legacy
from ..openai.normalize import Finding, Policy, normalize_response
from ..openai.request import read_request
from ..openai.sizes import size_of
from ..openai.stream_normalize import ChatStream
from . import metrics
from .budget import Account, Budget, in_mib
from .capture import Capture, Recorder, known_tools
from .messages_answer import translated_answer
from .messages_errors import error_bytes, messages_error, problems_error
from .messages_native import normalize_message
from .messages_native_stream import MessagesStream
from .messages_request import ChatRequest, chat_request
from .messages_route import MESSAGES, NATIVE, TRANSLATED, TRANSLATED_ROUTE
from .messages_stream import MESSAGES_ENDS, TranslatedStream
from .responses import normalize_output
from .responses_stream import ENDS, ResponsesStream, error_event
from .settings import Settings
from .sse import DONE, MAX_DEPTH, EventSplitter, ServerEvent, dump, frame, load_object

Json = dict[str, Any]

#: How many findings of one answer are written into the log.
_LOGGED = 20

_log = logging.getLogger("toolwire.gateway")


@dataclass(frozen=True, slots=True)
class Plan:
    """A request that may go on, and how its answer is to be treated."""

    route: str
    api: str  # of the answer: `chat`, `responses`, `messages`, or `translated` (from Chat to Messages)
    body: bytes
    policy: Policy
    weight: int = 0  # the bytes that the policy takes, beside the body


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that may not go on."""

    status: int
    body: Json


def plan(route: str, api: str, raw: bytes, settings: Settings) -> Plan | Refusal:
    """Check a request, and find out how its answer is to be treated."""
    body = load_object(raw)
    if body is None:
        sentence = f"The request body must be a JSON object, nested at most {MAX_DEPTH} deep"
        return Refusal(400, error_body([Problem("", sentence)]))
    if api in MESSAGES:
        translated = chat_request(body)
        refusal = _refuse_untranslatable(translated) if api == TRANSLATED else None
        body, raw = translated.body, dump(translated.body) if api == TRANSLATED else raw
    else:
        problems = check_request(body, api)
        refusal = Refusal(400, error_body(problems)) if problems else None
    if refusal is not None:
        return refusal
    request = read_request(body, api)
    new = translate_legacy(body) if request.legacy else body
    policy = Policy(
        format=settings.format,
        request=request,
        sequential_ids=settings.ids == "sequential",
        taken_ids=_ids(new) if settings.ids == "sequential" else frozenset(),
    )
    weight = size_of(request.tools) + size_of(policy.taken_ids)
    if weight > settings.max_exchange:
        most = in_mib(settings.max_exchange)
        message = f"The tools and ids of this request take more than {most} of memory"
        return Refusal(413, failure(message, "request_too_large"))
    return Plan(route, api, dump(new) if request.legacy else raw, policy, weight)


def _refuse_untranslatable(request: ChatRequest) -> Refusal | None:
    """What is wrong with a Messages request, by what it says and by the conversation that it makes."""
    if request.problems:
        return Refusal(400, problems_error(request.problems))
    problems = check_messages(request.body["messages"])
    return Refusal(400, problems_error(problems, request.sources)) if problems else None


def _ids(body: Json) -> frozenset[str]:
    """The ids of the calls of earlier turns."""
    calls = [c for m in body.get("messages") or () for c in m.get("tool_calls") or ()]
    ids = [call.get("id") for call in calls]
    items = body.get("input")
    if isinstance(items, list):
        ids += [item.get("call_id") for item in items if isinstance(item, dict)]
    return frozenset(id for id in ids if isinstance(id, str))


def failure(message: str, kind: str = "upstream_error") -> Json:
    """The body of an error that is not the client's."""
    return {"error": {"message": message, "type": kind, "param": None, "details": []}}


def recorder_for(plan: Plan, stage: str, capture: Capture | None) -> Recorder | None:
    """Where to record an exchange; None where nothing is captured, or no call can come."""
    if capture is None:
        return None
    format = str(plan.policy.format or "") or None
    route = TRANSLATED_ROUTE if plan.api == TRANSLATED else plan.route
    return Recorder(route, stage, format, known_tools(plan.policy.request))


def _account(
    stage: str,
    findings: list[Finding],
    calls: int,
    recorder: Recorder | None,
    capture: Capture | None,
) -> None:
    """Count what was found, log it, and keep the exchange if it was about calls."""
    metrics.count(stage, findings, calls)
    for finding in findings[:_LOGGED]:
        level = logging.WARNING if finding.reason else logging.INFO
        _log.log(level, "%s: %s (%s)", stage, finding.detail, finding.action or finding.reason)
    if len(findings) > _LOGGED:
        _log.warning("%s: and more; the metrics count them all", stage)
    if capture is not None and recorder is not None and (calls or findings):
        capture.keep(recorder, findings)


def answer_whole(plan: Plan, raw: bytes, capture: Capture | None) -> bytes:
    """The body of a whole answer as it may be sent; the same bytes where nothing had to change."""
    response = load_object(raw)
    if response is None:
        return raw
    normal, findings, calls = _WHOLE[plan.api](response, plan.policy)
    sent = raw if normal is response else dump(normal)
    recorder = recorder_for(plan, "whole", capture) if calls or findings else None
    if recorder is not None:
        recorder.came(raw)
        recorder.went(sent)
    _account("whole", findings, calls, recorder, capture)
    return sent


def answer_error(plan: Plan, status: int, raw: bytes) -> bytes:
    """The body of an answer that is an error, in the shape that the client knows."""
    return error_bytes(raw, status) if plan.api in MESSAGES else raw


class _Normalizer(Protocol):
    """What `ChatStream` and `ResponsesStream` have in common."""

    @property
    def findings(self) -> list[Finding]: ...
    @property
    def calls(self) -> int: ...
    @property
    def held(self) -> int: ...
    def feed(self, chunk: Json, /) -> list[Json]: ...
    def finish(self, *, died: bool = False) -> list[Json]: ...


#: What makes an answer of each API as it may be sent: whole, and as a stream.
_WHOLE: Mapping[str, Callable[[Json, Policy], tuple[Json, list[Finding], int]]] = {
    "chat": normalize_response,
    "responses": normalize_output,
    NATIVE: normalize_message,
    TRANSLATED: translated_answer,
}
_STREAMS: Mapping[str, Callable[[Policy, str], _Normalizer]] = {
    "chat": ChatStream,
    "responses": ResponsesStream,
    NATIVE: MessagesStream,
    TRANSLATED: TranslatedStream,
}
#: The events behind which nothing comes; a Chat stream ends with `[DONE]`.
_ENDS = {"responses": ENDS, NATIVE: MESSAGES_ENDS, TRANSLATED: MESSAGES_ENDS}
_NOT_TRANSLATED = "The upstream sent an event that is too long to be translated"


class StreamSession:
    """One streamed answer: bytes from the upstream in, bytes for the client out.

    `feed` and `finish` raise `OverBudget` where more would be held than the account allows; `give_up`
    has the last words then. Without an account, nothing is too much.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        capture: Capture | None,
        account: Account | None = None,
    ) -> None:
        self._api = plan.api
        self._ends = _ENDS.get(plan.api, ())
        self._account = account or Budget(sys.maxsize).account()
        self._splitter = EventSplitter(min(settings.max_event, settings.max_exchange // 2))
        self._normalizer = _STREAMS[plan.api](plan.policy, settings.mode)
        self._capture = capture
        self._recorder = recorder_for(plan, "stream", capture)
        self._done = False
        self._over = False

    def feed(self, data: bytes) -> bytes:
        """What to send for bytes that came in; may be nothing."""
        return self._treat(self._splitter.feed(data))

    @property
    def held(self) -> int:
        """About how many bytes are held for this answer."""
        recorded = self._recorder.size if self._recorder is not None else 0
        return self._splitter.held + self._normalizer.held + recorded

    def finish(self) -> bytes:
        """The upstream ended its stream."""
        rest = self._treat(self._splitter.finish())
        if not self._done:
            rest += self._sent(self._frames(self._normalizer.finish()))
        self._close()
        return rest

    def die(self, message: str) -> bytes:
        """The upstream broke off: what was complete goes out, then an error event."""
        if self._done:  # it had said everything, and only failed to hang up properly
            self._close()
            return b""
        pieces = self._frames(self._normalizer.finish(died=True))
        return self._end_with(pieces, message, "upstream_error")

    def give_up(self, message: str) -> bytes:
        """Too much would have to be held: nothing of it goes out but an error event."""
        _log.warning("stream: %s", message)
        return self._end_with([], message, "over_budget")

    def _end_with(self, pieces: list[bytes], message: str, kind: str) -> bytes:
        error = failure(message, kind)
        if self._api in MESSAGES:
            error = messages_error(message)
        elif self._ends:
            error |= error_event(message, kind)
        last = self._sent([*pieces, frame(error, "error")])
        self._close()
        return last

    def abandon(self) -> None:
        """The client is gone: what was found so far still counts."""
        self._close()

    def _close(self) -> None:
        if self._over:
            return
        self._over = True
        normalizer = self._normalizer
        _account("stream", normalizer.findings, normalizer.calls, self._recorder, self._capture)

    def _treat(self, events: list[ServerEvent]) -> bytes:
        pieces: list[bytes] = []
        for event in events:
            if self._recorder is not None:
                self._recorder.came(event.raw)
            pieces += self._pieces(event)
            self._account.hold(self.held)
        self._account.hold(self.held)
        return self._sent(pieces)

    def _sent(self, pieces: list[bytes]) -> bytes:
        if self._recorder is not None:
            for piece in pieces:
                self._recorder.went(piece)
        return b"".join(pieces)

    def _pieces(self, event: ServerEvent) -> list[bytes]:
        """What one event becomes; its own bytes where it needs no change."""
        translated = self._api == TRANSLATED
        if event.too_long and translated:
            return self._break_off()
        if event.data is None:
            return [event.raw]
        if event.data == DONE:
            self._done = True
            rest = self._frames(self._normalizer.finish())
            return rest if translated else [*rest, event.raw]
        chunk = event.load()
        if chunk is None:
            return [] if translated else [event.raw]
        out = self._normalizer.feed(chunk)
        if any(one.get("type") in self._ends for one in out):
            self._done = True
        return [event.raw if one is chunk else self._frame(one) for one in out]

    def _break_off(self) -> list[bytes]:
        """What can't be translated can't be left out, either: the client is told, once."""
        if self._done:
            return []
        self._done = True
        self._normalizer.finish(died=True)
        return [frame(messages_error(_NOT_TRANSLATED), "error")]

    def _frames(self, chunks: list[Json]) -> list[bytes]:
        return [self._frame(chunk) for chunk in chunks]

    def _frame(self, chunk: Json) -> bytes:
        return frame(chunk, str(chunk.get("type")) if self._ends else None)
