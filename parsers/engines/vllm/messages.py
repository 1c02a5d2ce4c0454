"""The messages that vLLM's streams are made of."""

from __future__ import annotations

from typing import Any

from ..model_construct import Filler, agree


class Messages:
    """Makes vLLM's messages with their own constructors."""

    def __init__(self, delta_message: Any, delta_tool_call: Any, delta_function_call: Any) -> None:
        self._message: Any = delta_message
        self._call: Any = delta_tool_call
        self._function: Any = delta_function_call

    def message(self, content: str | None, calls: list[Any], reasoning: str | None = None) -> Any:
        """A message of text, of the entries of calls, of thoughts, or of several of them."""
        fields: dict[str, Any] = {} if content is None else {"content": content}
        if reasoning is not None:
            fields["reasoning"] = reasoning
        if calls:
            fields["tool_calls"] = calls
        return self._message(**fields)

    def start(self, index: int, id: str, name: str, arguments: str) -> Any:
        """The entry of a call that begins."""
        function = self._function(name=name, arguments=arguments)
        return self._call(id=id, type="function", index=index, function=function)

    def piece(self, index: int, arguments: str) -> Any:
        """The entry of a call that goes on."""
        return self._call(index=index, function=self._function(arguments=arguments))

    def examples(self) -> list[Any]:
        """One of each."""
        start, piece = self.start(0, "call_1", "f", "{"), self.piece(0, "}")
        return [
            self.message("text", []),
            self.message(None, [piece]),
            self.message("text", [start]),
            self.message(None, [], "thought"),
            self.message("text", [start], "thought"),
        ]


class QuickMessages(Messages):
    """Fills vLLM's messages in without their constructors."""

    def __init__(self, delta_message: Any, delta_tool_call: Any, delta_function_call: Any) -> None:
        super().__init__(delta_message, delta_tool_call, delta_function_call)
        self._messages = Filler(delta_message, extra=True)
        self._calls = Filler(delta_tool_call, extra=True)
        self._functions = Filler(delta_function_call, extra=False)

    def message(self, content: str | None, calls: list[Any], reasoning: str | None = None) -> Any:
        if content is None:
            given = {"tool_calls"} if calls else set()
        else:
            given = {"content", "tool_calls"} if calls else {"content"}
        if reasoning is not None:
            given.add("reasoning")
        values = {"role": None, "content": content, "reasoning": reasoning, "tool_calls": calls}
        return self._messages.fill(values, given)

    def start(self, index: int, id: str, name: str, arguments: str) -> Any:
        named = {"name": name, "arguments": arguments}
        function = self._functions.fill(named, {"name", "arguments"})
        values = {"id": id, "type": "function", "index": index, "function": function}
        return self._calls.fill(values, {"id", "type", "index", "function"})

    def piece(self, index: int, arguments: str) -> Any:
        function = self._functions.fill({"name": None, "arguments": arguments}, {"arguments"})
        values = {"id": None, "type": None, "index": index, "function": function}
        return self._calls.fill(values, {"index", "function"})


def messages(delta_message: Any, delta_tool_call: Any, delta_function_call: Any) -> Messages:
    """The quick ones, or, where those differ, the constructors' own."""
    checked = Messages(delta_message, delta_tool_call, delta_function_call)

    def quick_examples() -> list[Any]:
        return QuickMessages(delta_message, delta_tool_call, delta_function_call).examples()

    if agree(quick_examples, checked.examples()):
        return QuickMessages(delta_message, delta_tool_call, delta_function_call)
    return checked
