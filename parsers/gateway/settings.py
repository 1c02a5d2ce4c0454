"""What can be set: by arguments, or in the environment for servers that start the middleware."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import ToolwireError
from ..formats.user_files import load_user_formats
from ..openai.repair import VARIABLE as REPAIR
from ..openai.repair import read_repairs
from ..openai.stream_normalize import EMITS, MODES
from .budget import MIB
from .by_model import WAYS as TOOLS
from .by_model import FormatChoice
from .messages_route import WAYS

DEFAULT_MAX_BODY = 32 * MIB
DEFAULT_MAX_EXCHANGE = 16 * MIB
DEFAULT_MAX_HELD = 1024 * MIB
DEFAULT_DEBUG_MAX = 200
DEFAULT_KEEP_ALIVE = 10.0
IDS = ("random", "sequential")
REQUESTS = ("strict", "repair", "pass")
NAMES = ("keep", "mangle")
REASONING = ("split", "keep", "off")


@dataclass(frozen=True, slots=True, repr=False)  # no repr: the key must not get into a log
class Settings:
    """How answers are treated, and how much of anything is taken in."""

    format: str | None = None  # read calls from the text in this format, or by model: `by_model`
    tools: str = "auto"  # … `native`, in the `prompt`, or with the choice `none`
    retry_required: int = 0  # how often is asked again where a call had to come, and none did
    reasoning: str = "split"  # thoughts in the text: apart, or `keep` them there; or `off`
    mode: str = "verified"
    emit: str = "finish"  # when verified calls go out: with the finish reason, or once `complete`
    repair: str = ""  # what may be done to calls: `coerce`, `names`, or both with a comma
    messages: str = "auto"  # `/v1/messages`: `translate` it to Chat, `native`, or find out
    ids: str = "random"  # of calls found in the text: `call_…`, or `sequential`: `Search_0`
    requests: str = "strict"  # what is done with requests that the specification forbids
    names: str = "keep"  # … or `mangle` those of tools that some servers refuse
    keep_alive: float = DEFAULT_KEEP_ALIVE  # seconds of silence in a stream; 0: as long as it takes
    max_body: int = DEFAULT_MAX_BODY  # of a request
    max_exchange: int = DEFAULT_MAX_EXCHANGE  # bytes that are held of one answer
    max_held: int = DEFAULT_MAX_HELD  # … and of all requests and answers together
    max_event: int = 8 * MIB  # of one event in a stream; a longer one passes as it is
    admin_key: str | None = None  # opens the debug routes; None: there are none
    debug_max: int = DEFAULT_DEBUG_MAX  # exchanges kept
    debug_bytes: int = 16 * MIB  # … and how much memory they may take together

    def __post_init__(self) -> None:
        FormatChoice.parse(self.format)  # says what is wrong with it
        for name, value, known in (
            ("mode", self.mode, MODES),
            ("emit", self.emit, EMITS),
            ("messages", self.messages, WAYS),
            ("ids", self.ids, IDS),
            ("requests", self.requests, REQUESTS),
            ("names", self.names, NAMES),
            ("tools", self.tools, TOOLS),
            ("reasoning", self.reasoning, REASONING),
        ):
            if value not in known:
                raise ToolwireError(f"{name} is {value!r}: use one of {', '.join(known)}")
        if not 0 <= self.keep_alive < float("inf"):
            raise ToolwireError(f"keep_alive is {self.keep_alive}: it must be seconds, 0 or more")
        if self.tools in ("prompt", "none") and not self.format:
            raise ToolwireError(
                f"tools is {self.tools!r}: set a format, too, in which calls are read from the text"
            )
        if self.tools == "prompt" and self.messages == "native":
            raise ToolwireError(
                "tools is 'prompt' and messages 'native': only translated requests can have their tools "
                "in the prompt"
            )
        read_repairs(self.repair)  # says which there are, if one of these is none

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """What a server that only knows the class's name can't pass: see the names below."""
        load_user_formats(environment=environment)
        return cls(
            format=environment.get("TOOLWIRE_FORMAT") or None,
            mode=environment.get("TOOLWIRE_MODE") or "verified",
            emit=environment.get("TOOLWIRE_EMIT") or "finish",
            repair=environment.get(REPAIR) or "",
            messages=environment.get("TOOLWIRE_MESSAGES") or "auto",
            ids=environment.get("TOOLWIRE_IDS") or "random",
            requests=environment.get("TOOLWIRE_REQUESTS") or "strict",
            names=environment.get("TOOLWIRE_NAMES") or "keep",
            tools=environment.get("TOOLWIRE_TOOLS") or "auto",
            retry_required=_number(environment, "TOOLWIRE_RETRY_REQUIRED", 0),
            reasoning=environment.get("TOOLWIRE_REASONING") or "split",
            keep_alive=_seconds(environment, "TOOLWIRE_KEEP_ALIVE", DEFAULT_KEEP_ALIVE),
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


def _seconds(environment: Mapping[str, str], name: str, default: float) -> float:
    text = environment.get(name, "").strip()
    try:
        return float(text) if text else default
    except ValueError:
        raise ToolwireError(f"{name} is {text!r}: it must be a number of seconds") from None
