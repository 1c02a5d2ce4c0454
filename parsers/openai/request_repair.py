"""Requests as agents really send them, put right where that does not change what they mean.

    counted = repair_request(body)       # changes the body; {"arguments": 2, "schema": 1}

`checks` says what is wrong with a request; this puts right what can be. Nothing here raises or recurses:
what it does not understand it leaves alone, and the checks tell.

| what | before | after |
|---|---|---|
| `arguments` | of an earlier call: an object, nothing, broken JSON | an object as text; `{"input": …}` |
| `repeated_id` | one id for two calls | the later call and its answer get another one |
| `unanswered_call` | a call without an answer | an answer that says so |
| `repeated_answer` | two answers to a call | the last one |
| `message_order` | other messages between a call and its answers | behind them |
| `schema` | `required: null`, `required: true` at a property, `STRING`, `any`, … | JSON Schema |
| `tool_choice` | `any` | `required` |
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

from ..schema.kinds import JSON_TYPES, PYTHON_TYPES, json_type
from ..schema.standalone import SCHEMA_MAPS
from . import exact_json

Json = dict[str, Any]

NO_ANSWER = "There is no result: this call was not answered."

_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_NOT_NULL = (
    *_SCHEMA_LISTS,
    *SCHEMA_MAPS,
    "enum",
    "items",
    "additionalProperties",
    "required",
    "type",
)
_CHOICES = {"any": "required", "required": "required", "auto": "auto", "none": "none"}


def repair_request(body: Json, api: str = "chat") -> Counter[str]:
    """Puts right what can be, in the body itself; what it was, and how often."""
    counted = repair_arguments(body, api)
    for function in _functions(body):
        counted["schema"] += _repair_parameters(function)
    counted["tool_choice"] += _repair_choice(body)
    if api == "chat" and isinstance(body.get("messages"), list):
        body["messages"] = _Conversation(counted).repaired(
            body["messages"], body.get("continue_final_message") is True
        )
    if api == "responses" and isinstance(body.get("input"), list):
        body["input"] = _repaired_items(body["input"], counted)
    return +counted


def has_odd_tools(body: Json) -> bool:
    """Whether there are tools that are no functions: a server may know them or not."""
    return any(not _is_function(tool) for tool in _objects(body.get("tools")))


def drop_odd_tools(body: Json) -> None:
    """Takes these tools out, in the body itself, and a choice that means one of them."""
    choice = body.get("tool_choice")
    body["tools"] = [t for t in body["tools"] if not isinstance(t, dict) or _is_function(t)]
    if not body["tools"]:
        body.pop("tools")
        body.pop("tool_choice", None)
    elif isinstance(choice, dict) and not _is_function(choice):
        body["tool_choice"] = "auto"


def _is_function(tool: Json) -> bool:
    return bool(tool.get("type", "function") == "function")


# The arguments of earlier calls


def repair_arguments(body: Json, api: str = "chat", *, only_text: bool = False) -> Counter[str]:
    """Puts right the arguments of earlier calls. `only_text`: those that are text, but no JSON."""
    counted: Counter[str] = Counter()
    for function in _called(body, api):
        given = function.get("arguments")
        if isinstance(given, str) and json_type(given) is not None:
            continue
        if not only_text or (isinstance(given, str) and given.strip()):
            function["arguments"] = _as_object(given)
            counted["arguments"] += 1
    return counted


def _called(body: Json, api: str) -> Iterator[Json]:
    """Whatever has the name and the arguments of an earlier call."""
    if api == "responses":
        yield from (i for i in _objects(body.get("input")) if i.get("type") == "function_call")
        return
    for message in _objects(body.get("messages")):
        if message.get("role") != "assistant":
            continue
        found = [c.get("function") for c in _calls(message) if c.get("type") != "custom"]
        for function in [*found, message.get("function_call")]:
            if isinstance(function, dict):
                yield function


def _as_object(given: Any) -> str:
    if isinstance(given, dict):
        return exact_json.dumps(given)
    if given is None or (isinstance(given, str) and not given.strip()):
        return "{}"
    return exact_json.dumps({"input": given})


def _objects(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _calls(message: Json) -> list[Json]:
    return _objects(message.get("tool_calls"))


# Conversations


class _Ids:
    """The ids of a conversation's calls, each made unique; and which call an answer is to."""

    def __init__(self, counted: Counter[str]) -> None:
        self._counted = counted
        self._taken: set[str] = set()
        self._waiting: dict[str, deque[str]] = {}  # by the id as it was: calls without an answer
        self._latest: dict[str, str] = {}  # … and the newest call
        self._numbers: Counter[str] = Counter()  # the last one given, so that none is tried twice

    def call(self, id: str) -> str:
        """The id that a call gets."""
        new = id
        while new in self._taken:
            self._numbers[id] += 1
            new = f"{id}_{self._numbers[id] + 1}"
        if new != id:
            self._counted["repeated_id"] += 1
        self._taken.add(new)
        self._waiting.setdefault(id, deque()).append(new)
        self._latest[id] = new
        return new

    def answer(self, id: Any) -> tuple[str | None, bool]:
        """The call that an answer is to, and whether that has one already; None: there is none."""
        if not isinstance(id, str) or id not in self._latest:
            return None, False
        waiting = self._waiting[id]
        return (waiting.popleft(), False) if waiting else (self._latest[id], True)


class _Conversation:
    """Puts the answers of a conversation where they belong: behind the message with their calls."""

    def __init__(self, counted: Counter[str]) -> None:
        self._counted = counted
        self._ids = _Ids(counted)
        self._answers: dict[str, Json] = {}  # by the id of the call, as it is now
        self._turns: dict[str, int] = {}  # the number of the message that has this call

    def repaired(self, messages: list[Any], last_is_open: bool) -> list[Any]:
        placed: list[list[Any]] = [
            [message] for message in messages
        ]  # each with what goes behind it
        settled = -1  # the message with calls that only answers have come after
        for number, message in enumerate(messages):
            if not isinstance(message, dict):
                settled = -1
            elif message.get("role") == "tool":
                settled = self._place(message, number, placed, settled)
            else:
                settled = number
                self._begin(message, number)
        self._answer_the_rest(placed, len(messages) - 1 if last_is_open else -1)
        return [one for some in placed for one in some]

    def _begin(self, message: Json, number: int) -> None:
        calls = _calls(message) if message.get("role") == "assistant" else []
        for call in calls:
            if isinstance(call.get("id"), str) and call["id"]:
                call["id"] = self._ids.call(call["id"])
                self._turns[call["id"]] = number

    def _place(self, message: Json, number: int, placed: list[list[Any]], settled: int) -> int:
        """Puts an answer behind its call; one that answers nothing stays, and the checks tell."""
        id, again = self._ids.answer(message.get("tool_call_id"))
        if id is None:
            return -1
        message["tool_call_id"] = id
        placed[number] = []
        if again:
            self._counted["repeated_answer"] += 1
            before = self._answers[id]
            before.clear()
            before.update(message)
            return settled
        self._answers[id] = message
        turn = self._turns[id]
        placed[turn].append(message)
        if turn != settled:
            self._counted["message_order"] += 1
        return settled

    def _answer_the_rest(self, placed: list[list[Any]], still_written: int) -> None:
        for id, turn in self._turns.items():
            if id not in self._answers and turn != still_written:
                self._counted["unanswered_call"] += 1
                answer = {"role": "tool", "tool_call_id": id, "content": NO_ANSWER}
                placed[turn].append(answer)


def _repaired_items(items: list[Any], counted: Counter[str]) -> list[Any]:
    """The input of the Responses API: answers may stand anywhere behind their calls there."""
    ids = _Ids(counted)
    answers: dict[str, Json] = {}
    kept: list[Any] = []
    for item in items:
        kind = item.get("type") if isinstance(item, dict) else None
        id = item.get("call_id") if kind is not None else None
        if kind == "function_call" and isinstance(id, str) and id:
            item["call_id"] = ids.call(id)
        elif kind == "function_call_output":
            call, again = ids.answer(id)
            if call is not None:
                item["call_id"] = call
            if again and call is not None:
                counted["repeated_answer"] += 1
                answers[call].clear()
                answers[call].update(item)
                continue
            if call is not None:
                answers[call] = item
        kept.append(item)
    return [one for item in kept for one in (item, *_missing_output(item, answers, counted))]


def _missing_output(item: Any, answers: dict[str, Json], counted: Counter[str]) -> list[Json]:
    if not isinstance(item, dict) or item.get("type") != "function_call":
        return []
    id = item.get("call_id")
    if not isinstance(id, str) or not id or id in answers:
        return []
    counted["unanswered_call"] += 1
    return [{"type": "function_call_output", "call_id": id, "output": NO_ANSWER}]


# Tools


def _functions(body: Json) -> Iterator[Json]:
    """Whatever has the parameters of a function."""
    yield from _objects(body.get("functions"))
    for tool in _objects(body.get("tools")):
        members = _objects(tool.get("tools")) if tool.get("type") == "namespace" else [tool]
        for one in members:
            function = one.get("function")
            yield function if isinstance(function, dict) else one


def _repair_choice(body: Json) -> int:
    choice = body.get("tool_choice")
    said = choice.get("type") if isinstance(choice, dict) and len(choice) == 1 else choice
    wanted = _CHOICES.get(said) if isinstance(said, str) else None
    if wanted is None or wanted == choice:
        return 0
    body["tool_choice"] = wanted
    return 1


def _repair_parameters(function: Json) -> int:
    parameters = function.get("parameters")
    if not isinstance(parameters, dict):
        return 0
    count = 0
    had_type = "type" in parameters
    waiting: list[Json] = [parameters]
    while waiting:
        schema = waiting.pop()
        count += _repair_schema(schema)
        waiting += [part for part in _subschemas(schema) if isinstance(part, dict)]
    if had_type:  # arguments of any type are an object
        parameters.setdefault("type", "object")
    return count


def _subschemas(schema: Json) -> Iterator[Any]:
    for key in SCHEMA_MAPS:
        if isinstance(schema.get(key), dict):
            yield from schema[key].values()
    for key in (*_SCHEMA_LISTS, "items", "additionalProperties", "not"):
        part = schema.get(key)
        yield from part if isinstance(part, list) else [part]


def _repair_schema(schema: Json) -> int:
    """One schema without what stands in it; how much was wrong."""
    count = 0
    for key in _NOT_NULL:
        if key in schema and schema[key] is None:
            count += 1
            del schema[key]
            if key == "properties":
                schema[key] = {}
    if isinstance(schema.get("required"), bool):  # of a property, its object has taken note of it
        del schema["required"]
        count += 1
    properties = schema.get("properties")
    for name, part in properties.items() if isinstance(properties, dict) else ():
        if isinstance(part, dict) and isinstance(part.get("required"), bool):
            count += 1
            if part.pop("required"):
                listed = schema.get("required")
                named = listed if isinstance(listed, list) else []
                schema["required"] = named if name in named else [*named, name]
    return count + _repair_type(schema)


def _repair_type(schema: Json) -> int:
    given = schema.get("type")
    types = given if isinstance(given, list) else [given]
    if not all(isinstance(one, str) for one in types):
        return 0
    known = [_json_type(str(one)) for one in types]
    if "any" in known:
        del schema["type"]
    elif known == types:
        return 0
    else:
        schema["type"] = list(dict.fromkeys(known)) if isinstance(given, list) else known[0]
    return 1


def _json_type(name: str) -> str:
    """A type by its JSON name, where it is one that others call otherwise."""
    lower = name.lower()
    if lower in JSON_TYPES or lower == "any":
        return lower
    return PYTHON_TYPES.get(lower, name)
