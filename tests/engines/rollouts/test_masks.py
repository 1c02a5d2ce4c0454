"""Masks of what the model wrote, beside those of transformers, whose templates mark it themselves."""

from __future__ import annotations

import json
from typing import Any

from toolwire.models.rendering import tokenizer_renderer
from toolwire.models.training import training_text

#: ChatML, with the model's words marked.
MARKED = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.role == 'assistant' %}{% generation %}{{ m.content }}"
    "{% for c in m.tool_calls or [] %}<tool_call>\n"
    '{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>'
    "{% endfor %}<|im_end|>{% endgeneration %}\n{% else %}{{ m.content }}<|im_end|>\n{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
ARGUMENTS = {"city": "Oslo \U0001f600", "days": 3}
CALL = {"id": "1", "function": {"name": "get_weather", "arguments": json.dumps(ARGUMENTS)}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "The weather?"},
    {"role": "assistant", "content": "Let me see. ", "tool_calls": [CALL]},
    {"role": "tool", "content": "Dry."},
    {"role": "assistant", "content": "Dry."},
]


def test_the_masks_of_transformers(tokenizer: Any) -> None:
    text = training_text(tokenizer_renderer(tokenizer, MARKED), "hermes", MESSAGES)
    ours = tokenizer(text.text, add_special_tokens=False, return_offsets_mapping=True)
    messages = [dict(message) for message in MESSAGES]
    messages[2]["tool_calls"] = [{"function": {"name": "get_weather", "arguments": ARGUMENTS}}]
    theirs = tokenizer.apply_chat_template(
        messages,
        chat_template=MARKED,
        return_dict=True,
        return_assistant_tokens_mask=True,
    )
    assert ours["input_ids"] == theirs["input_ids"]
    assert text.token_masks(ours["offset_mapping"]) == theirs["assistant_masks"]
    assert sum(theirs["assistant_masks"]) > 10


def test_the_models_own_template(tokenizer: Any) -> None:
    """It knows no tools; what it makes of words is masked all the same."""
    messages = [message for message in MESSAGES if message["role"] in ("system", "user")]
    messages.append({"role": "assistant", "content": "Dry."})
    text = training_text(tokenizer_renderer(tokenizer, None), "hermes", messages)
    assert [text.text[begin:end] for begin, end in text.assistant_masks] == ["Dry.<|im_end|>"]
