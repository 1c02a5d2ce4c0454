"""Generated messages with thoughts in them, and what the rules say about each, written down again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from toolwire import Format, ReasoningStyle, get_format, list_formats
from toolwire.formats.reasoning import style_of

from ..support import CallRead, events_of, whole_summary
from ..writers import WRITERS, Call
from .generate import SPACE, WORDS, delimiters, soup, tools_for

#: Markers of nobody's: one pair of words, one that looks like special tokens.
CUSTOM = ("<musing>", "</musing>")
CUSTOM_SPECIAL = ("<|musing|>", "<|/musing|>")
#: Formats in which markers stand around thoughts; in others a part's header says what it is.
MARKED = [format for format in list_formats() if not get_format(format).channels]
#: Each format with its own style, with the usual one, and with markers of the caller's.
PAIRS: list[tuple[str, Any]] = [
    (format, reasoning)
    for format in MARKED
    for reasoning in (
        True,
        *(["think"] if get_format(format).reasoning.name != "think" else []),
        CUSTOM,
        CUSTOM_SPECIAL,
    )
]


def styles_of(format: str) -> st.SearchStrategy[Any]:
    """One of the styles that a format goes with."""
    return st.sampled_from([reasoning for name, reasoning in PAIRS if name == format])


def pair_id(value: Any) -> str:
    return value if isinstance(value, str) else "own" if value is True else value[0].strip("<>")


def style_in(format: str, reasoning: Any) -> ReasoningStyle:
    style = style_of(get_format(format), reasoning)
    assert style is not None
    return style


def spelled(marker: str) -> str:
    """A marker as a model writes it."""
    return marker.replace("…", "a1b2")


def openers(style: ReasoningStyle) -> list[str]:
    return [spelled(marker) for marker in style.open]


def text_openers(style: ReasoningStyle) -> list[str]:
    """Those that a model may just mention. What has a gap to fill is a token of some model's; in a style
    whose openers are tokens, only one that is spelled like any tag is none."""
    text = [marker for marker in style.open if "…" not in marker]
    return [m for m in text if re.fullmatch("<[a-z:]+>", m)] if style.special else text


def closers(style: ReasoningStyle) -> list[str]:
    return [spelled(marker) for marker in style.close]


def calls_end_thoughts(spec: Format, style: ReasoningStyle) -> bool:
    """Whether a call is one wherever it stands in thoughts: the openers that are written are special."""
    written = WRITERS[spec.name]([("f", {})]).strip()
    return style.calls or spec.is_special(spec.delimiters.opens.at(written, 0))


@dataclass(frozen=True)
class Piece:
    """`kind` is "prose", "call", or "block": thoughts with their markers, or one marker. `said` is what
    of it is said, and not markup."""

    kind: str
    text: str
    said: str


@dataclass(frozen=True)
class Thinking:
    pieces: tuple[Piece, ...]
    in_reasoning: bool
    tools: Any

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def reasoning(self) -> str | None:
        said = [piece.said.strip() for piece in self.pieces if piece.kind == "block"]
        return "".join(said) or None

    @property
    def content(self) -> str | None:
        """White space beside a block is markup; beside a call it is content only if prose follows, and,
        behind a call, only if prose came before; anywhere else it is content."""
        runs = list(self._runs())
        called = any(kind == "call" for kind, _ in runs)
        kept = []
        for i, (kind, text) in enumerate(runs):
            if kind == "prose":
                kept.append(text)
            elif kind == "space":
                beside = {runs[i - 1][0], runs[i + 1][0]}
                before = [k for k, _ in runs[:i]]
                follows = "prose" in [k for k, _ in runs[i:]]
                counts = follows and ("call" not in before or "prose" in before)
                if "block" not in beside and (counts or not called):
                    kept.append(text)
        return "".join(kept) or None

    def _runs(self) -> Iterator[tuple[str, str]]:
        """The pieces, with the white space at the edges of prose by itself."""
        yield "start", ""
        prose = ""
        for piece in self.pieces:
            if piece.kind == "prose":
                prose += piece.said
                continue
            yield from _parts(prose)
            prose = ""
            yield piece.kind, ""
        yield from _parts(prose)
        yield "end", ""


def _parts(prose: str) -> Iterator[tuple[str, str]]:
    body = prose.strip()
    start = prose.index(body)
    for kind, text in (
        ("space", prose[:start]),
        ("prose", body),
        ("space", prose[start + len(body) :]),
    ):
        if text:
            yield kind, text


def simple_calls(count: int) -> list[Call]:
    return [(f"tool{i}", {"x": f"v{i}", "y": "a b"}) for i in range(count)]


class Writer:
    """Writes one message, piece by piece, and keeps to what the rules say about what comes next."""

    def __init__(self, draw: st.DrawFn, format: str, reasoning: Any) -> None:
        self.draw = draw
        self.format = format
        self.spec = get_format(format)
        self.style = style_in(format, reasoning)
        self.calls = simple_calls(5)
        self.tools = tools_for(self.calls)
        self.left = list(self.calls)
        self.pieces: list[Piece] = []
        self.special = calls_end_thoughts(self.spec, self.style)
        self.seen = False  # there were thoughts
        self.edge = True  # no prose since the start, a call or a block
        self.behind_call = False

    def add(self, kind: str, text: str, said: str = "") -> None:
        self.pieces.append(Piece(kind, text, said))
        self.edge = kind != "prose" or (self.edge and not said.strip())
        self.behind_call = kind == "call"

    def one_of(self, choices: list[Any]) -> Any:
        return self.draw(st.sampled_from(choices))

    # -- prose --------------------------------------------------------------------------------

    def prose(self) -> None:
        words = self.draw(WORDS)
        text = self.draw(SPACE) + words + self.draw(SPACE)
        self.add("prose", text, text)

    def space(self) -> None:
        text = self.draw(SPACE)
        self.add("prose", text, text)

    def markers_in_prose(self) -> None:
        """Before any thoughts, in the middle of prose: text."""
        marker = self.one_of(closers(self.style) + text_openers(self.style))
        text = f"a {marker}{self.draw(SPACE)}b"
        self.add("prose", text, text)

    def code(self) -> None:
        """Markers in code are text."""
        marker = self.one_of(closers(self.style) + text_openers(self.style))
        ticks = self.one_of(["`", "``"])
        inline, fenced = f"a {ticks}{marker} b{ticks} c", f"a\n```\nb {marker}\n```\nc"
        text = self.one_of([inline, fenced])
        self.add("prose", text, text)

    def second_closer(self) -> None:
        """Markup. In the middle of prose, nothing but itself goes."""
        marker = self.one_of(closers(self.style))
        self.add("block" if self.edge else "prose", marker)

    # -- calls --------------------------------------------------------------------------------

    def call(self) -> None:
        if self.behind_call or not self.edge or (self.pieces and self.pieces[-1].kind == "prose"):
            self.add(
                "prose", "\n", "\n"
            )  # bare calls begin a line; neighbours need something between
        self.add("call", self.next_call())

    def next_call(self) -> str:
        return WRITERS[self.format]([self.left.pop(0)]).strip()

    # -- thoughts -----------------------------------------------------------------------------

    def body(self, *, mentions: bool) -> str:
        parts = [self.draw(SPACE)]
        for _ in range(self.draw(st.integers(0, 2))):
            parts += [self.draw(WORDS), self.draw(SPACE)]
            kind = self.one_of(["none", "opener", "call"]) if mentions else "none"
            if kind == "opener":
                parts.append(self.mention() + ", ")
            elif kind == "call" and not self.special:
                parts += ["\n", WRITERS[self.format]([self.calls[0]]).strip(), "\nso "]
        return "".join(parts)

    def mention(self) -> str:
        marks = [mark for mark in delimiters(self.spec) if not self._ends(mark)]
        return self.one_of(["tool0(", *openers(self.style), *marks])

    def _ends(self, mark: str) -> bool:
        """Whether what is named here could be taken for more than itself: a bare list or object."""
        return mark in "[(" or any(mark.startswith(c) for c in closers(self.style))

    def block(self) -> None:
        body = self.body(mentions=True)
        self._block(body, body + self.one_of(closers(self.style)))

    def _block(self, said: str, text: str) -> None:
        opener = self.one_of(openers(self.style))
        if not self.pieces and self.in_reasoning:
            opener = self.one_of(["", opener])
        self.add("block", opener + text, said)
        self.seen = True

    def in_thoughts(self) -> None:
        self.in_reasoning = True
        self.one_of([self.block, self.block, self.unclosed])()

    def unclosed(self) -> None:
        """Thoughts to the end of the message; or up to calls that end them."""
        self.ended = True
        body = self.body(mentions=not self.special)
        kind = self.one_of(["text", "calls", "cut", "text behind"])
        if kind == "text":
            self._block(body, body)
        elif kind == "calls":
            self._block(body, body + "\n")
            for _ in range(self.draw(st.integers(1, 2))):
                self.add("prose", "\n", "\n")
                self.add("call", self.next_call())
            self.space()
            self.ended = not self.special or self.style.calls
        elif kind == "cut":
            call = self.next_call()
            cut = call[: self.draw(st.integers(1, len(call)))]
            if self.special or not is_calls(self.format, cut, self.tools):
                self.left_unsaid(body, cut)
            else:
                self._block(body, body + "\n")
                self.add("call", cut)
        elif not self.special:
            text = f"{body}\n{self.next_call()}\nso {self.draw(WORDS)}"
            self._block(text, text)
        else:
            self._block(body, body)

    def left_unsaid(self, body: str, cut: str) -> None:
        """A call that is cut off: a thought, or, behind a special opener, an unfinished call."""
        _, content, calls = alone(self.format, cut, self.tools)
        if self.special and calls:
            self._block(body, body + "\n")
            self.add("call", cut)
        elif self.special and content is None:
            self._block(body, body + "\n" + cut)
        else:
            self._block(body + "\n" + cut, body + "\n" + cut)

    def write(self) -> Thinking:
        self.in_reasoning = False
        self.ended = False
        first = self.one_of(["in", "closer", "any"])
        if first == "in":
            self.in_thoughts()
        elif first == "closer":
            self.add("block", self.draw(SPACE) + self.one_of(closers(self.style)))
        for _ in range(self.draw(st.integers(0, 5))):
            if self.ended:
                break
            more_calls = len(self.left) > 2
            steps = [self.prose, self.space, *([self.call] if more_calls else [])]
            if self.edge or self.seen or self.style.special:
                steps += [self.block, *([self.unclosed] if more_calls else [])]
            if self.seen:
                steps += [self.code, self.second_closer]
            elif not self.edge:
                steps += [self.markers_in_prose]
            self.one_of(steps)()
        return Thinking(tuple(self.pieces), self.in_reasoning, self.tools)


@st.composite
def messages(draw: st.DrawFn, format: str, reasoning: Any) -> Thinking:
    return Writer(draw, format, reasoning).write()


def alone(format: str, text: str, tools: Any) -> tuple[str | None, str | None, list[CallRead]]:
    return whole_summary(events_of(format, [text], tools))


def is_calls(format: str, text: str, tools: Any) -> bool:
    """Whether a message of this text would be whole calls, and nothing else."""
    _, content, calls = alone(format, text, tools)
    return content is None and bool(calls) and all(complete for _, _, complete in calls)


def thinking_soup(format: str, reasoning: Any) -> st.SearchStrategy[str]:
    """The style's markers, whole and cut, between the format's."""
    style = style_in(format, reasoning)
    markers = [*openers(style), *closers(style), *style.answer_open, *style.answer_close]
    parts = [*markers, *(marker[:-1] for marker in markers), "Hm. ", "\n"]
    call = WRITERS[format]([("f", {"k": "v"})])
    own = st.one_of(st.sampled_from(parts), soup(format), st.sampled_from([call, f"\n{call}\n"]))
    return st.lists(own, max_size=6).map("".join)
