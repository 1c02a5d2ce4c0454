"""The six ways to ask SGLang, and what a request to its tests' server says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine_client import MODEL, literally
from messages_client import ALL_WAYS as WAYS
from openai import AsyncOpenAI

LONGEST = 400  # tokens of an answer
#: Of a request's body, for a server with a reasoning parser: the model answers at once.
WITHOUT_THOUGHTS = {"chat_template_kwargs": {"enable_thinking": False}}


def scripted(text: str) -> dict[str, Any]:
    """A request for this text: a regular expression that matches it only, in xgrammar's dialect.

    Where the model thinks in it, that is part of the text.
    """
    return {"regex": literally(text), **WITHOUT_THOUGHTS}


def use(format_name: str, script: str = "") -> dict[str, Any]:
    """The tool that tells the tests' server the format, and what the model is to write."""
    return {
        "type": "function",
        "function": {
            "name": f"use_{format_name}",
            "description": script,
            "parameters": {"type": "object", "properties": {}},
        },
    }


def request_for(
    way: str, tools: Any, format_name: str | None = None, script: str = "", **more: Any
) -> dict[str, Any]:
    """One request. Without a format it is for a server that has one of its own."""
    tools = [*tools, use(format_name, script)] if format_name else tools
    limit = "max_output_tokens" if way.startswith("responses") else "max_tokens"
    return {"model": MODEL, "temperature": 0, "tools": tools, limit: LONGEST, **more}


def job(way: str, messages: Any, *arguments: Any, **more: Any) -> Callable[[AsyncOpenAI], Any]:
    """Makes the request that the arguments say."""
    request = request_for(way, *arguments, **more)
    return lambda client: WAYS[way](client, messages, **request)


def named(way: str, name: str) -> dict[str, Any]:
    """A tool choice that names a tool, as each API spells it."""
    if way.startswith("chat"):
        return {"type": "function", "function": {"name": name}}
    return {"type": "tool" if way.startswith("messages") else "function", "name": name}


def required(way: str) -> dict[str, Any]:
    """The parts of a request for exactly one call of any tool."""
    if way.startswith("messages"):
        return {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}}
    return {"tool_choice": "required", "parallel_tool_calls": False}
