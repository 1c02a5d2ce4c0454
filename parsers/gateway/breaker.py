"""The circuit breaker: an upstream that fails is left alone for a while, then one request tests it.

    closed ──failures in a row──▶ open ──seconds──▶ half open ──an answer──▶ closed
                                   ▲                   │ a failure
                                   └───────────────────┘

Only what is wrong with the upstream itself counts: no connection, 502, 503, 504, and an answer that
breaks off. Never an error that a request may provoke (500, any 4xx, an answer that takes too long): one
client's requests must not shut the upstream for the others. There is one breaker for each model of an
upstream: a router may have lost one model and serve the others.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from purgatory.domain.model import CLOSED, HALF_OPENED, OPENED, Context

from . import metrics
from .transport import Broken, NotConnected

CONNECTION_ERRORS = (NotConnected, Broken)

_STATES = {CLOSED: 0, HALF_OPENED: 1, OPENED: 2}


class Unavailable(Exception):
    """There is no answer from the upstream: the status and the sentence for the client."""

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


#: Clients make up names of models: so many are remembered, those that were asked for last.
_MODELS = 256


class Breakers:
    """Those of one upstream, by model."""

    def __init__(self, name: str, failures: int, seconds: float) -> None:
        self._limits = (failures, seconds)
        self._by_model: OrderedDict[str, Breaker] = OrderedDict()
        self._gauge = metrics.BREAKER.labels(name)
        self._show()

    def of(self, model: str) -> Breaker:
        found = self._by_model.get(model)
        if found is None:
            found = self._by_model[model] = Breaker(*self._limits, self._show)
            if len(self._by_model) > _MODELS:
                self._by_model.popitem(last=False)
        self._by_model.move_to_end(model)
        return found

    def _show(self) -> None:
        """The metric has the worst state: a label for each model would be for clients to make up."""
        self._gauge.set(max((breaker.state for breaker in self._by_model.values()), default=0))


class Breaker:
    """The states are purgatory's; what counts as a failure, and as an answer, is decided here."""

    def __init__(self, failures: int, seconds: float, changed: Callable[[], None]) -> None:
        self._context = Context("", failures, seconds)
        self._seconds = seconds
        self._changed = changed
        self.state = 0
        self._probing = False  # one request tests the upstream
        self._breaks_off = False  # answers begin, but the last one did not get to its end

    @property
    def admits(self) -> bool:
        """Whether a try may be made now."""
        context = self._context
        if context.state == HALF_OPENED:
            return not self._probing
        return context.state == CLOSED or self._left() < 0

    def _left(self) -> float:
        """Seconds until an upstream that is left alone is tested."""
        return (self._context.opened_at or 0) + self._seconds - time.time()

    @contextmanager
    def guard(self) -> Iterator[None]:
        """One try. Raises `Unavailable` where there must be none; counts a connection that fails."""
        probing = self._enter()
        try:
            yield
        except CONNECTION_ERRORS:
            self.failed()
            raise
        finally:
            self._probing = self._probing and not probing

    def _enter(self) -> bool:
        """Whether this try is the one that tests the upstream."""
        context = self._context
        if context.state == HALF_OPENED and self._probing:
            raise Unavailable(503, "The upstream is failing; one request is testing it", 1)
        if context.state == OPENED and (left := self._left()) >= 0:
            message = "The upstream has failed several times in a row; try again later"
            raise Unavailable(503, message, max(1, math.ceil(left)))
        context.handle_new_request()
        self._probing = context.state == HALF_OPENED
        self._show()
        return self._probing

    def failed(self) -> None:
        """There was no answer, or one that says that there is none."""
        self._context.handle_exception(ConnectionError())
        self._show()

    def answered(self) -> None:
        """An answer began. Failures in a row are over, unless answers are what fails."""
        if not self._breaks_off or self._context.state == HALF_OPENED:
            self._context.handle_end_request()
        self._show()

    def broke_off(self) -> None:
        """An answer began and did not end."""
        self._breaks_off = True
        self.failed()

    def ended(self) -> None:
        """An answer began and ended."""
        self._breaks_off = False
        if self._context.state == CLOSED:
            self._context.handle_end_request()
        self._show()

    def _show(self) -> None:
        self._context.messages.clear()  # for listeners, which there are none of
        if self.state != (state := _STATES[self._context.state]):
            self.state = state
            self._changed()
