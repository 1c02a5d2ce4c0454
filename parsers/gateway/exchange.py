"""One request and its answer, without any I/O: what to send on, and what to send back.

`plan` reads a request: it is refused, or there is a `Plan`. `answer_whole` and `StreamSession` treat
the answer as the plan says. `with_tools_in_prompt` and `asked_again` say the same in other words.
"""

from __future__ import annotations

import logging
import sys
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..openai.normalize import Finding
from ..openai.policy import Policy
from ..openai.problems import failure as failure
from ..openai.repairs import read_repairs
from ..openai.request import read_request
from ..openai.request_repair import has_odd_tools
from ..openai.sizes import size_of
from ..openai.stream_normalize import ChatStream
from . import metrics
from .alike import Alike
from .budget import Account, Budget, in_mib
from .by_model import Models, prompt_words
from .capture import Captures, Recorder, known_tools
from .dialects import DIALECTS
from .messages_errors import as_messages_error, error_bytes
from .messages_route import MESSAGES, NATIVE, TRANSLATED, TRANSLATED_ROUTE
from .preparing import Prepared, earlier_ids, model_of, prepare
from .settings import Settings
from .sse import DONE, EventSplitter, ServerEvent, dump, frame, load_answer, load_object
from .tools_prompt import in_prompt, remind

Json = dict[str, Any]

#: How many findings of one answer are written into the log.
_LOGGED = 20

#: What an answer's parts are called, in whichever API.
_ANSWERS = ("choices", "output", "content")
#: How many events that wait are known as they came, and how long such a one is.
_WAITING, _SMALL = 4, 65_536
_DONE = b"data: " + DONE + b"\n\n"
_ENDINGS = (b"\n\n", b"\n\r\n", b"\r\r")
_FAILED = "The upstream reported an error"
_UNREADABLE = "The upstream sent a call in an event that can't be read"
_NOT_TRANSLATED = "The upstream sent an event that is too long to be translated"

_log = logging.getLogger("toolwire.gateway")


@dataclass(frozen=True, slots=True)
class Plan:
    """A request that may go on, and how its answer is to be treated."""

    route: str
    api: str  # of the answer: `chat`, `responses`, `messages`, or `translated` (from Chat to Messages)
    body: bytes
    policy: Policy
    weight: int = 0  # the bytes that the policy takes, beside the body
    stream: bool = False  # whether the client asked for a stream
    second: bytes | None = None  # what to send where the upstream refuses the body
    repaired: Mapping[str, int] = field(default_factory=dict)  # what was put right, and how often
    model: str = ""
    in_prompt: bool = False  # the tools are in the prompt
    may_prompt: bool = False  # … and could be, where the upstream refuses them
    odd_tools: bool = False  # some are no functions, so a refusal says nothing of the others
    retries: int = 0  # how often is asked again where a call had to come, and none did

    @property
    def must_call(self) -> bool:
        """Whether an answer without a call is not what the client asked for."""
        return self.policy.request.choice.forced and bool(self.policy.request.functions)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that may not go on."""

    status: int
    body: Json


def plan(
    route: str,
    api: str,
    raw: bytes,
    settings: Settings,
    models: Models | None = None,
    tools_refused: bool = False,
) -> Plan | Refusal:
    """Check a request, and find out how its answer is to be treated.

    `tools_refused`: the upstream took no tools, so they are to go into the prompt.
    """
    models = models or Models(settings.format, settings.tools)
    prepared = prepare(raw, api, settings, models, tools_refused=tools_refused)
    if not isinstance(prepared, Prepared):
        return Refusal(400, prepared)
    api, body, model = prepared.api, prepared.body, model_of(prepared.body)
    request = read_request(body, "chat" if api in MESSAGES else api)
    policy = Policy(
        format=prepared.format,
        request=request,
        sequential_ids=settings.ids == "sequential",
        taken_ids=earlier_ids(body),
        names=prepared.names,
        repair=read_repairs(settings.repair),
        reasoning=settings.reasoning,
    )
    weight = size_of(request.tools) + size_of(policy.taken_ids) + size_of(policy.names)
    if weight > settings.max_exchange:
        most = in_mib(settings.max_exchange)
        message = f"The tools and ids of this request take more than {most} of memory"
        return Refusal(413, failure(message, "request_too_large"))
    can_prompt = prompt_words(prepared.format) is not None and bool(request.functions)
    if prepared.in_prompt or (api == NATIVE and settings.messages == "native"):
        can_prompt = False
    return Plan(
        route,
        api,
        prepared.sent,
        policy,
        weight,
        stream=body.get("stream") is True,
        second=prepared.second,
        repaired=prepared.repaired,
        model=model,
        in_prompt=prepared.in_prompt,
        may_prompt=can_prompt and models.may_refuse(model),
        odd_tools=has_odd_tools(body),
        retries=settings.retry_required,
    )


def with_tools_in_prompt(plan: Plan) -> Plan:
    """The same request for an upstream that takes no tools; one of the Messages API is planned anew."""
    body, words = load_answer(plan.body)[0], prompt_words(str(plan.policy.format))
    assert body is not None
    assert words is not None
    sent = dump(in_prompt(body, _words_api(plan.api), words))
    return replace(plan, body=sent, second=None, in_prompt=True, may_prompt=False)


def asked_again(plan: Plan, sent: bytes) -> bytes:
    """The request that was sent, for an upstream that did not call although it had to."""
    body = load_answer(sent)[0] or {}
    return dump(remind(body, _words_api(plan.api), plan.policy.request))


def _words_api(api: str) -> str:
    """The API of what is sent, as far as a conversation's turns go."""
    return "responses" if api == "responses" else "chat"


def late_error(plan: Plan, status: int, body: bytes) -> bytes:
    """An answer that is no stream, as an event for a client that was promised one."""
    answer = load_object(body) or {}
    error = answer.get("error")
    told = error.get("message") if isinstance(error, dict) else error
    message = told if isinstance(told, str) else f"The upstream answered {status}, and no stream"
    return frame(DIALECTS[plan.api].late(answer, message, status), "error")


def error_answer(plan: Plan, status: int, body: Json) -> Json:
    """The body of an error of the gateway's own, in the shape that the client knows."""
    return as_messages_error(body, status) if plan.api in MESSAGES else body


def recorder_for(plan: Plan, stage: str, capture: Captures | None) -> Recorder | None:
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
    capture: Captures | None,
    reasoning: bool = False,
) -> None:
    """Count what was found, log it, and keep the exchange if it was about calls."""
    metrics.count(stage, findings, calls, reasoning)
    for finding in findings[:_LOGGED]:
        level = logging.WARNING if finding.reason else logging.INFO
        _log.log(level, "%s: %s (%s)", stage, finding.detail, finding.action or finding.reason)
    if len(findings) > _LOGGED:
        _log.warning("%s: and more; the metrics count them all", stage)
    if capture is not None and recorder is not None and (calls or findings):
        capture.keep(recorder, findings)


def answer_whole(plan: Plan, raw: bytes, capture: Captures | None, retry: bool = False) -> bytes:
    """The body of a whole answer as it may be sent; the same bytes where nothing had to change.

    With `retry`, nothing for one that is to be asked for again, because it has no call and must have.
    """
    response, fit = load_answer(raw)
    if response is None:
        return raw
    normal, findings, calls = DIALECTS[plan.api].whole(response, plan.policy)
    disobeyed = plan.must_call and not calls and any(key in response for key in _ANSWERS)
    if disobeyed:
        findings.append(_no_call(retry))
    sent = raw if normal is response and fit else dump(normal)
    recorder = recorder_for(plan, "whole", capture) if calls or findings else None
    if recorder is not None:
        recorder.came(raw)
        recorder.went(sent)
    _account("whole", findings, calls, recorder, capture, metrics.has_reasoning(normal))
    return b"" if disobeyed and retry else sent


def _no_call(retry: bool) -> Finding:
    detail = "no call came although the tool choice requires one"
    return Finding("disobeyed", "asked_again" if retry else None, detail)


def answer_error(plan: Plan, status: int, raw: bytes) -> bytes:
    """The body of an answer that is an error, in the shape that the client knows."""
    return error_bytes(raw, status) if plan.api in MESSAGES else raw


class StreamSession:
    """One streamed answer: bytes from the upstream in, bytes for the client out.

    `feed` and `finish` raise `OverBudget` where more would be held than the account allows; `give_up`
    has the last words then. Without an account, nothing is too much.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        capture: Captures | None,
        account: Account | None = None,
        retry: bool = False,
    ) -> None:
        self._dialect = DIALECTS[plan.api]
        self._must_call = plan.must_call
        self._retry = retry  # an answer without a call is asked for again, if one must come
        self._account = account or Budget(sys.maxsize).account()
        self._splitter = EventSplitter(min(settings.max_event, settings.max_exchange // 2))
        self._normalizer = self._dialect.stream(plan.policy, settings.mode, settings.emit)
        self._alike = Alike(self._normalizer)
        self._capture = capture
        self._recorder = recorder_for(plan, "stream", capture)
        self._reasoning = False  # whether thoughts went by
        self._done = False  # the upstream has said everything
        self._failed = False  # the client was told of an error, and gets no more
        self._tail = b""  # the end of what was sent of an event that is too long
        self._waiting: deque[tuple[Json, bytes]] = deque(maxlen=_WAITING)
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
    def calls(self) -> int:
        """How many calls were sent."""
        return self._normalizer.calls

    @property
    def disobeyed(self) -> bool:
        """Whether the answer came to its end without a call that had to come."""
        return self._must_call and self._done and not self._failed and not self.calls

    @property
    def between_events(self) -> bool:
        """Whether something may be put behind what was sent so far."""
        return not self._splitter.passing

    def finish(self) -> bytes:
        """The upstream ended its stream."""
        rest = self._treat(self._splitter.finish())
        if not self._done:
            last = self._normalizer.finish()
            self._failed = self._failed or any(map(_is_error, last))
            self._done = True
            rest += self._sent(self._frames(last))
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
        return frame(self._dialect.error(message, kind), "error")

    def abandon(self) -> None:
        """The client is gone: what was found so far still counts."""
        self._close()

    def _close(self) -> None:
        if self._over:
            return
        self._over = True
        normalizer = self._normalizer
        found, calls = normalizer.findings, normalizer.calls
        if self.disobeyed:
            found = [*found, _no_call(self._retry)]
        _account("stream", found, calls, self._recorder, self._capture, self._reasoning)

    def _treat(self, events: list[ServerEvent]) -> bytes:
        pieces: list[bytes] = []
        taken = 0  # bytes, since it was counted what is held
        for event in events:
            if self._recorder is not None:
                self._recorder.came(event.raw)
            pieces += self._pieces(event)
            taken += len(event.raw)
            if taken > _SMALL:
                taken = 0
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
        dialect = self._dialect
        if self._failed:
            return []  # nothing counts behind an error
        if event.too_long:
            return self._pass_unread(event)
        if event.data is None or self._alike.passes(event.raw):
            return [event.raw]
        if event.done:
            self._done = True
            last = self._finish_normally()
            self._failed = any(_is_error(chunk) for chunk in last)
            # Clients look for it as it should be.
            plain = event.raw if event.data == DONE else _DONE
            unsaid = self._failed or dialect.translates
            return self._frames(last) + ([] if unsaid else [plain])
        chunk, fit = load_answer(event.data)
        if chunk is None or (dialect.reads_chat and "choices" not in chunk and event.named_error):
            return self._odd_pieces(event, chunk)
        if dialect.reads_chat and chunk.get("error"):
            self._failed = self._done = True
        out = self._normalizer.feed(chunk)
        if dialect.ends and any(one.get("type") in dialect.ends for one in out):
            self._done = True
            self._failed = self._failed or (dialect.speaks_messages and any(map(_is_error, out)))
        self._reasoning = self._reasoning or metrics.have_reasoning(out, chunk, event.raw)
        if fit and not out and len(event.raw) < _SMALL:
            self._waiting.append((chunk, event.raw))
        if fit and len(out) == 1 and out[0] is chunk:
            self._alike.learn(event.raw, chunk)
            return [event.raw]
        return [event.raw if one is chunk and fit else self._bytes(one) for one in out]

    def _bytes(self, chunk: Json) -> bytes:
        """A chunk as it came, if it only had to wait for others; else as it is now."""
        for waiting, raw in self._waiting:
            if waiting is chunk:
                return raw
        return self._frame(chunk)

    def _finish_normally(self) -> list[Json]:
        if isinstance(self._normalizer, ChatStream):
            return self._normalizer.finish(done=True)
        return self._normalizer.finish()

    def _odd_pieces(self, event: ServerEvent, chunk: Json | None) -> list[bytes]:
        """An event that is no chunk: an error that not every client would notice, or anything else."""
        if not event.named_error:
            return self._pass_unread(event)
        pieces = self._last_words()
        self._failed = self._done = True
        if self._dialect.translates:
            return [*pieces, frame(as_messages_error(chunk or failure(_FAILED)), "error")]
        pieces.append(event.raw)
        return pieces if chunk and chunk.get("error") else [*pieces, self._error(_FAILED)]

    def _pass_unread(self, event: ServerEvent) -> list[bytes]:
        """The bytes of an event that can't be read, unless there is a call in it: that can't be checked,
        so the client is told."""
        seen = self._tail + event.raw
        self._tail = b"" if not event.too_long or event.raw.endswith(_ENDINGS) else event.raw[-16:]
        translates = self._dialect.translates
        has_call = self._dialect.calls.search(seen) is not None
        if not has_call and not (translates and event.too_long):
            return [] if translates else [event.raw]
        self._normalizer.finish(died=True)
        self._failed = self._done = True
        begun = event.too_long and len(seen) > len(event.raw)  # some of it was sent
        return [
            b"\n\n" if begun else b"",
            self._error(_UNREADABLE if has_call else _NOT_TRANSLATED),
        ]

    def _frames(self, chunks: list[Json]) -> list[bytes]:
        return [self._frame(chunk) for chunk in chunks]

    def _frame(self, chunk: Json) -> bytes:
        if self._dialect.named:
            return frame(chunk, str(chunk.get("type")))
        return frame(chunk, "error" if chunk.get("error") else None)


def _is_error(chunk: Json) -> bool:
    return bool(chunk.get("error")) or chunk.get("type") == "error"
