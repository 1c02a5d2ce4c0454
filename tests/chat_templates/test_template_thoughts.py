"""Thoughts in a conversation: shown as the family writes them, switched on and off, and read back."""

from typing import Any

import pytest
import toolwire
from hypothesis import given
from hypothesis import strategies as st
from toolwire import templates
from toolwire.engines.thinking import Markers, find_style, switched

from .template_conversations import IMAGES, SWITCHES, Message, generated, texts
from .template_renderers import FRAMES, NAMES, STYLES, render_everywhere, with_jinja2
from .test_template_round_trip import PROSE, answers, ordinary

USER: Message = {"role": "user", "content": "Hi"}
ANSWER: Message = {"role": "assistant", "content": "Hello"}

#: What a thought, an empty one in the prompt, and an open one look like.
THINK = ("<think>\nHm.\n</think>\n\n", "<think>\n\n</think>\n\n", "<think>\n")
SHOWN = dict.fromkeys(FRAMES, THINK) | {
    "deepseek": ("<think>Hm.</think>", "</think>", "<think>"),
    "mistral": ("[THINK]Hm.[/THINK]", "[THINK][/THINK]", "[THINK]"),
}
#: What a template says about an answer where thinking is on and the answer has no thought.
EMPTY = {"deepseek": "<think></think>"}

OFF = [switch for switch in SWITCHES if switched(switch) is False]
ON = [{"enable_thinking": True}, {"thinking": True}, {"thinking_mode": "enabled"}]


def opens(name: str) -> bool:
    """Whether the prompt opens the block where thinking is on: DeepSeek, and Qwen3.5's family, do."""
    frame, _, style = name.partition("-")
    return frame == "deepseek" or style == "qwen3_coder"


def turn(name: str, answer: Message, **variables: Any) -> str:
    """The assistant's turn, without what begins every one of them, and what ends it."""
    begin = render_everywhere(name, [USER], add_generation_prompt=True)
    whole = render_everywhere(name, [USER, answer], continue_final_message=True, **variables)
    assert whole.startswith(begin)
    return whole[len(begin) :]


def prompt(name: str, **variables: Any) -> str:
    """What the prompt says behind what begins every turn."""
    begin = render_everywhere(name, [USER], add_generation_prompt=True)
    asked = render_everywhere(name, [USER], add_generation_prompt=True, **variables)
    assert asked.startswith(begin)
    return asked[len(begin) :]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_earlier_thoughts_are_shown(name: str, key: str) -> None:
    shown = SHOWN[name.split("-")[0]][0]
    for thought in ("Hm.", "\nHm.\n", " Hm.\r\n\t"):
        assert turn(name, {**ANSWER, key: thought}) == f"{shown}Hello"


@pytest.mark.parametrize("style", STYLES)
def test_thoughts_stand_before_calls(style: str) -> None:
    call = {"id": "1", "type": "function", "function": {"name": "ring_bell", "arguments": {}}}
    calls: Message = {"role": "assistant", "content": None, "tool_calls": [call]}
    thoughtful = {**calls, "reasoning_content": "Hm."}
    for frame in FRAMES:
        rendered = render_everywhere(f"{frame}-{style}", [USER, calls])
        begin = render_everywhere(f"{frame}-{style}", [USER], add_generation_prompt=True)
        with_thought = begin + SHOWN[frame][0] + rendered[len(begin) :]
        assert render_everywhere(f"{frame}-{style}", [USER, thoughtful]) == with_thought


@pytest.mark.parametrize("frame", FRAMES)
def test_thoughts_stay_when_the_user_speaks_again(frame: str) -> None:
    conversation = [USER, {**ANSWER, "reasoning": "Hm."}, USER, ANSWER, USER]
    assert render_everywhere(f"{frame}-hermes", conversation).count("Hm.") == 1


@pytest.mark.parametrize("nothing", [None, "", " \n", [], 5, {"effort": "low"}])
def test_what_is_no_thought_is_not_shown(nothing: Any) -> None:
    for key in ("reasoning_content", "reasoning"):
        assert turn("chatml-hermes", {**ANSWER, key: nothing}) == "Hello"


def test_the_first_name_that_says_anything_is_used() -> None:
    both = {**ANSWER, "reasoning_content": "", "reasoning": "Hm."}
    assert turn("chatml-hermes", both) == f"{THINK[0]}Hello"
    assert turn("chatml-hermes", {**both, "reasoning_content": "Aha."}) == turn(
        "chatml-hermes", {**ANSWER, "reasoning": "Aha."}
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("off", OFF, ids=str)
def test_off_closes_the_block_in_the_prompt_and_in_earlier_answers(
    name: str, off: dict[str, Any]
) -> None:
    closed = SHOWN[name.split("-")[0]][1]
    assert prompt(name, **off) == closed
    assert turn(name, ANSWER, **off) == f"{closed}Hello"
    assert turn(name, {**ANSWER, "reasoning": "Hm."}, **off) == turn(
        name, {**ANSWER, "reasoning": "Hm."}
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("on", ON, ids=str)
def test_on_opens_the_block_where_the_familys_prompt_does(name: str, on: dict[str, Any]) -> None:
    frame = name.split("-")[0]
    thought, closed, opened = SHOWN[frame]
    assert prompt(name, **on) == (opened if opens(name) else "")
    assert turn(name, {**ANSWER, "reasoning": "Hm."}, **on) == f"{thought}Hello"
    empty = EMPTY.get(frame, closed) if opens(name) else ""
    assert turn(name, ANSWER, **on) == f"{empty}Hello"


@pytest.mark.parametrize("name", NAMES)
def test_an_effort_changes_nothing_but_where_it_is_none(name: str) -> None:
    for effort in ("minimal", "low", "medium", "high", "max", 0.5, None):
        assert prompt(name, reasoning_effort=effort) == ""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("switch", SWITCHES, ids=str)
def test_templates_and_engines_agree_on_what_a_switch_means(
    name: str, switch: dict[str, Any]
) -> None:
    """A block in the prompt is open only where the engine takes thinking for on, and closed where it
    takes it for off."""
    markers = Markers(find_style(templates.get_template(name).reasoning))
    inside = markers.ends_inside(prompt(name, **switch))
    assert (inside is False) == (switched(switch) is False)
    assert inside is not True or switched(switch) is True


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
@generated(60)
@given(data=st.data())
def test_thoughts_are_read_back(style: str, data: st.DataObject) -> None:
    message, declared = data.draw(answers(style))
    mentions = ordinary if style == "special_token" else ordinary | st.sampled_from(PROSE[style])
    thought = " ".join(data.draw(st.lists(mentions, min_size=1, max_size=3)))
    name = f"{data.draw(st.sampled_from(FRAMES))}-{style}"
    template = templates.get_template(name)
    switch = data.draw(st.sampled_from([{}, {"enable_thinking": True}]))
    message = {**message, "content": (message["content"] or "").strip(), "reasoning": thought}

    asked = {"add_generation_prompt": True, **switch}
    begin = with_jinja2(name, [USER], declared, **asked)
    whole = with_jinja2(name, [USER, message], declared, continue_final_message=True, **switch)
    assert whole.startswith(begin)
    last_turn = begin.rpartition(USER["content"])[2]  # tools may have markers in what they say
    inside = Markers(find_style(template.reasoning)).ends_inside(last_turn) is True
    read = toolwire.parse(
        template.format, whole[len(begin) :], declared, template.reasoning, inside
    )

    assert (read.reasoning or "").strip() == thought.strip()
    assert (read.content or "") == message["content"]
    names = [call["function"]["name"] for call in message.get("tool_calls", [])]
    assert [call.name for call in read.tool_calls] == names


@pytest.mark.parametrize("name", NAMES)
def test_the_catalog_names_the_style_that_the_template_writes(name: str) -> None:
    style = templates.get_template(name).reasoning
    written = turn(name, {**ANSWER, "reasoning": "Hm."})
    read = toolwire.parse("json", written, reasoning=style)
    assert (read.reasoning, read.content) == ("Hm.", "Hello")


# -- what tools give back that is not text --------------------------------------------------------

FILES: list[dict[str, Any]] = [
    {"type": "input_audio", "input_audio": {"data": "iVBORw0KGgo=", "format": "wav"}},
    {"type": "audio", "data": "iVBORw0KGgo=", "mimeType": "audio/wav"},
    {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,iVBORw0KGgo="}},
    {"type": "file", "file": {"file_data": "iVBORw0KGgo=", "filename": "a.pdf"}},
    {"type": "input_file", "file_data": "iVBORw0KGgo="},
    {"type": "document", "source": {"type": "base64", "data": "iVBORw0KGgo="}},
    {"type": "resource", "resource": {"uri": "file:///a.pdf", "blob": "iVBORw0KGgo="}},
]


def shown_result(style: str, content: Any) -> str:
    call = {"id": "1", "type": "function", "function": {"name": "ring_bell", "arguments": {}}}
    messages: list[Message] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": content},
    ]
    return render_everywhere(f"plain-{style}", messages)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("part", IMAGES + FILES, ids=lambda part: str(list(part.values())[:1]))
def test_an_image_in_a_result_is_named_and_not_shown(style: str, part: dict[str, Any]) -> None:
    named = f'(a part of type "{part["type"]}" is left out here: it is not text)'
    text = {"type": "text", "text": "A picture:"}
    for content in ([text, part], [part], part):
        rendered = shown_result(style, content)
        assert named in rendered
        assert "iVBORw0KGgo" not in rendered
    assert f"A picture:\n{named}" in shown_result(style, [text, part])


@pytest.mark.parametrize("style", STYLES)
@generated(20)
@given(parts=st.lists(texts | st.sampled_from(IMAGES + FILES)))
def test_no_bytes_come_into_the_prompt(style: str, parts: list[Any]) -> None:
    content = [{"type": "text", "text": p} if isinstance(p, str) else p for p in parts]
    rendered = shown_result(style, content)
    assert "iVBORw0KGgo" not in rendered
    assert all(part in rendered for part in parts if isinstance(part, str))


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ([{"type": "file", "name": "a.txt"}], '[{"type": "file", "name": "a.txt"}]'),
        ([{"type": "house", "rooms": 3}], '[{"type": "house", "rooms": 3}]'),
        ({"type": "document", "pages": 2}, '{"type": "document", "pages": 2}'),
        ([{"type": "text", "text": "a"}, 5, "b", {"c": 1}], 'a\n5\nb\n{"c": 1}'),
        ([{"type": "text", "text": "a"}, {"type": "output_text", "text": "b"}], "a\nb"),
    ],
)
def test_a_tools_own_json_is_shown(content: Any, shown: str) -> None:
    assert shown_result("json", content).endswith(f"Result of ring_bell:\n{shown}\n\n")
