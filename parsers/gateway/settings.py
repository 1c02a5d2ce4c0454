"""What can be set. Each setting is declared here, once: its name, type, default, help and limits.

A flag of `toolwire gateway`, a variable of the environment and a key of `--config FILE.toml` derive from
each (see `options`). Servers that start the middleware themselves have the environment only.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..errors import ToolwireError
from ..formats.user_files import load_user_formats
from ..openai.repairs import read_repairs
from ..openai.stream_normalize import EMITS, MODES
from .budget import MIB
from .by_model import WAYS as TOOLS
from .by_model import FormatChoice
from .capture import MEMORY
from .logs import FORMS
from .messages_route import WAYS
from .options import check_fields, gather, setting, sources

IDS = ("random", "sequential")
REQUESTS = ("strict", "repair", "pass")
NAMES = ("keep", "mangle")
REASONING = ("split", "keep", "off")

#: The groups, as `--help` has them.
ANSWERS = "Answers"
ASKED = "Requests"
UPSTREAM = "The upstream"
SERVER = "The server"
LIMITS = "Limits"
WATCHING = "Watching"


def check_capture(where: str) -> None:
    if where != MEMORY and urlsplit(where).scheme not in ("redis", "rediss", "unix"):
        raise ToolwireError(f"exchanges can't be kept there: use {MEMORY}, or redis://127.0.0.1/0")


@dataclass(frozen=True, slots=True, repr=False)  # no repr: the key must not get into a log
class Settings:
    """How answers are treated, and how much of anything is taken in."""

    format: str | None = setting(
        None,
        ANSWERS,
        "Read calls from the text in this format, where the server finds none: a format, any, auto (by "
        "the model's name), or by model: 'qwen3*=hermes,*=any'.",
        check=FormatChoice.parse,
    )
    reasoning: str = setting(
        "split",
        ANSWERS,
        "Thoughts in the text go to reasoning_content (split), or stay (keep); or nobody looks (off).",
        choices=REASONING,
    )
    mode: str = setting(
        "verified",
        ANSWERS,
        "verified: calls go out whole and checked; live: as they come.",
        choices=MODES,
    )
    emit: str = setting(
        "finish",
        ANSWERS,
        "verified calls go out with the finish reason (finish), or once complete.",
        choices=EMITS,
    )
    ids: str = setting(
        "random", ANSWERS, "Ids of calls found in the text: call_…, or Search_0.", choices=IDS
    )
    repair: str = setting(
        "",
        ANSWERS,
        "coerce: strings become the numbers, lists … that tools declare; names: a tool's name is "
        "found but for case, - and _, and prefixes; or coerce,names.",
        check=read_repairs,
    )
    keep_alive: float = setting(
        10.0, ANSWERS, "Seconds after which a silent stream gets a comment; 0: never.", least=0
    )
    requests: str = setting(
        "strict",
        ASKED,
        "What the specification forbids is refused (strict), put right (repair), or passed on.",
        choices=REQUESTS,
    )
    names: str = setting(
        "keep",
        ASKED,
        "mangle: names of tools that some servers refuse are written otherwise for them.",
        choices=NAMES,
    )
    messages: str = setting(
        "auto",
        ASKED,
        "/v1/messages: translate it to Chat Completions, native (never), or auto.",
        choices=WAYS,
    )
    tools: str = setting(
        "auto",
        ASKED,
        "auto: as they are, and in the prompt where the server refuses or hides them; always in the "
        "prompt; native; none: with tool_choice none.",
        choices=TOOLS,
    )
    retry_required: int = setting(
        0, ASKED, "How often is asked again where a call is required, and none came.", least=0
    )
    max_body: int = setting(
        32 * MIB,
        LIMITS,
        "The largest request.",
        mib=True,
        least=1,
        variables=("TOOLWIRE_MAX_BODY",),
    )
    max_exchange: int = setting(
        16 * MIB,
        LIMITS,
        "The most that is held of one answer.",
        mib=True,
        least=1,
        variables=("TOOLWIRE_MAX_EXCHANGE",),
    )
    max_held: int = setting(
        1024 * MIB,
        LIMITS,
        "… and of all requests and answers together.",
        mib=True,
        least=1,
        variables=("TOOLWIRE_MAX_HELD",),
    )
    admin_key: str | None = setting(
        None,
        WATCHING,
        "Opens the debug routes; without it there are none.",
        secret=True,
        variables=("APISIX_ADMIN_KEY",),
    )
    debug_max: int = setting(
        200,
        WATCHING,
        "How many exchanges are kept for the debug page.",
        least=0,
        variables=("TOOL_CALL_DEBUG_MAX",),
    )
    capture: str = setting(
        MEMORY,
        WATCHING,
        "Where they are kept: memory, of each worker; or redis://HOST/0, shared by all.",
        check=check_capture,
    )
    max_event: int = 8 * MIB  # of one event in a stream; a longer one passes as it is
    debug_bytes: int = 16 * MIB  # how much memory the kept exchanges may take together

    def __post_init__(self) -> None:
        check_fields(self)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """For a server that only knows the middleware's name, and can't pass any."""
        load_user_formats(environment=environment)
        return gather(cls, sources(DECLARED, environment=environment))


def check_urls(urls: tuple[str, ...]) -> None:
    for url in urls:
        _check_url(url)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none, half an address in brackets
        fine = False
    if not fine:
        raise ToolwireError(f"{url!r} is no address: use a URL like http://127.0.0.1:8000/v1")
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ToolwireError("it must be a URL without a query, a user or a password")


def read_key(file: str) -> str:
    """The key in a file, without the white space around it."""
    try:
        key = Path(file).read_text(encoding="ascii").strip()
    except OSError as error:
        raise ToolwireError(f"{file} can't be read: {error.strerror}") from None
    except UnicodeDecodeError:
        key = ""
    if not key.isprintable() or not key or " " in key:
        raise ToolwireError(f"{file} has no key in it: it must be one line of plain letters")
    return key


@dataclass(frozen=True, slots=True)
class UpstreamSettings:
    """Where the upstream is, and how patient to be with it. Times are seconds."""

    upstream: tuple[str, ...] = setting(
        (),
        UPSTREAM,
        "The server behind it, with its /v1: http://127.0.0.1:11434/v1. Several: the least busy "
        "one is asked, and one that fails is left out.",
        check=check_urls,
    )
    upstream_key_file: str | None = setting(
        None,
        UPSTREAM,
        "A file with the key that the upstream gets, in place of the clients' own.",
        check=read_key,
    )
    attempts: int = setting(3, UPSTREAM, "How often a request is tried.", least=1)
    breaker_failures: int = setting(
        5, UPSTREAM, "Failures in a row until the upstream is left alone.", least=1
    )
    breaker_seconds: float = setting(10.0, UPSTREAM, "How long it is left alone.", least=0)
    connect_timeout: float = setting(5.0, UPSTREAM, "Seconds for a connection.", least=0.1)
    read_timeout: float = setting(
        300.0, UPSTREAM, "Seconds without a byte from the upstream.", least=0.1
    )
    backoff: float = 0.25  # the longest first wait before another try; it doubles
    max_wait: float = 20.0  # no wait is longer; a longer Retry-After goes to the client
    connections: int = 2000  # to the upstream

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.upstream:
            raise ToolwireError(
                "Which server does the gateway stand in front of? Say --upstream URL"
            )


@dataclass(frozen=True, slots=True)
class Limits:
    """How clients may connect to the standalone gateway. Times are seconds."""

    header_timeout: float = setting(
        30.0, LIMITS, "Seconds for the head of a client's request to come.", least=0.1
    )
    body_timeout: float = setting(
        300.0, LIMITS, "Seconds for the body of a client's request to come.", least=0.1
    )
    max_connections: int = setting(
        1000, LIMITS, "Connections of clients; one more is answered 503.", least=1
    )


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the standalone gateway listens, and how it is watched and ended."""

    host: str = setting("127.0.0.1", SERVER, "The address to listen on.")
    port: int = setting(8080, SERVER, "The port to listen on.", least=0, most=65535)
    workers: int = setting(1, SERVER, "How many processes serve.", least=1, most=256)
    cors: tuple[str, ...] = setting(
        (), SERVER, "An origin whose pages may ask: https://app.example, or * for all."
    )
    drain_seconds: int = setting(
        30, SERVER, "How long answers may take to end when the gateway is stopped.", least=0
    )
    log: str = setting("text", WATCHING, "How the log on stderr is written.", choices=FORMS)


@dataclass(frozen=True, slots=True)
class GatewaySettings:
    """Everything that the standalone gateway is told."""

    server: ServerSettings
    upstream: UpstreamSettings
    limits: Limits
    answers: Settings

    @classmethod
    def read(
        cls,
        said: Mapping[str, Any],
        environment: Mapping[str, str] = os.environ,
        config: str | None = None,
    ) -> GatewaySettings:
        """From the flags, by the settings' names; the environment; and a file."""
        load_user_formats(environment=environment)
        places = sources(DECLARED, said, environment, config)
        return cls(
            gather(ServerSettings, places),
            gather(UpstreamSettings, places),
            gather(Limits, places),
            gather(Settings, places),
        )


#: Where settings are declared, in the order of `--help`.
DECLARED = (ServerSettings, UpstreamSettings, Settings, Limits)
