"""Styles of reasoning: by name, in files, and added by a caller."""

from __future__ import annotations

from dataclasses import replace

import pytest
from toolwire import (
    Message,
    ReasoningStyle,
    ToolwireError,
    get_format,
    list_formats,
    list_reasoning,
    parse,
    register_reasoning,
)
from toolwire.formats.reasoning import STYLES
from toolwire.formats.toml_specs import dump_format

from ..core.thinking import closers, openers, text_openers
from ..support import printed_by
from .test_toml_specs import complaint, load

CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'


def test_all_have_names() -> None:
    names = {style.name for style in STYLES}
    assert len(names) == len(STYLES)
    assert names <= set(list_reasoning())
    assert list_reasoning() == sorted(list_reasoning())


@pytest.mark.parametrize("format", list_formats())
def test_every_format_has_a_style(format: str) -> None:
    assert get_format(format).reasoning.name in list_reasoning()


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_every_spelling_of_every_style(style: ReasoningStyle) -> None:
    """Opened by the model, or by the prompt; closed by any closer; skipped; mentioned."""
    for close in closers(style):
        assert parse("hermes", f"Hm.{close}Ok.", None, style, True) == Message("Ok.", [], "Hm.")
        assert parse("hermes", f"{close}Ok.", None, style.name) == Message("Ok.", [], None)
        for opener in openers(style):
            for text in (f"{opener}Hm.{close}Ok.", f"\n{opener}\nHm.\n{close}\n\nOk."):
                assert parse("hermes", text, None, style.name) == Message("Ok.", [], "Hm.")
            read = parse("hermes", f"{opener}Hm.{close}Ok.", None, style.name, True)
            assert read == Message("Ok.", [], "Hm.")
    for opener in openers(style):
        read = parse("hermes", f"Ok. {opener} Hm.", None, style.name)
        mentioned = Message(f"Ok. {opener} Hm.", [], None)
        assert read == (mentioned if opener in text_openers(style) else Message("Ok.", [], "Hm."))


# -- added by a caller ----------------------------------------------------------------------------


ONE_MORE = """
from toolwire import ReasoningStyle, list_reasoning, parse, register_reasoning
register_reasoning(ReasoningStyle("brain", ("<brain>", "<mind>"), ("</brain>",)))
print("brain" in list_reasoning())
print(parse("hermes", "<mind>a</brain>b", None, "brain").to_dict())
"""


def test_one_more_style() -> None:
    message = parse("hermes", "<think>a</think>b", None, "think").to_dict()
    assert printed_by(ONE_MORE) == ["True", str(message)]


def test_a_name_that_is_taken() -> None:
    with pytest.raises(ToolwireError, match="There is a style of reasoning named 'think' already"):
        register_reasoning(ReasoningStyle("think", ("<b>",), ("</b>",)))


def test_what_is_no_style() -> None:
    with pytest.raises(ToolwireError, match=r"takes a toolwire.ReasoningStyle, not str"):
        register_reasoning("think")  # type: ignore[arg-type]
    with pytest.raises(ToolwireError, match=r"ReasoningStyle.open must be a tuple of strings"):
        ReasoningStyle("x", "<x>", ("</x>",))  # type: ignore[arg-type]


def test_a_format_with_a_style_of_its_own() -> None:
    style = ReasoningStyle("", ("<brain>",), ("</brain>",))
    spec = replace(get_format("hermes"), name="brainy", reasoning=style)
    read = parse(spec, f"<brain>a</brain>b{CALL}", None, True)
    assert (read.reasoning, read.content, len(read.tool_calls)) == ("a", "b", 1)


# -- in files -------------------------------------------------------------------------------------

HEADER = 'name = "brainy"\nlike = "hermes"\n'


def test_a_style_by_its_name() -> None:
    spec = load(f'{HEADER}reasoning = "mistral"\n')
    assert spec.reasoning.is_name
    assert parse(spec, "[THINK]a[/THINK]b", None, True) == Message("b", [], "a")
    assert load(dump_format(spec)) == spec


def test_a_style_in_a_table() -> None:
    text = (
        f'{HEADER}[reasoning]\nopen = ["<|brain|>"]\nclose = ["<|/brain|>"]\n'
        'special = true\nanswer_open = ["<say>"]\nanswer_close = ["</say>"]\n'
    )
    spec = load(text)
    assert spec.reasoning.special
    read = parse(spec, "<|brain|>a<|/brain|><say>b</say>", None, True)
    assert read == Message("b", [], "a")
    assert parse(spec, "b <|brain|>a", None, True) == Message("b", [], "a")
    assert load(dump_format(spec)) == spec


def test_no_style_of_that_name() -> None:
    spec = load(f'{HEADER}reasoning = "thinc"\n')
    with pytest.raises(ToolwireError, match=r"reasoning named 'thinc'. Did you mean 'think'"):
        parse(spec, "a", None, True)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("reasoning = 5", "reasoning"),
        ('[reasoning]\nopen = "<b>"\nclosed = ["</b>"]', "closed"),
        ('[reasoning]\nopen = [""]\nclose = ["</b>"]', "open"),
    ],
)
def test_a_mistake_names_its_place(toml: str, said: str) -> None:
    assert said in complaint(HEADER + toml + "\n")
