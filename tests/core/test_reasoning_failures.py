"""What has gone wrong elsewhere with thoughts and calls, each as a text and what must come out of it.

Three kinds. *Named in thoughts*: a call, or only its opener, is mentioned in thoughts and taken for one,
and the rest of the message is gone. *Lost in thoughts*: thoughts that were never closed end in a call,
and nobody looks there (vllm#16511, vllm#39056). *Closer shown*: a closer too many is shown.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from toolwire import get_format

from ..support import ADD, TOOLS, check_all_splits, events_of, whole_summary
from ..writers import WRITERS
from .thinking import MARKED, calls_end_thoughts, style_in

CALL = [("add", {"a": 1, "b": 2})]
OTHER = [("noargs", {})]


@dataclass(frozen=True)
class Row:
    """`text` begins in thoughts. CALL, OTHER, OPENER, CLOSER, <think> and </think> stand for what the
    format writes there. `calls`: the names of those that are calls. `special`, where it differs: what a
    format makes of it whose calls begin with special tokens."""

    name: str
    text: str
    reasoning: str | None
    content: str | None
    calls: tuple[str, ...] = ()
    special: tuple[str | None, str | None, tuple[str, ...]] | None = None

    def __str__(self) -> str:
        return self.name


ROWS = [
    # named in thoughts
    Row("opener named", "Use OPENER, or not.</think>Fine.", "Use OPENER, or not.", "Fine."),
    Row("closer named", "It needs CLOSER, I know.</think>Fine.", "It needs CLOSER, I know.", "Fine."),
    Row("opener named, never closed", "Use OPENER, or not.", "Use OPENER, or not.", None),
    Row(
        "call named",
        "Hm.\nCALL\nso, no.</think>Fine.",
        "Hm.\nCALL\nso, no.",
        "Fine.",
        special=("Hm.", "so, no.Fine.", ("add",)),
    ),
    Row(
        "call named, and made",
        "Hm.\nCALL\n</think>\n\nCALL",
        "Hm.\nCALL",
        None,
        ("add",),
        special=("Hm.", None, ("add", "add")),
    ),
    Row(
        "call named, then text, never closed",
        "Hm.\nCALL\nso, no.",
        "Hm.\nCALL\nso, no.",
        None,
        special=("Hm.", "so, no.", ("add",)),
    ),
    Row(
        "call named, another one made",
        "Hm.\nCALL\nso, no.\nOTHER",
        "Hm.\nCALL\nso, no.",
        None,
        ("noargs",),
        special=("Hm.", "so, no.", ("add", "noargs")),
    ),
    Row(
        "call in a second block",
        "Hm.</think>Yes.<think>Or\nCALL\nso, no.</think>Fine.",
        "Hm.Or\nCALL\nso, no.",
        "Yes.Fine.",
        special=("Hm.Or", "Yes.\nso, no.Fine.", ("add",)),
    ),
    # lost in thoughts
    Row("no closer", "Hm.\nCALL", "Hm.", None, ("add",)),
    Row("no closer, white space", "Hm.\n\n  \nCALL\n\n", "Hm.", None, ("add",)),
    Row("no closer, two calls", "Hm.\nCALL\nOTHER", "Hm.", None, ("add", "noargs")),
    Row("nothing but calls", "CALL\nOTHER", None, None, ("add", "noargs")),
    Row("only an opener before it", "<think>\nCALL", None, None, ("add",)),
    Row(
        "no closer, second block",
        "Hm.</think>\nCALL\n<think>Again.\nOTHER",
        "Hm.Again.",
        None,
        ("add", "noargs"),
    ),
    Row("closed, then called", "Hm.</think>\n\nCALL", "Hm.", None, ("add",)),
    Row("closed and called at once", "Hm.</think>CALL", "Hm.", None, ("add",)),
    Row(
        "thoughts between calls",
        "Hm.</think>CALL\n<think>Two.</think>\nOTHER",
        "Hm.Two.",
        None,
        ("add", "noargs"),
    ),
    Row("just text", "Just text", "Just text", None),
    Row("text around a call", "Hm.</think>Yes.\nCALL\nDone.", "Hm.", "Yes.\n\nDone.", ("add",)),
    Row("cut off where a marker may begin", "Hm.</think>1 <", "Hm.", "1 <"),
    # closer shown
    Row("closer twice", "Hm.</think>Fine.</think>More.", "Hm.", "Fine.More."),
    Row("closer twice at once", "Hm.</think></think>Fine.", "Hm.", "Fine."),
    Row("closer behind a call", "Hm.</think>\nCALL\n</think>\nFine.", "Hm.", "Fine.", ("add",)),
    Row("closer at the very end", "Hm.</think>Fine.\n</think>", "Hm.", "Fine.\n"),
    Row("another block", "Hm.</think>Yes.<think>Again.</think>Done.", "Hm.Again.", "Yes.Done."),
    Row("opener although the prompt has it", "<think>\nHm.</think>\n\nFine.", "Hm.", "Fine."),
    Row("nothing thought", "\n\n</think>\n\nFine.", None, "Fine."),
    Row("closer in code", "Hm.</think>Write `</think>`.", "Hm.", "Write `</think>`."),
]  # fmt: skip


def in_format(format: str, text: str | None) -> str | None:
    """The text as this format writes it."""
    if text is None:
        return None
    spec, style = get_format(format), style_in(format, True)
    opens, closes = spec.delimiters.opens.spellings, spec.delimiters.closes.spellings
    words = {
        "<think>": style.open[0],
        "</think>": style.close[0],
        "CALL": WRITERS[format](CALL).strip(),
        "OTHER": WRITERS[format](OTHER).strip(),
        "OPENER": opens[0] if opens else "add(",
        "CLOSER": closes[0] if closes else ")",
    }
    for word, written in words.items():
        text = text.replace(word, written)
    return text


#: In these two, a call in thoughts is meant, and they go on behind it: see below.
GO_ON = {"apertus", "trinity"}
FORMATS = [format for format in MARKED if format not in GO_ON]


@pytest.mark.parametrize("format", FORMATS)
def test_what_comes_out(format: str) -> None:
    for row in ROWS:
        check_row(format, row)


def check_row(format: str, row: Row) -> None:
    text = in_format(format, row.text)
    assert text is not None
    expected = (row.reasoning, row.content, row.calls)
    if row.special and calls_end_thoughts(get_format(format), style_in(format, True)):
        expected = row.special
    ask = (TOOLS, True, True)
    whole = events_of(format, [text], *ask)
    reasoning, content, calls = whole_summary(whole)
    assert reasoning == in_format(format, expected[0]), row
    assert content == in_format(format, expected[1]), row
    assert tuple(name for name, _, complete in calls if complete) == expected[2], row
    for size in (1, 2, 3, 7):
        chunks = [text[i : i + size] for i in range(0, len(text), size)]
        assert events_of(format, chunks, *ask) == whole


HERMES = '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>'
UNKNOWN = HERMES.replace("add", "subtract")
CUT = HERMES[: HERMES.index(": 2")]
THINGS = [
    # A call that is cut off in unclosed thoughts: a thought behind a text opener, else a call.
    ("hermes", f"Hm. {CUT}", (f"Hm. {CUT}", None, [])),
    ("hermes", f"Hm. {HERMES}\n{CUT}", (f"Hm. {HERMES}\n{CUT}", None, [])),
    ("hermes", f"Hm. {CUT}\n{HERMES}", (f"Hm. {CUT}", None, ["add"])),
    ("mistral", 'Hm. [TOOL_CALLS]add{"a": 1', ("Hm.", None, ["add"])),
    ("mistral", "Hm. [TOOL_CALLS]ad", ("Hm. [TOOL_CALLS]ad", None, [])),
    # The first call of those that end the thoughts is to a declared tool.
    ("hermes", f"Hm. {UNKNOWN}", (f"Hm. {UNKNOWN}", None, [])),
    ("hermes", f"Hm. {UNKNOWN}\n{HERMES}", (f"Hm. {UNKNOWN}", None, ["add"])),
    ("hermes", f"Hm. {HERMES}\n{UNKNOWN}", ("Hm.", None, ["add", "subtract"])),
    # A closer of calls too many changes nothing.
    ("hermes", f"Hm. {HERMES}</tool_call>\n", ("Hm.", None, ["add"])),
    # Where calls in thoughts are meant, each is one, and the thoughts go on.
    (
        "apertus",
        'Hm. <|tools_prefix|>[{"add": {"a": 1}}]<|tools_suffix|> so.<|inner_suffix|>Fine.',
        ("Hm.  so.", "Fine.", ["add"]),
    ),
    ("apertus", "Use <|tools_prefix|>, yes.<|inner_suffix|>", ("Use <|tools_prefix|>, yes.", None, [])),
    # A special closer right behind a call, in a format whose calls may begin with a bracket.
    ("mistral", 'Hm. [TOOL_CALLS]add{"a": 1}[/THINK]Ok.', ("Hm.", "Ok.", ["add"])),
    # What stands around the answer goes, and ends thoughts.
    ("cohere", "Hm.<|START_RESPONSE|>Fine.<|END_RESPONSE|>", ("Hm.", "Fine.", [])),
    ("cohere", "Hm.<|END_RESPONSE|>", ("Hm.", None, [])),
    ("kimi_k3", "Hm.<|close|>response<|sep|><|close|>message<|sep|><|end_of_msg|>", ("Hm.", None, [])),
    ("ernie45", "Hm.\n</think>\n\n<response>\nFine.\n</response>\n", ("Hm.", "Fine.", [])),
    ("hunyuan", "Hm.</think>\n<answer>\nFine.\n</answer>", ("Hm.", "Fine.", [])),
    ("apriel", "Hm.[BEGIN FINAL RESPONSE]Fine.[END FINAL RESPONSE]", ("Hm.", "Fine.", [])),
]  # fmt: skip


@pytest.mark.parametrize(("format", "text", "expected"), THINGS)
def test_of_one_format(format: str, text: str, expected: tuple[str, str, list[str]]) -> None:
    events = check_all_splits(format, text, [ADD], True, True, pairs_under=0)
    reasoning, content, calls = whole_summary(events)
    assert (reasoning, content, [name for name, _, _ in calls]) == expected


@pytest.mark.parametrize("format", ["hermes", "qwen3_coder", "call_text", "pythonic"])
def test_calls_in_thoughts_that_are_meant(format: str) -> None:
    """In any format, where the style says so."""
    text = in_format(format, "Hm.\nCALL\nso, on.\nOTHER\n</think>Fine.") or ""
    events = check_all_splits(format, text, TOOLS, "trinity", True, pairs_under=0)
    reasoning, content, calls = whole_summary(events)
    assert (reasoning or "").split() == ["Hm.", "so,", "on."]
    assert (content, [name for name, _, _ in calls]) == ("Fine.", ["add", "noargs"])


@pytest.mark.parametrize(
    ("end", "calls"),
    [
        ("add(b=2, a=1)", ["add"]),
        ("add(a=1, b=3)", ["add", "add"]),
        ("add(a=1, b=2)\nnoargs()\nnoargs()", ["add", "noargs"]),
    ],
)
def test_a_repeat_in_thoughts_is_one(end: str, calls: list[str]) -> None:
    """Call text knows its repeats, also in thoughts that were never closed."""
    text = f"add(a=1, b=2)\n<think>So\n{end}"
    events = check_all_splits("call_text", text, TOOLS, True, pairs_under=0)
    reasoning, content, read = whole_summary(events)
    assert (reasoning, content, [name for name, _, _ in read]) == ("So", None, calls)


BEFORE_ANY = [
    ("Use <think> to think.</think> Ok.", None, "Use <think> to think.</think> Ok."),
    ("In code: `<think>`.", None, "In code: `<think>`."),
    ("```\n<think>\n```\n", None, "```\n<think>\n```\n"),
    ("</think>Fine. <think>", None, "Fine. <think>"),
    ("<think>Hm.</think>Use ``` here.\n<think>So.</think>", "Hm.So.", "Use ``` here."),
    ("<think>Hm.</think>\n```\n<think>\n```\n<think>So.", "Hm.So.", "```\n<think>\n```"),
    ("<think>Hm.</think>````\n```\n<think>\n````\n", "Hm.", "````\n```\n<think>\n````\n"),
    ("<think>Hm.</think>One ` only.\n<think>So.", "Hm.So.", "One ` only."),
]


@pytest.mark.parametrize(("text", "reasoning", "content"), BEFORE_ANY)
@pytest.mark.parametrize("format", ["hermes", "qwen3_coder", "call_text", "json", "mistral"])
def test_where_thoughts_begin(
    format: str, text: str, reasoning: str | None, content: str | None
) -> None:
    events = check_all_splits(format, text, TOOLS, "think", pairs_under=0)
    assert whole_summary(events) == (reasoning, content, [])


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Well<|start|>assistant<|channel|>final<|message|>Yes.", "WellYes."),
        ("Well.<|start|>assistant<|channel|>final<|message|>Yes.", "Well.Yes."),
        ("assistant<|channel|>final<|message|>Yes.", "Yes."),  # the prompt ended in <|start|>
        ("final<|message|>Yes.", "Yes."),  # … or in <|channel|>
        ("<|channel|>fin", None),  # cut off in a header
        ('<|channel|>final message|>"Yes', 'final message|>"Yes'),  # … that has lost its end
    ],
)
def test_what_is_a_header_and_what_is_text(text: str, content: str | None) -> None:
    assert whole_summary(check_all_splits("harmony", text)) == (None, content, [])


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("harmony", "analysis<|message|>Hm.<|end|>"),  # the prompt ended in <|channel|>
        ("harmony", "<|channel|> analysis<|message|> Hm.<|end|>"),  # some models put a blank there
        ("harmony", "<|start|> assistant<|channel|> analysis<|message|> Hm.<|end|>"),
        ("muse_glimmer", " to=self <|message|>Hm.<|eom|>"),
        ("muse_glimmer", "<|start|>assistant to=self <|message|>Hm.<|eom|>"),
    ],
)
def test_odd_headers_of_thoughts(format: str, text: str) -> None:
    assert whole_summary(check_all_splits(format, text)) == ("Hm.", None, [])
