"""The token that ends a turn is markup at the very end of a message, and text everywhere else."""

from __future__ import annotations

from itertools import pairwise

import pytest
import toolwire
from hypothesis import given
from hypothesis import strategies as st
from toolwire import Format, get_format, list_formats
from toolwire.core.end_of_turn import EndOfTurn, Tail
from toolwire.formats.parser import text_only

from ..support import TOOLS, check_all_splits, cut_at, events_of, whole_summary

STRING = [{"name": "get_weather", "arguments": {"city": "word"}}]
CALL = [{"name": "add", "arguments": {"a": 1, "b": 2}}]
ADD = ("add", '{"a": 1, "b": 2}', True)


def token_of(spec: Format) -> str:
    """The last of them is the family's own."""
    known = spec.turn_ends.tokens
    return next(token for token in reversed(spec.end_of_turn) if token in known)


@pytest.mark.parametrize("name", list_formats())
def test_behind_text_and_behind_a_call(name: str) -> None:
    spec = get_format(name)
    token = token_of(spec)
    for space in ("", "\n"):
        events = check_all_splits(name, f"Hello.{token}{space}", TOOLS, pairs_under=0)
        assert whole_summary(events) == (None, "Hello.", [])
    if spec.layout is not None:
        text = toolwire.write(name, CALL)
        assert check_all_splits(name, text + token, TOOLS, pairs_under=0) == events_of(name, [text])


@pytest.mark.parametrize("name", list_formats())
def test_in_the_middle_it_is_text(name: str) -> None:
    token = token_of(get_format(name))
    for text in (f"One {token} two", f"{token} is a token.", f"Twice: {token}{token}."):
        events = check_all_splits(name, text, TOOLS, pairs_under=0)
        assert whole_summary(events) == (None, text, [])
    assert whole_summary(events_of(name, [f"{token}x{token}"])) == (None, f"{token}x", [])


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "deepseek_v41", "mistral", "gemma4"])
def test_a_message_ends_before_it(name: str) -> None:
    """What the end of a message decides, its token does not change: a call that was cut off, thoughts
    that were never closed."""
    spec = get_format(name)
    token, whole = token_of(spec), toolwire.write(name, CALL)
    for end in range(1, len(whole)):
        text = whole[:end]
        assert events_of(name, [text, token]) == events_of(name, [text])
    thinking = events_of(name, ["Hm. ", whole, token], TOOLS, True, True)
    assert whole_summary(thinking) == ("Hm.", None, [ADD])


@pytest.mark.parametrize(
    ("name", "text", "calls"),
    [
        ("harmony", " to=noargs<|channel|>commentary<|message|><|end|>", [("noargs", "{}", True)]),
        ("solar_open", "<|content|>Hello.<|end|>", []),
        ("muse_glimmer", " to=user<|message|>Hello.<|eot|>", []),
    ],
)
def test_a_token_that_ends_a_part_is_left_to_its_format(
    name: str, text: str, calls: object
) -> None:
    _, content, read = whole_summary(check_all_splits(name, text, TOOLS))
    assert (content, read) == (None if calls else "Hello.", calls)


@pytest.mark.parametrize(
    "name", ["hermes", "jamba", "mistral", "deepseek_v3", "llama3_json", "pythonic"]
)
def test_no_backslash_escapes_it(name: str) -> None:
    """A message may be over anywhere, even where an escape in a string has just begun."""
    token, whole = token_of(get_format(name)), toolwire.write(name, STRING)
    end = whole.index("word") + 2
    for escape in ("\\", "\\n\\", '\\"'):
        text = whole[:end] + escape
        events = check_all_splits(name, text + token, TOOLS)
        assert whole_summary(events) == whole_summary(events_of(name, [text]))


def test_the_beginning_of_one_is_text() -> None:
    for end in range(1, len("<|im_end|>")):
        text = f"Hello. {'<|im_end|>'[:end]}"
        assert whole_summary(check_all_splits("hermes", text, TOOLS)) == (None, text, [])


def test_other_formats_have_other_tokens() -> None:
    """`</s>` ends a word in HTML, but for models that have a token of that name."""
    text = "<s>old</s>"
    assert whole_summary(events_of("hermes", [text]))[1] == text
    assert whole_summary(events_of("mistral", [text]))[1] == "<s>old"


def test_requests_without_tools_have_none_either() -> None:
    """Engines read those with a format in which nothing is a call."""
    assert whole_summary(events_of(text_only("mistral"), ["Hello.</s>"]))[1] == "Hello."


def test_a_format_of_ones_own() -> None:
    own = Format(name="own", shape=get_format("hermes").shape, end_of_turn=("[OVER]",), bare=True)
    assert whole_summary(check_all_splits(own, "Hello.[OVER]", TOOLS))[1] == "Hello."
    assert whole_summary(events_of(own, ["Hello.<|im_end|>"]))[1] == "Hello.<|im_end|>"


@given(
    text=st.text(alphabet="<|im_end>s/ \nx", max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=6),
)
def test_what_comes_out_is_what_went_in_but_for_the_token(text: str, cuts: list[int]) -> None:
    tokens = EndOfTurn(["<|im_end|>", "</s>", "<s>"])
    whole, pieces = Tail(tokens), Tail(tokens)
    expected = whole.push(text) + whole.finish()
    read = "".join(map(pieces.push, cut_at(text, sorted(cuts)))) + pieces.finish()
    assert read == expected
    body = text.rstrip()
    ends = [token for token in tokens.tokens if body.endswith(token)]
    assert expected == (body.removesuffix(ends[0]) if ends else text)


def test_white_space_behind_it_costs_nothing() -> None:
    """However much comes, it is put together once."""
    tail = Tail(EndOfTurn(["<|im_end|>"]))
    tail.push("<|im_end|>")
    assert {tail.push("\n") for _ in range(1000)} == {""}
    assert tail.push("x") == "<|im_end|>" + "\n" * 1000 + "x"
    lengths = [len(tail.push("<" * 1000)) for _ in range(10)]
    assert all(b <= a + 1 for a, b in pairwise(lengths))
