"""Where each call of a conversation stands: asked for, being run, answered, or failed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from ..errors import ToolwireError


class CallState(str, Enum):
    """The four states of a call. The last two are final."""

    PENDING = "pending"
    EXECUTING = "executing"
    COMPLETED = "completed"
    ERROR = "error"

    @property
    def open(self) -> bool:
        return self in (CallState.PENDING, CallState.EXECUTING)


@dataclass(frozen=True, slots=True)
class TrackedCall:
    """One call and what became of it. Times are seconds of the tracker's clock."""

    id: str
    name: str
    arguments: str
    state: CallState = CallState.PENDING
    response: Any = None
    error: str | None = None
    created_at: float = 0.0
    started_at: float | None = None
    finished_at: float | None = None

    @property
    def status(self) -> str:
        """The state by its name: `pending`, `executing`, `completed` or `error`."""
        return self.state.value

    @property
    def timestamp(self) -> float:
        """When the call got into its state."""
        later = self.started_at if self.finished_at is None else self.finished_at
        return self.created_at if later is None else later

    @property
    def parsed_arguments(self) -> Any:
        """The arguments as a value: a dict, mostly; None where they are no JSON."""
        try:
            return json.loads(self.arguments)
        except (ValueError, RecursionError):  # a model may write anything
            return None

    def to_dict(self) -> dict[str, Any]:
        """The call as JSON, its arguments as a value."""
        return {
            "id": self.id,
            "name": self.name,
            "arguments": self.parsed_arguments,
            "status": self.status,
            "response": self.response,
            "error": self.error,
            "timestamp": self.timestamp,
        }


class ToolCallTracker:
    """Follows calls by their ids, from a conversation or fed live.

    tracker = ToolCallTracker.from_messages(messages)
    tracker.add("call_1", "add", '{"a": 1}')
    tracker.start("call_1")
    tracker.complete("call_1", "2")      # or tracker.fail("call_1", "no such file")
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._calls: dict[str, TrackedCall] = {}

    @classmethod
    def from_messages(
        cls, messages: Iterable[Mapping[str, Any]], clock: Callable[[], float] = time.time
    ) -> ToolCallTracker:
        """The state at the end of a conversation. Raises `ToolwireError` where it makes no sense."""
        if not isinstance(messages, Iterable) or isinstance(messages, (str, bytes, Mapping)):
            raise ToolwireError(f"The messages are {_a(messages)}: a list of messages is needed.")
        tracker = cls(clock)
        for message in messages:
            tracker.see(message)
        return tracker

    def see(self, message: Mapping[str, Any]) -> None:
        """Take the next message: an assistant's calls are added, a tool's answer completes one."""
        if not isinstance(message, Mapping):
            raise ToolwireError(f"A message is {_a(message)}: it must be a dict with a role.")
        if message.get("role") == "tool":
            self.complete(str(message.get("tool_call_id") or ""), message.get("content"))
        elif message.get("role") == "assistant":
            for id, name, arguments in _calls_of(message):
                self.add(id, name, arguments)

    def add(self, id: str, name: str, arguments: str = "{}") -> TrackedCall:
        """The model asks for a call."""
        if not isinstance(id, str) or not id:
            raise ToolwireError(f"The call of {name!r} has no id: every call needs one.")
        if id in self._calls:
            raise ToolwireError(f"There is already a call with the id {id!r}: ids must be unique.")
        self._calls[id] = TrackedCall(id, name, arguments, created_at=self._clock())
        return self._calls[id]

    def start(self, id: str) -> TrackedCall:
        """The call is being run."""
        call = self._open(id)
        if call.state is CallState.EXECUTING:
            raise ToolwireError(f"The call {id!r} is already executing.")
        return self._put(replace(call, state=CallState.EXECUTING, started_at=self._clock()))

    def complete(self, id: str, response: Any = None) -> TrackedCall:
        """The call was answered."""
        call = replace(self._open(id), state=CallState.COMPLETED, response=response)
        return self._put(replace(call, finished_at=self._clock()))

    def fail(self, id: str, error: str) -> TrackedCall:
        """The call could not be run, or went wrong."""
        call = replace(self._open(id), state=CallState.ERROR, error=error)
        return self._put(replace(call, finished_at=self._clock()))

    def _open(self, id: str) -> TrackedCall:
        call = self._calls.get(id) if isinstance(id, str) else None
        if call is None:
            raise ToolwireError(f"There is no call with the id {id!r}.")
        if not call.state.open:
            raise ToolwireError(f"The call {id!r} was answered before (it is {call.state.value}).")
        return call

    def _put(self, call: TrackedCall) -> TrackedCall:
        self._calls[call.id] = call
        return call

    def in_state(self, state: CallState | str) -> list[TrackedCall]:
        try:
            wanted = CallState(state)
        except ValueError:
            known = ", ".join(one.value for one in CallState)
            raise ToolwireError(f"There is no state {state!r}: use one of {known}.") from None
        return [call for call in self._calls.values() if call.state is wanted]

    @property
    def pending(self) -> list[TrackedCall]:
        return self.in_state(CallState.PENDING)

    @property
    def executing(self) -> list[TrackedCall]:
        return self.in_state(CallState.EXECUTING)

    @property
    def completed(self) -> list[TrackedCall]:
        return self.in_state(CallState.COMPLETED)

    @property
    def errors(self) -> list[TrackedCall]:
        return self.in_state(CallState.ERROR)

    @property
    def unanswered(self) -> list[TrackedCall]:
        """All calls that still wait for an answer, running or not."""
        return [call for call in self._calls.values() if call.state.open]

    def __getitem__(self, id: str) -> TrackedCall:
        return self._calls[id]

    def __contains__(self, id: object) -> bool:
        return id in self._calls

    def __iter__(self) -> Iterator[TrackedCall]:
        return iter(self._calls.values())

    def __len__(self) -> int:
        return len(self._calls)


def _calls_of(message: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Id, name and arguments of a message's calls. Raises before any of them is added."""
    calls = message.get("tool_calls")
    if not isinstance(calls, (list, tuple, type(None))):
        raise ToolwireError(f"tool_calls is {_a(calls)}: it must be a list of calls.")
    found = []
    for call in calls or ():
        if not isinstance(call, Mapping):
            raise ToolwireError(
                f"A call is {_a(call)}: it must be a dict with an id and a function."
            )
        function = call.get("function") or call.get("custom") or {}
        if not isinstance(function, Mapping):
            raise ToolwireError(
                f"A call's function is {_a(function)}: it must be a dict with a name."
            )
        arguments = function.get("arguments", function.get("input", ""))
        text = arguments if isinstance(arguments, str) else _as_json(arguments)
        found.append((str(call.get("id") or ""), str(function.get("name") or ""), text))
    return found


def _as_json(arguments: Any) -> str:
    try:
        return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise ToolwireError(
            f"The arguments of a call are {_a(arguments)}: they must be a string of JSON."
        ) from None


def _a(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"
