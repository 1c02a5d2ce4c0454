"""How a message is written that is a row of parts: channels, as data.

    <|channel|>analysis<|message|>   …     <|end|><|start|>assistant to=NAME<|message|>  {…}   <|call|>
    └─────────header─────────────┘ body   └ end ┘└──────────────header────────────────┘ body   end

Each part has a header, which says what the part is (a thought, text, or a call to NAME), and a body. The
tokens named here are special tokens: they stand in no body.
"""

from __future__ import annotations

from dataclasses import dataclass

from .shape import check_spellings


@dataclass(frozen=True, slots=True)
class Channels:
    """The tokens of headers, and what they say."""

    #: the special tokens that a header is made of, with words between them: what it begins with, …
    tokens: tuple[str, ...]
    #: … and the one that is its last
    body: tuple[str, ...]
    #: what ends a part
    end: tuple[str, ...]
    #: a part whose header has one of these in it is a thought
    thought: tuple[str, ...] = ()
    #: a part whose header has one of these in it is a call …
    call: tuple[str, ...] = ()
    #: … and so is one for somebody: the name is behind this word, which white space stands before
    recipient: str = ""
    #: those for whom a part is no call
    readers: tuple[str, ...] = ()
    #: what may stand before a tool's name
    prefix: str = ""
    #: the body holds only the arguments: the name is the header's
    name_in_header: bool = False
    #: around a thought, up to the beginning of the next part, as the model writes it
    thought_begin: str = ""
    thought_end: str = ""
    #: tools that the family itself brings; a call to one of them is text, unless the request declares it
    built_in: tuple[str, ...] = ()
    #: whether any part is a call; where nobody asks for calls, one is text, header and all
    calls: bool = True

    def __post_init__(self) -> None:
        check_spellings(self)
