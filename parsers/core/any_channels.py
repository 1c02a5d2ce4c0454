"""Reads the rest of a message that turns out to be a row of parts, where its format was not named.

The first token of a header says that a message has parts; from there on all of it is read so. (A header
may begin with whom it is for, ` to=NAME` or just a name, only where the message does: elsewhere that is
prose.)

Formats whose headers have tokens in common are read as one, a *family*: what a header says in any of
them, it says in all (`merged`), and what a call's body begins with tells whose it is. Where it begins
with nothing that is known, it is the first one's.

A call to somebody who is not declared is text, as everywhere where the format is not named. Its header
is markup all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .channel_run import CALLS, TEXT, ChannelRun
from .context import Context
from .format import Format
from .literals import Literals
from .outgoing import Outgoing
from .window import Step, Window


class Family:
    """Formats whose headers are made of the same tokens."""

    __slots__ = ("_marks", "_owners", "first", "merged", "recipient")

    def __init__(self, merged: Format, members: Sequence[Format]) -> None:
        self.merged: Final = merged
        self.first: Final = members[0]
        self._owners: Final = {
            mark: member
            for member in reversed(members)
            for mark in (*member.delimiters.starts.spellings, *member.shape.inner_delimiters)
        }
        self._marks: Final = Literals(self._owners)
        channels = merged.channels
        self.recipient: Final = channels.recipient if channels is not None else ""

    def owner(self, window: Window) -> Format | None:
        """Whose call begins at the reading position; None as long as the text does not tell."""
        mark = self._marks.here(window)
        return None if mark is None else self._owners.get(mark, self.first)


class AnyChannelRun(ChannelRun):
    """The rest of a message, in a family's formats; or, without a family, the body of a call in one."""

    def __init__(self, context: Context, out: Outgoing, family: Family | None) -> None:
        super().__init__(context)
        self.out = out
        self._family: Final = family

    def allowed(self, name: str) -> bool:
        return bool(name) and (self.tools is None or self._declared(name) in self.tools)

    def _meaning(self, header: str) -> tuple[int, str]:
        kind, name = super()._meaning(header)
        return (kind, name) if kind != CALLS or not name or self.allowed(name) else (TEXT, "")

    def _body(self, kind: int, name: str) -> Step[None]:
        if kind != CALLS or self._family is None:
            yield from super()._body(kind, name)
            return
        w = self.window
        w.hold()
        while w.space() is None:
            yield
        while (owner := self._family.owner(w)) is None:
            yield
        w.unread(w.release())
        run = AnyChannelRun(Context(owner, self.tools, w), self.out, None)
        yield from run._body(kind, name)
