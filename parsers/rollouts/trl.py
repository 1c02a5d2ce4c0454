"""TRL's `parse_response`: a tokenizer that reads calls as toolwire does.

    tokenizer = with_parser(AutoTokenizer.from_pretrained(model), "hermes")
    trainer = GRPOTrainer(..., processing_class=tokenizer, tools=[...])

TRL asks the tokenizer for messages, and calls its tools with what it finds: arguments are dicts. Those
that are no JSON object stay the text that the model wrote: TRL counts the call as failed, tells the
model why, and none of its other calls is lost.
"""

from __future__ import annotations

from typing import Any

from ..core.format import Format
from ..engines.thinking import Markers
from ..errors import ToolwireError
from ..formats import get_format
from ..formats.reasoning import Reasoning, style_of
from ..openai.answers import CallIds
from ..openai.message import Message, ToolCall
from .ids import decode, read


def with_parser(tokenizer: Any, format: str | Format, reasoning: Reasoning = None) -> Any:
    """The same tokenizer, which from now on reads messages in this format."""
    spec = format if isinstance(format, Format) else get_format(format)
    style_of(spec, reasoning)  # says where there is no such style
    kind = type(tokenizer)
    if issubclass(kind, _Reading):
        kind = kind.plain_class
    members = {"plain_class": kind, "toolwire_format": spec, "toolwire_reasoning": reasoning}
    # Its class keeps its name: it is written into the files of a model that is saved.
    tokenizer.__class__ = type(kind.__name__, (_Reading, kind), members)
    return tokenizer


class _Reading:
    """Before a tokenizer's own class."""

    plain_class: type[Any]
    toolwire_format: Format
    toolwire_reasoning: Reasoning

    @property
    def response_template(self) -> dict[str, str]:
        """TRL asks only tokenizers that have one. There is nothing to see in it."""
        return {"toolwire": self.toolwire_format.name}

    def parse_response(
        self,
        response: Any,
        schema: Any = None,
        *,
        prefix: Any = None,
        tools: Any = None,
    ) -> Any:
        """A message, or a list of them for a batch, as transformers' own method has it. `prefix` is the
        prompt: it may have opened the model's thoughts."""
        if schema is not None:
            raise ToolwireError("This tokenizer reads messages in one format: give no schema.")
        responses, batched = _batch(response)
        prefixes, several = _batch(prefix) if prefix is not None else ([""], False)
        if not several:
            prefixes *= len(responses)
        declared = [_declared(tool) for tool in tools] if tools else None
        found = [
            self._message(one, before, declared)
            for one, before in zip(responses, prefixes, strict=True)
        ]
        return found if batched else found[0]

    def _message(self, response: Any, prefix: Any, tools: Any) -> dict[str, Any]:
        spec, reasoning = self.toolwire_format, self.toolwire_reasoning
        style = style_of(spec, reasoning)
        inside = style is not None and bool(Markers(style).ends_inside(self._text(prefix)))
        text = self._text(response)
        return _as_dict(read(spec, text, tools, reasoning, inside, CallIds(spec.ids)))

    def _text(self, one: Any) -> str:
        return one if isinstance(one, str) else decode(self.toolwire_format, one, self)

    # -- copies of it, and files --------------------------------------------------------------

    def save_pretrained(self, *arguments: Any, **options: Any) -> Any:
        """As the tokenizer that it was: whoever loads the files may have no toolwire."""
        reading = type(self)
        self.__class__ = self.plain_class
        try:
            return self.save_pretrained(*arguments, **options)
        finally:
            self.__class__ = reading

    def __reduce_ex__(self, protocol: Any) -> Any:
        get_state = getattr(self, "__getstate__", None)
        state = get_state() if get_state is not None else self.__dict__
        return _restored, (self.plain_class, state, self.toolwire_format, self.toolwire_reasoning)


def _restored(kind: type[Any], state: Any, format: Format, reasoning: Reasoning) -> Any:
    tokenizer: Any = object.__new__(kind)
    if hasattr(tokenizer, "__setstate__"):
        tokenizer.__setstate__(state)
    else:
        tokenizer.__dict__.update(state)
    return with_parser(tokenizer, format, reasoning)


def _batch(given: Any) -> tuple[list[Any], bool]:
    """One text or one row of ids, or several of them."""
    if isinstance(given, str):
        return [given], False
    rows = given.tolist() if hasattr(given, "tolist") else list(given)
    if rows and not isinstance(rows[0], int):
        return rows, True
    return [rows], False


def _declared(tool: Any) -> Any:
    """TRL's tools may be functions of Python: transformers makes a schema of those."""
    if not callable(tool):
        return tool
    from transformers.utils.chat_template_utils import get_json_schema

    return get_json_schema(tool)


def _as_dict(message: Message) -> dict[str, Any]:
    found: dict[str, Any] = {"role": "assistant", "content": message.content or ""}
    if message.reasoning is not None:
        found["reasoning_content"] = message.reasoning
    if message.tool_calls:
        found["tool_calls"] = [_call(call) for call in message.tool_calls]
    return found


def _call(call: ToolCall) -> dict[str, Any]:
    arguments: Any
    try:
        arguments = call.load()
    except ToolwireError:
        arguments = call.arguments
    return {"type": "function", "function": {"name": call.name, "arguments": arguments}}
