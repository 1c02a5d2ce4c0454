"""The next turn's prompt: what it keeps of what the model wrote, and what a template does to that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import toolwire
from toolwire.formats import get_format
from toolwire.formats.tools_for import tools_for
from toolwire.models.cache_cost import cache_costs
from toolwire.models.detect import detect
from toolwire.models.doctor import Check, check_model
from toolwire.models.files import DEFAULT, ModelFiles
from toolwire.models.model_turns import TEXT, THOUGHT, ModelTurn, TemplateModel
from toolwire.models.next_turn import continued, handed_over, rough_tokens
from toolwire.models.probes import remembering, taking_tools
from toolwire.models.rendering import template_renderer
from toolwire.templates import get_template, list_templates

CALLS = (
    ("look_up", {"town": "Tromsø", "days": 14, "by": {"hour": [1, 2]}}),
    ("note", {"text": "Take a coat"}),
)
#: A template that writes turns as its model does, with places to spoil that.
TEMPLATE = """
{%- if tools %}{{ '<|im_start|>system\\n' }}{{ tools | tojson }}{{ '<|im_end|>\\n' }}{% endif %}
{%- for m in messages %}
{{- '<|im_start|>' + ('user' if m.role == 'tool' else m.role) + '\\n' }}
{%- if m.reasoning_content and (KEEP) %}
{{- '<think>\\n' + m.reasoning_content + '\\n</think>\\n\\n' }}{% endif %}
{{- TEXT }}
{%- for call in m.tool_calls or [] %}
{{- GAP if m.content or not loop.first else '' }}
{{- '<tool_call>\\n{"name": "' + call.function.name + '"' + ID + ', "arguments": ' }}
{{- ARGUMENTS }}{{ '}\\n</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}PROMPT{% endif %}
"""
USUAL = {
    "KEEP": "true",
    "TEXT": "m.content",
    "GAP": "'\\n'",
    "ID": "''",
    "ARGUMENTS": "call.function.arguments | tojson",
    "PROMPT": "",
}
LAST = "messages[:loop.index0] | selectattr('role', 'equalto', 'user') | list | length == "
LAST += "messages | selectattr('role', 'equalto', 'user') | list | length"


def template(**spoiled: str) -> str:
    text = TEMPLATE
    for name, code in (USUAL | spoiled).items():
        text = text.replace(name, code)
    return text


def model_of(text: str, format: str = "hermes") -> TemplateModel:
    render, _ = taking_tools(remembering(template_renderer(text)))
    return TemplateModel.of(render, get_format(format), detect(render).reasoning)


def turn_of(model: TemplateModel, **wanted: bool) -> ModelTurn:
    for turn in model.turns(CALLS):
        said = turn.said
        found = {"text": said.text, "thought": said.thought, "usual": turn.usual}
        if all(bool(found[key]) == value for key, value in wanted.items()):
            return turn
    raise AssertionError(wanted)


# -- comparing ------------------------------------------------------------------------------------


def test_a_text_goes_on() -> None:
    found = continued("abc", "abcde")
    assert (found.kept, found.same, found.lost, found.why) == (True, 3, 0, "")


def test_where_it_does_not_go_on_and_why() -> None:
    found = continued("abc<tool_call>{}", "abc<tool_result>")
    assert (found.kept, found.same, found.lost) == (False, 9, 7)
    assert found.why == "It read '<tool_call>{}', and then it reads '<tool_result>'."


def test_a_later_text_that_is_shorter() -> None:
    found = continued("abc", "ab")
    assert (found.same, found.lost, found.now) == (2, 1, "")


def test_a_rough_count_of_tokens() -> None:
    assert [rough_tokens(count) for count in (0, 1, 8, 9.9)] == [0, 1, 2, 2]


def test_messages_are_handed_over_as_engines_do() -> None:
    function = {"name": "look_up", "arguments": '{"town": "Oslo"}'}
    message = {
        "role": "assistant",
        "content": None,
        "reasoning": "Hm.",
        "tool_calls": [{"id": "abcdefgh1", "type": "function", "function": function}],
    }
    given = handed_over(message)
    assert given["content"] == ""
    assert given["reasoning_content"] == given["reasoning"] == "Hm."
    assert given["tool_calls"][0]["function"]["arguments"] == {"town": "Oslo"}
    assert message["content"] is None


# -- turns ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("ours", list_templates(), ids=lambda ours: ours.name)
def test_turns_of_our_templates_are_kept(ours: toolwire.templates.ChatTemplate) -> None:
    """Text and calls are apart as the template has them: nothing is lost, and all is read as meant."""
    model = model_of(ours.text(), ours.format)
    turns = [turn for turn in model.turns(CALLS) if turn.usual]
    assert len(turns) == 8  # one call and two, text or none, thoughts or none
    for turn in turns:
        tools = tools_for(turn.said.calls)
        message = toolwire.parse(ours.format, turn.text, tools, ours.reasoning, turn.in_thought)
        assert message.content == (turn.said.text or None)
        assert message.reasoning == (turn.said.thought or None)
        assert [(call.name, call.load()) for call in message.tool_calls] == list(turn.said.calls)
        found = turn.kept(message.to_dict())
        assert found is not None
        assert found.why == ""


def test_what_stands_between_the_parts_is_the_templates() -> None:
    model = model_of(template(GAP="'\\n\\n\\n'"))
    turn = turn_of(model, text=True, thought=True)
    assert turn.text.startswith(f"<think>\n{THOUGHT}\n</think>\n\n{TEXT}\n\n\n<tool_call>\n")
    assert (turn.gap, turn.usual) == ("\n\n\n", True)
    gaps = {turn.gap for turn in model.turns(CALLS) if turn.said.text}
    assert gaps == {"\n\n\n", "\n", "\n\n"}


def test_where_the_prompt_opens_thoughts_the_model_does_not() -> None:
    turn = turn_of(model_of(template(PROMPT="{{ '<think>\\n' }}")), text=False)
    assert turn.in_thought
    assert turn.text.startswith(f"{THOUGHT}\n</think>\n\n<tool_call>")
    found = turn.kept(turn.said.message(turn.ids))
    assert found is not None
    assert found.kept


def test_calls_as_only_the_template_writes_them() -> None:
    """Both are drawn: the format's own way, and the template's."""
    text = template(ARGUMENTS="call.function.arguments | tojson(separators=(',', ':'))")
    turns = [turn for turn in model_of(text).turns(CALLS) if not turn.said.text]
    kept = {}
    for turn in turns:
        found = turn.at_best()
        assert found is not None
        kept.setdefault(turn.by, set()).add(found.kept)
    assert kept == {"format": {False}, "template": {True}}


def test_ids_that_the_model_wrote_stay() -> None:
    file = Path(__file__).parent / "families" / "kimik2-kimi_k2.jinja"
    turn = turn_of(model_of(file.read_text(encoding="utf-8"), "kimi_k2"), text=False)
    assert turn.ids == ("functions.look_up:0",)
    found = turn.at_best()
    assert found is not None
    assert found.kept


def test_white_space_that_another_reading_would_keep() -> None:
    """Rule 10: white space at a call's edge is markup. The next prompt has the template's own."""
    turn = turn_of(model_of(template()), text=True, usual=False)
    found, best = turn.kept(turn.said.message(turn.ids)), turn.at_best()
    assert found is not None
    assert best is not None
    assert turn.place(found.same) == "gap"
    assert best.kept


def test_white_space_that_a_message_begins_with_is_its_text() -> None:
    """A call may never come, and then the message is verbatim. The template writes it once more."""
    model = model_of(template(TEXT="(' ' + m.content if m.content else '')"))
    turn = turn_of(model, text=True, thought=False)
    message = toolwire.parse("hermes", turn.text, tools_for(turn.said.calls))
    assert message.content == f" {TEXT}"
    found, best = turn.kept(message.to_dict()), turn.at_best()
    assert found is not None
    assert best is not None
    assert (found.kept, best.kept) == (False, False)
    assert "begins the model's turn otherwise than its prompt does" in " ".join(cache_costs(model))


def test_a_message_that_the_template_refuses() -> None:
    text = template(TEXT="m.content if m.content != 'no' else raise_exception('no')")
    turn = turn_of(model_of(text), text=False)
    assert turn.kept({"role": "assistant", "content": "no"}) is None


# -- sentences ------------------------------------------------------------------------------------


def test_a_template_that_costs_nothing() -> None:
    assert cache_costs(model_of(template())) == []


@pytest.mark.parametrize(
    ("spoiled", "begins", "costs"),
    [
        (
            {"ARGUMENTS": "call.function.arguments | tojson(separators=(',', ':'))"},
            'This template rewrites arguments (\' "Tromsø"',
            ": every call costs about ",
        ),
        (
            {"ARGUMENTS": "call.function.arguments | tojson(sort_keys=true)"},
            "This template rewrites arguments (",
            ": every call costs about ",
        ),
        (
            {"KEEP": "loop.last"},
            "This template leaves out thoughts as soon as a tool has answered (",
            ": a turn with thoughts costs about ",
        ),
        (
            {"TEXT": "'' if m.tool_calls else m.content"},
            "This template leaves out the text before calls ('Let me look that'",
            ": a turn costs about ",
        ),
        (
            {"GAP": "('\\n' if messages[-1].role == 'assistant' or not loop.first else ' ')"},
            "This template writes other white space between text and calls than the model",
            ": a turn costs about ",
        ),
        (
            {"ID": "', \"id\": \"' + call.id + '\"'"},
            "This template writes ids into calls that the model did not write (",
            ": every call costs about ",
        ),
        (
            {"PROMPT": "{{ '<think>\\n\\n</think>\\n\\n' }}"},
            "This template writes the prompt otherwise once the model has answered (",
            ": a turn costs about ",
        ),
    ],
)
def test_what_a_template_costs(spoiled: dict[str, str], begins: str, costs: str) -> None:
    found = " ".join(cache_costs(model_of(template(**spoiled))))
    assert begins in found
    assert costs in found
    assert found.endswith(" tokens of the prefix cache.")


def test_thoughts_that_are_left_out_when_the_user_asks_again() -> None:
    (sentence,) = cache_costs(model_of(template(KEEP=LAST)))
    assert sentence.startswith(
        "This template leaves out the thoughts of earlier turns once the user"
    )


def checked(text: str) -> Check:
    files = ModelFiles(Path("model"), {DEFAULT: text}, "model.jinja")
    (found,) = [c for c in check_model(files, get_format("hermes")) if c.name == "prefix cache"]
    return found


def test_doctor_says_it() -> None:
    found = checked(get_template("chatml-hermes").text())
    assert (found.ok, found.says.startswith("The next turn's prompt goes on")) == (True, True)
    assert "Between text and a call it writes '\\n': where the model writes other" in found.says
    nothing = checked(template(GAP="''"))
    assert "Between text and a call it writes nothing: where the model writes" in nothing.says
    rewritten = checked(template(ARGUMENTS="call.function.arguments | tojson(sort_keys=true)"))
    assert "Between" not in rewritten.says  # no such turn is kept anyway
    spoiled = checked(template(KEEP="loop.last"))
    assert spoiled.ok  # it costs time, but nothing is to be done
    assert "leaves out thoughts" in spoiled.says


def test_two_drawings_are_the_same() -> None:
    text = get_template("mistral-hermes").text()
    one, other = ([turn.text for turn in model_of(text).turns(CALLS)] for _ in range(2))
    assert json.dumps(one) == json.dumps(other)
