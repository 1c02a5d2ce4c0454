"""The objects and lists that are open in a call's arguments, and what is written when they end.

An element's *rank* is its place in the stack, the call itself having 0. What a closing tag closes is
found by its name, or by the stack alone where all elements have the same name.
"""

from __future__ import annotations

from bisect import bisect_left

from ...core.sinks import Sink
from ...schema.kinds import encode
from ...schema.nested import Place
from .markup import Mark


class Frame:
    """An object or a list whose element is open."""

    __slots__ = ("begun", "end", "held", "is_list", "keys", "listed", "name", "place", "repeats")

    def __init__(
        self, name: str, place: Place, is_list: bool, end: str, repeats: bool = False
    ) -> None:
        self.name = name  # of its element
        self.place = place
        self.is_list = is_list
        self.end = end  # what is written when it ends
        self.repeats = repeats  # the element may come again, and adds to the same list then
        self.begun = False  # it has a member or an item
        self.keys: set[str] = set()
        self.listed = ""  # the member whose list is still open, for one of the same name
        self.held: str | None = None  # … or would be, if another one came: it is text until then


class Frames:
    """The stack. Writes all of the arguments but values that are text."""

    __slots__ = ("_by_name", "_ranks", "_sink", "open")

    def __init__(self, sink: Sink, arguments: Place, by_name: bool) -> None:
        """`by_name`: whether names tell elements apart."""
        self._sink = sink
        self._by_name = by_name
        self._ranks: dict[str, list[int]] = {}  # of open elements, by name
        self.open = [Frame("", arguments, False, "}")]
        sink.write("{")

    @property
    def last(self) -> Frame:
        return self.open[-1]

    def rank(self, mark: Mark, below: int) -> int:
        """The rank of the innermost element that a closing tag closes, of those below a rank; or 0."""
        if not self._by_name:
            return below - 1
        ranks = self._ranks.get(mark.name)
        place = bisect_left(ranks, below) if ranks else 0
        return ranks[place - 1] if ranks and place else 0

    def push(self, frame: Frame) -> None:
        if self._by_name:
            self._ranks.setdefault(frame.name, []).append(len(self.open))
        self.open.append(frame)

    def close_from(self, rank: int) -> None:
        """Everything from a rank on has ended."""
        while len(self.open) > rank:
            frame = self.open.pop()
            self.settle(frame)
            self._sink.write(frame.end)
            if not self.open:
                return
            if self._by_name:
                self._ranks[frame.name].pop()
            if frame.repeats:
                self.open[-1].listed = frame.name

    def settle(self, frame: Frame, over: bool = False) -> None:
        """No further element of the same name adds to a list. `over`: nothing else comes either."""
        if frame.held is not None:
            self._sink.write(encode(frame.held))
        elif frame.listed and not over:
            self._sink.write("]")
        frame.held = None
        frame.listed = ""

    def begin_child(self, name: str) -> None:
        """Write what stands before the value of a member, or of an item."""
        frame = self.open[-1]
        self.settle(frame)
        separator = ", " if frame.begun else ""
        frame.begun = True
        if frame.is_list:
            self._sink.write(separator)
        else:
            frame.keys.add(name)
            self._sink.write(f"{separator}{encode(name)}: ")
