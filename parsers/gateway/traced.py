"""The text of a captured exchange, read once more: what each of its characters is, for the debug page.

    {"text": "…", "trace": {…}, "note": "…", "shortened": false}

The trace is that of `toolwire play` (`view/trace.py`), in the steps in which the text came. Where there
is nothing to read there is none, and the note says why.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from ..errors import ToolwireError
from ..formats.parser import text_only
from ..openai.request import read_parts
from ..view.trace import trace
from .model_text import has_calls, pieces_of
from .sse import load_object

Json = dict[str, Any]

#: Of a longer text the beginning is read. This is a thread of a gateway that has other things to do.
MOST = 200_000

_CALLS = "The upstream sent native calls: it has read the text itself, and there is none to colour."
_BESIDE = "The upstream sent native calls: only the text beside them is here."
_NO_TEXT = "There is no text in this answer."
_NO_FORMAT = (
    "The gateway reads no calls from this model's text: it knows no format for it (--format). "
    "Copied as a replay file, the exchange can be tried in any format: toolwire play FILE."
)
_NO_TOOLS = "The request has no tools: nothing in the text is a call."


def trace_exchange(body: bytes, reasoning: str) -> Json:
    """`reasoning` is the gateway's setting. Raises a `ToolwireError` where this is no exchange."""
    asked = load_object(body) or {}
    stage, raw, format = asked.get("stage"), asked.get("raw"), asked.get("format")
    chunks = [chunk for chunk in raw if isinstance(chunk, str)] if isinstance(raw, list) else None
    if stage not in ("whole", "stream") or chunks is None or chunks != raw:
        raise ToolwireError("This is not a captured exchange")
    pieces, native = pieces_of(stage, chunks), has_calls(stage, chunks)
    text = "".join(pieces)
    if not text:
        return _nothing("", _CALLS if native else _NO_TEXT)
    if not isinstance(format, str) or not format:
        return _nothing(text, _NO_FORMAT)
    request = read_parts(asked.get("tools"))
    # An engine keeps only what its parser was given, and that may well be without tools.
    reads = bool(request.functions) or not asked.get("emitted")
    traced = trace(
        format if reads else text_only(format),
        text[:MOST],
        request.tools,
        None if reasoning == "off" else True,
        ends=list(accumulate(map(len, pieces))) if stage == "stream" else None,
    )
    notes = [_BESIDE] * native + [_NO_TOOLS] * (not reads) + [_shortened(text)] * (len(text) > MOST)
    return {
        "text": text[:MOST],
        "trace": traced | {"format": format},
        "note": " ".join(notes),
        "shortened": len(text) > MOST,
    }


def _nothing(text: str, note: str) -> Json:
    return {"text": text[:MOST], "trace": None, "note": note, "shortened": len(text) > MOST}


def _shortened(text: str) -> str:
    return f"The text has {len(text):,} characters: the first {MOST:,} are read here."
