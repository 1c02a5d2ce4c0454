"""The APIs that the gateway speaks: how an answer of each is made, how its stream ends, and its errors.

A request to `/v1/messages` may be answered by the Chat route (`translated`): then Chat Completions comes
in, and Messages goes out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ..openai.normalize import Finding, normalize_response
from ..openai.policy import Policy
from ..openai.problems import failure
from ..openai.stream_normalize import ChatStream
from .messages_answer import translated_answer
from .messages_errors import as_messages_error, messages_error
from .messages_native import normalize_message
from .messages_native_stream import MessagesStream
from .messages_route import NATIVE, TRANSLATED
from .messages_stream import MESSAGES_ENDS, TranslatedStream
from .responses import normalize_output
from .responses_stream import ENDS, ResponsesStream, error_event

Json = dict[str, Any]

_OPENAI_CALLS = re.compile(rb"tool_calls|function_call")
_MESSAGES_CALLS = re.compile(rb"tool_use|input_json_delta")


class Normalizer(Protocol):
    """What the normalisers of streams have in common."""

    @property
    def findings(self) -> list[Finding]: ...
    @property
    def calls(self) -> int: ...
    @property
    def held(self) -> int: ...
    def feed(self, chunk: Json, /) -> list[Json]: ...
    def finish(self, *, died: bool = False) -> list[Json]: ...


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way to answer."""

    whole: Callable[[Json, Policy], tuple[Json, list[Finding], int]]
    stream: Callable[[Policy, str, str], Normalizer]
    error: Callable[[str, str], Json]  # an error event: what it says, and its kind
    late: Callable[
        [Json, str, int], Json
    ]  # … for an upstream's refusal: its body, sentence, status
    ends: tuple[str, ...] = ()  # the types of the last events; Chat ends with `[DONE]`
    reads_chat: bool = False  # whether the upstream sends Chat Completions
    speaks_messages: bool = False  # whether the client gets Anthropic's Messages
    calls: re.Pattern[bytes] = _OPENAI_CALLS  # in an event that can't be read: it may hold a call

    @property
    def named(self) -> bool:
        """Whether every event that goes out has its type as its name."""
        return bool(self.ends)

    @property
    def translates(self) -> bool:
        """Whether nothing of what comes in can go out as it is."""
        return self.reads_chat and self.speaks_messages


def _responses_error(message: str, kind: str) -> Json:
    return failure(message, kind) | error_event(message, kind)


def _late_responses_error(body: Json, message: str, status: int) -> Json:
    return _responses_error(message, "upstream_error")


def _late_chat_error(body: Json, message: str, status: int) -> Json:
    error = body.get("error")
    kept = error if isinstance(error, dict) else {}
    return {"error": failure(message)["error"] | {"code": status} | kept}


def _messages_error(message: str, kind: str) -> Json:
    return messages_error(message)


def _late_messages_error(body: Json, message: str, status: int) -> Json:
    if status < 400:  # an answer, but none that can be streamed
        return messages_error(message)
    return as_messages_error(body, status)


_CHAT = Dialect(normalize_response, ChatStream, failure, _late_chat_error, reads_chat=True)
_RESPONSES = Dialect(
    normalize_output, ResponsesStream, _responses_error, _late_responses_error, ENDS
)
_NATIVE = Dialect(
    normalize_message,
    MessagesStream,
    _messages_error,
    _late_messages_error,
    MESSAGES_ENDS,
    speaks_messages=True,
    calls=_MESSAGES_CALLS,
)
_TRANSLATED = Dialect(
    translated_answer,
    TranslatedStream,
    _messages_error,
    _late_messages_error,
    MESSAGES_ENDS,
    reads_chat=True,
    speaks_messages=True,
)

#: By the API of a plan.
DIALECTS: Mapping[str, Dialect] = {
    "chat": _CHAT,
    "responses": _RESPONSES,
    NATIVE: _NATIVE,
    TRANSLATED: _TRANSLATED,
}
