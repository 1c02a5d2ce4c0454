"""What can be set: by arguments, or in the environment for servers that start the middleware."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import ToolwireError
from ..formats import get_format
from ..formats.user_files import load_user_formats
from ..openai.stream_normalize import MODES
from .budget import MIB
from .messages_route import WAYS

DEFAULT_MAX_BODY = 32 * MIB
DEFAULT_MAX_EXCHANGE = 16 * MIB
DEFAULT_MAX_HELD = 1024 * MIB
DEFAULT_DEBUG_MAX = 200
IDS = ("random", "sequential")


@dataclass(frozen=True, slots=True, repr=False)  # no repr: the key must not get into a log
class Settings:
    """How answers are treated, and how much of anything is taken in."""

    format: str | None = None  # read calls from the text in this format, where there are no others
    mode: str = "verified"
    messages: str = "auto"  # `/v1/messages`: `translate` it to Chat, `native`, or find out
    ids: str = "random"  # of calls found in the text: `call_…`, or `sequential`: `Search_0`
    max_body: int = DEFAULT_MAX_BODY  # of a request
    max_exchange: int = DEFAULT_MAX_EXCHANGE  # bytes that are held of one answer
    max_held: int = DEFAULT_MAX_HELD  # … and of all requests and answers together
    max_event: int = 8 * MIB  # of one event in a stream; a longer one passes as it is
    admin_key: str | None = None  # opens the debug routes; None: there are none
    debug_max: int = DEFAULT_DEBUG_MAX  # exchanges kept
    debug_bytes: int = 16 * MIB  # … and how much memory they may take together

    def __post_init__(self) -> None:
        if self.format is not None:
            get_format(self.format)  # says which formats there are, if this is none
        if self.mode not in MODES:
            raise ToolwireError(f"mode is {self.mode!r}: use one of {', '.join(MODES)}")
        if self.messages not in WAYS:
            raise ToolwireError(f"messages is {self.messages!r}: use one of {', '.join(WAYS)}")
        if self.ids not in IDS:
            raise ToolwireError(f"ids is {self.ids!r}: use one of {', '.join(IDS)}")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """What a server that only knows the class's name can't pass: see the names below."""
        load_user_formats(environment=environment)
        return cls(
            format=environment.get("TOOLWIRE_FORMAT") or None,
            mode=environment.get("TOOLWIRE_MODE") or "verified",
            ids=environment.get("TOOLWIRE_IDS") or "random",
            messages=environment.get("TOOLWIRE_MESSAGES") or "auto",
            max_body=_number(environment, "TOOLWIRE_MAX_BODY", DEFAULT_MAX_BODY),
            max_exchange=_number(environment, "TOOLWIRE_MAX_EXCHANGE", DEFAULT_MAX_EXCHANGE),
            max_held=_number(environment, "TOOLWIRE_MAX_HELD", DEFAULT_MAX_HELD),
            admin_key=environment.get("APISIX_ADMIN_KEY") or None,
            debug_max=_number(environment, "TOOL_CALL_DEBUG_MAX", DEFAULT_DEBUG_MAX),
        )


@dataclass(frozen=True, slots=True)
class Limits:
    """How clients may connect to the standalone gateway. Times are seconds."""

    header_timeout: float = 30.0  # for all of a request's head
    body_timeout: float = 300.0  # … and for all of its body
    connections: int = 1000


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name, "").strip()
    if not text:
        return default
    if not text.isdecimal():
        raise ToolwireError(f"{name} is {text!r}: it must be a whole number")
    return int(text)
