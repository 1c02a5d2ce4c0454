"""Inside an engine's own classes the parsers give what the core gives, however the text is cut.

A base for the tests of both engines: each says how its classes are driven, and tests beside it what
only that engine asks of a parser.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import pytest
import toolwire
from engine_cases import (
    CASES,
    TOO_DEEP,
    TOO_DEEP_CALLS,
    TOOLS,
    Case,
    block,
    chunkings,
    write_file,
    written,
)

#: Long enough to see whether it comes in pieces; as JSON has it in a string.
LONG_VALUE = 'line of text, with \\"quotes\\" in it. ' * 900
LONG_ARGUMENTS = f'{{"path": "a", "content": "{LONG_VALUE}"}}'
LONG_CALLS = {
    "hermes": block(f'{{"name": "write_file", "arguments": {LONG_ARGUMENTS}}}'),
    "qwen3_coder": write_file(LONG_VALUE),
}
#: As no JSON library would write it.
ODD_ARGUMENTS = '{ "n":1.0,\n "x" : "\\u00e9 é" }'


def example(format: str) -> str:
    """A call, as the format's model writes it."""
    text = written(format)
    assert toolwire.parse(format, text, TOOLS).tool_calls, text
    return text


def read_by_core(format: str, text: str) -> tuple[list[tuple[str, str]], str | None]:
    message = toolwire.parse(format, text, TOOLS)
    return [(call.name, call.arguments) for call in message.tool_calls], message.content


class Contract(ABC):
    #: Whether the engine says what the request's tool choice is.
    hears_choice = True

    # -- what an engine says -----------------------------------------------------------------------

    @abstractmethod
    def stream(self, format: str, pieces: Sequence[str], tools: Any = TOOLS, **request: Any) -> Any:
        """What a client has in the end (`calls`, `content`) of an answer that comes in these pieces."""

    @abstractmethod
    def whole(self, format: str, text: str, tools: Any = TOOLS, **request: Any) -> Any:
        """The same of an answer that is all there."""

    @abstractmethod
    def required_tag(self, format: str, tools: Any) -> Any:
        """What the engine's grammar is asked for where a call is required."""

    @abstractmethod
    def pieces_of_arguments(self, got: Any) -> list[str]:
        """In which pieces the arguments of a streamed answer came."""

    def check_same_as_core(self, got: Any, format: str, text: str) -> None:
        assert (got.calls, got.content) == read_by_core(format, text)

    # -- what has to hold --------------------------------------------------------------------------

    @pytest.mark.usefixtures("any_tool")
    @pytest.mark.parametrize("case", CASES, ids=str)
    def test_known_failures(self, case: Case) -> None:
        answers = [self.stream(case.format, cut, case.tools) for cut in chunkings(case.text)]
        for got in (*answers, self.whole(case.format, case.text, case.tools)):
            assert (got.calls, got.content) == (case.calls, case.content)

    @pytest.mark.parametrize("format", toolwire.list_formats())
    def test_every_format_is_as_the_core(self, format: str) -> None:
        one = example(format)
        for text in (one, f"Well.\n{one}\nSo.", f"Well.\n{one}"[:-3], "No call (none) here."):
            for cut in chunkings(text):
                self.check_same_as_core(self.stream(format, cut), format, text)
            self.check_same_as_core(self.whole(format, text), format, text)

    @pytest.mark.parametrize("format", ["hermes", "qwen3_coder"])
    def test_a_forced_call_begins_with_its_name(self, format: str) -> None:
        """The grammar lets nothing else follow. So what is cut off there is half a call, and no text."""
        text = example(format)
        ((name, _), *_), _ = read_by_core(format, text)
        cut = text[: text.index(name) + len(name) + 3]
        assert read_by_core(format, cut) == ([], cut)
        expected = ([(name, "")], None) if self.hears_choice else ([], cut)
        streams = [self.stream(format, cuts, tool_choice="required") for cuts in (list(cut), [cut])]
        for got in (*streams, self.whole(format, cut, tool_choice="required")):
            assert (got.calls, got.content or None) == expected

    @pytest.mark.parametrize("format", TOO_DEEP_CALLS)
    def test_a_schema_that_is_nested_too_deeply(
        self, format: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        """It costs nobody the answer: a sentence in the log, and the values are strings."""
        text, asked = TOO_DEEP_CALLS[format], {"tools": [TOO_DEEP], "tool_choice": "required"}
        answers = [self.stream(format, cut, **asked) for cut in chunkings(text)]
        for got in (*answers, self.whole(format, text, **asked)):
            assert got.calls == [("deep", '{"a": "1"}')]
        assert self.required_tag(format, [TOO_DEEP]) is not None
        assert "The parameters of the tool 'deep' are nested more than" in caplog.text

    @pytest.mark.parametrize("format", LONG_CALLS)
    def test_a_long_argument_streams_in_pieces(self, format: str) -> None:
        text = LONG_CALLS[format]
        got = self.stream(format, [text[at : at + 4] for at in range(0, len(text), 4)])
        self.check_same_as_core(got, format, text)
        assert max(map(len, self.pieces_of_arguments(got))) < 100

    def test_arguments_are_the_models_own_bytes(self) -> None:
        text = f'<tool_call>{{"name": "add", "arguments": {ODD_ARGUMENTS}}}</tool_call>'
        for got in (self.whole("hermes", text), self.stream("hermes", list(text))):
            assert got.calls == [("add", ODD_ARGUMENTS)]
