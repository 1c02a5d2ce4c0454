"""One request and its answer, without any I/O: what to send on, and what to send back.

`plan` reads a request: it is refused, or there is a `Plan`. `answer_whole` treats the answer as the plan
says; of one that streams, a `StreamSession` does. `with_tools_in_prompt` and `asked_again` say the same
in other words.
"""

from __future__ import annotations

import logging
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
from . import metrics
from .budget import in_mib
from .by_model import Models, prompt_words
from .capture import Captures, Recorder, known_tools
from .dialects import DIALECTS
from .messages_errors import as_messages_error, error_bytes
from .messages_route import MESSAGES, NATIVE, TRANSLATED, TRANSLATED_ROUTE
from .preparing import Prepared, earlier_ids, model_of, prepare
from .settings import Settings
from .sse import (
    dump,
    frame,
    load_answer,
    load_object,
)
from .tools_prompt import in_prompt, remind

Json = dict[str, Any]

#: How many findings of one answer are written into the log.
_LOGGED = 20

#: What an answer's parts are called, in whichever API.
_ANSWERS = ("choices", "output", "content")

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


def settle(
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
        findings.append(no_call(retry))
    sent = raw if normal is response and fit else dump(normal)
    recorder = recorder_for(plan, "whole", capture) if calls or findings else None
    if recorder is not None:
        recorder.came(raw)
        recorder.went(sent)
    settle("whole", findings, calls, recorder, capture, metrics.has_reasoning(normal))
    return b"" if disobeyed and retry else sent


def no_call(retry: bool) -> Finding:
    detail = "no call came although the tool choice requires one"
    return Finding("disobeyed", "asked_again" if retry else None, detail)


def answer_error(plan: Plan, status: int, raw: bytes) -> bytes:
    """The body of an answer that is an error, in the shape that the client knows."""
    return error_bytes(raw, status) if plan.api in MESSAGES else raw
