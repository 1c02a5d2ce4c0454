"""Tools in the prompt: for an upstream that knows nothing of tools, they become words.

| in the request | in the prompt |
|---|---|
| `tools` | behind the system message, in the words that the chat templates of the format's style use |
| `tool_choice`, `parallel_tool_calls`, `strict` | a sentence each, behind the tools |
| an earlier call | in the assistant's text, as `toolwire.write` writes it |
| its result | in a turn of the user, as the style shows results |

A user who speaks right behind results does so in the same turn: many models' templates refuse two turns
of one role. Tools that the server runs itself stay in `tools`.

Chat Completions and Responses differ in how calls and results are given; what is said is the same, so
both are read as one row of turns (`_Turns`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..openai.request import Request, read_request
from ..schema.declarations import declarations
from ..templates import Words

Json = dict[str, Any]

NO_CALL = "Do not call a tool now: answer in plain text."
MUST_CALL = "You must call a tool now: do not answer without a call."
MUST_CALL_ONE = "You must call the tool {name} now: do not answer without that call."
ONLY_THESE = "Of these tools, call no others than {names}."
ONE_CALL = "Call no more than one tool at a time."
STRICT = (
    "The arguments of {names} must be exactly as declared: all that are required, each of its type, and "
    "no others."
)
REMINDER = "You have not called a tool. {choice}"

_ABOUT_TOOLS = frozenset({"tool_choice", "parallel_tool_calls", "functions", "function_call"})
_SYSTEM = ("system", "developer")
_RESULTS = ("tool", "function")
_CALL_ITEMS = ("function_call", "custom_tool_call")
_RESULT_ITEMS = ("function_call_output", "custom_tool_call_output")
_BETWEEN = "\n\n"


def in_prompt(body: Json, api: str, words: Words) -> Json:
    """A request with its tools, calls and results as words. `api` is `chat` or `responses`."""
    request = read_request(body, api)
    kept = {key: value for key, value in body.items() if key not in _ABOUT_TOOLS}
    hosted = [tool for tool in _objects(kept.pop("tools", None)) if not any(declarations(tool))]
    if hosted:
        kept["tools"] = hosted
    about = about_tools(body, request, words)
    if api == "responses":
        return _responses(kept, about, words, request)
    messages = body.get("messages")
    if not isinstance(messages, list):
        return kept
    turns = _Turns(words, request)
    for message in messages:
        turns.see_message(message)
    return kept | {"messages": _with_system(turns.end(), about)}


def about_tools(body: Json, request: Request, words: Words) -> str:
    """All that is said of the tools of a request; nothing where it has none."""
    if not request.functions:
        return ""
    old = [{"function": function} for function in _objects(body.get("functions"))]
    given = old or _objects(body.get("tools"))
    tools = [_shown(found) for tool in given for found in declarations(tool)]
    return "\n".join([words.declare(tools), *_choices(request)])


def _shown(found: Any) -> Json:
    """A tool as the templates are given it."""
    definition = found.definition if isinstance(found.definition, Mapping) else {}
    function: Json = {"name": str(found.name)}
    if isinstance(definition.get("description"), str):
        function["description"] = definition["description"]
    if isinstance(found.parameters, Mapping):
        function["parameters"] = found.parameters
    return {"type": "function", "function": function}


def _choices(request: Request) -> Iterator[str]:
    """What the request says of calls, a sentence each."""
    if request.choice.mode == "none":
        yield NO_CALL
        return
    if request.choice.names is not None:
        yield ONLY_THESE.format(names=", ".join(f.name for f in request.allowed) or "none")
    if request.choice.forced:
        yield must_call(request)
    if not request.parallel:
        yield ONE_CALL
    strict = [function.name for function in request.functions if function.strict]
    if strict:
        yield STRICT.format(names=", ".join(strict))


def must_call(request: Request) -> str:
    """What is said where a call must come."""
    name = request.choice.name
    return MUST_CALL if name is None else MUST_CALL_ONE.format(name=name)


def remind(body: Json, api: str, request: Request) -> Json:
    """The request once more, for an upstream that did not call although it had to."""
    sentence = REMINDER.format(choice=must_call(request))
    key = "input" if api == "responses" else "messages"
    said = body.get(key)
    if isinstance(said, str):
        return body | {key: said + _BETWEEN + sentence}
    listed = list(said) if isinstance(said, list) else []
    if listed and _role(listed[-1]) == "user":
        listed[-1] = listed[-1] | {"content": _followed(listed[-1].get("content"), sentence)}
    else:
        listed.append({"role": "user", "content": sentence})
    return body | {key: listed}


# -- the first turn -------------------------------------------------------------------------------


def _with_system(messages: list[Any], about: str) -> list[Any]:
    """The messages with these words in the first one of the system."""
    if not about:
        return messages
    if messages and _role(messages[0]) in _SYSTEM:
        first = messages[0] | {"content": _followed(messages[0].get("content"), about)}
        return [first, *messages[1:]]
    return [{"role": "system", "content": about}, *messages]


def _responses(kept: Json, about: str, words: Words, request: Request) -> Json:
    given, instructions = kept.get("input"), kept.get("instructions")
    if isinstance(given, list):
        turns = _Turns(words, request)
        for item in given:
            turns.see_item(item)
        kept["input"] = given = turns.end()
    if not about:
        return kept
    if not instructions and isinstance(given, list) and given and _role(given[0]) in _SYSTEM:
        return kept | {"input": _with_system(given, about)}
    told = instructions if isinstance(instructions, str) else ""
    return kept | {"instructions": _followed(told, about)}


# -- the turns behind it --------------------------------------------------------------------------


class _Turns:
    """The turns of a conversation, with calls and results in the text of who says them."""

    def __init__(self, words: Words, request: Request) -> None:
        self._words = words
        self._tools = request.tools
        self._out: list[Any] = []
        self._names: dict[str, str] = {}  # of the calls so far, by their ids
        self._latest: list[tuple[Any, str]] = []  # the ids and names of the latest ones
        self._calls: list[Json] = []  # that were not written yet
        self._results: list[tuple[int, str]] = []  # their places, and what to say
        self._after_results = False  # the last turn is one with results

    def see_message(self, message: Any) -> None:
        """The next message of Chat Completions."""
        role = _role(message)
        if not isinstance(message, dict):
            self._say(message)
            return
        if role in _RESULTS:
            id = message.get("tool_call_id")
            self._result(id, message.get("name"), message.get("content"))
            return
        calls = _objects(message.get("tool_calls")) if role == "assistant" else []
        old = message.get("function_call") if role == "assistant" else None
        if not calls and isinstance(old, dict):
            calls = [{"function": old}]
        if not calls:
            self._say(message)
            return
        rest = {k: v for k, v in message.items() if k not in ("tool_calls", "function_call")}
        self._say(rest)
        for call in calls:
            self._call(call.get("id"), call.get("function") or call.get("custom") or call)

    def see_item(self, item: Any) -> None:
        """The next item of Responses."""
        kind = item.get("type") if isinstance(item, dict) else None
        if kind in _CALL_ITEMS:
            self._call(item.get("call_id"), item)
        elif kind in _RESULT_ITEMS:
            self._result(item.get("call_id"), None, item.get("output"))
        else:
            self._say(item)

    def end(self) -> list[Any]:
        self._write_calls()
        self._write_results()
        return self._out

    def _say(self, turn: Any) -> None:
        """A turn that is neither a call nor a result."""
        self._write_calls()
        self._write_results()
        if self._after_results and _role(turn) == "user":
            results = self._out.pop()["content"]
            turn = turn | {"content": _preceded(results, turn.get("content"))}
        self._after_results = False
        self._out.append(turn)

    def _call(self, id: Any, function: Any) -> None:
        if not isinstance(function, dict):
            return
        self._write_results()
        if not self._calls:
            self._latest = []
        name = str(function.get("name"))
        self._latest.append((id, name))
        if isinstance(id, str):
            self._names[id] = name
        arguments = function.get("arguments")
        if "input" in function:  # of a custom tool
            arguments = {"input": function["input"]}
        self._calls.append({"id": id, "name": name, "arguments": arguments})

    def _write_calls(self) -> None:
        calls, self._calls = self._calls, []
        if not calls:
            return
        text = self._words.calls(calls, self._tools)
        if not self._out or _role(self._out[-1]) != "assistant":
            self._out.append({"role": "assistant", "content": text})
        else:
            said = self._out[-1]
            self._out[-1] = said | {"content": _followed(said.get("content"), text, "\n")}
        self._after_results = False

    def _result(self, id: Any, name: Any, content: Any) -> None:
        self._write_calls()
        ids = [known for known, _ in self._latest]
        place = ids.index(id) if id in ids else len(self._results)
        named = self._names.get(id) if isinstance(id, str) else None
        if named is None and isinstance(name, str) and name:
            named = name
        if named is None and id is None and place < len(self._latest):
            named = self._latest[place][1]
        self._results.append((place, self._words.result(named or str(id or "tool"), content)))

    def _write_results(self) -> None:
        """All results of a turn, in the order of their calls."""
        results, self._results = self._results, []
        if results:
            text = "\n".join(said for _, said in sorted(results, key=lambda result: result[0]))
            self._out.append({"role": "user", "content": text})
            self._after_results = True


def _role(turn: Any) -> Any:
    return turn.get("role") if isinstance(turn, dict) else None


def _followed(content: Any, text: str, between: str = _BETWEEN) -> Any:
    """A message's content with a text behind it."""
    said = _plain(content)
    if said is None:
        return [*content, {"type": _kind_of_text(content), "text": text}]
    return said + between + text if said else text


def _preceded(text: str, content: Any) -> Any:
    """The same with the text before it."""
    said = _plain(content)
    if said is None:
        return [{"type": _kind_of_text(content), "text": text}, *content]
    return text + _BETWEEN + said if said else text


def _plain(content: Any) -> str | None:
    """Content as one text, the parts of a list one below the other; None where it is more than text."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts: list[str] = []
    for part in content:
        text = part.get("text") if isinstance(part, dict) else part
        if not isinstance(text, str):
            return None
        texts.append(text)
    return "\n".join(texts)


def _kind_of_text(parts: list[Any]) -> str:
    """What a part with text is called where these stand: Responses has a name of its own."""
    kinds = [str(part.get("type")) for part in parts if isinstance(part, dict)]
    return "input_text" if any(kind.startswith("input_") for kind in kinds) else "text"


def _objects(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
