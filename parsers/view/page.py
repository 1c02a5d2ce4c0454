"""Pages that are one file: styles and scripts are put into them, and no other host is asked."""

from __future__ import annotations

import re
from importlib import resources

# A page asks nobody but its own server for anything; this keeps it so.
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}

_ASKED = re.compile(r"^/\*([a-z]+\.(?:css|js))\*/$", re.MULTILINE)


def assemble(package: str | None, name: str) -> bytes:
    """A page of this package, with what it asks for in it: a line `/*NAME*/` is a file beside it, or
    one of the view."""
    page = resources.files(package or __package__)
    view = resources.files(__package__)

    def asked(found: re.Match[str]) -> str:
        here = page.joinpath(found[1])
        return (here if here.is_file() else view.joinpath(found[1])).read_text(encoding="utf-8")

    return _ASKED.sub(asked, page.joinpath(name).read_text(encoding="utf-8")).encode()
