"""Which format a template shows: for toolwire's own, for well-known families, for invented ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from toolwire import ToolwireError, get_format
from toolwire.core.samples import Sample
from toolwire.models.detect import Detection, detect, detect_model
from toolwire.models.files import ModelFiles
from toolwire.models.probes import CALLS
from toolwire.models.propose import proven
from toolwire.models.rendering import template_renderer
from toolwire.templates import ChatTemplate, get_template, list_templates

from .invented import TEMPLATES

#: FAMILY-FORMAT.jinja: how the family's own template writes calls, and the format it is.
FAMILIES = sorted((Path(__file__).parent / "families").glob("*.jinja"))
WITH_TOOLS = [path for path in FAMILIES if not path.stem.startswith("none-")]
WITHOUT_TOOLS = [path for path in FAMILIES if path.stem.startswith("none-")]


def detected(text: str) -> Detection:
    return detect(template_renderer(text))


def family(name: str) -> str:
    return next(p for p in FAMILIES if p.stem == name).read_text(encoding="utf-8")


@pytest.mark.parametrize("template", list_templates(), ids=lambda t: t.name)
def test_each_of_our_templates_shows_its_own_format(template: ChatTemplate) -> None:
    found = detected(template.text())
    assert found.format == template.format
    assert found.frame == template.frame
    assert found.shows_tools
    assert (found.template, found.proposal) == (None, None)


@pytest.mark.parametrize("path", WITH_TOOLS, ids=lambda p: p.stem)
def test_families(path: Path) -> None:
    found = detected(path.read_text(encoding="utf-8"))
    assert found.format == path.stem.partition("-")[2]
    assert found.proposal is None
    assert not any("would stay in the text" in sentence for sentence in found.why)


def test_there_are_enough_families() -> None:
    assert len({path.stem.partition("-")[2] for path in WITH_TOOLS}) >= 10
    assert all(get_format(path.stem.partition("-")[2]) for path in WITH_TOOLS)


@pytest.mark.parametrize("path", WITHOUT_TOOLS, ids=lambda p: p.stem)
def test_templates_without_tools_fit_nothing(path: Path) -> None:
    found = detected(path.read_text(encoding="utf-8"))
    assert (found.format, found.formats, found.proposal) == (None, (), None)
    assert not found.shows_tools
    assert found.why[0].startswith("The template does not show tools to the model")


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("none-chatml", "chatml-call_text"),
        ("none-gemma", "gemma-call_text"),
        ("none-llama2", "mistral-call_text"),
        ("none-alpaca", None),
    ],
)
def test_without_tools_there_is_advice_for_its_frame(name: str, ours: str | None) -> None:
    found = detected(family(name))
    assert found.template == ours
    assert (ours is None) == any("in a way of its own" in sentence for sentence in found.why)


def test_a_model_with_hermes_tokens_is_advised_to_use_them() -> None:
    tokens = frozenset({"<tool_call>", "</tool_call>"})
    found = detect(template_renderer(family("none-chatml")), vocabulary=tokens)
    assert found.template == "chatml-hermes"


@pytest.mark.parametrize("template", list_templates(), ids=lambda t: t.name)
def test_the_advice_for_a_model_without_template(template: ChatTemplate) -> None:
    """By its tokens, a model says which frame it knows."""
    markers = get_template(f"{template.frame}-call_text").markers
    tokens = frozenset(markers) if template.frame != "plain" else frozenset({"a"})
    found = detect_model(ModelFiles(Path("model"), vocabulary=tokens))
    assert (found.format, found.frame) == (None, template.frame)
    assert found.template == f"{template.frame}-call_text"
    assert "no chat template" in found.why[0]


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_format_is_proposed_where_none_fits(name: str) -> None:
    found = detect(template_renderer(TEMPLATES[name]), name="mine")
    assert found.formats == ()
    assert found.proposal is not None
    assert found.format == found.proposal.name == "mine"
    assert any("no format of toolwire reads" in sentence for sentence in found.why)
    text = template_renderer(TEMPLATES[name])(
        [{"role": "assistant", "content": "", "tool_calls": [_call(*call) for call in CALLS]}]
    )
    written = text.removeprefix("<|im_start|>assistant\n").removesuffix("<|im_end|>\n")
    assert proven(found.proposal, [Sample(written, CALLS)])


def _call(name: str, arguments: dict[str, object]) -> dict[str, object]:
    return {"id": "x", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_known_format_in_an_unknown_wrapper_is_not_taken_for_the_known_one() -> None:
    """Hermes would read the call and leave the outer tags in the text."""
    text = family("qwen25-hermes")
    text = text.replace("{{- '\\n<tool_call>", "{{- '\\n<all><tool_call>")
    text = text.replace("</tool_call>' }}", "</tool_call></all>' }}")
    found = detected(text)
    assert found.proposal is not None
    assert [wrapper.open for wrapper in found.proposal.wrappers] == [("<all>",), ("<tool_call>",)]


# -- what templates are like ----------------------------------------------------------------------

CHATML = """\
{%- if tools %}{{- tools | tojson }}{% endif %}
{%- for m in messages %}{{- '<|im_start|>' ~ m.role ~ '\\n' }}TURN{{- '<|im_end|>\\n' }}{% endfor %}
"""
HERMES = """\
{%- for c in m.tool_calls or [] %}
{{- '<tool_call>' ~ {'name': c.function.name, 'arguments': ARGUMENTS} | tojson ~ '</tool_call>' }}
{%- endfor %}"""
TOJSON = HERMES.replace("ARGUMENTS", "c.function.arguments")


def chatml(turn: str) -> str:
    return CHATML.replace("TURN", turn)


@pytest.mark.parametrize(
    "turn",
    [
        "{{- m.content }}" + TOJSON,
        # demands text beside calls
        "{%- if not m.content %}{{ raise_exception('empty') }}{% endif %}{{- m.content }}" + TOJSON,
        # demands that there is none
        "{%- if m.tool_calls and m.content is not none %}{{ raise_exception('text') }}{% endif %}"
        "{{- m.content or '' }}" + TOJSON,
        # demands that the results follow
        "{%- if m.tool_calls and loop.last %}{{ raise_exception('where is the result?') }}{% endif %}"
        "{{- m.content or '' }}" + TOJSON,
        # writes the id in place of the name
        "{{- m.content or '' }}{%- for c in m.tool_calls or [] %}{{- '<tool_call>' ~ "
        "{'name': c.id[10:-2], 'arguments': c.function.arguments} | tojson ~ '</tool_call>' }}"
        "{%- endfor %}",
        # thinks first
        "{%- if m.tool_calls %}{{ '<think>\\n\\n</think>\\n\\n' }}{% endif %}{{- m.content }}"
        + TOJSON,
    ],
)
def test_templates_with_demands(turn: str) -> None:
    assert detected(chatml(turn)).format == "hermes"


def test_a_template_that_takes_arguments_as_text_is_warned_about() -> None:
    text = (
        '{{- m.content }}{%- for c in m.tool_calls or [] %}{{- \'<tool_call>{"name": "\' + '
        "c.function.name + '\", \"arguments\": ' + c.function.arguments + '}</tool_call>' }}"
        "{%- endfor %}"
    )
    found = detected(chatml(text))
    assert found.format == "hermes"
    assert any("arguments as JSON text" in sentence for sentence in found.why)
    assert not any(
        "arguments as JSON text" in sentence
        for sentence in detected(chatml("{{- m.content }}" + TOJSON)).why
    )


def test_a_template_that_refuses_parallel_calls_is_told_about() -> None:
    assert any(
        "refuses two calls" in sentence for sentence in detected(family("llama31-llama3_json")).why
    )
    assert not any("refuses" in sentence for sentence in detected(family("qwen25-hermes")).why)


def test_a_template_that_hides_results_is_told_about() -> None:
    text = "{%- if m.role != 'tool' %}{{- m.content }}{% endif %}" + TOJSON
    assert any("what a tool gave back" in sentence for sentence in detected(chatml(text)).why)


def test_a_template_that_shows_tools_but_no_calls() -> None:
    found = detected(chatml("{{- m.content }}"))
    assert found.shows_tools
    assert found.format is None
    assert "It does not show how a call is written." in found.why
    assert found.template == "chatml-call_text"


def test_calls_that_cannot_be_read() -> None:
    text = (
        "{{- m.content }}{%- for c in m.tool_calls or [] %}{{- c.function.name }} of "
        "{%- for k, v in c.function.arguments.items() %} {{ v }} as {{ k }}{% endfor %}{% endfor %}"
    )
    found = detected(chatml(text))
    assert found.format is None
    assert any("no format could be made" in sentence for sentence in found.why)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{% for m in messages %}", "can't be read"),
        ("{% generation %}", "can't be read"),
        ("{{ raise_exception('only on Sundays') }}", "can't be rendered: only on Sundays"),
        ("{{ messages.nothing.there }}", "can't be rendered"),
        ("{{ 1 / 0 }}", "can't be rendered"),
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "can't be rendered"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "can't be rendered"),
        ("{% for i in range(99999999) %}x{% endfor %}", "can't be rendered"),
        ("{% for i in range(99999) %}{{ 'x' * 9999 }}{% endfor %}", "more than any prompt has"),
        ("{{ messages.append(1) }}", "can't be rendered"),
        ("{% include 'secrets' %}", "can't be rendered"),
    ],
)
def test_broken_and_hostile_templates_are_a_sentence(text: str, word: str) -> None:
    with pytest.raises(ToolwireError, match=word) as raised:
        detected(text)
    assert "\n" not in str(raised.value)


def test_a_template_that_shows_nothing_fits_nothing() -> None:
    found = detected("Hello.")
    assert (found.format, found.frame, found.template) == (None, None, None)
