"""Calls that a model has to make: the tools for it, and whether an answer fits them.

The servers show the tools to a real model, and what it writes depends on every word of them. So an
engine's tests say for themselves how their tools are described and how long a city's name may be.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import jsonschema
from engine_client import Answer

QUESTION = [{"role": "user", "content": "I need a room in Oslo for 2 nights."}]


def closed_tool(name: str, properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A tool that wants all of its properties and no others."""
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, **more, "parameters": parameters}}


def city(longest: int) -> dict[str, Any]:
    return {"type": "string", "maxLength": longest}


def room(longest: int) -> dict[str, Any]:
    """What a room is booked with: a value of each kind."""
    return {
        "city": city(longest),
        "nights": {"type": "integer", "minimum": 1, "maximum": 30},
        "kind": {"type": "string", "enum": ["single", "double"]},
        "breakfast": {"type": "boolean"},
    }


#: A least length, which tags can't express.
LOOK_UP = closed_tool("look_up", {"code": {"type": "string", "minLength": 3, "maxLength": 6}})


def check(answer: Answer, tools: Iterable[dict[str, Any]]) -> list[str]:
    """All of it is calls, and all calls fit; gives their names."""
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
    assert answer.calls
    assert not answer.content
    for name, arguments in answer.calls:
        jsonschema.validate(json.loads(arguments), schemas[name])
    return [name for name, _ in answer.calls]


def after_an_example() -> list[dict[str, Any]]:
    """A question about Oslo, after one about Rome and the call that answered it."""
    call = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "get_weather", "arguments": json.dumps({"city": "Rome"})},
    }
    return [
        {"role": "user", "content": "What is the weather in Rome?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "user", "content": "What is the weather in Oslo?"},
    ]
