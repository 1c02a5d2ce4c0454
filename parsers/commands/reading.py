"""What every command reads with: text and JSON from a file or stdin, with one sentence if it fails."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ..errors import ToolwireError
from ..formats import list_formats
from ..formats.reasoning import list_reasoning
from ..formats.user_files import load_user_formats
from ..templates import list_templates


def read_text(source: str) -> str:
    """A file's text; `-` is stdin."""
    try:
        return sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
    except OSError as error:
        raise ToolwireError(f"{source} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ToolwireError(f"{source} can't be read: it is not UTF-8 text") from error


def read_json(source: str) -> Any:
    text = read_text(source)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolwireError(f"{source} is not JSON: {error}") from error


def read_tools(source: str) -> list[dict[str, Any]]:
    """A request's list of tools, or a whole request body that has one."""
    tools = read_json(source)
    if isinstance(tools, dict):
        tools = tools.get("tools")
    if not is_objects(tools):
        raise ToolwireError(f"{source} has no tools: it must be a JSON list of tool definitions")
    return list(tools)


def is_objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def complete_format(incomplete: str) -> list[str]:
    """Names for the shell's completion, which runs no command: the user's formats are not read yet."""
    load_user_formats(complain=lambda sentence: None)
    return [name for name in list_formats(aliases=True) if name.startswith(incomplete)]


def complete_reasoning(incomplete: str) -> list[str]:
    return [name for name in list_reasoning() if name.startswith(incomplete)]


def complete_reasoning_parser(incomplete: str) -> list[str]:
    names = (f"toolwire_{name}" for name in list_reasoning())
    return [name for name in names if name.startswith(incomplete)]


def complete_template(incomplete: str) -> list[str]:
    return [t.name for t in list_templates() if t.name.startswith(incomplete)]
