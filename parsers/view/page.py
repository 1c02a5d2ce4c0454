"""Pages that are one file: the view's style and script are put into them, and no other host is asked."""

from __future__ import annotations

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


def assemble(html: str) -> bytes:
    """A page with the view in it, where it asks for `view.css` and `view.js`."""
    for name in ("view.css", "view.js"):
        text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
        html = html.replace(f"/*{name}*/", text)
    return html.encode()
