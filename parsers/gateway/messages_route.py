"""Which way a request to `/v1/messages` goes: to the upstream's own route, or translated to Chat.

`auto` asks the upstream once. A 404 or 405 may say that there is no such route, or that there is no such
model: so it is only believed, and remembered, where the Chat route then has something else to say.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

#: The names of the two ways, as `exchange` treats their answers.
NATIVE, TRANSLATED = "messages", "translated"
MESSAGES = frozenset({NATIVE, TRANSLATED})
#: What `--messages` may be.
WAYS = ("auto", "translate", "native")
#: A translated exchange in the capture: the answer that was captured is one of the Chat route.
TRANSLATED_ROUTE = "/v1/messages, translated"

#: How an app says that it has no such route.
NO_ROUTE = frozenset({404, 405})
_KNOWN = {"translate": False, "native": True}
_CHAT = "chat/completions"

Scope = MutableMapping[str, Any]


class MessagesRoute:
    """What is known of the upstream's own `/v1/messages`."""

    def __init__(self, way: str) -> None:
        self._is_there = _KNOWN.get(way)

    def api(self, api: str) -> str:
        """How a request of this API is sent on."""
        return TRANSLATED if api == NATIVE and self._is_there is False else api

    def may_be_missing(self, api: str) -> bool:
        return api == NATIVE and self._is_there is None

    def learn(self, api: str, status: int) -> None:
        """An answer with this status came this way."""
        if self._is_there is not None:
            return
        if api == NATIVE and status == 200:
            self._is_there = True
        elif api == TRANSLATED and 0 < status < 500 and status not in NO_ROUTE:
            self._is_there = False


def chat_scope(scope: Scope) -> Scope:
    """The scope of a request to `…/messages` as one to `…/chat/completions`.

    Clients of the Messages API have their key in a header of its own, and features in the query.
    """
    path = str(scope["path"]).removesuffix("messages") + _CHAT
    headers = [(n, v) for n, v in scope["headers"] if not n.lower().startswith(b"anthropic-")]
    names = {name.lower() for name, _ in headers}
    keys = [value for name, value in headers if name.lower() == b"x-api-key"]
    headers = [(n, v) for n, v in headers if n.lower() != b"x-api-key"]
    if keys and b"authorization" not in names:
        headers.append((b"authorization", b"Bearer " + keys[0]))
    told = {"path": path, "raw_path": path.encode(), "query_string": b"", "headers": headers}
    return dict(scope) | told
