"""`any`: all marked formats at once, for who does not know what a model writes, or has many models.

It has no layout, so it only reads. Which formats it reads, and in which order they are preferred where
their markup is the same, is said here; how the text chooses is in `core/any_run.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

from ..core.any_channels import Family
from ..core.any_run import AnyReader
from ..core.format import Format, Wrapper
from ..core.layout import Layout
from ..core.literals import any_of, is_special
from ..core.reasoning import StyleChoice
from ..core.samples import Call, Inferred, Sample
from ..core.shape import NotExpressible, Piece, Shape
from ..core.shape_reader import ShapeReader
from ..errors import ToolwireError
from ..schema.tools import Tool
from .reasoning import STYLES

NAME = "any"

#: Styles that begin as another one does, which is taken for them.
_SHADOWED = frozenset({"hunyuan_a13b", "ernie45", "trinity"})

_CHOICES = tuple(style for style in STYLES if style.name not in _SHADOWED)


def _markers(kind: str) -> tuple[str, ...]:
    return _once(*[getattr(style, kind) for style in _CHOICES])


def _once(*lists: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(spelling for several in lists for spelling in several))


#: Thoughts in whatever style the message's first marker is of.
STYLE = StyleChoice(
    NAME,
    _markers("open"),
    _markers("close"),
    answer_open=_markers("answer_open"),
    answer_close=_markers("answer_close"),
    choices=_CHOICES,
)


@dataclass(frozen=True, slots=True)
class AnyCalls(Shape):
    """Calls in one of several formats. Those that come first are preferred."""

    looks: ClassVar[str] = "whatever the text says"

    formats: tuple[Format, ...]
    #: formats with channels; those together whose headers have the same tokens
    families: tuple[tuple[Format, ...], ...] = ()

    def read(self) -> ShapeReader:
        families = [Family(_merged(members), members) for members in self.families]
        return AnyReader(self, self.formats, families)

    def write(self, arguments: Mapping[str, Any], layout: Layout) -> str:
        raise ToolwireError(self.no_layout(NAME))

    def constrain(self, parameters: Any, format: Format) -> Piece:
        raise NotExpressible("any of several formats")

    @classmethod
    def infer(cls, samples: Sequence[Sample]) -> Inferred | None:
        return None

    @classmethod
    def find(cls, text: str, tools: Mapping[str, Tool] | None) -> Iterable[Call]:
        return ()

    def no_layout(self, name: str) -> str:
        return (
            f"The format {name} reads calls of many formats and writes none: name the one to write, "
            "such as hermes (toolwire.list_formats() names them all)."
        )

    @property
    def heads(self) -> tuple[str, ...]:
        """Of formats that need no wrapper where a line begins."""
        found = [head for format in self.formats if format.bare for head in format.shape.heads]
        return tuple(dict.fromkeys(found))

    @property
    def bare_start(self) -> str:
        return any_of(self.heads)


def any_format(formats: Iterable[Format]) -> Format:
    """The format that reads all of these that are marked."""
    formats = tuple(formats)
    families = channel_families(formats)
    parts = {end for format in formats if format.channels for end in format.channels.end}
    ends = [token for format in formats for token in format.turn_ends.tokens if is_special(token)]
    turn_ends = tuple(token for token in _once(ends) if token not in parts)
    marked = tuple(replace(each, end_of_turn=turn_ends) for each in marked_formats(formats))
    inline = [head for format in marked if format.inline for head in format.shape.heads]
    opens = [
        *[spelling for format in marked for spelling in format.delimiters.opens.spellings],
        *inline,
    ]
    headers = [token for members in families for format in members for token in _tokens(format)]
    closes = [closer for format in marked for closer in format.delimiters.closes.spellings]
    texts = [format.text_wrapper for format in marked if format.text_wrapper]
    return Format(
        name=NAME,
        shape=AnyCalls(marked, families),
        wrappers=(Wrapper(_once(opens, headers), _once(closes)),),
        bare=True,
        models="any model whose calls are marked, where its format is not known",
        reasoning=STYLE,
        special=_once(*[format.special for format in marked]),
        text_wrapper=Wrapper(
            _once(*[wrapper.open for wrapper in texts]),
            _once(*[wrapper.close for wrapper in texts]),
        ),
        end_of_turn=turn_ends,
    )


def reads(any_: Format, format: Format) -> bool:
    """Whether `any_` reads what is written in this format, as that format does."""
    if any_.name != NAME:
        return any_ == format
    shape = cast(AnyCalls, any_.shape)
    if format.channels is not None:
        return any(format in members for members in shape.families)
    own = _reading(_marked(format))
    return is_written_marked(format) and own in map(_reading, shape.formats)


# -- formats with markers -------------------------------------------------------------------------


def marked_formats(formats: Iterable[Format]) -> tuple[Format, ...]:
    """Those whose calls begin with a marker, ready to be read together: what they find without one is
    left out. Of those that are read in the same way, the first stands for all."""
    found: dict[Any, Format] = {}
    later: list[Format] = []
    for spec in map(_marked, formats):
        if spec.channels is not None or not _has_marker(spec):
            continue
        if is_written_marked(spec):
            found.setdefault(_reading(spec), spec)
        else:
            later.append(spec)
    taken = {spelling for spec in found.values() for spelling in spec.delimiters.starts.spellings}
    for spec in later:  # a wrapper that it may have, and nobody else has
        if not taken.intersection(spec.delimiters.starts.spellings):
            found.setdefault(_reading(spec), spec)
    return tuple(found.values())


def is_written_marked(format: Format) -> bool:
    """Whether its calls, as they are written, begin with one of its openers."""
    if format.layout is None:
        return _has_marker(format)
    begin = format.layout.section_begin + format.layout.before_name()
    return bool(format.delimiters.starts.at(begin, 0))


def _has_marker(format: Format) -> bool:
    return bool(format.wrappers) or (bool(format.shape.heads) and (format.bare or format.inline))


def _marked(format: Format) -> Format:
    """The same without what is found by its looks alone."""
    return format if format.shape.heads or not format.bare else replace(format, bare=False)


def _reading(format: Format) -> Any:
    """What tells how a format's calls are read."""
    return (format.shape, format.wrappers, format.bare, format.inline)


# -- formats with channels ------------------------------------------------------------------------


def channel_families(formats: Iterable[Format]) -> tuple[tuple[Format, ...], ...]:
    """Formats with channels; those together whose headers have a token in common."""
    families: list[tuple[Format, ...]] = []
    for format in formats:
        if format.channels is None:
            continue
        own = set(_tokens(format))
        akin = [f for f in families if own.intersection(t for each in f for t in _tokens(each))]
        together = (*[each for members in akin for each in members], format)
        families = [*[members for members in families if members not in akin], together]
    return tuple(families)


def _tokens(format: Format) -> tuple[str, ...]:
    """What a header is made of."""
    return (*format.channels.tokens, *format.channels.body) if format.channels else ()


def _merged(members: Sequence[Format]) -> Format:
    """A format in which headers mean what they mean in any of these."""
    every = [format.channels for format in members if format.channels]
    merged = replace(
        every[0],
        tokens=_once(*[channels.tokens for channels in every]),
        body=_once(*[channels.body for channels in every]),
        end=_once(*[channels.end for channels in every]),
        thought=_once(*[channels.thought for channels in every]),
        call=_once(*[channels.call for channels in every]),
        readers=_once(*[channels.readers for channels in every]),
        built_in=_once(*[channels.built_in for channels in every]),
        recipient=next((channels.recipient for channels in every if channels.recipient), ""),
        prefix=next((channels.prefix for channels in every if channels.prefix), ""),
    )
    return Format(
        name="+".join(format.name for format in members),
        shape=members[0].shape,
        wrappers=(Wrapper(_once(*map(_tokens, members))),),
        channels=merged,
    )
