"""A wire format, as data: which delimiters stand around calls, and in what shape a call is written.

Everything here is frozen. A variant of a format is `dataclasses.replace(OTHER, …)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..errors import ToolwireError
from .channels import Channels
from .delimiters import Delimiters
from .end_of_turn import EndOfTurn
from .layout import IdStyle, Layout
from .literals import Levels, is_special, without_optional
from .reasoning import ReasoningStyle
from .shape import Shape, check_spellings
from .spelling import OwnSpelling
from .triggers import ReasoningTriggers

if TYPE_CHECKING:
    from .channel_run import Boundaries
    from .shape_reader import ShapeReader


#: What ends turns in the frames that many families have in common.
COMMON_ENDS = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|end|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
)

_THINK = ReasoningStyle("think")
_OPENAI_IDS = IdStyle()


@dataclass(frozen=True, slots=True)
class Wrapper:
    """Delimiters around one or more calls; each may have several spellings."""

    open: tuple[str, ...]
    close: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_spellings(self)


@dataclass(frozen=True)
class Format:
    """A wire format: what is read (wrappers, outermost first; `bare` calls need none of them at the
    start of a line, `inline` ones anywhere; the shape), and how it is written (the layout)."""

    name: str
    shape: Shape
    wrappers: tuple[Wrapper, ...] = ()
    bare: bool = False
    aliases: tuple[str, ...] = ()
    models: str = ""
    #: what stands in the names of its models, in small letters and without the characters between words
    model_names: tuple[str, ...] = ()
    #: how calls are written, to the character; None where only reading them is known
    layout: Layout | None = None
    #: how some of its models write calls otherwise: that is no drift
    dialects: tuple[Layout, ...] = ()
    #: the style of its models' thoughts
    reasoning: ReasoningStyle = _THINK
    #: thoughts are looked for whether or not somebody asks
    always_reasons: bool = False
    #: the message is a row of parts, each with a header
    channels: Channels | None = None
    #: openers that are special tokens, where they are not spelled like one (`<|…|>`, `[CAPS]`)
    special: tuple[str, ...] = ()
    #: what stands around text that is no call; the openers end thoughts
    text_wrapper: Wrapper | None = None
    #: marks inside of text that are none of it, such as a citation's: what begins one and what ends it
    annotations: tuple[str, ...] = ()
    #: the tokens that may end a turn: markup at the very end of a message, and nowhere else
    end_of_turn: tuple[str, ...] = COMMON_ENDS
    inline: bool = False
    #: what the ids of its calls look like
    ids: IdStyle = _OPENAI_IDS
    #: whose models write it, and since which year; where several families do, the one that most people
    #: run. "" and 0 where any model can be told to write it
    family: str = ""
    year: int = 0
    #: the prompt may have opened the first call: the text begins with its name
    prompt_opens: bool = False

    @property
    def written(self) -> Layout:
        """The layout, where there is one."""
        if self.layout is None:
            raise ToolwireError(self.shape.no_layout(self.name))
        return self.layout

    @cached_property
    def example(self) -> str:
        """One call, with places for what differs from call to call; "" without a layout."""
        layout = self.layout
        if layout is None:
            return ""
        number = str(layout.id.first) if layout.id and layout.id.first is not None else ""
        return layout.section([layout.call("NAME", self.shape.example(layout), number)])

    @cached_property
    def delimiters(self) -> Delimiters:
        return Delimiters(
            opens=[spelling for wrapper in self.wrappers for spelling in wrapper.open],
            levels=[*(wrapper.close for wrapper in self.wrappers), self.shape.closers],
            heads=self.shape.heads,
            turn_ends=self.turn_ends.tokens,
        )

    @cached_property
    def own_spelling(self) -> OwnSpelling | None:
        """What its calls are held against, where it has one spelling of its own."""
        if self.layout is None or self.channels is not None:
            return None
        layouts = (self.layout, *self.dialects)
        return OwnSpelling(layouts, self.shape, self.delimiters, self.prompt_opens)

    @cached_property
    def boundaries(self) -> Boundaries:
        """What ends the parts of a message, in a format with channels."""
        from .channel_run import Boundaries  # it reads formats

        assert self.channels is not None
        return Boundaries(self.channels, self.turn_ends.tokens)

    @cached_property
    def reading(self) -> ShapeReader:
        """What reads its calls."""
        return self.shape.read()

    def triggers(self, style: ReasoningStyle | None, declared: bool) -> ReasoningTriggers:
        """What prose and thoughts are searched for, where thoughts are marked in this style. `declared`:
        the names of tools are known."""
        kept = self._triggers[declared]
        found = kept.get(style)
        if found is None:
            found = kept[style] = ReasoningTriggers(self, style, declared)
        return found

    @cached_property
    def _triggers(self) -> tuple[dict[ReasoningStyle | None, ReasoningTriggers], ...]:
        return {}, {}

    @cached_property
    def turn_ends(self) -> EndOfTurn:
        """What ends turns and nothing else: some formats end a part or a text with such a token."""
        known = {closer for wrapper in self.wrappers for closer in wrapper.close}
        known.update(self.shape.closers, self.channels.end if self.channels else ())
        known.update(self.text_wrapper.close if self.text_wrapper else ())
        return EndOfTurn(token for token in self.end_of_turn if token not in known)

    @cached_property
    def level_of(self) -> Levels:
        """Which wrapper an opener belongs to, 0 being the outermost."""
        return Levels([wrapper.open for wrapper in self.wrappers])

    def is_special(self, opener: str) -> bool:
        """Whether an opener, as it stands in a text, is one that a model can't just mention."""
        spellings = self.delimiters.opens.spellings
        differs = opener not in spellings and opener not in map(without_optional, spellings)
        return bool(opener) and (differs or opener in self.special or is_special(opener))
