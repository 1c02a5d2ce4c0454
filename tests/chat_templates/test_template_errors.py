"""What can't be rendered is refused with the sentence that the API gives, by every template."""

from typing import Any

import pytest
from toolwire import templates
from toolwire.errors import ToolwireError
from toolwire.openai import sentences as messages

from .template_renderers import FRAMES, NAMES, refusal_everywhere

USER = {"role": "user", "content": "Hi"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "ring_bell", "arguments": {}}}
    ],
}
ANSWER = {"role": "tool", "tool_call_id": "call_1", "content": "ding"}


@pytest.mark.parametrize("name", NAMES)
def test_every_template_refuses(name: str) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    assert refusal_everywhere(
        name, [USER, {"role": "critic", "content": "Hm."}]
    ) == messages.UNKNOWN_ROLE.format(role="critic")
    assert refusal_everywhere(name, [USER, ANSWER]) == messages.ORPHAN_RESULT.format(
        role="tool", id="call_1"
    )
    assert refusal_everywhere(
        name, [{"role": "user", "content": [picture]}]
    ) == messages.UNSUPPORTED_PART.format(type="image_url")


@pytest.mark.parametrize(("role", "shown"), [("User", "User"), ("", ""), (None, ""), (7, "")])
def test_an_unknown_role(role: Any, shown: str) -> None:
    sentence = refusal_everywhere("chatml-hermes", [USER, {"role": role, "content": "Hm."}])
    assert sentence == messages.UNKNOWN_ROLE.format(role=shown)


def test_a_message_without_a_role() -> None:
    sentence = refusal_everywhere("chatml-hermes", [USER, {"content": "Hm."}])
    assert sentence == messages.UNKNOWN_ROLE.format(role="")


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize(
    "conversation",
    [
        [ANSWER],
        [USER, ANSWER],
        [USER, {"role": "assistant", "content": "No call."}, ANSWER],
        [USER, CALL, USER, ANSWER],
        [USER, CALL, ANSWER, ANSWER],
        [USER, CALL, ANSWER, USER, ANSWER],
    ],
    ids=["alone", "no call", "only text", "too late", "twice", "again later"],
)
def test_a_result_that_answers_nothing(frame: str, conversation: list[dict[str, Any]]) -> None:
    sentence = refusal_everywhere(f"{frame}-json", conversation)
    assert sentence == messages.ORPHAN_RESULT.format(role="tool", id="call_1")


@pytest.mark.parametrize(
    ("result", "role", "shown"),
    [
        ({"role": "tool", "tool_call_id": "call_9", "content": ""}, "tool", "call_9"),
        ({"role": "function", "name": "sing", "content": ""}, "function", "sing"),
        ({"role": "tool", "name": "sing", "content": ""}, "tool", "sing"),
    ],
)
def test_a_result_for_another_call(result: dict[str, Any], role: str, shown: str) -> None:
    sentence = refusal_everywhere("chatml-hermes", [USER, CALL, result])
    assert sentence == messages.ORPHAN_RESULT.format(role=role, id=shown)


def test_a_result_without_anything_to_tell_its_call_by() -> None:
    sentence = refusal_everywhere("chatml-hermes", [USER, {"role": "tool", "content": "ding"}])
    assert sentence == messages.ORPHAN_RESULT.format(role="tool", id="")


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
@pytest.mark.parametrize(("part", "shown"), [({"type": "input_audio"}, "input_audio"), ({}, "")])
def test_a_part_that_is_not_text(role: str, part: dict[str, Any], shown: str) -> None:
    sentence = refusal_everywhere("chatml-hermes", [{"role": role, "content": [part]}])
    assert sentence == messages.UNSUPPORTED_PART.format(type=shown)


@pytest.mark.parametrize("content", [5, {"text": "Hi"}, True])
def test_content_that_is_neither_text_nor_parts(content: Any) -> None:
    sentence = refusal_everywhere("chatml-hermes", [{"role": "user", "content": content}])
    assert sentence == messages.WRONG_CONTENT


def test_the_sentence_for_unanswered_calls_is_the_apis() -> None:
    assert messages.UNANSWERED_CALLS == (
        'An assistant message with "tool_calls" must be followed by tool messages responding to '
        'each "tool_call_id"'
    )


@pytest.mark.parametrize("calls", ["ring", [{}], [{"function": {}}], 5, [None]])
def test_malformed_calls_are_one_clear_error(calls: Any) -> None:
    with pytest.raises(ToolwireError):
        templates.render("chatml-hermes", [{"role": "assistant", "tool_calls": calls}])


def test_arguments_too_deep_to_walk_through_are_one_clear_error() -> None:
    deep: Any = None
    for _ in range(100_000):
        deep = [deep]
    function = {"name": "f", "arguments": {"deep": deep}}
    with pytest.raises(ToolwireError, match="malformed"):
        templates.render(
            "chatml-pythonic", [{"role": "assistant", "tool_calls": [{"function": function}]}]
        )


def test_a_new_message_and_the_last_one_cannot_both_go_on() -> None:
    with pytest.raises(ToolwireError, match="choose one"):
        templates.render(
            "chatml-hermes", [USER], add_generation_prompt=True, continue_final_message=True
        )


def test_a_wrong_name_lists_the_right_ones_nearest_first() -> None:
    with pytest.raises(ToolwireError) as caught:
        templates.get_template("chatml_herms")
    sentence = str(caught.value)
    assert "There are: chatml-hermes, " in sentence
    assert all(name in sentence for name in NAMES)
