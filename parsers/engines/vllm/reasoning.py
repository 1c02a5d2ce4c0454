"""What stands behind `--reasoning-parser toolwire_think`: vLLM's ReasoningParser, spoken by the core.

vLLM asks a reasoning parser first and a tool parser then, and never comes back: the text behind the
first block of thoughts is the tool parser's. But thoughts may come again, between calls, and a call may
end thoughts that were never closed. So where the tool parser is toolwire's, too, the two are one
machine: this one hands over at once, and the tool parser reads all of the message, its thoughts
included. Both are made in one go, this one first, so it waits for the other (`claim`).

With another tool parser, or with none, this one reads the thoughts by itself. In a stream it hands over
where they end, so that later ones are text there.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ...core.format import Format
from ...core.literals import GAP, without_optional
from ...core.parser import EventParser
from ...core.reasoning import ReasoningStyle
from ...events import Content, Event
from ...openai.message import collect
from ..thinking import find_style, switched, text_format
from . import api as vllm_api
from .prompts import hand_prompts_on
from .token_markers import TokenMarkers

if TYPE_CHECKING:
    from .adapter import Adapter

PREFIX = "toolwire_"
#: Their models think only where the request asks for it, and their prompts do not show it.
_ONLY_WHEN_ASKED = frozenset({"gemma4", "granite"})


class _Waiting(threading.local):
    """The reasoning parser that was made last and has no tool parser yet."""

    parser: weakref.ref[ReasoningAdapter] | None = None


_waiting = _Waiting()


def claim(tools: Adapter, tokenizer: Any) -> ReasoningAdapter | None:
    """The reasoning parser in front of a tool parser that is being made, if it is toolwire's."""
    waiting, _waiting.parser = _waiting.parser, None
    found = waiting() if waiting is not None else None
    if found is None or found.model_tokenizer is not tokenizer:
        return None
    found.tools, found.asked = tools, False
    return found


class ReasoningAdapter:
    """The methods vLLM calls. `reasoning_class` puts vLLM's own ReasoningParser behind it."""

    style: ReasoningStyle
    text_format: Format  # what reads an answer where nobody asks for calls
    model_tokenizer: Any
    _api: vllm_api.VllmApi
    _known: TokenMarkers | None = None  # of the tokenizer that was asked for last
    _answered: tuple[Any, bool | None] = (None, None)  # the last request, and how its prompt ended

    engine_based_streaming = True

    def __init__(self, tokenizer: Any, *rest: Any, **more: Any) -> None:
        super().__init__(tokenizer, *rest, **more)  # type: ignore[call-arg]
        self.tools: Adapter | None = None  # toolwire's tool parser behind this one
        self.asked = False  # vLLM asks it before the tool parser, or it is not the one in front
        self._thinking = switched(more.get("chat_template_kwargs"))
        self._prompt: bool | None = None  # whether the prompt has opened thoughts
        self._prompt_known = False
        self._stream: EventParser | None = None
        self._ended = False
        kind = type(self)
        if kind._known is None or kind._known.tokenizer is not tokenizer:
            kind._known = TokenMarkers(self.style, tokenizer)
        self._markers = kind._known
        _waiting.parser = weakref.ref(self)

    @property
    def reasoning_start_str(self) -> str | None:
        return _plain(self.style.open)

    @property
    def reasoning_end_str(self) -> str | None:
        return _plain(self.style.close)

    # -- requests -----------------------------------------------------------------------------

    def adjust_request(self, request: Any) -> Any:
        """Markers may be special tokens: they have to be in the text, with tools or without."""
        request.skip_special_tokens = False
        return request

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Whether these tokens, a prompt's at first, end behind thoughts, or where none will come."""
        self.asked = True
        inside = self._ends_inside(input_ids)
        if not self._prompt_known:
            self._prompt, self._prompt_known = inside, True
        if inside is not None:
            return not inside
        if self.style.name in _ONLY_WHEN_ASKED:
            return self._thinking is not True
        return self._thinking is False

    def is_reasoning_end_streaming(
        self, input_ids: Sequence[int], delta_ids: Iterable[int]
    ) -> bool:
        return self._markers.end_in(input_ids, delta_ids)

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        return self._markers.behind_the_end(input_ids)

    def count_reasoning_tokens(self, token_ids: Sequence[int]) -> int:
        return self._markers.count(token_ids, self._prompt if self._prompt_known else None)

    def adjust_initial_state_from_prompt(self, prompt_token_ids: Sequence[int]) -> None:
        self.hear_prompt(prompt_token_ids)

    def hear_prompt(self, prompt_token_ids: Sequence[int]) -> None:
        """Whether thoughts are open where the answer begins."""
        self._prompt, self._prompt_known = self._ends_inside(prompt_token_ids), True

    def _ends_inside(self, ids: Sequence[int]) -> bool | None:
        """A prompt opens no channel: that is for the model to do."""
        return None if self.text_format.channels is not None else self._markers.ends_inside(ids)

    # -- a whole answer -----------------------------------------------------------------------

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        self.asked = True
        inside = self._whole_begins_inside(model_output, request)
        if self.tools is not None:
            message = self.tools.read_whole(model_output, request, inside)
        else:
            parser = self._text_parser(inside)
            message = collect([*parser.feed(model_output), *parser.finish()])
        return message.reasoning, message.content

    def _whole_begins_inside(self, text: str, request: Any) -> bool:
        """Before 0.32 vLLM shows the prompt to the parser of a request's first choice only."""
        kind = type(self)
        if self._prompt_known:
            kind._answered = (weakref.ref(request), self._prompt)
            return bool(self._prompt)
        first, inside = kind._answered
        if first is not None and first() is request:
            return bool(inside)
        if self._thinking is False:
            return False
        if self._markers.text.begins_inside(text):
            return True
        # Nothing closed: a model that writes its own special marker would have written it.
        return self._thinking is True and not self.style.special

    def _text_parser(self, inside: bool) -> EventParser:
        return EventParser(self.text_format, None, self.style, inside)

    # -- a stream -----------------------------------------------------------------------------

    def stream_begins_inside(self) -> bool:
        if self._prompt_known:
            return bool(self._prompt)
        return self._thinking is True and not self.style.special

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> Any:
        self.asked = True
        if self.tools is not None or self._ended:
            self._ended = True
            return self._api.messages.message(delta_text, []) if delta_text else None
        if self._stream is None:
            self._stream = self._text_parser(self.stream_begins_inside())
        events = self._stream.feed(delta_text)
        if self.text_format.channels is None:  # else nobody but this parser knows what is text
            self._ended = any(isinstance(event, Content) for event in events)
        if (
            self._ended
        ):  # vLLM goes on without this parser, and not every release asks what it holds
            events += self._stream.finish()
        return self._message(events)

    def has_engine_confirmed_reasoning_end(self) -> bool:
        return self._ended

    def finish_streaming(self) -> Any:
        """The end of the text, or of what this parser is given of it."""
        if self._stream is None or self._ended:
            return None
        return self._message(self._stream.finish())

    def _message(self, events: list[Event]) -> Any:
        message = collect(events)
        if message.reasoning is None and message.content is None:
            return None
        return self._api.messages.message(message.content, [], message.reasoning)


def _plain(spellings: Sequence[str]) -> str | None:
    """The first of these that has no gap."""
    return next((s for s in map(without_optional, spellings) if GAP not in s), None)


@cache
def reasoning_class(name: str) -> Any:
    """The ReasoningParser class of a style. `find_style` says so where there is none of that name."""
    api = vllm_api.load()
    hand_prompts_on()
    members = {
        "__module__": __name__,
        "__doc__": f"Reads thoughts in the style {name}.",
        "style": find_style(name),
        "text_format": text_format(name),
        "_api": api,
    }
    return type(PREFIX + name, (ReasoningAdapter, api.ReasoningParser), members)


def __getattr__(attribute: str) -> Any:
    """`toolwire_think` is the parser class of the style think, made when it is asked for."""
    if not attribute.startswith(PREFIX):
        raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}")
    return reasoning_class(attribute.removeprefix(PREFIX))
