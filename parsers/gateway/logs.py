"""The gateway's log, on stderr: a line for each request and each thing worth knowing, as text or JSON.

Every line that is written while a request is treated has its id. Bodies, headers, queries and keys are
in none.
"""

from __future__ import annotations

import json
import logging
import sys
from contextvars import ContextVar

FORMS = ("text", "json")

#: The id of the request that is being treated.
NO_REQUEST = "-"
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default=NO_REQUEST)

#: One line for each request.
ACCESS = logging.getLogger("toolwire.access")


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return f"{self.formatTime(record)} {record.levelname} {REQUEST_ID.get()} {_message(record)}"


class _Json(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "request_id": REQUEST_ID.get(),
        }
        facts = getattr(record, "facts", None)
        line |= facts if facts is not None else {"message": _message(record)}
        return json.dumps(line)


def _message(record: logging.LogRecord) -> str:
    """On one line, whatever somebody got into it; with the name of an error, and no traceback."""
    said = record.getMessage()
    if record.exc_info and record.exc_info[0] is not None:
        said += f": {record.exc_info[0].__name__}"
    return said if said.isprintable() else said.encode("unicode_escape").decode()


def configure(form: str) -> None:
    """Has everything logged in this form. May be called any number of times."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json() if form == "json" else _Text())
    for name in ("toolwire", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(logging.INFO if name == "toolwire" else logging.WARNING)
