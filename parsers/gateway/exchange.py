"""One request and its answer, without any I/O: what to send on, and what to send back.

`plan` reads a request: it is refused, or there is a `Plan`. `answer_whole` and `StreamSession` treat
the answer as the plan says.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..openai.normalize import Finding, Policy, normalize_response
from ..openai.problems import failure as failure
from ..openai.repair import read_repairs
from ..openai.request import read_request
from ..openai.sizes import size_of
from ..openai.stream_normalize import ChatStream
from . import metrics
from .budget import Account, Budget, in_mib
from .capture import Capture, Recorder, known_tools
from .preparing import Prepared, prepare
from .responses import normalize_output
from .responses_stream import ENDS, ResponsesStream, error_event
from .settings import Settings
from .sse import DONE, EventSplitter, ServerEvent, dump, frame, load_answer, load_object

Json = dict[str, Any]

#: How many findings of one answer are written into the log.
_LOGGED = 20

#: In an event that can't be read: it may hold a call.
_CALL = re.compile(rb"tool_calls|function_call")
_DONE = b"data: " + DONE + b"\n\n"
_ENDINGS = (b"\n\n", b"\n\r\n", b"\r\r")
_FAILED = "The upstream reported an error"
_UNREADABLE = "The upstream sent a call in an event that can't be read"

_log = logging.getLogger("toolwire.gateway")


@dataclass(frozen=True, slots=True)
class Plan:
    """A request that may go on, and how its answer is to be treated."""

    route: str
    api: str
    body: bytes
    policy: Policy
    weight: int = 0  # the bytes that the policy takes, beside the body
    stream: bool = False  # whether the client asked for a stream
    second: bytes | None = None  # what to send where the upstream refuses the body
    repaired: Mapping[str, int] = field(default_factory=dict)  # what was put right, and how often


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that may not go on."""

    status: int
    body: Json


def plan(route: str, api: str, raw: bytes, settings: Settings) -> Plan | Refusal:
    """Check a request, and find out how its answer is to be treated."""
    prepared = prepare(raw, api, settings)
    if not isinstance(prepared, Prepared):
        return Refusal(400, prepared)
    body = prepared.body
    request = read_request(body, api)
    policy = Policy(
        format=settings.format,
        request=request,
        sequential_ids=settings.ids == "sequential",
        taken_ids=_ids(body),
        names=prepared.names,
        repair=read_repairs(settings.repair),
    )
    weight = size_of(request.tools) + size_of(policy.taken_ids) + size_of(policy.names)
    if weight > settings.max_exchange:
        most = in_mib(settings.max_exchange)
        message = f"The tools and ids of this request take more than {most} of memory"
        return Refusal(413, failure(message, "request_too_large"))
    return Plan(
        route,
        api,
        prepared.sent,
        policy,
        weight,
        stream=body.get("stream") is True,
        second=prepared.second,
        repaired=prepared.repaired,
    )


def _ids(body: Json) -> frozenset[str]:
    """The ids of the calls of earlier turns."""
    calls = [call for m in _objects(body.get("messages")) for call in _objects(m.get("tool_calls"))]
    ids = [call.get("id") for call in calls]
    ids += [item.get("call_id") for item in _objects(body.get("input"))]
    return frozenset(id for id in ids if isinstance(id, str))


def _objects(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def late_error(plan: Plan, status: int, body: bytes) -> bytes:
    """An answer that is no stream, as an event for a client that was promised one."""
    answer = load_object(body) or {}
    error = answer.get("error")
    told = error.get("message") if isinstance(error, dict) else error
    message = told if isinstance(told, str) else f"The upstream answered {status}, and no stream"
    if plan.api == "responses":
        return frame(failure(message) | error_event(message), "error")
    kept = error if isinstance(error, dict) else {}
    return frame({"error": failure(message)["error"] | {"code": status} | kept}, "error")


def recorder_for(plan: Plan, stage: str, capture: Capture | None) -> Recorder | None:
    """Where to record an exchange; None where nothing is captured, or no call can come."""
    if capture is None:
        return None
    format = str(plan.policy.format or "") or None
    return Recorder(plan.route, stage, format, known_tools(plan.policy.request))


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
    response, fit = load_answer(raw)
    if response is None:
        return raw
    normalize = normalize_response if plan.api == "chat" else normalize_output
    normal, findings, calls = normalize(response, plan.policy)
    sent = raw if normal is response and fit else dump(normal)
    recorder = recorder_for(plan, "whole", capture) if calls or findings else None
    if recorder is not None:
        recorder.came(raw)
        recorder.went(sent)
    _account("whole", findings, calls, recorder, capture)
    return sent


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
        self._named = plan.api == "responses"
        self._account = account or Budget(sys.maxsize).account()
        self._splitter = EventSplitter(min(settings.max_event, settings.max_exchange // 2))
        self._normalizer: _Normalizer = (
            ResponsesStream(plan.policy, settings.mode, settings.emit)
            if self._named
            else ChatStream(plan.policy, settings.mode, settings.emit)
        )
        self._capture = capture
        self._recorder = recorder_for(plan, "stream", capture)
        self._done = False  # the upstream has said everything
        self._failed = False  # the client was told of an error, and gets no more
        self._tail = b""  # the end of what was sent of an event that is too long
        self._over = False

    def feed(self, data: bytes) -> bytes:
        """What to send for bytes that came in; may be nothing."""
        return self._treat(self._splitter.feed(data))

    @property
    def held(self) -> int:
        """About how many bytes are held for this answer."""
        recorded = self._recorder.size if self._recorder is not None else 0
        return self._splitter.held + self._normalizer.held + recorded

    @property
    def between_events(self) -> bool:
        """Whether something may be put behind what was sent so far."""
        return not self._splitter.passing

    def finish(self) -> bytes:
        """The upstream ended its stream."""
        rest = self._treat(self._splitter.finish())
        if not self._done:
            rest += self._sent(self._frames(self._normalizer.finish()))
        self._close()
        return rest

    def die(self, message: str) -> bytes:
        """The upstream broke off: what was held of the text goes out, then an error event."""
        if self._done:  # it had said everything, and only failed to hang up properly
            self._close()
            return b""
        return self._end_with(self._last_words(), message, "upstream_error")

    def _last_words(self) -> list[bytes]:
        """What may still be sent of an answer that broke off."""
        return self._frames(self._normalizer.finish(died=True))

    def give_up(self, message: str) -> bytes:
        """Too much would have to be held: nothing of it goes out but an error event."""
        _log.warning("stream: %s", message)
        return self._end_with([], message, "over_budget")

    def _end_with(self, pieces: list[bytes], message: str, kind: str) -> bytes:
        last = self._sent([*pieces, self._error(message, kind)])
        self._close()
        return last

    def _error(self, message: str, kind: str = "upstream_error") -> bytes:
        error = failure(message, kind)
        if self._named:
            error |= error_event(message, kind)
        return frame(error, "error")

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
        if self._failed:
            return []  # nothing counts behind an error
        if event.too_long:
            return self._pass_unread(event)
        if event.data is None:
            return [event.raw]
        if event.done:
            self._done = True
            last = self._finish_normally()
            self._failed = any(_is_error(chunk) for chunk in last)
            plain = (
                event.raw if event.data == DONE else _DONE
            )  # clients look for it as it should be
            return self._frames(last) + ([] if self._failed else [plain])
        chunk, fit = load_answer(event.data)
        if chunk is None or (not self._named and "choices" not in chunk and event.named_error):
            return self._odd_pieces(event, chunk)
        if self._named and chunk.get("type") in ENDS:
            self._done = True
        if not self._named and chunk.get("error"):
            self._failed = self._done = True
        out = self._normalizer.feed(chunk)
        return [event.raw if one is chunk and fit else self._frame(one) for one in out]

    def _finish_normally(self) -> list[Json]:
        if isinstance(self._normalizer, ChatStream):
            return self._normalizer.finish(done=True)
        return self._normalizer.finish()

    def _odd_pieces(self, event: ServerEvent, chunk: Json | None) -> list[bytes]:
        """An event that is no chunk: an error that not every client would notice, or anything else."""
        if event.named_error:
            pieces = [*self._last_words(), event.raw]
            self._failed = self._done = True
            return pieces if chunk and chunk.get("error") else [*pieces, self._error(_FAILED)]
        return self._pass_unread(event)

    def _pass_unread(self, event: ServerEvent) -> list[bytes]:
        """The bytes of an event that can't be read, unless there is a call in it: that can't be checked,
        so the client is told."""
        seen = self._tail + event.raw
        self._tail = b"" if not event.too_long or event.raw.endswith(_ENDINGS) else event.raw[-16:]
        if not _CALL.search(seen):
            return [event.raw]
        self._normalizer.finish(died=True)
        self._failed = self._done = True
        begun = event.too_long and len(seen) > len(event.raw)  # some of it was sent
        return [b"\n\n" if begun else b"", self._error(_UNREADABLE)]

    def _frames(self, chunks: list[Json]) -> list[bytes]:
        return [self._frame(chunk) for chunk in chunks]

    def _frame(self, chunk: Json) -> bytes:
        if self._named:
            return frame(chunk, str(chunk.get("type")))
        return frame(chunk, "error" if chunk.get("error") else None)


def _is_error(chunk: Json) -> bool:
    return bool(chunk.get("error")) or chunk.get("type") == "error"
