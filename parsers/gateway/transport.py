"""What is used of httpcore: httpx2's own engine, with nothing around it.

A client would follow redirects, keep one client's cookies for another's requests, and add headers that
nobody has sent; and its requests, answers and streams would pass every chunk through layers that have
nothing to do here.
"""

from __future__ import annotations

import httpcore2
import httpx2

#: All that may go wrong on the way, but for mistakes of our own.
TRANSPORT_ERRORS = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    httpcore2.UnsupportedProtocol,
)


def core_url(url: httpx2.URL) -> httpcore2.URL:
    return httpcore2.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )


def header(response: httpcore2.Response, name: bytes) -> str | None:
    """A header of an answer, by its name in small letters; several of them as one."""
    found = [value for key, value in response.headers if key.lower() == name]
    return b", ".join(found).decode("latin-1") if found else None
