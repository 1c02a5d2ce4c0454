"""Conversations as training text: which characters the model wrote, by our templates and others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import toolwire
from hypothesis import given
from hypothesis import strategies as st
from toolwire.cli import main
from toolwire.models.rendering import template_renderer
from toolwire.models.training import TrainingText, training_text
from toolwire.templates import list_templates

FAMILIES = Path(__file__).parent / "families"
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
}
TOOLS = [
    {
        "type": "function",
        "function": {"name": "look_up", "description": "Looks up.", "parameters": PARAMETERS},
    }
]


def conversation(city: str = "Oslo", days: int = 3, id: str = "abcdefgh1") -> list[dict[str, Any]]:
    """Two answers, the first of them a call."""
    arguments = json.dumps({"city": city, "days": days})
    function = {"name": "look_up", "arguments": arguments}
    call = {"id": id, "type": "function", "function": function}
    return [
        {"role": "user", "content": "Will it rain?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": id, "name": "look_up", "content": "No."},
        {"role": "assistant", "content": "It stays dry."},
    ]


def written(text: TrainingText) -> list[str]:
    return [text.text[begin:end] for begin, end in text.assistant_masks]


@pytest.mark.parametrize("template", list_templates(), ids=lambda template: template.name)
def test_our_templates(template: toolwire.templates.ChatTemplate) -> None:
    """The model wrote its call and its answer, and nothing of what was said to it."""
    render = template_renderer(template.text())
    text = training_text(render, template.format, conversation(), TOOLS)
    call, answer = written(text)
    assert "look_up" in call
    assert "Oslo" in call
    assert answer.startswith("It stays dry.")
    others = text.text
    for part in (call, answer):
        others = others.replace(part, "", 1)
    assert "Will it rain?" in others
    assert "It stays dry." not in others


@given(city=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12),
       days=st.integers(-9, 9))  # fmt: skip
def test_any_arguments(city: str, days: int) -> None:
    render = template_renderer(toolwire.templates.get_template("chatml-hermes").text())
    text = training_text(render, "hermes", conversation(city, days), TOOLS)
    (call,) = toolwire.parse("hermes", written(text)[0], TOOLS).tool_calls
    assert call.load() == {"city": city, "days": days}
    assert all(part.endswith("<|im_end|>") for part in written(text))


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(FAMILIES.glob("*.jinja")) if not path.stem.startswith("none")],
    ids=lambda path: path.stem,
)
def test_the_models_own_templates(path: Path) -> None:
    render = template_renderer(path.read_text(encoding="utf-8"))
    name = path.stem.partition("-")[2]
    messages = conversation(id="functions.look_up:0" if name == "kimi_k2" else "abcdefgh1")
    call, answer = written(training_text(render, name, messages, TOOLS))
    assert "look_up" in call
    assert "It stays dry." in answer
    assert "rain" not in call + answer


def test_masks_of_tokens() -> None:
    text = TrainingText("ask: yes.\n", ((5, 9),))
    assert text.token_masks([(0, 3), (3, 5), (5, 8), (8, 9), (9, 10), (10, 10)]) == [
        0,
        0,
        1,
        1,
        0,
        0,
    ]


def test_a_template_that_changes_what_was_said() -> None:
    """It shows only the last answer's thoughts."""
    source = (
        "{% for m in messages %}{% if m.role == 'assistant' %}A:{% if loop.last %}<think>t</think>"
        "{% endif %}{{ m.content }}\n{% else %}U:{{ m.content }}\n{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}A:{% endif %}"
    )
    messages = [{"role": role, "content": "x"} for role in ("user", "assistant") * 2]
    with pytest.raises(toolwire.ToolwireError, match="message 2 otherwise when the conversation"):
        training_text(template_renderer(source), "hermes", messages)
    text = training_text(template_renderer(source), "hermes", messages[:2])
    assert written(text) == ["<think>t</think>x\n"]


def test_a_template_of_another_format() -> None:
    render = template_renderer(toolwire.templates.get_template("chatml-pythonic").text())
    with pytest.raises(
        toolwire.ToolwireError, match="is not read as its calls by the format hermes"
    ):
        training_text(render, "hermes", conversation(), TOOLS)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "conversations.jsonl"
    lines = [{"messages": conversation(), "tools": TOOLS}, {"messages": conversation("Rome")}]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["write", "hermes", str(source), "--template", "chatml-hermes"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    first = [rows[0]["text"][begin:end] for begin, end in rows[0]["assistant_masks"]]
    assert first[1] == "It stays dry.<|im_end|>"
    assert "Rome" in rows[1]["text"]
    own = tmp_path / "chat_template.jinja"
    own.write_text(toolwire.templates.get_template("chatml-hermes").text())
    assert main(["write", "hermes", str(source), "--template", str(own)]) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == rows
    assert main(["write", "pythonic", str(source), "--template", "chatml-hermes"]) == 2
    assert "line 1: What the template writes of message 2" in capsys.readouterr().err
    source.write_text('{"messages": 3}')
    assert main(["write", "hermes", str(source), "--template", "chatml-hermes"]) == 2
    assert "this is no conversation" in capsys.readouterr().err
