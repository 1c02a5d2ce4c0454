"""A call's arguments as a tree of elements.

    NS<invoke name="NAME">NS<K>VNS</K>NS<L>NS<item>VNS</item>NS</L>NS</invoke>
    <call name="NAME"><value name="K" type="raw">V</value></call>

`_Tree` is a machine with a stack (`frames`): an object or a list is there as long as its element is
open, and between its children only tags count. A value that is text is read by `_text`; what ends it is
in `chain`. So nothing recurses, however deep elements are nested.

The tool's schema, or an attribute, says what an element holds. What has elements in it is an object
or a list, whatever was declared. Where an array is declared, an element that comes again adds to it;
JSON where elements could stand is taken as that value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...core.driver import Run
from ...core.jsontext import read_arguments
from ...core.literals import Literals
from ...core.object_builder import TextValue
from ...core.outgoing import Outgoing
from ...core.shape_reader import CALL, NOTHING, Outcome, ShapeReader
from ...core.sinks import Pieces, Sink
from ...core.window import FastPath, Step, Window
from ...schema.kinds import JSON_TYPES, Kind, encode, json_type
from ...schema.nested import Place
from ..json_calls.read import JsonCallsReader
from .chain import Chain, Chains, Plan
from .frames import Frame, Frames
from .markup import CALL_ENDS, CLOSING, CUT_OPENING, END, OPENING, TEXT, Mark, Markup

if TYPE_CHECKING:
    from . import Elements

#: what text beside elements is called
_BESIDE: Final = "$text"
_JSON: Final = Kind(JSON_TYPES)
_CONTAINERS: Final = frozenset({"array", "object"})

#: How a text ended, where it was not closed: the message is over, or an element begins in it.
_CUT: Final = -1
_NESTS: Final = -2


class ElementsReader(ShapeReader):
    """Elements for calls, parameters, and the parts of parameters."""

    def __init__(self, shape: Elements) -> None:
        super().__init__(shape)
        self._starts: frozenset[str] = frozenset(head[0] for head in shape.heads)
        self._heads: Literals = Literals(shape.heads)
        self._drift = JsonCallsReader(shape.drift)
        self.markup = Markup(shape)
        self.by_name: bool = not shape.element
        self.item: str = shape.item
        types = shape.types
        #: what the words of a type attribute say
        self.said: dict[str, Said] = {}
        if types is not None:
            self.said = {
                types.text: Said(Kind(frozenset({"string"})), ""),
                types.json: Said(_JSON, ""),
                types.array: Said(_JSON, "[]"),
                types.object: Said(_JSON, "{}"),
            }
        self._plans: dict[int, Plan] = {}

    def plan(self, run: Run) -> Plan:
        """What to look for in the values of the call at hand."""
        plan = self._plans.get(run.opened)
        if plan is None:
            plan = self._plans[run.opened] = Plan(run, self.markup, run.closers_around())
        return plan

    def may_start(self, character: str) -> bool:
        return character in self._starts or self._drift.may_start(character)

    def begins(self, window: Window) -> bool | None:
        return self._heads.stands(window)

    def read(self, run: Run) -> Step[Outcome]:
        w = run.window
        while (first := w.peek()) is None:
            yield
        if not run.bare and self._drift.may_start(first) and first not in self._starts:
            return (yield from self._drift.read(run))
        while (call := self.markup.call(w)) is None:
            yield
        w.take(w.pos + call.length)
        if not run.allowed(call.name):
            return NOTHING
        run.named(call.name)
        while w.space() is None:
            yield
        while (closer := run.closer()) is None:
            yield
        if closer:
            run.call_without_arguments(call.name)
            return CALL
        while (mark := self.markup.here(w, run.delimiters)) is None:
            yield
        if mark.what == OPENING:
            run.start_call(call.name)
            run.out.end_call((yield from _Tree(self, run, call.name).read()))
            return CALL
        if w.peek() == "{":
            run.start_call(call.name)
            run.out.end_call((yield from read_arguments(w, run.delimiters, run.out)))
            return CALL
        return NOTHING


class Said:
    """What an element says about its value: its kind, and how it is written if it is empty."""

    __slots__ = ("empty", "kind")

    def __init__(self, kind: Kind, empty: str) -> None:
        self.kind = kind
        self.empty = empty


class _Tree:
    """Reads the elements of one call."""

    def __init__(self, shape: ElementsReader, run: Run, name: str) -> None:
        self.shape = shape
        self.markup = shape.markup
        self.delimiters = run.delimiters
        self.window = run.window
        self.out: Outgoing = run.out
        self.plan = shape.plan(run)
        self.frames = Frames(run.out, run.tool(name).arguments, shape.by_name)
        item = shape.item if shape.by_name else ""
        self.chains = Chains(run, shape.markup, self.plan, self.frames, item)

    def read(self) -> Step[bool]:
        """At the first element. Returns whether the model finished the call."""
        w = self.window
        while True:
            while (space := w.space()) is None:
                yield
            while (mark := self.markup.here(w, self.delimiters)) is None:
                yield
            if mark.what == OPENING:
                w.take(w.pos + mark.length)
                if not (yield from self._element(mark)):
                    return False
            elif mark.what == CLOSING:
                w.take(w.pos + mark.length)
                rank = self.frames.rank(mark, len(self.frames.open))
                if rank:
                    self.frames.close_from(rank)
            elif mark.what == CALL_ENDS:
                self.frames.close_from(0)
                return True
            elif mark.what == TEXT and len(self.frames.open) > 1 and self.markup.marker:
                if not (yield from self._text_beside(space)):
                    return False
            else:
                return self._broken_off(mark, space)

    def _broken_off(self, mark: Mark, space: str) -> bool:
        """Where no element and no closer of the call follows: it is complete if no element is open."""
        w = self.window
        if mark.what in (END, CUT_OPENING):
            w.take(len(w.text))
        else:
            w.unread(space)
        complete = len(self.frames.open) == 1 and mark.what != CUT_OPENING
        if complete:
            self.frames.close_from(0)
        else:
            self.frames.settle(self.frames.last, over=True)
        return complete

    # -- objects and lists --------------------------------------------------------------------

    def _element(self, mark: Mark) -> Step[bool]:
        """Behind an opening tag. Returns whether reading can go on."""
        frame = self.frames.last
        said = self.shape.said.get(mark.type)
        if frame.is_list:
            place = frame.place.item()
        else:
            place = frame.place.member(mark.name)
        again = said is None and bool(mark.name) and frame.listed == mark.name
        if again:
            if frame.held is not None:  # it was the first item
                self.out.write("[")
                self._write_text(frame.held, place.item().kind, None)
                frame.held = None
        else:
            self.frames.begin_child(mark.name)
        lead = ""
        if said is None or not said.kind.text_only:
            while (space := self.window.space()) is None:
                yield
            lead = space
            while (child := self.markup.here(self.window, self.delimiters)) is None:
                yield
            if child.what == OPENING:
                self._begin_inside(mark.name, place, said, child.name, again)
                return True
        return (yield from self._value(mark.name, place, said, lead, again))

    def _begin_inside(
        self, name: str, place: Place, said: Said | None, child: str, again: bool
    ) -> None:
        """An element has an element in it: it is a list, or an object."""
        types = place.kind.types
        repeats = False
        if said is not None and said.empty:
            is_list = said.empty == "[]"
        else:
            by_item = child == (self.shape.item if self.shape.by_name else "")
            declared = "array" in types
            is_list = declared and (by_item or "object" not in types)
            is_list = is_list or (by_item and not types)
            repeats = is_list and declared and said is None and not self.frames.last.is_list
            if again or (repeats and not by_item and place.item().declares(child)):
                self._begin_item(name, place, by_item, again)
                return
        if is_list:
            self.out.write("[")
            self.frames.push(Frame(name, place, True, "" if repeats else "]", repeats))
        else:
            self.out.write("{")
            self.frames.push(Frame(name, place, False, "}"))

    def _begin_item(self, name: str, place: Place, by_item: bool, again: bool) -> None:
        """An element adds to the list of a declared array: its own items, or itself as an item."""
        if by_item:
            frame = Frame(name, place, True, "", True)
            frame.begun = True
        else:
            self.out.write(", {" if again else "[{")
            frame = Frame(name, place.item(), False, "}", True)
        self.frames.push(frame)

    # -- text ---------------------------------------------------------------------------------

    def _value(
        self, name: str, place: Place, said: Said | None, lead: str, again: bool
    ) -> Step[bool]:
        """Read a value that is text. Returns whether reading can go on."""
        if again:
            place = place.item()
            self.out.write(", ")
        kind = said.kind if said is not None else place.kind
        if kind.text_only:
            value = TextValue(self.out)
            value.write(lead)
            ended = yield from self._text(name, value, False)
            if ended >= 0:
                value.close()
        else:
            pieces = Pieces()
            pieces.write(lead)
            nests = bool(self.markup.marker) and bool(kind.types & _CONTAINERS) and not again
            ended = yield from self._text(name, pieces, nests)
            text = pieces.take()
            if ended == _CUT:
                self._write_cut(text, kind, said)
            elif ended == _NESTS:
                yield from self._text_before(name, place, said, text)
                return True
            elif said is None and not again and self._may_repeat(kind, text):
                self.frames.last.held = text
                self.frames.last.listed = name
            else:
                self._write_text(text, kind, said)
        if ended >= 0:
            self.frames.close_from(ended)
        return ended >= 0

    def _may_repeat(self, kind: Kind, text: str) -> bool:
        """Whether a text where an array is declared may be one of several items."""
        if "array" not in kind.types or self.frames.last.is_list:
            return False
        return bool(text.strip()) and kind.json_of(text) is None

    def _write_text(self, text: str, kind: Kind, said: Said | None) -> None:
        """A whole value: JSON where it is that, else a string."""
        stripped = text.strip()
        found = kind.json_of(text)
        if said is not None:
            if not stripped:
                found = said.empty
            elif json_type(stripped) == "string":
                found = stripped
        elif not stripped and "string" not in kind.types:
            found = "[]" if "array" in kind.types else "{}" if "object" in kind.types else None
        self.out.write(found or encode(text))

    def _write_cut(self, text: str, kind: Kind, said: Said | None) -> None:
        """What there is of a value goes out as what it seems to become."""
        quoted = said is not None and text.lstrip().startswith('"')
        if quoted or kind.may_begin(text):
            self.out.write(text.lstrip())
        elif text:
            self.out.write(encode(text)[:-1])

    def _text_before(self, name: str, place: Place, said: Said | None, text: str) -> Step[None]:
        """At an element behind some text in an object or a list: the text stands beside it."""
        while (child := self.markup.here(self.window, self.delimiters)) is None:
            yield
        self._begin_inside(name, place, said, child.name, False)
        self.frames.begin_child(_BESIDE)
        self.out.write(encode(text))

    def _text_beside(self, space: str) -> Step[bool]:
        """Read text between elements, up to the next tag. Returns whether that came."""
        w = self.window
        self.frames.begin_child(_BESIDE)
        value = TextValue(self.out)
        value.write(space)
        while True:
            found = self.plan.stops.search(w.text, w.pos)
            value.write(w.take(found.start() if found else len(w.text)))
            if found is None:
                if w.eof:
                    return False
                yield
                continue
            mark = self.markup.here(w, self.delimiters)
            if mark is None:
                yield  # with more text, it may be nothing to stop at
                continue
            if mark.what != TEXT and mark.marked:
                value.close()
                return True
            value.write(w.take(w.pos + 1))

    def _text(self, name: str, value: Sink, nests: bool) -> Step[int]:
        """Read text to its end, and the closing tags of elements behind it. Returns the rank from
        which on all has ended. `nests`: whether an element in it is a part of the value."""
        w, stops = self.window, self.plan.stops
        fast_path: FastPath | None = None
        newline = ""  # read, but no part of the value if an outer closer follows
        while True:
            found = stops.search(w.text, w.pos)
            end = found.start() if found else len(w.text)
            if end > w.pos:
                text, newline = _split_newline(newline + w.take(end))
                value.write(text)
            if found is None:
                if w.eof:
                    value.write(newline)
                    return _CUT
                if not newline:
                    fast_path = fast_path or value.fast_path(self.plan.plain)
                    w.wait_with(fast_path)
                yield
                continue
            mark = self.markup.here(w, self.delimiters)
            if mark is None:
                yield  # with more text, it may be nothing to stop at
                continue
            if nests and mark.what == OPENING:
                value.write(newline)
                return _NESTS
            chain = Chain(self.chains, name, newline.endswith("\n"))
            if (yield from chain.read()):
                if chain.closed:
                    value.write(newline)
                return min(chain.rank, chain.own)
            text, newline = _split_newline(newline + "".join(chain.pieces))
            value.write(text)


def _split_newline(text: str) -> tuple[str, str]:
    """`text` without the newline at its end, or what may become one, and that newline."""
    for newline in ("\r\n", "\n", "\r"):
        if text.endswith(newline):
            return text[: -len(newline)], newline
    return text, ""
