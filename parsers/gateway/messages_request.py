"""A request of Anthropic's Messages API, as one of Chat Completions.

| Messages | Chat Completions |
|---|---|
| `system`, a text or blocks | the first message |
| `tool_use` in an assistant's message | `tool_calls`, the input written as JSON |
| `tool_result` in a user's message | a message with the role `tool`, before what else the user says |
| an image in a result | in the user's message behind the results: tool messages hold text only |
| `is_error` | the result begins with `Error: ` |
| `thinking` | `reasoning_content` |
| `tool_choice`: auto, any, tool, none | `auto`, `required`, the function's name, `none` |
| `disable_parallel_tool_use` | `parallel_tool_calls: false` |

What is only about Anthropic's own service (cache markers, betas, thinking budgets, redacted thoughts)
is dropped. What can't be said (a tool that runs at Anthropic, a file in its storage) is a problem.
Nothing here raises for what a client sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..openai import exact_json
from ..openai.problems import Problem, Problems
from ..openai.sizes import shortened

Json = dict[str, Any]

#: What both APIs have, and what it is called there.
_SAME = {
    "model": "model",
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "stream": "stream",
    "stop_sequences": "stop",
}
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
#: Between two texts that a client gave as blocks of their own.
_BETWEEN = "\n\n"
#: Where the system prompt comes from: none of the client's messages.
_SYSTEM = -1


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """The translated request."""

    body: Json
    sources: tuple[int, ...]  # of each message: which one of the client's it came from
    problems: list[Problem]


def chat_request(body: Json) -> ChatRequest:
    """A request to `/v1/messages` as one to `/v1/chat/completions`."""
    problems = Problems()
    conversation = _Conversation(problems)
    conversation.system(body.get("system"), "system", _SYSTEM)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        problems.add("messages", "messages must be a list with at least one message")
        messages = []
    for i, message in enumerate(messages):
        conversation.see(message, i)
    chat: Json = {new: body[old] for old, new in _SAME.items() if body.get(old) is not None}
    chat["messages"] = conversation.messages
    if body.get("stream") is True:
        chat["stream_options"] = {"include_usage": True}
    chat |= chat_tools(body, problems) | _output_format(body)
    metadata = body.get("metadata")
    if isinstance(metadata, Mapping) and isinstance(metadata.get("user_id"), str):
        chat["user"] = metadata["user_id"]
    return ChatRequest(chat, tuple(conversation.sources), problems.told())


# Tools


def chat_tools(body: Json, problems: Problems | None = None) -> Json:
    """The translated `tools`, `tool_choice` and `parallel_tool_calls`, as far as there are any."""
    problems = problems or Problems()
    given = body.get("tools")
    if given is not None and not isinstance(given, list):
        problems.add("tools", "tools must be a list of tool definitions")
    listed = enumerate(given if isinstance(given, list) else [])
    made = [_tool(problems, tool, f"tools[{i}]") for i, tool in listed]
    tools = [tool for tool in made if tool is not None]
    choice = body.get("tool_choice")
    if not tools:
        if isinstance(choice, Mapping) and choice.get("type") in ("any", "tool") and not made:
            problems.add("tool_choice", "tool_choice asks for a tool, and there are no tools")
        return {}
    return {"tools": tools} | _tool_choice(problems, choice, tools)


def _tool(problems: Problems, tool: Any, place: str) -> Json | None:
    if not isinstance(tool, Mapping):
        problems.add(place, "A tool must be an object")
        return None
    kind, name = tool.get("type"), tool.get("name")
    if kind not in (None, "custom"):
        shown = shortened(str(kind))
        sentence = (
            f'Chat Completions has no tool of the type "{shown}": use one with an input_schema'
        )
        problems.add(f"{place}.type", sentence)
        return None
    schema = tool.get("input_schema")
    if not isinstance(name, str) or not name:
        problems.add(f"{place}.name", "A tool must have a name, a string that is not empty")
        return None
    if not isinstance(schema, Mapping):
        problems.add(f"{place}.input_schema", "input_schema must be a JSON Schema object")
        return None
    function: Json = {"name": name, "parameters": schema}
    if isinstance(tool.get("description"), str):
        function["description"] = tool["description"]
    if tool.get("strict") is True:
        function["strict"] = True
    return {"type": "function", "function": function}


def _tool_choice(problems: Problems, choice: Any, tools: list[Json]) -> Json:
    if choice is None:
        return {}
    kind = choice.get("type") if isinstance(choice, Mapping) else None
    one = {"parallel_tool_calls": False} if _wants_one(choice) else {}
    if isinstance(kind, str) and kind in _CHOICES:
        return {"tool_choice": _CHOICES[kind]} | one
    if kind == "tool":
        name = choice.get("name")
        if any(tool["function"]["name"] == name for tool in tools):
            return {"tool_choice": {"type": "function", "function": {"name": name}}} | one
        shown = shortened(str(name))
        problems.add("tool_choice.name", f'tool_choice names "{shown}", which is none of the tools')
        return {}
    problems.add("tool_choice.type", "tool_choice must have the type auto, any, tool or none")
    return {}


def _wants_one(choice: Any) -> bool:
    return isinstance(choice, Mapping) and choice.get("disable_parallel_tool_use") is True


def _output_format(body: Json) -> Json:
    """A schema that the answer's text must fit."""
    config = body.get("output_config")
    format = config.get("format") if isinstance(config, Mapping) else None
    schema = format.get("schema") if isinstance(format, Mapping) else None
    if not isinstance(schema, Mapping):
        return {}
    wanted = {"name": "output", "schema": schema, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": wanted}}


# Messages


class _Conversation:
    """The messages of the translated request, as they come."""

    def __init__(self, problems: Problems) -> None:
        self.messages: list[Json] = []
        self.sources: list[int] = []
        self._problems = problems
        self._now = 0  # the number of the client's message

    def see(self, message: Any, number: int) -> None:
        self._now = number
        place = f"messages[{number}]"
        role = message.get("role") if isinstance(message, Mapping) else None
        content = message.get("content") if isinstance(message, Mapping) else None
        if role == "user":
            self._user(self._blocks(content, place), place)
        elif role == "assistant":
            self._assistant(self._blocks(content, place), place)
        elif role == "system":
            self.system(content, place, number)
        else:
            sentence = "A message must be an object with the role user, assistant or system"
            self._problem(place, sentence)

    def system(self, content: Any, place: str, number: int) -> None:
        """What the system says, in one text: many chat templates take no list there."""
        self._now = number
        if content is None:
            return
        if isinstance(content, list):
            parts = [p for i, b in enumerate(content) for p in self._parts(b, f"{place}[{i}]")]
            content = _texts(parts)
        if not isinstance(content, str):
            self._problem(place, "It must be a text or a list of text blocks")
        elif content:
            self._add({"role": "system", "content": content})

    def _add(self, message: Json) -> None:
        self.messages.append(message)
        self.sources.append(self._now)

    def _problem(self, place: str, sentence: str) -> None:
        self._problems.add(place, sentence, self._now)

    def _blocks(self, content: Any, place: str) -> list[Any]:
        if isinstance(content, str):
            return [{"type": "text", "text": content}]
        if isinstance(content, list):
            return content
        self._problem(f"{place}.content", "content must be a text or a list of blocks")
        return []

    def _user(self, blocks: list[Any], place: str) -> None:
        said: list[Json] = []
        pictures: list[Json] = []
        for i, block in enumerate(blocks):
            here = f"{place}.content[{i}]"
            if isinstance(block, Mapping) and block.get("type") == "tool_result":
                pictures += self._result(block, here)
            else:
                said += self._parts(block, here)
        only_results = any(_is_result(block) for block in blocks) and not said and not pictures
        if not only_results:
            self._add({"role": "user", "content": _content(pictures + said)})

    def _result(self, block: Mapping[str, Any], place: str) -> list[Json]:
        """Adds the message of a tool's result; gives back what such a message can't hold."""
        id = block.get("tool_use_id")
        content = block.get("content")
        if not isinstance(id, str) or not id:
            self._problem(f"{place}.tool_use_id", "A result must name the tool_use that it is of")
            return []
        if isinstance(content, list):
            parts = [
                p for i, b in enumerate(content) for p in self._parts(b, f"{place}.content[{i}]")
            ]
        else:
            parts = [_text(content)] if isinstance(content, str) else []
        others = [part for part in parts if part["type"] != "text"]
        text = _texts(parts)
        if others:
            note = f"({len(others)} attached to this result: see the next message of the user)"
            text = _BETWEEN.join(filter(None, (text, note)))
        if block.get("is_error") is True:
            text = f"Error: {text}"
        self._add({"role": "tool", "tool_call_id": id, "content": text})
        return [_text(f"Attached to the result of the tool call {id}:"), *others] if others else []

    def _assistant(self, blocks: list[Any], place: str) -> None:
        texts: list[str] = []
        thoughts: list[str] = []
        calls: list[Json] = []
        for i, block in enumerate(blocks):
            here = f"{place}.content[{i}]"
            kind = block.get("type") if isinstance(block, Mapping) else None
            if kind == "tool_use":
                calls += self._call(block, here)
            elif kind == "thinking":
                thoughts.append(str(block.get("thinking") or ""))
            elif kind != "redacted_thinking":  # nobody but Anthropic can read those
                texts += [part["text"] for part in self._parts(block, here) if "text" in part]
        text = "".join(texts)
        message: Json = {"role": "assistant", "content": text or (None if calls else "")}
        if any(thoughts):
            message["reasoning_content"] = "".join(thoughts)
        if calls:
            message["tool_calls"] = calls
        self._add(message)

    def _call(self, block: Mapping[str, Any], place: str) -> list[Json]:
        id, name, given = block.get("id"), block.get("name"), block.get("input")
        if not isinstance(id, str) or not id or not isinstance(name, str) or not name:
            self._problem(place, "A tool_use must have an id and a name")
            return []
        given = {} if given is None else given
        arguments = given if isinstance(given, Mapping) else {"input": given}
        text = exact_json.dumps(arguments)
        return [{"id": id, "type": "function", "function": {"name": name, "arguments": text}}]

    # Blocks that are no calls and no results

    def _parts(self, block: Any, place: str) -> list[Json]:
        """What a block says, as parts of a message's content."""
        if not isinstance(block, Mapping):
            self._problem(place, "A block must be an object with a type")
            return []
        kind = block.get("type")
        if kind == "text" and isinstance(block.get("text"), str):
            return [_text(block["text"])]
        if kind == "image":
            return self._image(block.get("source"), f"{place}.source")
        if kind == "document":
            return self._document(block, f"{place}.source")
        if kind == "search_result":
            return self._search_result(block, place)
        if kind == "tool_reference":
            return [_text(str(block.get("tool_name") or ""))]
        shown = shortened(str(kind))
        self._problem(place, f'A block of the type "{shown}" can\'t be said in Chat Completions')
        return []

    def _image(self, source: Any, place: str) -> list[Json]:
        kind = source.get("type") if isinstance(source, Mapping) else None
        if kind == "base64":
            return [_image_part(_data_url(source))]
        if kind == "url":
            return [_image_part(str(source.get("url")))]
        self._problem(place, "An image must be given as base64 or as a URL")
        return []

    def _document(self, block: Mapping[str, Any], place: str) -> list[Json]:
        given, title = block.get("source"), block.get("title")
        source = given if isinstance(given, Mapping) else {}
        kind = source.get("type")
        head = [_text(title)] if isinstance(title, str) and title else []
        if kind == "text" and isinstance(source.get("data"), str):
            return [*head, _text(source["data"])]
        if kind == "content":
            return head + self._inner(source.get("content"), f"{place}.content")
        if kind == "base64":
            name = title if head else "document.pdf"
            return [
                {"type": "file", "file": {"filename": name, "file_data": _data_url(source)}},
            ]
        self._problem(place, "A document must be given as text, as blocks or as base64")
        return []

    def _search_result(self, block: Mapping[str, Any], place: str) -> list[Json]:
        about = [block.get("title"), block.get("source")]
        head = [_text(value) for value in about if isinstance(value, str) and value]
        return head + self._inner(block.get("content"), f"{place}.content")

    def _inner(self, content: Any, place: str) -> list[Json]:
        """The blocks inside of a document; none of them is a document again."""
        if isinstance(content, str):
            return [_text(content)]
        parts: list[Json] = []
        for i, block in enumerate(content if isinstance(content, list) else []):
            kind = block.get("type") if isinstance(block, Mapping) else None
            if kind in ("text", "image"):
                parts += self._parts(block, f"{place}[{i}]")
            else:
                self._problem(f"{place}[{i}]", "A document holds nothing but texts and images")
        return parts


def _is_result(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") == "tool_result"


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _image_part(url: str) -> Json:
    return {"type": "image_url", "image_url": {"url": url}}


def _data_url(source: Mapping[str, Any]) -> str:
    return f"data:{source.get('media_type')};base64,{source.get('data')}"


def _texts(parts: list[Json]) -> str:
    return _BETWEEN.join(part["text"] for part in parts if part["type"] == "text")


def _content(parts: list[Json]) -> str | list[Json]:
    """Parts as content: one text where they are nothing else, which every server takes."""
    if all(part["type"] == "text" for part in parts):
        return _texts(parts)
    return parts
