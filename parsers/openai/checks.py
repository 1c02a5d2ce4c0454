"""What is wrong with a request, each thing with its place.

    problems = check_request(body)
    if problems: respond(400, error_body(problems))

`check_tools` and `check_messages` look at one part. Nothing here raises for what a client sent, and
nothing recurses on it. The first 20 problems are told, and how many more there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..schema.kinds import json_type
from . import sentences
from .problems import Problem, Problems, error_body
from .sizes import shortened
from .tool_checks import (
    check_tool_choice,
    check_tools,
    find_in_function,
    find_in_tool_choice,
    find_in_tools,
)
from .tracker import ToolCallTracker

__all__ = [
    "Problem",
    "check_messages",
    "check_request",
    "check_tool_choice",
    "check_tools",
    "error_body",
    "translate_legacy",
]

Json = dict[str, Any]

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


def check_request(
    body: Any, api: str = "chat", *, limits: Counter[str] | None = None
) -> list[Problem]:
    """What is wrong in the body of a request. `api` is `chat` or `responses`.

    `limits`: what only the limits of some servers forbid (long names and descriptions, names with a
    dot) is counted there, and no problem.
    """
    problems = Problems(limits)
    if not isinstance(body, Mapping):
        problems.add("", "The request body must be a JSON object")
        return problems.told()
    if body.get("functions") is not None and api == "chat":
        _find_in_legacy(problems, body)
    else:
        find_in_tools(problems, body.get("tools"))
        find_in_tool_choice(problems, body.get("tool_choice"), body.get("tools"))
    if not isinstance(body.get("parallel_tool_calls"), (bool, type(None))):
        problems.add("parallel_tool_calls", "parallel_tool_calls must be true or false")
    if api == "chat":
        last_is_open = body.get("continue_final_message") is True
        _find_in_messages(problems, body.get("messages"), last_is_open)
    else:
        _find_in_input(problems, body)
    return problems.told()


# The deprecated `functions` and `function_call`


def _find_in_legacy(problems: Problems, body: Mapping[str, Any]) -> None:
    functions = body["functions"]
    if body.get("tools") is not None:
        problems.add("functions", "Use tools or the deprecated functions, not both")
    if not isinstance(functions, list):
        problems.add("functions", "functions must be a list of functions")
        return
    for i, function in enumerate(functions):
        find_in_function(problems, function, f"functions[{i}]")
    choice = body.get("function_call")
    if choice == "required":
        problems.add("function_call", 'function_call must be "none", "auto", or name a function')
    else:
        find_in_tool_choice(problems, choice, functions, "function_call")


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
    problems = Problems()
    _find_in_messages(problems, messages, last_is_open)
    return problems.told()


def _find_in_messages(problems: Problems, messages: Any, last_is_open: bool) -> None:
    if not isinstance(messages, (list, tuple)) or not messages:
        problems.add("messages", "messages must be a list with at least one message")
        return
    conversation = _Conversation(problems)
    for i, message in enumerate(messages):
        conversation.see(message, i)
    if not last_is_open:
        conversation.end_turn()


class _Conversation:
    """Follows a conversation: the tracker knows the calls, this knows where they stand."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._now = 0  # the number of the message
        self._tracker = ToolCallTracker()
        self._open: dict[str, str] = {}  # calls of this turn without an answer: id, place
        self._turn = 0  # the message that they stand in
        self._open_function: str | None = None  # the name of an old-style call without an answer

    def see(self, message: Any, number: int) -> None:
        self._now = number
        place = f"messages[{number}]"
        if not isinstance(message, Mapping):
            self._add(place, "A message must be an object")
            return
        role = message.get("role")
        if not isinstance(role, str) or role not in ROLES:
            shown = shortened(role) if isinstance(role, str) else ""
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
            self._problems.add(place, sentences.UNANSWERED_CALLS, self._turn)
        self._open = {}
        self._open_function = None

    def _calls(self, message: Mapping[str, Any], place: str) -> None:
        old_style = message.get("function_call")
        if isinstance(old_style, Mapping):
            _find_in_call(self._problems, old_style, f"{place}.function_call", self._now)
            self._open_function = str(old_style.get("name") or "")
        elif old_style is not None:
            self._add(f"{place}.function_call", "function_call must be an object with a name")
        calls = message.get("tool_calls")
        if calls is None:
            return
        if not isinstance(calls, list):
            self._add(f"{place}.tool_calls", "tool_calls must be a list of calls")
            return
        self._turn = self._now
        for i, call in enumerate(calls):
            self._call(call, f"{place}.tool_calls[{i}]")

    def _call(self, call: Any, place: str) -> None:
        if not isinstance(call, Mapping):
            self._add(place, "A call must be an object with an id and a function")
            return
        name, arguments = "", ""
        if call.get("type") != "custom":
            function = call.get("function")
            before = self._problems.count
            _find_in_call(self._problems, function, f"{place}.function", self._now)
            if self._problems.count == before:
                assert isinstance(function, Mapping)
                name, arguments = function["name"], function["arguments"]
        id = call.get("id")
        if not isinstance(id, str) or not id:
            self._add(f"{place}.id", "A call must have an id, a string that is not empty")
        elif id in self._tracker:
            self._add(f"{place}.id", _repeated("id", id))
        else:
            self._tracker.add(id, name, arguments)
            self._open[id] = f"{place}.id"

    def _answer(self, message: Mapping[str, Any], place: str) -> None:
        id = message.get("tool_call_id")
        if isinstance(id, str) and id in self._open:
            self._tracker.complete(id, message.get("content"))
            del self._open[id]
            return
        shown = shortened(id) if isinstance(id, str) else ""
        self._add(f"{place}.tool_call_id", sentences.ORPHAN_RESULT.format(role="tool", id=shown))

    def _function_answer(self, message: Mapping[str, Any], place: str) -> None:
        name = message.get("name")
        if isinstance(name, str) and name and name == self._open_function:
            self._open_function = None
            return
        shown = shortened(name) if isinstance(name, str) else ""
        self._add(f"{place}.name", sentences.ORPHAN_RESULT.format(role="function", id=shown))

    def _add(self, place: str, sentence: str) -> None:
        self._problems.add(place, sentence, self._now)


def _repeated(what: str, id: str) -> str:
    return f'The {what} "{shortened(id)}" is used by another call: ids must be unique'


def _find_in_call(problems: Problems, function: Any, place: str, order: int = -1) -> None:
    if not isinstance(function, Mapping):
        problems.add(place, "A call must have a function with a name and arguments", order)
        return
    if not isinstance(function.get("name"), str) or not function["name"]:
        problems.add(f"{place}.name", "A call must name its function", order)
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        sentence = "The arguments of a call must be a string of JSON"
        problems.add(f"{place}.arguments", sentence, order)
    elif json_type(arguments) is None:
        problems.add(f"{place}.arguments", "The arguments of a call must be valid JSON", order)


# The input of the Responses API


def _find_in_input(problems: Problems, body: Mapping[str, Any]) -> None:
    items = body.get("input")
    if not isinstance(items, list):
        if not isinstance(items, (str, type(None))):
            problems.add("input", "input must be a string or a list of items")
        return
    # With an earlier response behind it, an answer's call may stand there and not here.
    alone = body.get("previous_response_id") is None and body.get("conversation") is None
    tracker = ToolCallTracker()
    places: dict[str, str] = {}
    for i, item in enumerate(items):
        place = f"input[{i}]"
        if not isinstance(item, Mapping):
            problems.add(place, "An input item must be an object")
        elif item.get("type") == "function_call":
            _find_in_call(problems, item, place)
            _track_item(problems, tracker, item, f"{place}.call_id", places)
        elif item.get("type") == "function_call_output":
            id = item.get("call_id")
            id = id if isinstance(id, str) else ""
            if id in tracker and tracker[id].state.open:
                tracker.complete(id, item.get("output"))
            elif id in tracker or alone or not id:
                sentence = "This output must answer a call that has none yet; "
                problems.add(f"{place}.call_id", f'{sentence}"{shortened(id)}" does not')
    for call in tracker.unanswered:
        sentence = f'The call "{shortened(call.id)}" has no function_call_output'
        problems.add(places[call.id], sentence)


def _track_item(
    problems: Problems,
    tracker: ToolCallTracker,
    item: Mapping[str, Any],
    place: str,
    places: dict[str, str],
) -> None:
    id = item.get("call_id")
    if not isinstance(id, str) or not id:
        problems.add(place, "A call must have a call_id that is not empty")
    elif id in tracker:
        problems.add(place, _repeated("call_id", id))
    else:
        places[id] = place
        tracker.add(id, "")
