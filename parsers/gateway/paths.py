"""Which paths there are: those of the API, with `/v1` or without, and none that plays tricks.

A path goes on to the upstream as it came, and servers read odd ones in different ways: `..;` is two dots
to some, `%c0%ae` a dot to others. So only what can be read in one way goes on; and a model's name, whose
slashes may be encoded.
"""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from .asgi import Scope

#: One segment: what RFC 3986 lets stand in it, but for `;`, and anything else encoded.
_SEGMENT = re.compile(rb"(?:[A-Za-z0-9\-._~!$&'()*+,=:@]|%[0-9A-Fa-f][0-9A-Fa-f])+").fullmatch
#: What must not be hidden by encoding it.
_PLAIN_ONLY = frozenset(b"/\\.;%#?&")
#: A model by its name: OpenAI's SDKs encode the slashes in it.
_MODEL = re.compile(rb"(?:/v1)?/models/([^/]+)")
_SLASH = re.compile(rb"%2[Ff]")
#: What clients ask for whose base URL lacks the `/v1`.
_WITHOUT_V1 = re.compile(r"/(?:chat/completions|responses|messages|models)(?:/.*)?", re.DOTALL)
_PREFIXES = (b"/v1/", b"/proxy/")


def is_plain(raw: bytes) -> bool:
    """Whether every server reads this path in the same way."""
    if model := _MODEL.fullmatch(raw):
        # `org%2Fname` is one name. A server that decodes it first reads a path: that must be plain, too.
        return all(map(_is_plain_segment, _SLASH.split(model[1])))
    first, *segments = raw.split(b"/")
    if first or not segments:
        return False
    if segments[-1] == b"":  # a slash at the end
        segments.pop()
    return all(map(_is_plain_segment, segments))


def _is_plain_segment(segment: bytes) -> bool:
    if segment in (b".", b"..") or _SEGMENT(segment) is None:
        return False
    if any(int(code, 16) in _PLAIN_ONLY for code in re.findall(rb"%(..)", segment)):
        return False
    try:
        return unquote_to_bytes(segment).decode().isprintable()
    except UnicodeDecodeError:
        return False


def raw_path(scope: Scope) -> bytes:
    """The path as it came, without the query."""
    raw: bytes = scope.get("raw_path") or str(scope["path"]).encode()
    return raw.partition(b"?")[0]


def with_v1(scope: Scope) -> Scope:
    """The same request, with the `/v1` that its path lacks."""
    if _WITHOUT_V1.fullmatch(str(scope["path"])) is None:
        return scope
    added = {"path": "/v1" + str(scope["path"]), "raw_path": b"/v1" + raw_path(scope)}
    return dict(scope) | added


def upstream_path(scope: Scope) -> bytes | None:
    """The path under the upstream's base; None where there is nothing."""
    raw = raw_path(scope)
    found = (raw[len(prefix) - 1 :] for prefix in _PREFIXES if raw.startswith(prefix))
    return next(found, None)
