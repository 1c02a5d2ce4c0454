"""How an answer is read: what its request asked for, and what the operator set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..core.format import Format
from ..core.layout import IdStyle
from ..formats import get_format
from .request import NO_TOOLS, Request


@dataclass(frozen=True, slots=True)
class Policy:
    """What is wanted of one answer."""

    format: str | Format | None = None  # read calls from the text in this format; None: never
    request: Request = NO_TOOLS
    sequential_ids: bool = False  # `Search_0` for calls found in the text, not `call_…`
    taken_ids: frozenset[str] = frozenset()  # the ids of earlier turns
    names: Mapping[str, str] = field(default_factory=dict)  # the client's, by those of the server
    repair: frozenset[str] = frozenset()  # what may be done to calls beyond what must be
    reasoning: str = "off"  # thoughts in the text: `split` them off, or `keep` them there

    @property
    def id_style(self) -> IdStyle:
        """What ids look like that are made."""
        format = self.format
        if not format:
            return IdStyle()
        return (format if isinstance(format, Format) else get_format(format)).ids

    @property
    def reads_text(self) -> bool:
        """Whether calls are read from the text."""
        return bool(self.format and self.request.functions) and self.request.choice.mode != "none"

    @property
    def splits_thoughts(self) -> bool:
        """Whether thoughts are taken out of the text."""
        return bool(self.format) and self.reasoning == "split"

    @property
    def keeps_thoughts(self) -> bool:
        """Whether thoughts that are found are left where they are."""
        return self.reasoning == "keep"

    @property
    def looks_at_text(self) -> bool:
        return self.reads_text or self.splits_thoughts

    @property
    def looks_at_thoughts(self) -> bool:
        """Whether calls are read from thoughts that the server sends apart."""
        return self.reads_text and self.reasoning != "off"
