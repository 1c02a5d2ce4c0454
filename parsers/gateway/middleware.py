"""The ASGI middleware: looks at tool calls on their way out, and at requests on their way in.

It is plain ASGI, so that a stream passes chunk by chunk: nothing is collected but what has to be.
Everything that is not a tool-call route passes untouched.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, TypeVar

from anyio import Lock, to_thread

from . import metrics
from .answer import Another, Answer, KeepAlive
from .asgi import (
    App,
    ClientGone,
    Message,
    Receive,
    Refused,
    Scope,
    Send,
    UpstreamDied,
    ask_app,
    hold,
    read_body,
    send_json,
)
from .budget import Account, Budget
from .by_model import Models
from .capture import Captures, captures
from .debug import DEBUG_ROUTES, DebugRoutes
from .exchange import Plan, Refusal, asked_again, plan, with_tools_in_prompt
from .messages_errors import as_messages_error
from .messages_route import MESSAGES, NATIVE, TRANSLATED, MessagesRoute, chat_scope
from .settings import Settings

ROUTES = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": NATIVE,
    "/proxy/chat/completions": "chat",
    "/proxy/responses": "responses",
    "/proxy/messages": NATIVE,
}
#: What all other paths of the API are counted as: clients must not be able to make up labels.
OTHER_ROUTES = "/v1/*"

_LARGE = 256 * 1024
_NAMES_LAST = 60.0  # seconds until the upstream is asked again for its models' names
_MODEL = 200  # characters of a model's name, by which its breaker is kept
_MAX_NAMES = 4 * 1024 * 1024
_Made = TypeVar("_Made")

_log = logging.getLogger("toolwire.gateway")

#: In the scope: the middleware is on this request, and wants to know when the upstream dies.
MARK = "toolwire.watched"
#: … and the model that it asks for.
MODEL = "toolwire.model"
#: … and whether its tools could go into the prompt, if they are refused.
MAY_PROMPT = "toolwire.may_prompt"


class ToolCallMiddleware:
    """Normalises tool calls in the answers of the app that it wraps, and checks requests to it.

    Without `settings`, they come from the environment: a server that is given only the name of this
    class (`--middleware toolwire.gateway.ToolCallMiddleware`) has no other way.
    """

    def __init__(
        self, app: App, settings: Settings | None = None, budget: Budget | None = None
    ) -> None:
        self.app = app
        self.settings = settings or Settings.from_environment()
        self.budget = budget or Budget(self.settings.max_held)
        self.messages = MessagesRoute(self.settings.messages)
        self.models = Models(self.settings.format, self.settings.tools)
        self._naming = Lock()
        self._named: float | None = None  # when the upstream was asked for its models' names
        self.capture: Captures | None = None
        if self.settings.admin_key:
            kept = (self.settings.debug_max, self.settings.debug_bytes)
            self.capture = captures(self.settings.capture, *kept)
        self._debug = DebugRoutes(self.settings, self.capture, self.budget)

    async def close(self) -> None:
        """No more requests will come."""
        if self.capture is not None:
            await self.capture.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = str(scope["path"]).removeprefix(scope.get("root_path", ""))
        if path in DEBUG_ROUTES:
            await self._debug(scope, receive, path, send)
        elif scope["method"] == "POST" and path in ROUTES:
            await self._exchange(scope, receive, send, path)
        elif path.startswith("/v1/"):
            await self._pass_counted(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _pass_counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request and its answer on untouched."""
        started = time.perf_counter()
        status: Any = "none"

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                metrics.FIRST_BYTE.labels(OTHER_ROUTES).observe(time.perf_counter() - started)
            await send(message)

        try:
            await self.app(scope, receive, watch)
        finally:
            metrics.REQUESTS.labels(OTHER_ROUTES, status).inc()
            metrics.SECONDS.labels(OTHER_ROUTES).observe(time.perf_counter() - started)

    async def _exchange(self, scope: Scope, receive: Receive, send: Send, path: str) -> None:
        started = time.perf_counter()
        with self.budget.account() as request:
            try:
                raw = await read_body(scope, receive, self.settings.max_body, request)
                if self.models.choice.asks_upstream:
                    await self._learn_names(scope)
                planned = await self._plan(path, self.messages.api(ROUTES[path]), raw, request)
                del raw  # what goes on is in the plan
            except Refused as refused:
                body = refused.body
                if ROUTES[path] in MESSAGES:
                    body = as_messages_error(body, refused.status)
                await send_json(send, refused.status, body, refused.headers)
                metrics.REQUESTS.labels(path, refused.status).inc()
                return
            except ClientGone:
                return
            with self.budget.account(self.settings.max_exchange) as account:
                answer = Answer(planned, self.settings, self.capture, send, account, started)
                answer.may_be_missing = self.messages.may_be_missing(planned.api)
                try:
                    await self._answer(scope, receive, answer, request)
                except Refused as refused:
                    await answer.refuse(refused)
                except UpstreamDied as error:
                    await answer.die(str(error))
                finally:
                    answer.close()

    async def _learn_names(self, scope: Scope) -> None:
        """What the upstream calls its models. What it serves may change, so it is asked now and then."""
        async with self._naming:
            now = time.monotonic()
            if self._named is not None and now - self._named < _NAMES_LAST:
                return
            self._named = now
            path = f"{scope.get('root_path', '')}/v1/models"
            answer = await ask_app(self.app, scope, path, _MAX_NAMES)
            if answer is not None:
                self.models.learn_names(answer)

    async def _answer(
        self, scope: Scope, receive: Receive, answer: Answer, request: Account
    ) -> None:
        """Has the app answer. A client that waits for a stream hears something meanwhile."""
        if not answer.plan.stream or not self.settings.keep_alive:
            await self._ask(scope, receive, answer, request)
            return
        async with KeepAlive(answer, self.settings.keep_alive):
            await self._ask(scope, receive, answer, request)

    async def _ask(self, scope: Scope, receive: Receive, answer: Answer, request: Account) -> None:
        """Asks, and asks in another way as long as what the app says is no answer."""
        body: bytes | None = answer.plan.body
        while body is not None:
            answer.another = None
            await self._hand_on(scope, receive, answer, body)
            body = await self._other_words(answer, body, request)

    def _learn(self, planned: Plan, status: int) -> None:
        """What the status of an answer says of the upstream."""
        if not planned.in_prompt:
            self.messages.learn(planned.api, status)
        elif status == 200 and not planned.odd_tools:
            self.models.learn_refusal(planned.model)

    async def _other_words(self, answer: Answer, body: bytes, request: Account) -> bytes | None:
        """What to ask next; nothing where the client has its answer."""
        planned, another = answer.plan, answer.another
        if another is Another.FEWER_TOOLS:
            return planned.second
        if another is Another.AGAIN:
            return asked_again(planned, body)
        if another is Another.TRANSLATED:
            planned = await self._plan(planned.route, TRANSLATED, body, request)
        elif another is Another.IN_PROMPT and planned.api == NATIVE:
            planned = await self._plan(planned.route, NATIVE, body, request, tools_refused=True)
        elif another is Another.IN_PROMPT:
            planned = await self._aside(len(body), with_tools_in_prompt, planned)
            hold(request, len(planned.body) + planned.weight)
        else:
            return None
        answer.start_over(planned)
        return planned.body

    async def _hand_on(self, scope: Scope, receive: Receive, answer: Answer, body: bytes) -> None:
        scope = chat_scope(scope) if answer.plan.api == TRANSLATED else scope
        inner = dict(scope) | {"headers": _headers_for(scope, body), MARK: True}
        inner[MODEL] = answer.plan.model[:_MODEL]
        inner[MAY_PROMPT] = answer.plan.may_prompt

        async def take(message: Message) -> None:
            if message["type"] == "http.response.start":
                # Before the client hears of it: its next request may come at once.
                self._learn(answer.plan, message["status"])
            await answer.take(message)

        try:
            await self.app(inner, _Replay(body, receive), take)
        except UpstreamDied:
            if answer.another is None:  # nobody wants to know the rest of what is no answer
                raise

    async def _plan(
        self, path: str, api: str, raw: bytes, account: Account, tools_refused: bool = False
    ) -> Plan:
        asked = (path, api, raw, self.settings, self.models, tools_refused)
        planned = await self._aside(len(raw), plan, *asked)
        if isinstance(planned, Refusal):
            raise Refused(planned.status, planned.body)
        hold(account, len(planned.body) + len(planned.second or b"") + planned.weight)
        for what, count in planned.repaired.items():
            metrics.REPAIRED.labels(what).inc(count)
            _log.info("request: %s put right, %d times", what, count)
        return planned

    async def _aside(self, size: int, work: Callable[..., _Made], *given: Any) -> _Made:
        """Work on a request. A large one takes a while; other clients must not wait for that."""
        return work(*given) if size < _LARGE else await to_thread.run_sync(work, *given)


class _Replay:
    """Hands the app the body once; after that, what the server has to say (the client left)."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def _headers_for(scope: Scope, body: bytes) -> list[tuple[bytes, bytes]]:
    """The request's headers for the app: the right length, and an answer that can be read."""
    dropped = (b"content-length", b"accept-encoding", b"transfer-encoding")
    kept = [(n, v) for n, v in scope["headers"] if n.lower() not in dropped]
    return [*kept, (b"content-length", str(len(body)).encode()), (b"accept-encoding", b"identity")]
