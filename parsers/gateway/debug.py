"""The debug routes: a page, and what it shows. All are off unless there is a key.

The page gives an exchange back to have its text read (`traced`): whichever worker has it, any can.

Who guesses keys is slowed down: after a number of wrong ones an address gets no answer for a while,
whatever it says. Wrong keys are counted, and logged without the key.
"""

from __future__ import annotations

import hmac
import logging
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from urllib.parse import parse_qs

from anyio import Lock, to_thread

from ..errors import ToolwireError
from ..openai.problems import failure
from ..view.page import HEADERS, assemble
from . import metrics
from .asgi import ClientGone, Receive, Refused, Scope, Send, read_body, send_bytes, send_json
from .budget import Budget
from .capture import MAX_EXCHANGE, Captures
from .settings import Settings
from .traced import trace_exchange

DEBUG_ROUTE = "/proxy/debug/tool-calls"
DEBUG_PAGE = "/proxy/debug"
DEBUG_TRACE = "/proxy/debug/trace"
#: Each route, and how it is asked.
DEBUG_ROUTES = {
    DEBUG_ROUTE: ("GET", "HEAD"),
    DEBUG_PAGE: ("GET", "HEAD"),
    DEBUG_TRACE: ("POST",),
}
MAX_LIMIT = 10_000
#: An exchange as JSON: a byte of it may take six.
_LARGEST_QUESTION = 6 * MAX_EXCHANGE + 1024 * 1024

#: So many wrong keys of one address in so many seconds, and so many addresses that are remembered.
WRONG_KEYS, SECONDS, _ADDRESSES = 20, 60.0, 10_000

_log = logging.getLogger("toolwire.gateway")


class WrongKeys:
    """When each address said a wrong key."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._times)

    def wait(self, address: str) -> float:
        """How many seconds this address has to wait; 0 if it may try."""
        times = self._times.get(address, deque())
        if len(times) < WRONG_KEYS:
            return 0.0
        return max(0.0, times[0] + SECONDS - self._clock())

    def add(self, address: str) -> None:
        self._times.setdefault(address, deque(maxlen=WRONG_KEYS)).append(self._clock())
        self._times.move_to_end(address)
        if len(self._times) > _ADDRESSES:
            self._times.popitem(last=False)


class DebugRoutes:
    """Answers requests for them."""

    def __init__(self, settings: Settings, capture: Captures | None, budget: Budget) -> None:
        self._key = (settings.admin_key or "").encode()
        self._capture = capture
        self._wrong = WrongKeys()
        self._budget = budget
        self._reasoning = settings.reasoning
        self._tracing = Lock()  # one at a time: answers to clients must not wait for it

    async def __call__(self, scope: Scope, receive: Receive, path: str, send: Send) -> None:
        if self._capture is None or scope["method"] not in DEBUG_ROUTES[path]:
            await send_json(send, 404, failure("There is nothing here", "not_found"))
        elif path == DEBUG_PAGE:
            page = assemble(__package__, "page.html")
            headers = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            await send_bytes(send, 200, page, b"text/html; charset=utf-8", headers)
        elif not await self._is_admin(scope, send):
            return
        elif path == DEBUG_TRACE:
            await self._trace(scope, receive, send)
        else:
            query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
            limit = query.get("limit", ["50"])[0]
            count = min(int(limit), MAX_LIMIT) if limit.isdecimal() and len(limit) < 9 else 50
            clear = query.get("clear", ["false"])[0].lower() in ("true", "1")
            await self._show(self._capture, count, clear, send)

    async def _show(self, capture: Captures, count: int, clear: bool, send: Send) -> None:
        try:
            items = await capture.newest(count)
            if clear:
                await capture.clear()
        except OSError as error:
            said = f"The server that has the exchanges does not answer ({error})"
            await send_json(send, 503, failure(said, "unavailable"))
            return
        told = {"items": items, "count": len(items), "whose": capture.whose}
        await send_json(send, 200, told)

    async def _trace(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with self._budget.account() as account:
                body = await read_body(scope, receive, _LARGEST_QUESTION, account)
                async with self._tracing:
                    told = await to_thread.run_sync(trace_exchange, body, self._reasoning)
        except Refused as refused:
            await send_json(send, refused.status, refused.body, refused.headers)
        except ToolwireError as error:
            await send_json(send, 400, failure(str(error), "invalid_exchange"))
        except ClientGone:
            return
        else:
            await send_json(send, 200, told)

    async def _is_admin(self, scope: Scope, send: Send) -> bool:
        """Whether the key is right; if not, the answer is sent."""
        address = str((scope.get("client") or ("-",))[0])
        wait = math.ceil(self._wrong.wait(address))
        if wait:
            metrics.WRONG_KEYS.labels("limited").inc()
            said = failure("There were too many wrong keys: try again later", "too_many_requests")
            await send_json(send, 429, said, [(b"retry-after", str(wait).encode())])
            return False
        given = [value for name, value in scope["headers"] if name.lower() == b"x-admin-key"]
        if len(given) == 1 and hmac.compare_digest(given[0], self._key):
            return True
        if any(given):
            self._wrong.add(address)
            metrics.WRONG_KEYS.labels("wrong").inc()
            _log.warning("a wrong admin key from %s", address)
        await send_json(send, 401, failure("X-Admin-Key is missing or wrong", "unauthorized"))
        return False
