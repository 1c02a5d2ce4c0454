"""What is wrong with a request, all of it at once, each thing with its place.

    problems = check_request(body)
    if problems: respond(400, error_body(problems))

`check_tools` and `check_messages` look at one part. Nothing here raises for what a client sent, and
nothing recurses on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .. import messages as sentences
from ..core.schema import JSON_TYPES, json_type
from .tracker import ToolCallTracker

Json = dict[str, Any]

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
MAX_DESCRIPTION = 1024

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SCHEMA_MAPS = ("properties", "$defs", "definitions", "patternProperties")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where (`messages[3].tool_call_id`), and what, as a sentence."""

    param: str
    message: str


def error_body(problems: list[Problem]) -> Json:
    """The body of the HTTP 400 answer: the first problem's sentence, and all of them as details."""
    details = [{"param": p.param, "message": p.message} for p in problems]
    return {
        "error": {
            "message": problems[0].message,
            "type": "validation_error",
            "param": problems[0].param,
            "details": details,
        }
    }


def check_request(body: Any, api: str = "chat") -> list[Problem]:
    """Everything wrong in the body of a request. `api` is `chat` or `responses`."""
    if not isinstance(body, Mapping):
        return [Problem("", "The request body must be a JSON object")]
    problems: list[Problem] = []
    if body.get("functions") is not None and api == "chat":
        problems += _check_legacy(body)
    else:
        problems += check_tools(body.get("tools"))
        problems += check_tool_choice(body.get("tool_choice"), body.get("tools"))
    if not isinstance(body.get("parallel_tool_calls"), (bool, type(None))):
        problems.append(Problem("parallel_tool_calls", "parallel_tool_calls must be true or false"))
    if api == "chat":
        last_is_open = body.get("continue_final_message") is True
        problems += check_messages(body.get("messages"), last_is_open=last_is_open)
    else:
        problems += _check_input(body)
    return problems


# Tool definitions


def check_tools(tools: Any) -> list[Problem]:
    """What is wrong in a `tools` list, of Chat Completions or of Responses."""
    if tools is None:
        return []
    if not isinstance(tools, (list, tuple)):
        return [Problem("tools", "tools must be a list of tool definitions")]
    problems: list[Problem] = []
    for i, tool in enumerate(tools):
        place = f"tools[{i}]"
        if not isinstance(tool, Mapping):
            problems.append(Problem(place, "A tool must be an object"))
        elif tool.get("type", "function") == "function":
            if "function" in tool or "name" not in tool:
                problems += _check_function(tool.get("function"), f"{place}.function")
            else:
                problems += _check_function(tool, place)
        elif not isinstance(tool["type"], str):
            problems.append(Problem(f"{place}.type", "The type of a tool must be a string"))
    return problems


def _check_function(function: Any, place: str) -> Iterator[Problem]:
    if not isinstance(function, Mapping):
        yield Problem(place, "A function must be an object with a name")
        return
    name = function.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield Problem(
            f"{place}.name",
            "The name of a function must be 1 to 64 letters, digits, underscores or hyphens",
        )
    description = function.get("description")
    if not isinstance(description, (str, type(None))):
        yield Problem(f"{place}.description", "The description of a function must be a string")
    elif description and len(description) > MAX_DESCRIPTION:
        yield Problem(
            f"{place}.description",
            f"The description of a function may have at most {MAX_DESCRIPTION} characters; "
            f"this one has {len(description)}",
        )
    strict = function.get("strict")
    if not isinstance(strict, (bool, type(None))):
        yield Problem(f"{place}.strict", "strict must be true or false")
    parameters = function.get("parameters")
    if parameters is not None:
        yield from _check_parameters(parameters, f"{place}.parameters", strict is True)


def _check_parameters(parameters: Any, place: str, strict: bool) -> Iterator[Problem]:
    if not isinstance(parameters, Mapping):
        yield Problem(place, "The parameters of a function must be a JSON Schema object")
        return
    if parameters.get("type", "object") != "object":
        yield Problem(f"{place}.type", 'The parameters of a function must have the type "object"')
        return
    waiting: list[tuple[Any, str]] = [(parameters, place)]
    while waiting:
        schema, here = waiting.pop()
        if isinstance(schema, bool):
            continue
        if not isinstance(schema, Mapping):
            yield Problem(here, "A JSON Schema must be an object")
            continue
        yield from _check_keywords(schema, here)
        if strict:
            yield from _check_strict(schema, here)
        waiting.extend(reversed(list(_subschemas(schema, here))))


def _subschemas(schema: Mapping[str, Any], place: str) -> Iterator[tuple[Any, str]]:
    for key in _SCHEMA_MAPS:
        if isinstance(schema.get(key), Mapping):
            for name, part in schema[key].items():
                yield part, f"{place}.{key}.{name}"
    for key in _SCHEMA_LISTS:
        if isinstance(schema.get(key), list):
            for i, part in enumerate(schema[key]):
                yield part, f"{place}.{key}[{i}]"
    for key in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(key), list):  # `items` of the older drafts
            for i, part in enumerate(schema[key]):
                yield part, f"{place}.{key}[{i}]"
        elif key in schema:
            yield schema[key], f"{place}.{key}"


def _check_keywords(schema: Mapping[str, Any], place: str) -> Iterator[Problem]:
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not types or not all(isinstance(t, str) and t in JSON_TYPES for t in types):
            yield Problem(f"{place}.type", "The type must be a JSON type, or a list of them")
    for key in _SCHEMA_MAPS:
        if key in schema and not isinstance(schema[key], Mapping):
            yield Problem(f"{place}.{key}", f"{key} must be an object")
    for key in ("enum", *_SCHEMA_LISTS):
        if key in schema and not isinstance(schema[key], list):
            yield Problem(f"{place}.{key}", f"{key} must be a list")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield Problem(f"{place}.required", "required must be a list of property names")


def _check_strict(schema: Mapping[str, Any], place: str) -> Iterator[Problem]:
    types = schema.get("type")
    is_object = types == "object" or (isinstance(types, list) and "object" in types)
    properties = schema.get("properties")
    if not is_object and not isinstance(properties, Mapping):
        return
    if schema.get("additionalProperties") is not False:
        yield Problem(
            f"{place}.additionalProperties",
            "With strict: true, every object must have additionalProperties: false",
        )
    required = schema.get("required")
    listed = required if isinstance(required, list) else []
    missing = [name for name in properties or () if name not in listed]
    if missing:
        yield Problem(
            f"{place}.required",
            "With strict: true, every property must be required; missing: " + ", ".join(missing),
        )


def check_tool_choice(choice: Any, tools: Any, place: str = "tool_choice") -> list[Problem]:
    """What is wrong in `tool_choice`, given the tools."""
    if choice is None or choice in ("none", "auto"):
        return []
    if choice == "required":
        if tools:
            return []
        return [Problem(place, 'tool_choice is "required", but there are no tools')]
    if not isinstance(choice, Mapping):
        return [
            Problem(
                place,
                'tool_choice must be "none", "auto", "required", or an object that names a tool',
            )
        ]
    if choice.get("type", "function") != "function":
        return []  # a hosted tool, or a list of allowed ones: the server knows them
    function = choice.get("function", choice)
    name = function.get("name") if isinstance(function, Mapping) else None
    where = f"{place}.function.name" if "function" in choice else f"{place}.name"
    if not isinstance(name, str) or not name:
        return [Problem(where, "tool_choice must name a tool")]
    if name not in _tool_names(tools):
        return [Problem(where, f'tool_choice names "{name}", which is not among the tools')]
    return []


def _tool_names(tools: Any) -> set[str]:
    names = set()
    for tool in tools if isinstance(tools, (list, tuple)) else ():
        function = tool.get("function", tool) if isinstance(tool, Mapping) else None
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            names.add(function["name"])
    return names


# The deprecated `functions` and `function_call`


def _check_legacy(body: Mapping[str, Any]) -> Iterator[Problem]:
    functions = body["functions"]
    if body.get("tools") is not None:
        yield Problem("functions", "Use tools or the deprecated functions, not both")
    if not isinstance(functions, list):
        yield Problem("functions", "functions must be a list of functions")
        return
    for i, function in enumerate(functions):
        yield from _check_function(function, f"functions[{i}]")
    choice = body.get("function_call")
    if choice == "required":
        yield Problem("function_call", 'function_call must be "none", "auto", or name a function')
    else:
        yield from check_tool_choice(choice, functions, "function_call")


def translate_legacy(body: Json) -> Json:
    """A checked request with `functions`, as one with `tools`; any other request as it is."""
    if body.get("functions") is None:
        return body
    kept = {k: v for k, v in body.items() if k not in ("functions", "function_call")}
    kept["tools"] = [{"type": "function", "function": f} for f in body["functions"]]
    choice = body.get("function_call")
    if isinstance(choice, Mapping):
        choice = {"type": "function", "function": {"name": choice["name"]}}
    if choice is not None:
        kept["tool_choice"] = choice
    kept["parallel_tool_calls"] = False  # the old protocol has room for one call only
    kept["messages"] = _translate_messages(body["messages"])
    if not kept["tools"]:
        del kept["tools"]
    return kept


def _translate_messages(messages: list[Json]) -> list[Json]:
    """Old calls and their results as new ones: their ids count the calls of the conversation."""
    translated = []
    made = 0
    for message in messages:
        call = message.get("function_call")
        if message["role"] == "assistant" and isinstance(call, Mapping):
            made += 1
            rest = {k: v for k, v in message.items() if k != "function_call"}
            tool_call = {"id": f"call_function_{made}", "type": "function", "function": call}
            translated.append(rest | {"tool_calls": [tool_call]})
        elif message["role"] == "function":
            answer = {"role": "tool", "tool_call_id": f"call_function_{made}"}
            translated.append(answer | {"content": message.get("content")})
        else:
            translated.append(message)
    return translated


# Conversations


def check_messages(messages: Any, *, last_is_open: bool = False) -> list[Problem]:
    """What is wrong in a conversation. `last_is_open`: its last message is still being written."""
    if not isinstance(messages, (list, tuple)) or not messages:
        return [Problem("messages", "messages must be a list with at least one message")]
    conversation = _Conversation()
    for i, message in enumerate(messages):
        conversation.see(message, f"messages[{i}]")
    if not last_is_open:
        conversation.end_turn()
    order = {f"messages[{i}]": i for i in range(len(messages))}
    return sorted(conversation.problems, key=lambda p: order[p.param.partition(".")[0]])


class _Conversation:
    """Follows a conversation: the tracker knows the calls, this knows where they stand."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._tracker = ToolCallTracker()
        self._open: dict[str, str] = {}  # calls of this turn without an answer: id, place
        self._open_function: str | None = None  # the name of an old-style call without an answer

    def see(self, message: Any, place: str) -> None:
        if not isinstance(message, Mapping):
            self._add(place, "A message must be an object")
            return
        role = message.get("role")
        if not isinstance(role, str) or role not in ROLES:
            shown = role if isinstance(role, str) else ""
            self._add(f"{place}.role", sentences.UNKNOWN_ROLE.format(role=shown))
            return
        if role == "tool":
            self._answer(message, place)
            return
        content = message.get("content")
        if not isinstance(content, (str, list, type(None))):
            self._add(f"{place}.content", sentences.WRONG_CONTENT)
        if role == "function":
            self._function_answer(message, place)
            return
        self.end_turn()
        if role == "assistant":
            self._calls(message, place)

    def end_turn(self) -> None:
        """The next turn begins, or the conversation is over: all calls must have been answered."""
        for place in self._open.values():
            self._add(place, sentences.UNANSWERED_CALLS)
        self._open = {}
        self._open_function = None

    def _calls(self, message: Mapping[str, Any], place: str) -> None:
        old_style = message.get("function_call")
        if isinstance(old_style, Mapping):
            self.problems += _check_call(old_style, f"{place}.function_call")
            self._open_function = str(old_style.get("name") or "")
        elif old_style is not None:
            self._add(f"{place}.function_call", "function_call must be an object with a name")
        calls = message.get("tool_calls")
        if calls is None:
            return
        if not isinstance(calls, list):
            self._add(f"{place}.tool_calls", "tool_calls must be a list of calls")
            return
        for i, call in enumerate(calls):
            self._call(call, f"{place}.tool_calls[{i}]")

    def _call(self, call: Any, place: str) -> None:
        if not isinstance(call, Mapping):
            self._add(place, "A call must be an object with an id and a function")
            return
        name, arguments = "", ""
        if call.get("type") != "custom":
            function = call.get("function")
            found = list(_check_call(function, f"{place}.function"))
            self.problems += found
            if not found:
                assert isinstance(function, Mapping)
                name, arguments = function["name"], function["arguments"]
        id = call.get("id")
        if not isinstance(id, str) or not id:
            self._add(f"{place}.id", "A call must have an id, a string that is not empty")
        elif id in self._tracker:
            self._add(f"{place}.id", f'The id "{id}" is used by another call: ids must be unique')
        else:
            self._tracker.add(id, name, arguments)
            self._open[id] = f"{place}.id"

    def _answer(self, message: Mapping[str, Any], place: str) -> None:
        id = message.get("tool_call_id")
        if isinstance(id, str) and id in self._open:
            self._tracker.complete(id, message.get("content"))
            del self._open[id]
            return
        shown = id if isinstance(id, str) else ""
        self._add(f"{place}.tool_call_id", sentences.ORPHAN_RESULT.format(role="tool", id=shown))

    def _function_answer(self, message: Mapping[str, Any], place: str) -> None:
        name = message.get("name")
        if isinstance(name, str) and name and name == self._open_function:
            self._open_function = None
            return
        shown = name if isinstance(name, str) else ""
        self._add(f"{place}.name", sentences.ORPHAN_RESULT.format(role="function", id=shown))

    def _add(self, place: str, sentence: str) -> None:
        self.problems.append(Problem(place, sentence))


def _check_call(function: Any, place: str) -> Iterator[Problem]:
    if not isinstance(function, Mapping):
        yield Problem(place, "A call must have a function with a name and arguments")
        return
    if not isinstance(function.get("name"), str) or not function["name"]:
        yield Problem(f"{place}.name", "A call must name its function")
    yield from _check_arguments(function.get("arguments"), f"{place}.arguments")


def _check_arguments(arguments: Any, place: str) -> Iterator[Problem]:
    if not isinstance(arguments, str):
        yield Problem(place, "The arguments of a call must be a string of JSON")
    elif json_type(arguments) is None:
        yield Problem(place, "The arguments of a call must be valid JSON")


# The input of the Responses API


def _check_input(body: Mapping[str, Any]) -> Iterator[Problem]:
    items = body.get("input")
    if not isinstance(items, list):
        if not isinstance(items, (str, type(None))):
            yield Problem("input", "input must be a string or a list of items")
        return
    # With an earlier response behind it, an answer's call may stand there and not here.
    alone = body.get("previous_response_id") is None and body.get("conversation") is None
    tracker = ToolCallTracker()
    places: dict[str, str] = {}
    for i, item in enumerate(items):
        place = f"input[{i}]"
        if not isinstance(item, Mapping):
            yield Problem(place, "An input item must be an object")
        elif item.get("type") == "function_call":
            yield from _check_call(item, place)
            yield from _track_item(tracker, item, place)
            places[str(item.get("call_id"))] = f"{place}.call_id"
        elif item.get("type") == "function_call_output":
            id = str(item.get("call_id") or "")
            if id in tracker and tracker[id].state.open:
                tracker.complete(id, item.get("output"))
            elif id in tracker or alone or not id:
                problem = f'This output must answer a call that has none yet; "{id}" does not'
                yield Problem(f"{place}.call_id", problem)
    for call in tracker.unanswered:
        yield Problem(places[call.id], f'The call "{call.id}" has no function_call_output')


def _track_item(tracker: ToolCallTracker, item: Mapping[str, Any], place: str) -> Iterator[Problem]:
    id = item.get("call_id")
    if not isinstance(id, str) or not id:
        yield Problem(f"{place}.call_id", "A call must have a call_id that is not empty")
    elif id in tracker:
        sentence = f'The call_id "{id}" is used by another call: ids must be unique'
        yield Problem(f"{place}.call_id", sentence)
    else:
        tracker.add(id, str(item.get("name") or ""), str(item.get("arguments") or ""))
