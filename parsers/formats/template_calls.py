"""The calls of a response template: their shape, the wrappers around them, and their layout.

| `content` | the name is | shape |
|---|---|---|
| `json` | in the JSON | `JsonCalls` |
| `json` | captured by the opener | `NamedJson`, or `BareKeys` with keys and strings of its own |
| `xml-inline` | captured by the opener | `Tags` |
| `kv-lines` | in a line of its own | `Labels` |

What a value is, the tool's schema says: `value_parser` and the like count for nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from ..core.format import Wrapper
from ..core.layout import CallId, Layout
from ..core.shape import Shape
from ..shapes import BareKeys, JsonCalls, Labels, NamedJson, Tag, Tags
from .template_fields import Field, Source, source_of
from .template_patterns import Gap, Hole, Part, Space, Words

_QUOTES = ("'", '"')
#: An element's opening tag, up to what follows its name.
_ELEMENT = re.compile(r"""<([^\s<>/=|"']+)(?=[\s=>]|\Z)""")
#: All of a literal up to the end of its last tag or token: what follows is words.
_TOKENS = re.compile(r".*[^\w\s:.,=/-]", re.DOTALL)
#: A token or a tag, and then a tag that is not finished.
_TAG_BEHIND = re.compile(r"(.*[>\]])(<[^\W\d][^<>\]]*)", re.DOTALL)
#: What JSON ends with by itself, and a code fence around it.
_END_OF_JSON = re.compile(r"[\s\]}`]*")
_FENCE = re.compile(r"```\w*")


@dataclass(frozen=True, slots=True)
class Calls:
    """How calls are read, and how they are written."""

    shape: Shape
    wrappers: tuple[Wrapper, ...]
    layout: Layout
    #: they may also come without their wrappers
    bare: bool = False


def calls_of(field: Field) -> Calls:
    source = source_of(field)
    if field.content == "kv-lines":
        return _labels(field, source)
    if field.content not in ("json", "xml-inline"):
        raise field.refuse(f"has {field.content!r} as content, in which no call can be")
    if source.name[0] == "content":
        if field.content == "xml-inline":
            raise field.refuse("has tags for arguments, but does not take the name from its opener")
        return _json_calls(field, source)
    if source.name not in [(name,) for name in field.captured]:
        raise field.refuse("has a transform with a name that its opener does not capture")
    if source.arguments != ("content",):
        raise field.refuse("takes the name from its opener, but not all content as arguments")
    if field.content == "xml-inline":
        return _tags(field, source.name[0])
    if field.arguments.get("unquoted_keys") or field.arguments.get("string_delims"):
        return _bare_keys(field, source.name[0])
    return _named_json(field, source.name[0])


# -- what stands around a call ---------------------------------------------------------------------


def levels_of(field: Field, parts: Iterable[Part]) -> list[Words]:
    """The literals of a delimiter, one for each level, without the white space around them."""
    found = []
    for part in parts:
        if isinstance(part, Words):
            spellings = dict.fromkeys(spelling.strip() for spelling in part.spellings)
            if any(spellings):
                found.append(Words(tuple(filter(None, spellings)), part.optional))
        elif not isinstance(part, Space):
            raise field.refuse("has delimiters with something in them that differs")
    return found


def _opens(field: Field, parts: Iterable[Part]) -> list[Words]:
    found = levels_of(field, parts)
    if not found:
        raise field.refuse("has an opener without any literal")
    return found


def _closes(field: Field) -> list[Words]:
    """Inner ones first. What JSON ends with by itself is none, nor is a code fence."""
    found = []
    for level in levels_of(field, field.close):
        spellings = [s[_END_OF_JSON.match(s).end() :] for s in level.spellings]  # type: ignore[union-attr]
        if all(spellings):
            found.append(replace(level, spellings=tuple(spellings)))
    return found


def _wrappers(opens: Sequence[Words], closes: Sequence[Words]) -> tuple[Wrapper, ...]:
    """A wrapper for each level of openers, with its closers.

    A closer belongs to the opener of its name; of others, what is outermost belongs together. Where an
    opener is left without, it is closed by the tag of its element; closers that are left are other
    spellings of the outermost one.
    """
    tags = [_closing_tags(level.spellings) for level in opens]
    left = list(reversed(closes))
    found = [next((c for c in left if set(c.spellings) & set(own)), None) for own in tags]
    left = [closer for closer in left if closer not in found]
    for place, level in enumerate(opens):
        if found[place] is None:
            found[place] = next((c for c in left if c.optional == level.optional), None)
            left = [c for c in left if c is not found[place]]
    spellings = [c.spellings if c else own for c, own in zip(found, tags, strict=True)]
    spellings[0] = (*spellings[0], *[s for closer in left for s in closer.spellings])
    return tuple(
        Wrapper(level.spellings, tuple(dict.fromkeys(close)))
        for level, close in zip(opens, spellings, strict=True)
    )


def _closing_tags(openers: Iterable[str]) -> tuple[str, ...]:
    found = [_ELEMENT.match(opener) for opener in openers]
    return tuple(f"</{match[1]}>" for match in found if match)


def _written(parts: Iterable[Part], *, inside: bool = False) -> str:
    """A delimiter as it is written: a newline where white space may stand, but not at its edge, unless
    it stands inside of something."""
    pieces: list[str] = []
    for part in parts:
        if isinstance(part, Space):
            pieces += ["\n"] if pieces or inside else []
        elif isinstance(part, Words) and not part.optional:
            pieces.append(part.spellings[0])
    return "".join(pieces)


def _one_by_one(field: Field, begin: str) -> Layout:
    """The layout of calls that each have the field's delimiters around them. What may be missing before
    the first and behind the last of them stands around all."""
    opens, closes = [
        [p for p in parts if not isinstance(p, Space)] for parts in (field.open, field.close)
    ]
    around = [
        part for part in (*opens[:1], *closes[-1:]) if isinstance(part, Words) and part.optional
    ]
    first, last = (part.spellings[0] for part in around) if len(around) == 2 else ("", "")
    return Layout(
        section_begin=first,
        section_end=last,
        call_begin=begin,
        call_end=_written(field.close, inside=True),
        separator="\n" if isinstance((*field.open, None)[0], Space) else "",
    )


# -- a name in JSON --------------------------------------------------------------------------------


def _json_calls(field: Field, source: Source) -> Calls:
    for key in ("unquoted_keys", "string_delims"):
        if field.arguments.get(key):
            raise field.refuse(f"has {key} in objects that have the name in them, too")
    *around, name = source.name
    *beside, arguments = source.arguments
    if around != beside or around not in (["content"], ["content", "function"]):
        raise field.refuse("has a transform with name or arguments deeper in the content")
    shape = JsonCalls()
    if name not in shape.name_keys or arguments not in shape.argument_keys:
        shape = JsonCalls((name,), (arguments,))
    nested = len(around) > 1
    layout = _one_by_one(field, _written(field.open))
    if field.each:
        begin, end = f"{layout.call_begin}[", f"]{layout.call_end}"
        layout = Layout(section_begin=begin, section_end=end, separator=", ")
    layout = replace(
        layout,
        name_begin=('{"type": "function", "function": {"' if nested else '{"') + f'{name}": "',
        name_end='"',
        arguments_begin=f', "{arguments}": ',
        arguments_end="}}" if nested else "}",
    )
    return Calls(shape, _wrappers(_opens(field, field.open), _closes(field)), layout)


# -- a name that the opener captures ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Opener:
    """An opener with a name in it."""

    before: list[Words]  # the literals before the name, level by level
    counted: str  # what stands before a number or another word behind the name, where there is one
    tail: str  # what follows the name
    written_before: str
    written_tail: str


def _opener(field: Field, name: str) -> _Opener:
    place = next(i for i, p in enumerate(field.open) if isinstance(p, Hole) and p.name == name)
    before = _with_attributes_behind(field.open[:place])
    behind = _without_attributes(field.open[place + 1 :])
    counted = ""
    if len(behind) > 1 and isinstance(behind[0], Words) and isinstance(behind[1], (Gap, Hole)):
        counted, behind = behind[0].spellings[0], behind[2:]
    tail = levels_of(field, behind)
    if len(tail) > 1 or any(len(words.spellings) > 1 for words in tail):
        raise field.refuse("has more than one literal behind the name that its opener captures")
    return _Opener(
        _with_tag_apart(_opens(field, before)),
        counted,
        tail[0].spellings[0] if tail else "",
        _written(before),
        _written(behind, inside=True),
    )


def _with_tag_apart(levels: list[Words]) -> list[Words]:
    """`<call><do=` as `<call>` and `<do=`: the tag with the name in it is a level of its own."""
    literals = levels[-1].spellings
    found = _TAG_BEHIND.fullmatch(literals[0]) if len(literals) == 1 else None
    return [*levels[:-1], Words((found[1],)), Words((found[2],))] if found else levels


def _with_attributes_behind(parts: Sequence[Part]) -> list[Part]:
    """`<invoke\\b[^>]*?\\bname="` as `<invoke name="`: the name is the first of a tag's attributes."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if isinstance(part, (Gap, Space)) and isinstance(last, Words) and _in_tag(last):
            found[-1] = Words(tuple(f"{spelling} " for spelling in last.spellings))
        elif isinstance(part, Words) and isinstance(last, Words) and last.spellings[0][-1] == " ":
            found[-1] = Words(
                tuple(a + b.lstrip() for a, b in product(last.spellings, part.spellings))
            )
        else:
            found.append(part)
    return found


def _in_tag(words: Words) -> bool:
    """Whether a literal ends with the name of an element, in its opening tag."""
    tags = [s[s.rfind("<") :] if "<" in s else "" for s in words.spellings]
    return all(_ELEMENT.fullmatch(tag) for tag in tags)


def _without_attributes(parts: Sequence[Part]) -> Sequence[Part]:
    """`"[^>]*?>` as `">`: a tag may always have more attributes."""
    if len(parts) < 3 or not isinstance(parts[1], Gap):
        return parts
    quote, _, end, *rest = parts
    if not (isinstance(quote, Words) and isinstance(end, Words) and quote.spellings[0] in _QUOTES):
        return parts
    return [Words(tuple(a + b for a, b in product(quote.spellings, end.spellings))), *rest]


def _named_json(field: Field, name: str) -> Calls:
    opener = _opener(field, name)
    tail = "" if _FENCE.fullmatch(opener.tail) else opener.tail
    layout = _one_by_one(field, opener.written_before)
    layout = replace(layout, arguments_begin=opener.written_tail)
    opens, header = opener.before, ""
    if opener.counted:
        opens, prefix = _token_and_prefix(field, opener)
        number = rf"(?:{re.escape(opener.counted)}\w+)?"
        header = f"(?:{re.escape(prefix)})?(?P<name>.+?){number}"
        layout = replace(layout, id=CallId(opener.counted, first=0))
    shape = NamedJson(separator=(tail,) if tail else (), header=header)
    return Calls(shape, _wrappers(opens, _closes(field)), layout)


def _token_and_prefix(field: Field, opener: _Opener) -> tuple[list[Words], str]:
    """What stands before a name in two: what tells a call from text, and what belongs to the name."""
    *outer, last = opener.before
    literal = last.spellings[0]
    tokens = _TOKENS.match(literal)
    if len(last.spellings) > 1 or (len(literal) < 2 and not outer):
        raise field.refuse("has no single literal before the name that its opener captures")
    if not tokens and outer and not outer[-1].optional:
        return outer, literal
    cut = tokens.end() if tokens else len(literal) - 1
    return [*outer, Words((literal[:cut],))], literal[cut:].strip()


def _bare_keys(field: Field, name: str) -> Calls:
    opener = _opener(field, name)
    pairs: Any = field.arguments.get("string_delims")
    quotes = {text for pair in pairs for text in pair} if _are_pairs(pairs) else set()
    if len(quotes) != 1 or not field.arguments.get("unquoted_keys"):
        raise field.refuse(
            "needs both unquoted_keys and string_delims, with the same literal on both sides"
        )
    if opener.tail or opener.counted:
        raise field.refuse("has something between the name and its object")
    opens, prefix = _token_and_prefix(field, opener)
    if not prefix:  # one has to be there
        literal = opens[-1].spellings[0]
        opens, prefix = [*opens[:-1], Words((literal[:-1],))], literal[-1]
    return Calls(
        BareKeys(quote=quotes.pop(), prefix=prefix),
        _wrappers(opens, _closes(field)),
        _one_by_one(field, opener.written_before),
    )


def _are_pairs(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(s, str) and s for s in pair)
        for pair in value
    )


# -- tags ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A parameter's tags, as they are read, and as they are written."""

    tag: Tag
    close: tuple[str, ...]
    own_lines: bool
    layout: Layout


def _tags(field: Field, name: str) -> Calls:
    opener = _opener(field, name)
    if opener.counted:
        raise field.refuse("captures more than a name")
    parameter = _parameter(field)
    wrappers = _wrappers(opener.before, _closes(field))
    call: Tag | None = None
    close: tuple[str, ...] = ()
    separator: tuple[str, ...] = (opener.tail,) if opener.tail else ()
    *outer, own = wrappers
    if opener.tail and not all(level.optional for level in opener.before[:-1]):
        pairs = [_unquoted(begin, opener.tail) for begin in own.open]
        call, close = Tag(tuple(begin for begin, _ in pairs), pairs[0][1]), own.close
        wrappers, separator = tuple(outer), ()
    elif opener.tail.startswith(_QUOTES):
        openers = [other for begin in own.open for other in _either_quote(begin)]
        wrappers = (*outer, replace(own, open=tuple(openers)))
        separator = _either_quote(opener.tail)
    line = "\n" if parameter.own_lines else ""
    required = [w for w, level in zip(wrappers, opener.before, strict=False) if not level.optional]
    around = _one_by_one(field, opener.written_before)
    layout = replace(
        parameter.layout,
        section_begin=around.section_begin,
        section_end=around.section_end,
        call_begin=around.call_begin,
        name_end=opener.written_tail.rstrip("\n") + line if line else opener.written_tail,
        arguments_end=close[0] + line if close else "",
        call_end="".join(wrapper.close[0] for wrapper in reversed(required) if wrapper.close),
        separator=around.separator,
    )
    shape = Tags(call, parameter.tag, parameter.close, close, separator, parameter.own_lines)
    return Calls(shape, wrappers, layout, bare=call is not None)


def _unquoted(begin: str, end: str) -> tuple[str, str]:
    """`<invoke name="` and `">` without the quotes: a tag may have them or not."""
    if begin.endswith(_QUOTES) and end.startswith(begin[-1]):
        return begin[:-1], end[1:].lstrip()
    return begin, end


def _either_quote(literal: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys([literal, *(_other_quotes(literal, quote) for quote in _QUOTES)]))


def _other_quotes(literal: str, quote: str) -> str:
    return literal.replace("'", quote).replace('"', quote)


def _parameter(field: Field) -> _Parameter:
    parts = field.pattern_parts("tag_pattern", field.arguments.get("tag_pattern"))
    holes = [part.name for part in parts if isinstance(part, Hole)]
    if holes != ["key", "value"]:
        raise field.refuse(
            "needs a tag_pattern that captures key, and then value, and nothing else"
        )
    places = [i for i, part in enumerate(parts) if isinstance(part, Hole)]
    before = _with_attributes_behind(parts[: places[0]])
    between = _without_attributes(parts[places[0] + 1 : places[1]])
    behind = parts[places[1] + 1 :]
    ends = levels_of(field, between)
    if not 1 <= len(ends) <= 2 or any(len(words.spellings) > 1 for words in ends):
        raise field.refuse("needs a tag_pattern with one literal, or two, between key and value")
    end, key_close = ends[-1].spellings[0], ends[0].spellings[0] if len(ends) > 1 else ""
    begins, closes = _in_any_lines(field, before), _in_any_lines(field, behind)
    if not key_close:
        pairs = [_unquoted(begin, end) for begin in begins]
        begins, end = tuple(begin for begin, _ in pairs), pairs[0][1]
    if not end:
        raise field.refuse("needs a tag_pattern with a literal between key and value")
    own_lines = isinstance((*between, None)[-2], Space) or isinstance((*behind, None)[0], Space)
    line = "\n" if own_lines else ""
    return _Parameter(
        Tag(begins, end, key_close),
        closes,
        own_lines,
        Layout(
            key_begin=_written(before),
            key_end=_written(between).rstrip("\n"),
            value_begin=line,
            value_end=line + _written(behind).rstrip("\n") + line,
        ),
    )


def _in_any_lines(field: Field, parts: Sequence[Part]) -> tuple[str, ...]:
    """A delimiter of several literals as one: with nothing between them, or a newline."""
    levels = [level.spellings for level in levels_of(field, parts)]
    if not levels:
        raise field.refuse("needs a tag_pattern with literals before the key and behind the value")
    found = [between.join(several) for several in product(*levels) for between in ("", "\n")]
    return tuple(dict.fromkeys(found))


# -- lines -----------------------------------------------------------------------------------------


def _labels(field: Field, source: Source) -> Calls:
    if field.arguments.get("line_sep", "\n") != "\n" or field.arguments.get("kv_sep", ":") != ":":
        raise field.refuse("has kv-lines with separators other than newlines and colons")
    if len(source.name) != 2 or len(source.arguments) != 2 or source.name[0] != "content":
        raise field.refuse("has kv-lines without a line for the name and one for the arguments")
    name, arguments = source.name[1], source.arguments[1]
    layout = Layout(
        call_begin=_written(field.open).rstrip("\n") + "\n",
        name_begin=f"{name}: ",
        name_end="\n",
        arguments_begin=f"{arguments}: ",
        arguments_end="\n",
        call_end=_written(field.close),
    )
    opens = _opens(field, field.open)
    return Calls(Labels(name, (arguments,)), _wrappers(opens, _closes(field)), layout)
