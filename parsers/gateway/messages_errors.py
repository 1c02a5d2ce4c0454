"""Errors in the shape of Anthropic's API: `{"type": "error", "error": {"type", "message"}}`.

What the gateway and Chat Completions servers say of an error is a sentence somewhere in a JSON object;
this finds it and says it as clients of the Messages API expect it.
"""

from __future__ import annotations

import re
from typing import Any

from ..openai.problems import Problem
from .sse import dump, load_object

Json = dict[str, Any]

#: The type that Anthropic's API gives an error, by its status.
_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_INDEX = re.compile(r"\[(\d+)\]")


def messages_error(message: str, status: int = 500) -> Json:
    """The body of an answer with this status, or the event of one that breaks off."""
    other = "api_error" if status >= 500 else "invalid_request_error"
    return {"type": "error", "error": {"type": _TYPES.get(status, other), "message": message}}


def as_messages_error(body: Any, status: int = 500) -> Json:
    """Any error's body in that shape; the same object where it has it already."""
    if isinstance(body, dict):
        error = body.get("error")
        if body.get("type") == "error" and isinstance(error, dict) and "message" in error:
            return body
    return messages_error(_sentence(body) or f"The upstream answered with status {status}", status)


def error_bytes(raw: bytes, status: int) -> bytes:
    """The body of an error as it goes to a client; the same bytes where nothing had to change."""
    body = load_object(raw)
    said = as_messages_error(body, status)
    return raw if said is body else dump(said)


def _sentence(body: Any) -> str:
    """What an error's body says: OpenAI's `error.message`, or what other servers have in its place."""
    for key in ("error", "message", "detail"):
        value = body.get(key) if isinstance(body, dict) else None
        if isinstance(value, dict):
            value = value.get("message")
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value:  # FastAPI's list of what is wrong
            return dump(value).decode()
    return ""


def problems_error(
    problems: list[Problem], sources: tuple[int, ...] = (), hint: str | None = None
) -> Json:
    """What is wrong with a request, one problem a line, each with its place in the client's request.

    `sources` says for each message of the translated request which of the client's it came from, `hint`
    what could be done.
    """
    lines = [f"{_place(p.param, sources)}{p.message}" for p in problems]
    return messages_error("\n".join([*lines, hint] if hint else lines), 400)


def _place(param: str, sources: tuple[int, ...]) -> str:
    """`messages[3].tool_calls[0].id` as `messages.2: `, for what came from the client's third."""
    found = re.match(r"messages\[(\d+)\]", param)
    if sources and found is not None and int(found[1]) < len(sources):
        source = sources[int(found[1])]
        return f"messages.{source}: " if source >= 0 else "system: "
    return _INDEX.sub(r".\1", param) + ": " if param else ""
