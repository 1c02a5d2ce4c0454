"""What all ways to write a call have in common. The shapes themselves are in `core/shapes/`."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from .reader import Step

if TYPE_CHECKING:
    from .driver import Run


class Outcome(enum.Enum):
    """What a shape found where a call could stand."""

    CALL = "a call was read"
    OTHER = "something whole that is no call was read; a sibling may follow"
    NOTHING = "no call stands here"


class Shape(ABC):
    """A way to write calls. Each is data and reads itself; here is what most of them share."""

    __slots__ = ()

    @property
    def heads(self) -> tuple[str, ...]:
        """Literals that a call begins with, where it has any of its own (`<function=`)."""
        return ()

    @property
    def closers(self) -> tuple[str, ...]:
        """Literals that end a call inside its wrappers (`</function>`)."""
        return ()

    @property
    def separators(self) -> str:
        """Characters that are markup between a call and its sibling or closer."""
        return ",;]}"

    @property
    def bare_start(self) -> str:
        """A pattern for what a call without any wrapper begins with, at the start of a line."""
        return ""

    @abstractmethod
    def may_start(self, character: str) -> bool:
        """Whether a call can begin with `character`."""

    @abstractmethod
    def read(self, run: Run) -> Step[Outcome]:
        """Read one call at the reading position."""
