"""A captured exchange, run again: the same bytes, through any format and mode, split anywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import ToolwireError
from ..gateway.exchange import Plan, answer_whole
from ..gateway.messages_route import TRANSLATED, TRANSLATED_ROUTE
from ..gateway.middleware import ROUTES
from ..gateway.settings import Settings
from ..gateway.stream_session import StreamSession
from ..openai.policy import Policy
from ..openai.request import read_parts
from .splits import Splittable
from .splittable import splittable_answer, splittable_stream

Json = dict[str, Any]

#: By the route that the capture names: which API the captured answer is of.
_APIS = ROUTES | {TRANSLATED_ROUTE: TRANSLATED}


def read_exchange(source: Path) -> Json:
    """An exchange from a file: as the debug page copies it, or as the debug route gives it."""
    try:
        exchange = json.loads(source.read_text(encoding="utf-8"))
    except OSError as error:
        raise ToolwireError(f"{source} can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ToolwireError(f"{source} is not JSON: {error}") from error
    if isinstance(exchange, dict) and isinstance(exchange.get("items"), list) and exchange["items"]:
        exchange = exchange["items"][0]
    if not isinstance(exchange, dict) or not _is_exchange(exchange):
        raise ToolwireError(f"{source} is not a captured exchange: see the page /proxy/debug")
    return exchange


def _is_exchange(exchange: Json) -> bool:
    raw = exchange.get("raw")
    return (
        exchange.get("stage") in ("whole", "stream")
        and isinstance(raw, list)
        and all(isinstance(chunk, str) for chunk in raw)
        and exchange.get("route") in _APIS
    )


def api_of(exchange: Json) -> str:
    """Which API the captured answer is of."""
    return _APIS[exchange["route"]]


def replay_exchange(exchange: Json, format: str | None = None, mode: str = "verified") -> list[str]:
    """What would be sent for the exchange now, chunk by chunk."""
    plan, settings = _plan(exchange, format, mode)
    chunks = [chunk.encode(errors="replace") for chunk in exchange["raw"]]
    if exchange["stage"] == "whole":
        return [answer_whole(plan, b"".join(chunks), None).decode()]
    session = StreamSession(plan, settings, None)
    sent = [session.feed(chunk) for chunk in chunks] + [session.finish()]
    return [piece.decode(errors="replace") for piece in sent if piece]


def splittable_parts(
    exchange: Json, format: str | None = None, mode: str = "verified"
) -> list[Splittable]:
    """What of the exchange could have come in other pieces, for `find_differences`."""
    plan, settings = _plan(exchange, format, mode)
    raw = b"".join(chunk.encode(errors="replace") for chunk in exchange["raw"])
    if exchange["stage"] == "whole":
        return splittable_answer(plan, raw)
    return splittable_stream(plan, settings, raw)


def _plan(exchange: Json, format: str | None, mode: str) -> tuple[Plan, Settings]:
    settings = Settings(format=format or exchange.get("format"), mode=mode)
    request = read_parts(exchange.get("tools"))
    policy = Policy(settings.format, request, reasoning=settings.reasoning)
    return Plan(exchange["route"], api_of(exchange), b"", policy), settings
