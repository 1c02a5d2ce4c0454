"""The sentences for a conversation that can't be used.

A chat template and the API say the same about the same mistake, so each sentence stands here once:
`scripts/build_templates` writes them into the templates, Python code fills them with `str.format`.
"""

UNKNOWN_ROLE = (
    'Unknown message role "{role}": '
    'it must be "system", "developer", "user", "assistant", "tool" or "function"'
)
"""A message whose role is none of OpenAI's. `role` is what it has, or nothing."""

ORPHAN_RESULT = (
    'A message with role "{role}" must respond to a call of the assistant message before it '
    'that has no response yet; "{id}" does not'
)
"""A result that answers nothing. `id` is its `tool_call_id`, or its `name`, or nothing."""

UNANSWERED_CALLS = (
    'An assistant message with "tool_calls" must be followed by tool messages '
    'responding to each "tool_call_id"'
)
"""Calls without results before the next turn. A prompt may show them; the API refuses them."""

WRONG_CONTENT = 'The "content" of a message must be a string, a list of parts, or null'
"""Content of another type, in any message but a tool's: what a tool gives back may be any JSON."""

UNSUPPORTED_PART = (
    'A content part of type "{type}" is not text: only "text" parts can be shown to this model'
)
"""An image, a sound or a file in a conversation for a model that is shown text."""

HIDDEN_PART = '(a part of type "{type}" is left out here: it is not text)'
"""What stands for an image, a sound or a file that a tool gave back: its call must have an answer."""
